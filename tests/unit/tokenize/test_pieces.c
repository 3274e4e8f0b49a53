/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding with pieces: preparing, merging by score, splitting by sums, unknown characters. */
#include "tiny_pieces.h"
#include "tokenize/model.h"

static const tiny_piece pieces[] = {
    {"<unk>", 0, LW__PIECE_UNKNOWN},     /* 0 */
    {"_a", -1, LW__PIECE_NORMAL},        /* 1 */
    {"ab", -2, LW__PIECE_NORMAL},        /* 2 */
    {"aa", -2, LW__PIECE_NORMAL},        /* 3: equal to the one before */
    {"_", -3, LW__PIECE_NORMAL},         /* 4 */
    {"a", -4, LW__PIECE_NORMAL},         /* 5 */
    {"b", -5, LW__PIECE_NORMAL},         /* 6 */
    {"bc", -6, LW__PIECE_NORMAL},        /* 7: c alone is no piece */
    {"[x]", 0, LW__PIECE_USER_DEFINED},  /* 8 */
    {"[x]y", 0, LW__PIECE_USER_DEFINED}, /* 9 */
};

static tiny_model model_of(int type)
{
    return (tiny_model){.pieces = pieces, .count = sizeof pieces / sizeof pieces[0], .type = type};
}

#define FIRST_BYTE (int)(sizeof pieces / sizeof pieces[0])

