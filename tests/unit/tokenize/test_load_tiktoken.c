/* SPDX-License-Identifier: Apache-2.0 */
/* .tiktoken files: names, patterns, special tokens, unreachable tokens, broken lines. */
#include "tiny_vocabulary.h"

static void test_load_tiktoken__a_pattern_is_needed(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_write_tiktoken("tiny.tiktoken")};
    tiny_open_fails(&options, LW_E_INVALID, "tiny.tiktoken\": no pattern, expected");
    options.pattern = "o300k";
    tiny_open_fails(&options, LW_E_INVALID, "pattern \"o300k\", expected gpt2, cl100k, o200k");
    options.pattern = "gpt2";
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), TINY_COUNT);
    tiny_encodes(tokenizer, "the the", 7, TINY_THE, TINY_SPACE_THE, -1);
    lw__tokenizer_close(tokenizer);
}

/* What a regex does not match is dropped. */
static void test_load_tiktoken__a_pattern_that_is_a_regex(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_write_tiktoken("own.tiktoken"),
                                     .pattern = "\\p{L}{1,2}+|\\d"};
    lw__tokenizer *tokenizer = tiny_open(&options);
    tiny_encodes(tokenizer, "the, 12", 7, TINY_TH, 'e', '1', '2', -1);
    lw__tokenizer_close(tokenizer);
    options.pattern = "(a)\\1";
    tiny_open_fails(&options, LW_E_UNSUPPORTED, "pattern \"(a)\\1\", expected a regex with no");
    options.pattern = "\xFF+";
    tiny_open_fails(&options, LW_E_INVALID, "a pattern that is not UTF-8");
}

static void test_load_tiktoken__published_names_bring_pattern_and_specials(void **state)
{
    (void)state;
    lw__tokenizer_options options = {
        .path = tiny_write_tiktoken("cl100k_base.tiktoken"), .eos = "", .special_text = true};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_eos(tokenizer), 100257);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), 100277);
    tiny_encodes(tokenizer, "<|fim_middle|>", 14, 100259, 100257, -1);
    lw__tokenizer_close(tokenizer);
    options.pattern = "gpt2";
    tiny_open_fails(&options, LW_E_INVALID, "pattern \"gpt2\", expected \"cl100k\"");

    options = (lw__tokenizer_options){.path = tiny_write_tiktoken("r50k_base.tiktoken"), .bos = ""};
    tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_bos(tokenizer), 50256);
    lw__tokenizer_close(tokenizer);
}

static void check_known(const char *file, const char *pattern, const char *special, int32_t id,
                        int32_t vocabulary)
{
    lw__tokenizer_options options = {
        .path = tiny_write_tiktoken(file), .pattern = pattern, .bos = special};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_bos(tokenizer), id);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), vocabulary);
    lw__tokenizer_close(tokenizer);
}

/* Special tokens whose ids are not fixed stand behind the ranks, of which the tiny file has few. */
static void test_load_tiktoken__models_known_by_file_or_pattern(void **state)
{
    (void)state;
    const int32_t next = TINY_COUNT;
    check_known("o200k_base.tiktoken", NULL, "<|endofprompt|>", 200018, 200019);
    check_known("o200k_harmony.tiktoken", NULL, "<|call|>", 200012, 201088);
    check_known("o200k_harmony.tiktoken", "o200k", "<|reserved_201087|>", 201087, 201088);
    check_known("llama3.tokenizer.model", NULL, "<|begin_of_text|>", next, next + 256);
    check_known("tokenizer.model", "llama3", "<|reserved_special_token_245|>", next + 255,
                next + 256);
    check_known("tokenizer.model", "llama3", "", next, next + 256);
    check_known("llama4.tokenizer.model", NULL, "<|patch|>", next + 92, next + 2048);
    check_known("tokenizer.model", "llama4", "<|reasoning_thinking_end|>", next + 1143,
                next + 2048);
    check_known("qwen.tiktoken", NULL, "<|extra_204|>", next + 207, next + 208);
    check_known("my.tiktoken", "qwen3_6", "<|audio_pad|>", next + 32, next + 33);
    check_known("my.tiktoken", "o200k", NULL, -1, next);
}

static void test_load_tiktoken__a_model_file_needs_a_pattern(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_write_tiktoken("tokenizer.model")};
    tiny_open_fails(&options, LW_E_INVALID, "no pattern, expected tokenizer.pattern to be gpt2");
}

