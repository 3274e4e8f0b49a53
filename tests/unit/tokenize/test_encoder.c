/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding whole texts: special text, odd bytes, long pieces, the cache. */
#include "base/alloc.h"
#include "tiny_vocabulary.h"

static lw__tokenizer *open_special(bool special_text, const char *bos, const char *eos)
{
    tiny_json json = {.added = "[{\"id\": 265, \"content\": \"<|endoftext|>\", \"special\": true},"
                               "{\"id\": 266, \"content\": \"<|end\", \"special\": true},"
                               "{\"id\": 267, \"content\": \"<tool>\", \"special\": false}]"};
    lw__tokenizer_options options = {.path = tiny_write_json("special.json", &json),
                                     .bos = bos,
                                     .eos = eos,
                                     .special_text = special_text};
    return tiny_open(&options);
}

static void test_encoder__special_text_on(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_special(true, NULL, NULL);
    tiny_encodes(tokenizer, "a<|endoftext|>b", 15, 'a', 265, 'b', -1);
    tiny_encodes(tokenizer, "<|endoftext|><|endoftext|>", 26, 265, 265, -1);
    tiny_encodes(tokenizer, "<|endx", 6, 266, 'x', -1);
    tiny_encodes(tokenizer, "<|en<|end", 9, '<', '|', 'e', 'n', 266, -1);
    tiny_encodes(tokenizer, "a<tool>", 7, 'a', 267, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_encoder__special_text_off(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_special(false, NULL, NULL);
    tiny_encodes(tokenizer, "a<|endoftext|>b", 15, 'a', '<', '|', 'e', 'n', 'd', 'o', 'f', 't', 'e',
                 'x', 't', '|', '>', 'b', -1);
    tiny_encodes(tokenizer, "a<tool>", 7, 'a', 267, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_encoder__bos_and_eos_enclose_every_text(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_special(false, "<tool>", "");
    tiny_encodes(tokenizer, "the", 3, 267, TINY_THE, 265, -1);
    tiny_encodes(tokenizer, "", 0, 267, 265, -1);
    tiny_encodes(tokenizer, NULL, 0, 267, 265, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_encoder__nul_bytes_are_text(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_special(true, NULL, NULL);
    tiny_encodes(tokenizer, "a\0b", 3, 'a', 0, 'b', -1);
    tiny_encodes(tokenizer, "\0", 1, 0, -1);
    tiny_encodes(tokenizer, "\0\0", 2, 0, 0, -1);
    tiny_encodes(tokenizer, "\0\0\0", 3, 0, 0, 0, -1);
    lw__tokenizer_close(tokenizer);
}

/* More ids than a cache has room for, of pieces that it still knows when they come again. */
static void test_encoder__ids_that_were_overwritten_are_made_again(void **state)
{
    (void)state;

    enum { WORDS = 100000, LETTERS = 10, BYTES = WORDS * (LETTERS + 1) };

    static const char letters[] = "cdfgijklmn"; /* none of them merges */
    lw__tokenizer *tokenizer = open_special(true, NULL, NULL);
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    char *text = malloc(BYTES);
    assert_non_null(text);
    for (size_t i = 0; i < WORDS; i++) {
        size_t number = i;
        text[i * (LETTERS + 1)] = ' ';
        for (size_t j = 1; j <= LETTERS; j++, number /= 10) {
            text[i * (LETTERS + 1) + j] = letters[number % 10];
        }
    }
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, NULL), LW_OK);
    for (int pass = 0; pass < 3; pass++) {
        arena.count = 0;
        assert_int_equal(lw__encoder_encode(encoder, text, BYTES, &arena, NULL), LW_OK);
        assert_int_equal(arena.count, BYTES);
        for (size_t i = 0; i < BYTES; i++) {
            assert_int_equal(arena.ids[i], text[i]);
        }
    }
    free(text);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
}

static void test_encoder__long_runs(void **state)
{
    (void)state;

    enum { BYTES = 1000000 };

    static const char units[] = "a \n^";
    lw__tokenizer *tokenizer = open_special(true, NULL, NULL);
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    char *text = malloc(BYTES);
    assert_non_null(text);
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, NULL), LW_OK);
    size_t expected[] = {BYTES / 4, BYTES / 2, BYTES / 2, BYTES};
    for (size_t i = 0; i < 4; i++) {
        arena.count = 0;
        memset(text, units[i], BYTES);
        assert_int_equal(lw__encoder_encode(encoder, text, BYTES, &arena, NULL), LW_OK);
        assert_int_equal(arena.count, expected[i]);
    }
    free(text);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
}

/* Texts of 1 to 40 bytes, encoded twice by one encoder and once by a fresh one with other tables. */
static void test_encoder__the_cache_changes_nothing(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_special(true, NULL, NULL);
    lw__encoder *warm = NULL;
    lw__arena arenas[3] = {{.ids = NULL}};
    assert_int_equal(lw__encoder_create(tokenizer, &warm, NULL), LW_OK);
    uint64_t random = 7;
    for (int round = 0; round < 3000; round++) {
        static const char letters[] = "atheb12 \n";
        char text[40];
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t bytes = 1 + (size_t)(random >> 33) % 40;
        for (size_t i = 0; i < bytes; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            text[i] = letters[(random >> 33) % (sizeof letters - 1)];
        }
        lw__encoder *cold = warm;
        if (round % 50 == 0) {
            assert_int_equal(
                lw__encoder_create_within(tokenizer, LW__ENCODER_LEAST_BYTES, &cold, NULL), LW_OK);
        }
        lw__encoder *encoders[3] = {warm, warm, cold};
        for (size_t i = 0; i < 3; i++) {
            arenas[i].count = 0;
            assert_int_equal(lw__encoder_encode(encoders[i], text, bytes, &arenas[i], NULL), LW_OK);
            assert_int_equal(arenas[i].count, arenas[0].count);
            assert_memory_equal(arenas[i].ids, arenas[0].ids, arenas[0].count * sizeof(int32_t));
        }
        if (cold != warm) {
            lw__encoder_destroy(cold);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        lw__arena_reset(&arenas[i]);
    }
    lw__encoder_destroy(warm);
    lw__tokenizer_close(tokenizer);
}

static void test_encoder__ids_are_appended(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_special(false, NULL, "");
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, NULL), LW_OK);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(lw__encoder_encode(encoder, "the", 3, &arena, NULL), LW_OK);
    }
    assert_int_equal(arena.count, 2000);
    assert_int_equal(arena.ids[1998], TINY_THE);
    assert_int_equal(arena.ids[1999], 265);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__encoder_destroy(NULL);
    lw__tokenizer_close(tokenizer);
}

