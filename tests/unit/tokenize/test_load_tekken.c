/* SPDX-License-Identifier: Apache-2.0 */
/* tekken.json: ids behind the special tokens, ranks behind the end, special tokens, refusals. */
#include "tiny_vocabulary.h"

#define PATTERN                                                                                    \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*[\\\\p{Ll}\\\\"  \
    "p{Lm}\\\\p{Lo}\\\\p{M}]+|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}" \
    "\\\\p{M}]+[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+["       \
    "\\\\r\\\\n/]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define CONFIG(version, vocabulary, specials)                                                      \
    "{\"pattern\": \"" PATTERN                                                                     \
    "\", \"num_vocab_tokens\": 265, \"default_vocab_size\": " #vocabulary                          \
    ", \"default_num_special_tokens\": " #specials ", \"version\": \"" version "\"}"

/* A file of the tiny vocabulary; `more` are more fields, each with a comma before it. */
static const char *write_tekken(const char *config, const char *more)
{
    lw__bytes out;
    lw__bytes_init(&out);
    lw__bytes_printf(&out, "{\"config\": %s, \"vocab\": [", config);
    for (int id = 0; id < TINY_COUNT; id++) {
        char text[16] = {(char)id};
        size_t bytes = 1;
        if (id >= 256) {
            bytes = (size_t)snprintf(text, sizeof text, "%s%s", tiny_merges[id - 256].left,
                                     tiny_merges[id - 256].right);
        }
        lw__bytes_printf(&out, "%s{\"rank\": %d, \"token_bytes\": \"", id == 0 ? "" : ", ", id);
        tiny_put_base64(&out, text, bytes);
        lw__bytes_printf(&out, "\", \"token_str\": null}");
    }
    lw__bytes_printf(&out, "]%s}", more);
    return tiny_write_bytes("tekken.json", &out);
}

static void fails(const char *config, const char *more, lw_status status, const char *message)
{
    lw__tokenizer_options options = {.path = write_tekken(config, more)};
    tiny_open_fails(&options, status, message);
}

static void test_load_tekken__ids_stand_behind_the_special_tokens(void **state)
{
    (void)state;
    lw__tokenizer_options options = {
        .path = write_tekken(CONFIG("v3", 295, 30), ", \"image\": {\"a\": 1}"),
        .bos = "",
        .eos = "",
        .special_text = true};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), 295);
    tiny_encodes(tokenizer, "the[INST]aB12", 13, 1, TINY_THE + 30, 3, 'a' + 30, 'B' + 30, '1' + 30,
                 '2' + 30, 2, -1);
    assert_int_equal(lw__tokenizer_find(tokenizer, "<SPECIAL_29>", 12), 29);
    lw__tokenizer_close(tokenizer);
}

static void test_load_tekken__ranks_behind_the_end_do_not_count(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = write_tekken(CONFIG("v3", 277, 20), "")};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), 277);
    tiny_encodes(tokenizer, "the", 3, TINY_TH + 20, 'e' + 20, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_tekken__a_list_of_special_tokens(void **state)
{
    (void)state;
    static const char list[] =
        ", \"special_tokens\": [{\"rank\": 0, \"token_str\": \"<a>\", \"is_control\": true}, "
        "{\"rank\": 1, \"token_str\": \"<s>\", \"is_control\": true}]";
    lw__tokenizer_options options = {.path = write_tekken(CONFIG("v13", 268, 3), list), .bos = ""};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_bos(tokenizer), 1);
    assert_int_equal(lw__tokenizer_find(tokenizer, "<SPECIAL_2>", 11), 2);
    lw__tokenizer_close(tokenizer);
}

static void test_load_tekken__refusals(void **state)
{
    (void)state;
    fails("{}", "", LW_E_UNSUPPORTED, "config.pattern: missing, expected that of tekken");
    fails("{\"pattern\": \"x\"}", "", LW_E_UNSUPPORTED, "config.pattern: x, expected");
    fails(CONFIG("v11", 295, 30), "", LW_E_UNSUPPORTED, "special_tokens: missing, expected a list");
    fails(CONFIG("v3", 295, 30), ", \"x\": 1", LW_E_UNSUPPORTED, "field: x, expected");
    fails(CONFIG("v3", 295, 19), "", LW_E_CORRUPT,
          "19 special tokens of 295, expected 20 to 16384");
    fails(CONFIG("v3", 99999, 99998), "", LW_E_CORRUPT, "99998 special tokens of 99999, expected");
    fails(CONFIG("v3", 29, 30), "", LW_E_CORRUPT, "30 special tokens of 29, expected");
    fails(CONFIG("v3", 9999999, 30), "", LW_E_CORRUPT, "of 9999999, expected");
    fails(CONFIG("v3", 296, 30), "", LW_E_CORRUPT, "vocab: 265 tokens, expected 266");
    fails(CONFIG("v3", 285, 30), "", LW_E_UNSUPPORTED, "no token for byte 0xFF");
    fails(CONFIG("v3", 295, 30), ", \"special_tokens\": [{\"rank\": 1, \"token_str\": \"<a>\"}]",
          LW_E_CORRUPT, "special token 0: rank 1, expected 0");
    fails(CONFIG("v3", 295, 30), ", \"special_tokens\": [{\"rank\": 0}]", LW_E_CORRUPT,
          "special token 0: no token_str");
    fails(CONFIG("v3", 295, 30),
          ", \"special_tokens\": [{\"rank\": 0, \"token_str\": \"<a>\"}, {\"rank\": 1, "
          "\"token_str\": \"<a>\"}]",
          LW_E_CORRUPT, "special token 1: \"<a>\" is there twice");
    fails("[", "", LW_E_CORRUPT, "tekken.json\": byte ");
}

static void test_load_tekken__bad_tokens(void **state)
{
    (void)state;
    lw__tokenizer_options options = {
        .path = tiny_write_text("tekken.json", "{\"vocab\": [{\"rank\": 0, \"token_bytes\": "
                                               "\"A\"}], \"config\": " CONFIG("v3", 21, 20) "}")};
    tiny_open_fails(&options, LW_E_CORRUPT, "token 0: bad base64, expected a token");
    (void)tiny_write_text("tekken.json",
                          "{\"vocab\": [{\"rank\": 7}], \"config\": " CONFIG("v3", 21, 20) "}");
    tiny_open_fails(&options, LW_E_CORRUPT, "token 0: rank 7, expected 0");
    (void)tiny_write_text("tekken.json", "{\"vocab\": \"\xFF\"}");
    tiny_open_fails(&options, LW_E_CORRUPT, "byte 11: a byte that is not UTF-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_tekken__ids_stand_behind_the_special_tokens),
        cmocka_unit_test(test_load_tekken__ranks_behind_the_end_do_not_count),
        cmocka_unit_test(test_load_tekken__a_list_of_special_tokens),
        cmocka_unit_test(test_load_tekken__refusals),
        cmocka_unit_test(test_load_tekken__bad_tokens),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