/* "xyz" is a token, and neither "xy" nor "yz" is: only the whole piece gives it. */
static void test_load_tiktoken__a_token_that_merges_do_not_reach(void **state)
{
    (void)state;
    lw__bytes file;
    lw__bytes_init(&file);
    for (int byte = 0; byte < 256; byte++) {
        char text = (char)byte;
        tiny_put_base64(&file, &text, 1);
        lw__bytes_printf(&file, " %d\n", byte);
    }
    lw__bytes_printf(&file, "eHl6 256\nYWI= 257\nYmM= 258\nYWJjZA== 259\r\n\n");
    lw__tokenizer_options options = {.path = tiny_write_bytes("far.tiktoken", &file),
                                     .pattern = "gpt2"};
    lw__tokenizer *tokenizer = tiny_open(&options);
    tiny_encodes(tokenizer, "xyz xyz", 7, 256, ' ', 'x', 'y', 'z', -1);
    tiny_encodes(tokenizer, "abcd", 4, 259, -1);
    tiny_encodes(tokenizer, "abcde", 5, 257, 'c', 'd', 'e', -1);
    lw__tokenizer_close(tokenizer);
}

/* The wide rule: "abc" merges from a + bc as well as from ab + c. */
static void test_load_tiktoken__every_split_of_a_token_merges(void **state)
{
    (void)state;
    lw__bytes file;
    lw__bytes_init(&file);
    for (int byte = 0; byte < 256; byte++) {
        char text = (char)byte;
        tiny_put_base64(&file, &text, 1);
        lw__bytes_printf(&file, " %d\n", byte);
    }
    /* bc, xyz (not reached), ab, abc */
    lw__bytes_printf(&file, "YmM= 256\neHl6 257\nYWI= 258\nYWJj 259\n");
    lw__tokenizer_options options = {.path = tiny_write_bytes("wide.tiktoken", &file),
                                     .pattern = "gpt2"};
    lw__tokenizer *tokenizer = tiny_open(&options);
    tiny_encodes(tokenizer, "abcx", 4, 259, 'x', -1);
    tiny_encodes(tokenizer, "aabb", 4, 'a', 258, 'b', -1);
    lw__tokenizer_close(tokenizer);
}

static void fails(const char *text, lw_status status, const char *message)
{
    lw__tokenizer_options options = {.path = tiny_write_text("bad.tiktoken", text),
                                     .pattern = "gpt2"};
    tiny_open_fails(&options, status, message);
}

static void test_load_tiktoken__broken_lines(void **state)
{
    (void)state;
    fails("IQ==\n", LW_E_CORRUPT, "bad.tiktoken\": line 1: no space, expected a token");
    fails("IQ== 0\nI! 1\n", LW_E_CORRUPT, "line 2: bad base64");
    fails("IQ= 0\n", LW_E_CORRUPT, "line 1: bad base64");
    fails("=Q== 0\n", LW_E_CORRUPT, "line 1: bad base64");
    fails(" 0\n", LW_E_CORRUPT, "line 1: bad base64");
    fails("IQ== x\n", LW_E_CORRUPT, "line 1: rank \"x\", expected a number");
    fails("IQ== \n", LW_E_CORRUPT, "rank \"\", expected a number");
    fails("IQ== -1\n", LW_E_CORRUPT, "rank \"-1\"");
    fails("IQ== 99999999999999999999\n", LW_E_CORRUPT, "line 1: rank");
    fails("IQ== 4194304\n", LW_E_CORRUPT, "has id 4194304, expected 0 to 4194303");
    fails("IQ== 0\nIg== 0\n", LW_E_CORRUPT, "line 2: id 0 is given to \"!\" and \"\"\"");
    fails("IQ== 0\nIQ== 1\n", LW_E_CORRUPT, "line 2: token \"!\" is there twice");
    fails("IQ== 0\n", LW_E_UNSUPPORTED, "no token for byte 0x00");
    fails("", LW_E_UNSUPPORTED, "no token for byte 0x00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_tiktoken__a_pattern_is_needed),
        cmocka_unit_test(test_load_tiktoken__a_pattern_that_is_a_regex),
        cmocka_unit_test(test_load_tiktoken__published_names_bring_pattern_and_specials),
        cmocka_unit_test(test_load_tiktoken__models_known_by_file_or_pattern),
        cmocka_unit_test(test_load_tiktoken__a_model_file_needs_a_pattern),
        cmocka_unit_test(test_load_tiktoken__a_token_that_merges_do_not_reach),
        cmocka_unit_test(test_load_tiktoken__every_split_of_a_token_merges),
        cmocka_unit_test(test_load_tiktoken__broken_lines),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
