/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are cut or made to harm: each is refused with one line that names the file, or opens
 * and encodes. Under ASan and UBSan this also says that nothing outside of a buffer is touched.
 */
#include "tiny_pieces.h"

enum { EDGE = 100, STRIDE = 17, ADDED = 16385 };

static void encodes_something(const lw__tokenizer *tokenizer)
{
    static const char text[] = "the aaaab 12\n\n\xC3\xA9 <s>";
    lw_error err = {.status = LW_OK};
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
    assert_int_equal(lw__encoder_encode(encoder, text, sizeof text - 1, &arena, &err), LW_OK);
    assert_true(arena.count > 0);
    for (size_t i = 0; i < arena.count; i++) {
        assert_true(lw__tokenizer_has(tokenizer, arena.ids[i]));
    }
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
}

/* Whether it opened. */
static bool opens_or_is_refused(const lw__tokenizer_options *options)
{
    lw_error err = {.status = LW_OK};
    lw__tokenizer *tokenizer = NULL;
    lw_status status = lw__tokenizer_open(options, &tokenizer, &err);
    if (status == LW_OK) {
        encodes_something(tokenizer);
        lw__tokenizer_close(tokenizer);
        return true;
    }
    assert_true(status == LW_E_CORRUPT || status == LW_E_UNSUPPORTED || status == LW_E_INVALID);
    assert_null(tokenizer);
    assert_null(strchr(err.message, '\n'));
    assert_int_equal(strncmp(err.message, "tokenizer: \"", 12), 0);
    return false;
}

static lw__bytes read_all(const char *path)
{
    lw__bytes out;
    lw__bytes_init(&out);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (int byte = getc(file); byte != EOF; byte = getc(file)) {
        lw__bytes_put_u8(&out, (uint8_t)byte);
    }
    assert_int_equal(fclose(file), 0);
    return out;
}

/* Cuts a file short, everywhere near its ends and every few bytes between; how often it opened. */
static size_t cut(const char *path, const lw__tokenizer_options *options)
{
    size_t opened = 0;
    const char *slash = strrchr(path, '/');
    lw__bytes whole = read_all(path);
    for (size_t bytes = 0; bytes < whole.count;) {
        (void)tiny_write(slash + 1, whole.data, bytes);
        opened += opens_or_is_refused(options);
        bool is_edge = bytes < EDGE || bytes + STRIDE + EDGE > whole.count;
        bytes += is_edge ? 1 : STRIDE;
    }
    (void)tiny_write(slash + 1, whole.data, whole.count);
    assert_true(opens_or_is_refused(options));
    lw__bytes_reset(&whole);
    return opened;
}

static void test_hostile__files_that_are_cut(void **state)
{
    (void)state;
    static const tiny_piece pieces[] = {
        {"<unk>", 0, LW__PIECE_UNKNOWN}, {"_", -1, LW__PIECE_NORMAL}, {"_a", -2, LW__PIECE_NORMAL}};
    tiny_json json = {.added = "[{\"id\": 265, \"content\": \"<s>\", \"special\": true}]"};
    tiny_model model = {.pieces = pieces, .count = 3, .type = TINY_BPE, .byte_fallback = true};
    lw__tokenizer_options hf = {.path = tiny_write_json("cut.json", &json)};
    lw__tokenizer_options ranks = {.path = tiny_write_tiktoken("cut.tiktoken"), .pattern = "gpt2"};
    lw__tokenizer_options scored = {.path = tiny_write_model("cut.model", &model)};
    lw__tokenizer_options merges = {.path = tiny_write_bpe("vocab.bpe", "encoder.json")};
    char vocabulary[300];
    (void)snprintf(vocabulary, sizeof vocabulary, "%s/encoder.json", tiny_folder);
    assert_int_equal(cut(hf.path, &hf), 1); /* the newline at its end */
    assert_true(cut(ranks.path, &ranks) > 0);
    assert_int_equal(cut(scored.path, &scored), 0);
    assert_true(cut(merges.path, &merges) > 0);
    assert_int_equal(cut(vocabulary, &merges), 0);
}

