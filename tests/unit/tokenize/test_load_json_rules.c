/* SPDX-License-Identifier: Apache-2.0 */
/* The pre_tokenizers of the further families: each is told by the pieces that it gives. */
#include "tiny_vocabulary.h"

#define BYTE_LEVEL                                                                                 \
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, "              \
    "\"use_regex\": false}"
#define SPLIT(regex)                                                                               \
    "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"" regex "\"}, \"behavior\": \"Isolated\", "  \
    "\"invert\": false}"
#define SEQUENCE(parts) "{\"type\": \"Sequence\", \"pretokenizers\": [" parts "]}"
#define PREFIX          "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?"
#define UPPER           "[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"
#define LOWER           "[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"
#define SHORT           "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES          "|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define SLASHED         "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*"
#define O200K                                                                                      \
    PREFIX UPPER "*" LOWER "+" SHORT "?|" PREFIX UPPER "+" LOWER "*" SHORT                         \
                 "?|\\\\p{N}{1,3}" SLASHED SPACES
#define TEKKEN PREFIX UPPER "*" LOWER "+|" PREFIX UPPER "+" LOWER "*|\\\\p{N}" SLASHED SPACES
#define QWEN3_6                                                                                    \
    SHORT "|" PREFIX                                                                               \
          "[\\\\p{L}\\\\p{M}]+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{M}\\\\p{N}]+[\\\\r\\\\n]*" SPACES
#define DEEPSEEK_1 "\\\\p{N}{1,3}"
#define DEEPSEEK_2 "[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+"
#define DEEPSEEK_3                                                                                 \
    "[!\\\"#$%&'()*+,\\\\-./:;<=>?@\\\\[\\\\\\\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\\\p{L}\\\\p{P}"   \
    "\\\\p{S}]?[\\\\p{L}\\\\p{M}]+| ?[\\\\p{P}\\\\p{S}]+[\\r\\n]*|\\\\s*[\\r\\n]+|\\\\s+(?!\\\\"   \
    "S)|\\\\s+"

static void encodes(const char *pre_tokenizer, const char *text, size_t bytes, int32_t first,
                    int32_t second)
{
    tiny_json json = {.pre_tokenizer = pre_tokenizer};
    lw__tokenizer_options options = {.path = tiny_write_json("rules.json", &json)};
    lw__tokenizer *tokenizer = tiny_open(&options);
    tiny_encodes(tokenizer, text, bytes, first, second, -1);
    lw__tokenizer_close(tokenizer);
}

static void fails(const char *pre_tokenizer, const char *message)
{
    tiny_json json = {.pre_tokenizer = pre_tokenizer};
    lw__tokenizer_options options = {.path = tiny_write_json("bad.json", &json)};
    tiny_open_fails(&options, LW_E_UNSUPPORTED, message);
}

static void test_load_json_rules__further_patterns(void **state)
{
    (void)state;
    encodes(SEQUENCE(SPLIT(O200K) ", " BYTE_LEVEL), "12\n", 3, TINY_12, '\n');
    encodes(SEQUENCE(SPLIT(TEKKEN) ", " BYTE_LEVEL), "12", 2, '1', '2');
    encodes(SEQUENCE(SPLIT(QWEN3_6) ", " BYTE_LEVEL), "12", 2, '1', '2');
    encodes(
        SEQUENCE(SPLIT(DEEPSEEK_1) ", " SPLIT(DEEPSEEK_2) ", " SPLIT(DEEPSEEK_3) ", " BYTE_LEVEL),
        "  12", 4, TINY_SPACES, TINY_12);
}

/* One Split of DeepSeek alone, or in another order, is no family but steps. */
static void test_load_json_rules__the_splits_of_deepseek_go_together(void **state)
{
    (void)state;
    encodes(SEQUENCE(SPLIT(DEEPSEEK_3) ", " BYTE_LEVEL), "12", 2, TINY_12, -1);
    fails(
        SEQUENCE(SPLIT(DEEPSEEK_1) ", " SPLIT(DEEPSEEK_2) ", " SPLIT(DEEPSEEK_3) ", " SPLIT(O200K)),
        "pre_tokenizer: Split, expected ByteLevel");
}

static void test_load_json_rules__a_sequence_of_no_normalizers(void **state)
{
    (void)state;
    tiny_json json = {.top = "\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": []}, "};
    lw__tokenizer_options options = {.path = tiny_write_json("none.json", &json)};
    lw__tokenizer_close(tiny_open(&options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_json_rules__further_patterns),
        cmocka_unit_test(test_load_json_rules__the_splits_of_deepseek_go_together),
        cmocka_unit_test(test_load_json_rules__a_sequence_of_no_normalizers),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
