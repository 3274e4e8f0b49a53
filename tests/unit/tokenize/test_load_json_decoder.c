/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of a tokenizer.json: what is undone, and what keeps a file from decoding only. */
#include "tiny_vocabulary.h"

#define REPLACE                                                                                    \
    "{\"type\": \"Replace\", \"pattern\": {\"String\": \"\\u2581\"}, \"content\": \" \"}"
#define FALLBACK     "{\"type\": \"ByteFallback\"}"
#define FUSE         "{\"type\": \"Fuse\"}"
#define STRIP        "{\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": 0}"
#define METASPACE    "{\"type\": \"Metaspace\", \"replacement\": \"\\u2581\", \"prepend_scheme\": "
#define CHAIN(steps) "{\"type\": \"Sequence\", \"decoders\": [" steps "]}"

enum { SPACE, A, SPACE_A, UNKNOWN };

static lw__tokenizer *open_pieces(const char *decoder)
{
    lw__bytes out;
    lw__bytes_init(&out);
    lw__bytes_printf(&out,
                     "{\"version\": \"1.0\", \"pre_tokenizer\": null, \"normalizer\": {\"type\": "
                     "\"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"\\u2581\"}, "
                     "\"decoder\": %s, \"model\": {\"type\": \"BPE\", \"unk_token\": \"<unk>\", "
                     "\"vocab\": {\"\\u2581\": 0, \"a\": 1, \"\\u2581a\": 2, \"<unk>\": 3, "
                     "\"<0x41>\": 4}, \"merges\": [\"\\u2581 a\"]}}",
                     decoder);
    lw__tokenizer_options options = {.path = tiny_write_bytes("pieces.json", &out)};
    return tiny_open(&options);
}

static lw_status decode(const lw__tokenizer *tokenizer, char *text, size_t capacity, lw_error *err)
{
    static const int32_t ids[] = {SPACE, SPACE_A, A, 4, SPACE_A};
    lw__decoded out = {.data = text, .capacity = capacity - 1};
    lw_status status =
        lw__tokenizer_decode(tokenizer, ids, sizeof ids / sizeof ids[0], false, &out, err);
    assert_true(out.bytes < capacity);
    text[out.bytes] = '\0';
    return status;
}

static void test_load_json_decoder__chains(void **state)
{
    (void)state;

    static const struct {
        const char *decoder;
        const char *text;
    } cases[] = {
        {CHAIN(REPLACE "," FALLBACK "," FUSE "," STRIP), " aaA a"},
        {CHAIN(REPLACE "," FALLBACK "," FUSE), "  aaA a"},
        {CHAIN(REPLACE "," FUSE), "  aa<0x41> a"},
        {REPLACE, "  aa<0x41> a"},
        {FUSE, "\xE2\x96\x81\xE2\x96\x81"
               "aa<0x41>\xE2\x96\x81"
               "a"},
        {METASPACE "\"always\", \"split\": true}", " aa<0x41> a"},
        {METASPACE "\"first\"}", " aa<0x41> a"},
        {METASPACE "\"never\"}", "  aa<0x41> a"},
        {METASPACE "\"always\", \"add_prefix_space\": false}", "  aa<0x41> a"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        lw_error err = {.status = LW_OK};
        lw__tokenizer *tokenizer = open_pieces(cases[i].decoder);
        assert_int_equal(decode(tokenizer, text, sizeof text, &err), LW_OK);
        assert_string_equal(text, cases[i].text);
        lw__tokenizer_close(tokenizer);
    }
}

static void test_load_json_decoder__unknown_ones_do_not_decode(void **state)
{
    (void)state;

    static const struct {
        const char *decoder;
        const char *name;
    } cases[] = {
        {"null", "null"},
        {"3", "nothing"},
        {"{\"type\": \"WordPiece\", \"prefix\": \"##\", \"cleanup\": true}", "WordPiece"},
        {"{\"type\": \"ByteLevel\"}", "ByteLevel"},
        {CHAIN(FUSE "," REPLACE), "Replace"},
        {CHAIN(REPLACE "," STRIP), "Strip"},
        {CHAIN(FUSE ",{\"type\": \"Strip\", \"content\": \" \", \"start\": 2}"), "Strip"},
        {CHAIN("{\"type\": \"Sequence\", \"decoders\": []}"), "Sequence"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        char expected[128];
        lw_error err = {.status = LW_OK};
        lw__tokenizer *tokenizer = open_pieces(cases[i].decoder);
        assert_int_equal(decode(tokenizer, text, sizeof text, &err), LW_E_UNSUPPORTED);
        (void)snprintf(expected, sizeof expected,
                       "tokenizer: decoder: %s, expected one that docs/tokenizers.md lists",
                       cases[i].name);
        assert_string_equal(err.message, expected);
        lw__tokenizer_close(tokenizer);
    }
}

static void test_load_json_decoder__of_a_byte_level_vocabulary(void **state)
{
    (void)state;

    static const struct {
        const char *decoder;
        lw_status status;
    } cases[] = {{"\"decoder\": null,", LW_OK},
                 {"\"decoder\": {\"type\": \"ByteLevel\", \"trim_offsets\": true},", LW_OK},
                 {"\"decoder\": " FUSE ",", LW_E_UNSUPPORTED}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lw_error err = {.status = LW_OK};
        lw__decoded out = {.capacity = 0};
        tiny_json json = {.top = cases[i].decoder};
        lw__tokenizer_options options = {.path = tiny_write_json("bytes.json", &json)};
        lw__tokenizer *tokenizer = tiny_open(&options);
        assert_int_equal(
            lw__tokenizer_decode(tokenizer, (const int32_t[]){TINY_THE}, 1, false, &out, &err),
            cases[i].status);
        lw__tokenizer_close(tokenizer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_json_decoder__chains),
        cmocka_unit_test(test_load_json_decoder__unknown_ones_do_not_decode),
        cmocka_unit_test(test_load_json_decoder__of_a_byte_level_vocabulary),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