static void test_hostile__flipped_bytes(void **state)
{
    (void)state;
    static const unsigned char flips[] = {0x01, 0x80, 0xFF};
    static const tiny_piece pieces[] = {
        {"<unk>", 0, LW__PIECE_UNKNOWN}, {"_", -1, LW__PIECE_NORMAL}, {"_a", -2, LW__PIECE_NORMAL}};
    tiny_model model = {.pieces = pieces, .count = 3, .type = TINY_UNIGRAM, .byte_fallback = true};
    lw__tokenizer_options options = {.path = tiny_write_model("flip.model", &model)};
    lw__bytes whole = read_all(options.path);
    for (size_t at = 0; at < whole.count; at += at < EDGE || at + EDGE > whole.count ? 1 : STRIDE) {
        for (size_t i = 0; i < sizeof flips; i++) {
            whole.data[at] ^= flips[i];
            (void)tiny_write("flip.model", whole.data, whole.count);
            (void)opens_or_is_refused(&options);
            whole.data[at] ^= flips[i];
        }
    }
    (void)tiny_write("flip.model", whole.data, whole.count);
    assert_true(opens_or_is_refused(&options));
    lw__bytes_reset(&whole);
}

static void test_hostile__varints_and_lengths(void **state)
{
    (void)state;
    static const char *const bytes[] = {
        "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", /* a tag without an end */
        "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",     /* a piece of 2^64 - 1 bytes */
        "\x0A\x80\x80\x80\x80\x08",                         /* of 2 GiB */
        "\x0B",                                             /* a group */
        "\x02\x01",                                         /* field 0 */
    };
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        lw__tokenizer_options options = {
            .path = tiny_write("varint.model", bytes[i], strlen(bytes[i]))};
        tiny_open_fails(&options, LW_E_CORRUPT, "expected a SentencePiece model");
    }
}

static void test_hostile__deep_nesting(void **state)
{
    (void)state;
    static const char *const before[] = {
        "{\"version\": ", "{\"decoder\": ", "{\"normalizer\": ", "{\"model\": "};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        lw__bytes out;
        lw__bytes_init(&out);
        lw__bytes_printf(&out, "%s", before[i]);
        for (size_t depth = 0; depth < 100000; depth++) {
            lw__bytes_printf(&out, "{\"normalizers\":[");
        }
        lw__tokenizer_options options = {.path = tiny_write_bytes("deep.json", &out)};
        assert_false(opens_or_is_refused(&options));
    }
}

static void test_hostile__numbers_that_are_too_large(void **state)
{
    (void)state;
    tiny_json json = {.added = "[{\"id\": 4194304, \"content\": \"<s>\"}]"};
    lw__tokenizer_options options = {.path = tiny_write_json("large.json", &json)};
    tiny_open_fails(&options, LW_E_CORRUPT, "\"<s>\" has id 4194304, expected 265");
    options.path = tiny_write_text("large.tiktoken", "IQ== 4194304\n");
    options.pattern = "gpt2";
    tiny_open_fails(&options, LW_E_CORRUPT, "id 4194304, expected 0 to 4194303");
    options.path = tiny_write_text("large.tiktoken", "IQ== 99999999999999999999999\n");
    assert_false(opens_or_is_refused(&options));
    options.path = tiny_write_text("large.tiktoken", "I!== 0\n");
    assert_false(opens_or_is_refused(&options));
}

static void test_hostile__more_added_tokens_than_can_be_looked_for(void **state)
{
    (void)state;
    lw__bytes out;
    lw__bytes_init(&out);
    for (int i = 0; i < ADDED; i++) {
        lw__bytes_printf(&out, "%s{\"id\": %d, \"content\": \"<%d>\"}", i == 0 ? "[" : ",",
                         TINY_COUNT + i, i);
    }
    lw__bytes_printf(&out, "]%c", '\0');
    tiny_json json = {.added = (const char *)out.data};
    lw__tokenizer_options options = {.path = tiny_write_json("many.json", &json)};
    tiny_open_fails(&options, LW_E_UNSUPPORTED, "added_tokens: more than 16384, expected fewer");
    lw__bytes_reset(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile__files_that_are_cut),
        cmocka_unit_test(test_hostile__flipped_bytes),
        cmocka_unit_test(test_hostile__varints_and_lengths),
        cmocka_unit_test(test_hostile__deep_nesting),
        cmocka_unit_test(test_hostile__numbers_that_are_too_large),
        cmocka_unit_test(test_hostile__more_added_tokens_than_can_be_looked_for),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