static void test_pieces__merges_by_score_then_place(void **state)
{
    (void)state;
    tiny_model model = model_of(TINY_BPE);
    lw__tokenizer *tokenizer = tiny_open_model(&model);
    tiny_encodes(tokenizer, "ab", 2, 2, -1);
    tiny_encodes(tokenizer, "aab", 3, 3, 6, -1);
    tiny_encodes(tokenizer, "aaab", 4, 3, 2, -1);
    tiny_encodes(tokenizer, " ab", 3, 1, 6, -1);
    tiny_encodes(tokenizer, "b ", 2, 6, 4, -1);
    tiny_encodes(tokenizer, "", 0, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_pieces__unknown_characters(void **state)
{
    (void)state;
    tiny_model model = model_of(TINY_BPE);
    lw__tokenizer *tokenizer = tiny_open_model(&model);
    tiny_encodes(tokenizer, "bc", 2, 7, -1);
    tiny_encodes(tokenizer, "c", 1, 0, -1);
    tiny_encodes(tokenizer,
                 "xy\xC3\xA9"
                 "cb",
                 6, 0, 6, -1);
    tiny_encodes(tokenizer, "xax", 3, 0, 5, 0, -1);
    lw__tokenizer_close(tokenizer);
    model.byte_fallback = true;
    tokenizer = tiny_open_model(&model);
    tiny_encodes(tokenizer, "c\xC3\xA9", 3, FIRST_BYTE + 'c', FIRST_BYTE + 0xC3, FIRST_BYTE + 0xA9,
                 -1);
    tiny_encodes(tokenizer, "\xF0\x9F\x8E\x89", 4, FIRST_BYTE + 0xF0, FIRST_BYTE + 0x9F,
                 FIRST_BYTE + 0x8E, FIRST_BYTE + 0x89, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_pieces__an_escaped_space_that_is_no_piece(void **state)
{
    (void)state;
    static const tiny_piece few[] = {
        {"<unk>", 0, LW__PIECE_UNKNOWN}, {"a", -1, LW__PIECE_NORMAL}, {"_a", -2, LW__PIECE_NORMAL}};
    tiny_model model = {.pieces = few, .count = 3, .type = TINY_BPE, .byte_fallback = true};
    for (int type = TINY_UNIGRAM; type <= TINY_BPE; type++) {
        model.type = type;
        lw__tokenizer *tokenizer = tiny_open_model(&model);
        tiny_encodes(tokenizer, " a", 2, 2, -1);
        tiny_encodes(tokenizer, "a  ", 3, 1, 3 + 0xE2, 3 + 0x96, 3 + 0x81, 3 + 0xE2, 3 + 0x96,
                     3 + 0x81, -1);
        lw__tokenizer_close(tokenizer);
    }
}

static void test_pieces__user_defined_pieces_are_whole(void **state)
{
    (void)state;
    for (int type = TINY_UNIGRAM; type <= TINY_BPE; type++) {
        tiny_model model = model_of(type);
        lw__tokenizer *tokenizer = tiny_open_model(&model);
        tiny_encodes(tokenizer, "a[x]b[x]y", 9, 5, 8, 6, 9, -1);
        tiny_encodes(tokenizer, "[x[x]", 5, 0, 8, -1);
        lw__tokenizer_close(tokenizer);
    }
}

static void test_pieces__spaces(void **state)
{
    (void)state;
    tiny_model model = model_of(TINY_BPE);
    model.prefix = true;
    lw__tokenizer *tokenizer = tiny_open_model(&model);
    tiny_encodes(tokenizer, "a", 1, 1, -1);
    tiny_encodes(tokenizer, " a", 2, 4, 1, -1);
    tiny_encodes(tokenizer, LW__ESCAPED_SPACE "a", 4, 4, 1, -1);
    lw__tokenizer_close(tokenizer);
    model.collapsed = true;
    tokenizer = tiny_open_model(&model);
    tiny_encodes(tokenizer, "  a  a ", 7, 1, 1, -1);
    tiny_encodes(tokenizer, "   ", 3, -1);
    tiny_encodes(tokenizer, "a" LW__ESCAPED_SPACE, 4, 1, -1);
    lw__tokenizer_close(tokenizer);
    model.collapsed = false;
    model.unescaped = true;
    tokenizer = tiny_open_model(&model);
    tiny_encodes(tokenizer, LW__ESCAPED_SPACE "a", 4, 0, 1, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_pieces__unigram_takes_the_best_sum(void **state)
{
    (void)state;
    tiny_model model = model_of(TINY_UNIGRAM);
    lw__tokenizer *tokenizer = tiny_open_model(&model);
    tiny_encodes(tokenizer, "aab", 3, 5, 2, -1);
    tiny_encodes(tokenizer, " ab", 3, 4, 2, -1);
    tiny_encodes(tokenizer, "aaa", 3, 5, 3,
                 -1); /* of equal sums the last piece that starts first */
    tiny_encodes(tokenizer, "xxa", 3, 0, 5, -1);
    lw__tokenizer_close(tokenizer);
}

/* The same text in one call, by the cache and after it was forgotten. */
static void test_pieces__the_cache_changes_nothing(void **state)
{
    (void)state;
    tiny_model model = model_of(TINY_BPE);
    lw__tokenizer *tokenizer = tiny_open_model(&model);
    lw_error err = {.status = LW_OK};
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
    const char *text = "ab xaab bcx cx  aaab";
    for (int pass = 0; pass < 3; pass++) {
        assert_int_equal(lw__encoder_encode(encoder, text, strlen(text), &arena, &err), LW_OK);
    }
    size_t count = arena.count / 3;
    assert_int_equal(arena.count, count * 3);
    assert_memory_equal(arena.ids, arena.ids + count, count * sizeof *arena.ids);
    assert_memory_equal(arena.ids, arena.ids + 2 * count, count * sizeof *arena.ids);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
}

static void test_pieces__long_units(void **state)
{
    (void)state;

    enum { LONG = 100001 };

    static char text[LONG];
    memset(text, 'a', sizeof text);
    for (int type = TINY_UNIGRAM; type <= TINY_BPE; type++) {
        tiny_model model = model_of(type);
        lw__tokenizer *tokenizer = tiny_open_model(&model);
        lw_error err = {.status = LW_OK};
        lw__encoder *encoder = NULL;
        lw__arena arena = {.ids = NULL};
        assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
        assert_int_equal(lw__encoder_encode(encoder, text, LONG, &arena, &err), LW_OK);
        assert_int_equal(arena.count, LONG / 2 + 1);
        assert_int_equal(arena.ids[LONG / 4], 3);
        lw__arena_reset(&arena);
        lw__encoder_destroy(encoder);
        lw__tokenizer_close(tokenizer);
    }
}

/* ---- long texts, against the same text as one unit ---- */

enum { LONG_TEXT = 150000 };

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Text that mostly holds characters of pieces; a space is U+0020, as in prepared text. */
static size_t fill_text(char *text, uint32_t *seed, bool spaces)
{
    static const char *const characters[] = {"a", "a", "b", " ", "c", "\xC3\xA9", "aaab"};
    size_t kinds = sizeof characters / sizeof characters[0];
    size_t bytes = 0;
    while (bytes < LONG_TEXT - 8) {
        const char *next = characters[draw(seed) % kinds];
        next = *next == ' ' && !spaces ? "b" : next;
        size_t count = strlen(next);
        memcpy(text + bytes, next, count);
        bytes += count;
    }
    return bytes;
}

static void same_as_one_unit(const tiny_model *model, uint32_t seed, bool spaces)
{
    static char text[LONG_TEXT];
    static int32_t expected[LONG_TEXT * 3];
    lw__tokenizer *tokenizer = tiny_open_model(model);
    lw_error err = {.status = LW_OK};
    lw__encoder *encoder = NULL;
    lw__pieces_scratch *scratch = NULL;
    lw__arena arena = {.ids = NULL};
    size_t count = 0;
    size_t bytes = fill_text(text, &seed, spaces);
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
    assert_int_equal(lw__encoder_encode(encoder, text, bytes, &arena, &err), LW_OK);
    assert_int_equal(lw__pieces_scratch_create(&scratch, &err), LW_OK);
    assert_int_equal(lw__pieces_unit(tokenizer->pieces, scratch, (const unsigned char *)text, bytes,
                                     expected, &count, &err),
                     LW_OK);
    assert_int_equal(arena.count, count);
    assert_memory_equal(arena.ids, expected, count * sizeof *expected);
    lw__arena_reset(&arena);
    lw__pieces_scratch_destroy(scratch);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
}

static void test_pieces__long_texts_are_as_one_unit(void **state)
{
    (void)state;
    for (int type = TINY_UNIGRAM; type <= TINY_BPE; type++) {
        for (uint32_t seed = 0; seed < 4; seed++) {
            tiny_model model = model_of(type);
            model.byte_fallback = seed % 2 == 1;
            same_as_one_unit(&model, seed, true);
            same_as_one_unit(&model, seed, false);
        }
    }
}

/* Spaces that end a text are dropped, also where a part ends between them. */
static void test_pieces__dropped_spaces_around_the_end_of_a_part(void **state)
{
    (void)state;
    static char text[80000];
    for (int type = TINY_UNIGRAM; type <= TINY_BPE; type++) {
        tiny_model model = model_of(type);
        model.collapsed = true;
        lw__tokenizer *tokenizer = tiny_open_model(&model);
        lw_error err = {.status = LW_OK};
        lw__encoder *encoder = NULL;
        lw__arena arena = {.ids = NULL};
        assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
        for (size_t words = 32760; words < 32776; words++) {
            memset(text, ' ', sizeof text);
            memset(text, 'b', words);
            arena.count = 0;
            assert_int_equal(lw__encoder_encode(encoder, text, sizeof text, &arena, &err), LW_OK);
            assert_int_equal(arena.count, words);
            assert_int_equal(arena.ids[words - 1], 6);
        }
        lw__arena_reset(&arena);
        lw__encoder_destroy(encoder);
        lw__tokenizer_close(tokenizer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces__merges_by_score_then_place),
        cmocka_unit_test(test_pieces__unknown_characters),
        cmocka_unit_test(test_pieces__an_escaped_space_that_is_no_piece),
        cmocka_unit_test(test_pieces__user_defined_pieces_are_whole),
        cmocka_unit_test(test_pieces__spaces),
        cmocka_unit_test(test_pieces__unigram_takes_the_best_sum),
        cmocka_unit_test(test_pieces__the_cache_changes_nothing),
        cmocka_unit_test(test_pieces__long_units),
        cmocka_unit_test(test_pieces__long_texts_are_as_one_unit),
        cmocka_unit_test(test_pieces__dropped_spaces_around_the_end_of_a_part),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