static void test_encoder__a_failure_appends_nothing(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_special(false, NULL, "");
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    char text[100];
    memset(text, 'a', sizeof text);
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, NULL), LW_OK);
    assert_int_equal(lw__encoder_encode(encoder, "the", 3, &arena, NULL), LW_OK);
    lw__alloc_fail_after(1);
    assert_int_equal(lw__encoder_encode(encoder, text, sizeof text, &arena, NULL), LW_E_NOMEM);
    lw__alloc_fail_after(0);
    assert_int_equal(arena.count, 2);
    assert_int_equal(lw__encoder_encode(encoder, text, sizeof text, &arena, NULL), LW_OK);
    assert_int_equal(arena.count, 2 + 25 + 1);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encoder__special_text_on),
        cmocka_unit_test(test_encoder__special_text_off),
        cmocka_unit_test(test_encoder__bos_and_eos_enclose_every_text),
        cmocka_unit_test(test_encoder__nul_bytes_are_text),
        cmocka_unit_test(test_encoder__ids_that_were_overwritten_are_made_again),
        cmocka_unit_test(test_encoder__long_runs),
        cmocka_unit_test(test_encoder__the_cache_changes_nothing),
        cmocka_unit_test(test_encoder__ids_are_appended),
        cmocka_unit_test(test_encoder__a_failure_appends_nothing),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
