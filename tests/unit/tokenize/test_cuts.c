/* SPDX-License-Identifier: Apache-2.0 */
/* Certain cuts: which there are, and that merging the parts alone changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/cuts.h"

#define TEXT_ROOM 64

static void put(lw__vocab *vocab, const char *text, size_t bytes)
{
    lw__place place = {.path = "test"};
    lw_str token = {.data = text, .bytes = bytes};
    if (lw__vocab_find(vocab, text, bytes) < 0) {
        assert_int_equal(lw__vocab_put(vocab, (int64_t)vocab->limit, token, &place, NULL), LW_OK);
    }
}

static void build(lw__cuts *cuts, const char *const *tokens, size_t count)
{
    lw__vocab vocab = {.path = NULL};
    for (size_t i = 0; i < count; i++) {
        put(&vocab, tokens[i], strlen(tokens[i]));
    }
    assert_int_equal(lw__cuts_build(cuts, &vocab, NULL), LW_OK);
    lw__vocab_reset(&vocab);
}

static size_t next(const lw__cuts *cuts, const char *text, size_t at)
{
    return lw__cuts_next(cuts, (const unsigned char *)text, strlen(text), at);
}

static void test_cuts__pairs_in_tokens_are_kept(void **state)
{
    (void)state;
    static const char *const tokens[] = {"ab", "bc", "\xE4\xB8\xAD\xE6\x96\x87"};
    lw__cuts cuts;
    build(&cuts, tokens, 3);
    assert_int_equal(next(&cuts, "abc", 0), 3);
    assert_int_equal(next(&cuts, "abca", 0), 3);
    assert_int_equal(next(&cuts, "ba", 0), 1);
    assert_int_equal(next(&cuts, "\xE4\xB8\xAD\xE6\x96\x87\xE4\xB8\xAD", 0), 6);
    assert_int_equal(next(&cuts, "\xE4\xB8\xAD\xE6\x96\x87\xE4\xB8\xAD", 6), 9);
    lw__cuts_reset(&cuts);
}

/* Characters joined by their code points are those of texts. */
static void test_cuts__code_points_of_every_length(void **state)
{
    (void)state;
    lw__cuts cuts;
    assert_int_equal(lw__cuts_create(&cuts, NULL), LW_OK);
    lw__cuts_join(&cuts, 'a', 0xE9);
    lw__cuts_join(&cuts, 0xE9, 0x4E2D);
    lw__cuts_join(&cuts, 0x4E2D, 0x1F389);
    const char *text = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x8E\x89\xE4\xB8\xAD";
    assert_int_equal(next(&cuts, text, 0), 10);
    assert_int_equal(next(&cuts, "\xC3\xA9z", 0), 2);
    lw__cuts_reset(&cuts);
}

/* A token that ends or begins inside a character may join what is on the other side to anything. */
static void test_cuts__parts_of_characters_join(void **state)
{
    (void)state;
    static const char *const tokens[] = {"a\xE4", "\xADz", "\x87\xC3"};
    lw__cuts cuts;
    build(&cuts, tokens, 3);
    assert_int_equal(next(&cuts, "a\xE4\xB8\xAD", 0), 4);
    assert_int_equal(next(&cuts, "b\xE4\xB8\xAD", 0), 1);
    assert_int_equal(next(&cuts, "\xE6\x96\x87z", 0), 4);
    assert_int_equal(next(&cuts, "\xE6\x96\x87y", 0), 3);
    assert_int_equal(next(&cuts, "\xE6\x96\x87\xC3\xA9", 0), 5);
    assert_int_equal(next(&cuts, "\xE6\x96\x88\xC3\xA9", 0), 3);
    lw__cuts_reset(&cuts);
}

static void test_cuts__bytes_that_are_not_utf8_are_not_cut(void **state)
{
    (void)state;
    static const char *const tokens[] = {"ab"};
    lw__cuts cuts;
    build(&cuts, tokens, 1);
    assert_int_equal(next(&cuts, "ab\xFF", 0), 3);
    assert_int_equal(next(&cuts, "\x80z", 0), 2);
    assert_int_equal(next(&cuts, "z\xE4\xB8", 0), 3);
    lw__cuts_reset(&cuts);
    assert_int_equal(next(&cuts, "zz", 0), 2);
}

