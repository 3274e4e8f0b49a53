/* SPDX-License-Identifier: Apache-2.0 */
/* From ids to bytes: spaces, byte pieces, special tokens, ids without a token, room. */
#include "tiny_pieces.h"
#include "tokenize/decode.h"

/* The text of ids, which end at -1. */
static void decodes(const lw__tokenizer *tokenizer, bool skips_special, const int32_t *ids,
                    const char *expected)
{
    char text[64];
    lw_error err = {.status = LW_OK};
    lw__decoded out = {.data = text, .capacity = sizeof text};
    size_t count = 0;
    while (ids[count] >= 0) {
        count++;
    }
    assert_int_equal(lw__tokenizer_decode(tokenizer, ids, count, skips_special, &out, &err), LW_OK);
    assert_true(out.bytes < sizeof text);
    text[out.bytes] = '\0';
    assert_string_equal(text, expected);
}

static void test_decode__bytes_of_tokens(void **state)
{
    (void)state;
    tiny_json json = {.added = "[{\"id\": 265, \"content\": \"<s>\", \"special\": true}, "
                               "{\"id\": 266, \"content\": \"<tool>\"}]"};
    lw__tokenizer_options options = {.path = tiny_write_json("a.json", &json)};
    lw__tokenizer *tokenizer = tiny_open(&options);
    const int32_t ids[] = {265, TINY_THE, TINY_SPACE_THE, 266, 0xC3, TINY_NEWLINES, -1};
    decodes(tokenizer, false, ids, "<s>the the<tool>\xC3\n\n");
    decodes(tokenizer, true, ids, "the the<tool>\xC3\n\n");
    decodes(tokenizer, true, ids + 6, "");
    lw__tokenizer_close(tokenizer);
}

static void test_decode__ids_without_a_token(void **state)
{
    (void)state;
    lw_error err = {.status = LW_OK};
    lw__decoded out = {.capacity = 0};
    lw__tokenizer_options options = {.name = "bytes", .eos = ""};
    lw__tokenizer *tokenizer = tiny_open(&options);
    decodes(tokenizer, false, (const int32_t[]){'a', 257, 'b', -1}, "ab");
    assert_int_equal(
        lw__tokenizer_decode(tokenizer, (const int32_t[]){'a', 258}, 2, false, &out, &err),
        LW_E_INVALID);
    assert_string_equal(err.message, "tokenizer: id 258 at 1: no token has it, expected one of the "
                                     "vocabulary, which ends at 257");
    assert_int_equal(lw__tokenizer_decode(tokenizer, (const int32_t[]){-1}, 1, false, &out, &err),
                     LW_E_INVALID);
    lw__tokenizer_close(tokenizer);
}

static void test_decode__what_does_not_fit_is_counted(void **state)
{
    (void)state;
    char text[8] = "xxxxxxx";
    lw_error err = {.status = LW_OK};
    lw__tokenizer_options options = {.path = tiny_write_tiktoken("tiny.tiktoken"),
                                     .pattern = "gpt2"};
    lw__tokenizer *tokenizer = tiny_open(&options);
    lw__decoded out = {.data = text, .capacity = 4};
    assert_int_equal(lw__tokenizer_decode(tokenizer, (const int32_t[]){TINY_THE, TINY_AAAA}, 2,
                                          false, &out, &err),
                     LW_OK);
    assert_int_equal(out.bytes, 7);
    assert_memory_equal(text, "theaxxx", 7);
    lw__tokenizer_close(tokenizer);
}

enum { UNKNOWN, BOS, SPACE, SPACE_A, B, TWO_SPACES, FIRST_BYTE };

static lw__tokenizer *open_pieces(bool prefix, bool collapsed)
{
    static const tiny_piece pieces[] = {
        {"<unk>", 0, LW__PIECE_UNKNOWN}, {"<s>", 0, LW__PIECE_CONTROL},
        {"_", -1, LW__PIECE_NORMAL},     {"_a", -2, LW__PIECE_NORMAL},
        {"b", -3, LW__PIECE_NORMAL},     {"__", -4, LW__PIECE_USER_DEFINED}};
    tiny_model model = {.pieces = pieces,
                        .count = sizeof pieces / sizeof pieces[0],
                        .type = TINY_BPE,
                        .byte_fallback = true,
                        .prefix = prefix,
                        .collapsed = collapsed};
    return tiny_open_model(&model);
}

static void test_decode__pieces_of_a_model(void **state)
{
    (void)state;

    static const struct {
        int32_t ids[5];
        const char *plain;
        const char *prefix;
        const char *collapsed;
    } cases[] = {
        {{SPACE_A, B, SPACE_A, -1}, " ab a", "ab a", "ab a"},
        {{BOS, SPACE_A, SPACE_A, -1}, " a a", "a a", "a a"},
        {{SPACE, SPACE, SPACE_A, -1}, "   a", "  a", "a"},
        {{TWO_SPACES, SPACE, B, -1}, "   b", "  b", "  b"},
        {{SPACE, BOS, SPACE_A, -1}, "  a", " a", "a"},
        {{FIRST_BYTE + 0xC3, FIRST_BYTE + 0xA9, SPACE_A, -1},
         "\xC3\xA9 a",
         "\xC3\xA9 a",
         "\xC3\xA9 a"},
        {{UNKNOWN, SPACE_A, -1}, " \xE2\x81\x87  a", " \xE2\x81\x87  a", " \xE2\x81\x87  a"},
    };

    lw__tokenizer *plain = open_pieces(false, false);
    lw__tokenizer *prefix = open_pieces(true, false);
    lw__tokenizer *collapsed = open_pieces(true, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        decodes(plain, false, cases[i].ids, cases[i].plain);
        decodes(prefix, false, cases[i].ids, cases[i].prefix);
        decodes(collapsed, false, cases[i].ids, cases[i].collapsed);
    }
    decodes(prefix, true, cases[6].ids, "a");
    lw__tokenizer_close(plain);
    lw__tokenizer_close(prefix);
    lw__tokenizer_close(collapsed);
}

static void test_decode__every_text_comes_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "a", " the  aaaab12 the\n\n\n",
                                        "\xC3\xA9<s>\xF0\x9F\x98\x80"};
    tiny_json json = {.added = "[{\"id\": 265, \"content\": \"<s>\", \"special\": true}]"};
    lw__tokenizer_options options = {.path = tiny_write_json("a.json", &json),
                                     .special_text = true};
    lw__tokenizer *tokenizer = tiny_open(&options);
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    lw_error err = {.status = LW_OK};
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        arena.count = 0;
        assert_int_equal(lw__encoder_encode(encoder, texts[i], strlen(texts[i]), &arena, &err),
                         LW_OK);
        assert_int_equal(lw__arena_reserve(&arena, 1, &err), LW_OK);
        arena.ids[arena.count] = -1;
        decodes(tokenizer, false, arena.ids, texts[i]);
    }
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode__bytes_of_tokens),
        cmocka_unit_test(test_decode__ids_without_a_token),
        cmocka_unit_test(test_decode__what_does_not_fit_is_counted),
        cmocka_unit_test(test_decode__pieces_of_a_model),
        cmocka_unit_test(test_decode__every_text_comes_back),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
