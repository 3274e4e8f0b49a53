/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps: a text of many unknown pieces has the ids of its pieces, one after the other. */
#include "tiny_vocabulary.h"
#include "tokenize/byte_gaps.h"
#include "tokenize/model.h"

#define WORDS (3 * LW__GAPS)
#define BYTES (WORDS * 64)

static uint32_t draw(uint64_t *random, uint32_t end)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % end;
}

/* Words of up to 40 characters, some of which are cut for certain, and some of which come again. */
static size_t draw_text(char *text, size_t words, uint64_t *random)
{
    static const char *const characters[] = {"a", "b", "t", "h", "e", "1", "2", "x", "é", "я"};
    size_t bytes = 0;
    size_t last = 0;
    for (size_t i = 0; i < words; i++) {
        size_t start = bytes;
        if (draw(random, 8) == 0) {
            memmove(text + bytes, text + last, start - last);
            bytes += start - last;
        } else {
            text[bytes++] = ' ';
            uint32_t most = draw(random, 4) == 0 ? 24 : 9;
            for (uint32_t k = draw(random, most); k > 0; k--) {
                const char *character = characters[draw(random, 10)];
                memcpy(text + bytes, character, strlen(character));
                bytes += strlen(character);
            }
        }
        last = start;
    }
    return bytes;
}

/* The ids of each piece of the plain splitter. */
static size_t encode_pieces(const lw__tokenizer *tokenizer, const char *text, size_t bytes,
                            int32_t *ids)
{
    const unsigned char *p = (const unsigned char *)text;
    lw__bpe_scratch scratch = {.merge.given = NULL};
    size_t count = 0;
    for (size_t at = 0, end = 0; at < bytes; at = end) {
        size_t found = 1;
        assert_int_equal(lw__split(&tokenizer->vocab.rules, p, bytes, at, &end, 1), 1);
        bool is_token = tokenizer->vocab.whole_piece;
        ids[count] = is_token ? lw__vocab_find(&tokenizer->vocab, p + at, end - at) : -1;
        if (ids[count] < 0) {
            assert_int_equal(lw__bpe_encode(&tokenizer->bpe, &scratch, p + at, end - at,
                                            ids + count, &found, NULL),
                             LW_OK);
        }
        count += found;
    }
    lw__bpe_scratch_reset(&scratch);
    return count;
}

/* Texts of any number of words, each twice by one encoder. */
static void check(const lw__tokenizer *tokenizer)
{
    static char text[BYTES];
    static int32_t expected[BYTES];
    uint64_t random = 1;
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, NULL), LW_OK);
    for (size_t words = 0; words < WORDS; words++) {
        size_t bytes = draw_text(text, words, &random);
        size_t count = encode_pieces(tokenizer, text, bytes, expected);
        for (int pass = 0; pass < 2; pass++) {
            size_t before = arena.count;
            assert_int_equal(lw__encoder_encode(encoder, text, bytes, &arena, NULL), LW_OK);
            assert_int_equal(arena.count - before, count);
            assert_memory_equal(arena.ids + before, expected, count * sizeof *expected);
        }
    }
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
}

static void test_byte_gaps__merges(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_write_bpe("vocab.bpe", "encoder.json")};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_false(tokenizer->vocab.whole_piece);
    check(tokenizer);
    lw__tokenizer_close(tokenizer);
}

/* Whole pieces that are tokens, which their merges do not reach. */
static void test_byte_gaps__tokens_before_merges(void **state)
{
    (void)state;
    tiny_json json = {.model = "\"ignore_merges\": true, ", .merges = "[\"t h\", \"a b\"]"};
    lw__tokenizer_options options = {.path = tiny_write_json("whole.json", &json)};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_true(tokenizer->vocab.whole_piece);
    check(tokenizer);
    lw__tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_gaps__merges),
        cmocka_unit_test(test_byte_gaps__tokens_before_merges),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