/* Every merge of two tokens whose bytes together are one, in the order of their ids. */
static void put_merges(lw__bpe *bpe, const lw__vocab *vocab)
{
    for (int32_t id = 0; (size_t)id < vocab->limit; id++) {
        lw_str text = lw__vocab_text(vocab, id);
        for (size_t cut = 1; cut < text.bytes; cut++) {
            lw__merge merge = {.left = lw__vocab_find(vocab, text.data, cut),
                               .right = lw__vocab_find(vocab, text.data + cut, text.bytes - cut),
                               .id = id,
                               .rank = (uint32_t)id};
            if (merge.left >= 0 && merge.right >= 0) {
                assert_int_equal(lw__bpe_put(bpe, &merge, NULL), LW_OK);
            }
        }
    }
}

static size_t random_text(unsigned *seed, size_t characters, char *text)
{
    static const char *const units[] = {"a",           "b", "\xC3\xA9", "\xC3\xA8", "\xE4\xB8\xAD",
                                        "\xE4\xB8\xAE"};
    size_t bytes = 0;
    for (size_t i = 0; i < characters; i++) {
        const char *unit = units[(unsigned)rand_r(seed) % 6];
        memcpy(text + bytes, unit, strlen(unit));
        bytes += strlen(unit);
    }
    return bytes;
}

/* Tokens of up to 6 bytes of random text, so that many begin or end inside a character. */
static void random_vocabulary(unsigned *seed, lw__vocab *vocab)
{
    for (int byte = 0; byte < 256; byte++) {
        char text = (char)byte;
        put(vocab, &text, 1);
    }
    for (int i = 0; i < 30; i++) {
        char text[TEXT_ROOM];
        size_t bytes = random_text(seed, 6, text);
        size_t start = (unsigned)rand_r(seed) % (bytes - 1);
        size_t most = bytes - start < 6 ? bytes - start : 6;
        put(vocab, text + start, 1 + (unsigned)rand_r(seed) % most);
    }
}

static size_t encode(const lw__bpe *bpe, const char *text, size_t bytes, int32_t *ids)
{
    lw__bpe_scratch scratch = {.merge.given = NULL};
    size_t count = 0;
    assert_int_equal(
        lw__bpe_encode(bpe, &scratch, (const unsigned char *)text, bytes, ids, &count, NULL),
        LW_OK);
    lw__bpe_scratch_reset(&scratch);
    return count;
}

static size_t encode_parts(const lw__bpe *bpe, const lw__cuts *cuts, const char *text, size_t bytes,
                           int32_t *ids)
{
    size_t count = 0;
    for (size_t at = 0; at < bytes;) {
        size_t cut = lw__cuts_next(cuts, (const unsigned char *)text, bytes, at);
        count += encode(bpe, text + at, cut - at, ids + count);
        at = cut;
    }
    return count;
}

static void test_cuts__parts_merge_as_the_whole_does(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 300; round++) {
        lw__vocab vocab = {.path = NULL};
        lw__cuts cuts;
        lw__bpe bpe;
        lw__bpe_init(&bpe);
        random_vocabulary(&seed, &vocab);
        for (int byte = 0; byte < 256; byte++) {
            bpe.byte_ids[byte] = byte;
        }
        put_merges(&bpe, &vocab);
        if (round % 2 == 0) {
            assert_int_equal(lw__bpe_finish(&bpe, NULL), LW_OK);
        }
        assert_int_equal(lw__cuts_build(&cuts, &vocab, NULL), LW_OK);
        for (int i = 0; i < 100; i++) {
            char text[TEXT_ROOM];
            int32_t whole[TEXT_ROOM];
            int32_t parts[TEXT_ROOM];
            size_t bytes = random_text(&seed, 1 + (unsigned)rand_r(&seed) % 14, text);
            size_t count = encode(&bpe, text, bytes, whole);
            assert_int_equal(encode_parts(&bpe, &cuts, text, bytes, parts), count);
            assert_memory_equal(parts, whole, count * sizeof *whole);
        }
        lw__cuts_reset(&cuts);
        lw__bpe_reset(&bpe);
        lw__vocab_reset(&vocab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts__pairs_in_tokens_are_kept),
        cmocka_unit_test(test_cuts__code_points_of_every_length),
        cmocka_unit_test(test_cuts__parts_of_characters_join),
        cmocka_unit_test(test_cuts__bytes_that_are_not_utf8_are_not_cut),
        cmocka_unit_test(test_cuts__parts_merge_as_the_whole_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
