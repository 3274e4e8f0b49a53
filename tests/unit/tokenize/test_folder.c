/* SPDX-License-Identifier: Apache-2.0 */
/* Which file of a folder is opened. */
#include "tiny_vocabulary.h"

static void check(const char *pattern, int32_t vocabulary)
{
    lw__tokenizer_options options = {.path = tiny_folder, .pattern = pattern};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), vocabulary);
    lw__tokenizer_close(tokenizer);
}

/* From the last of the list to the first, as files are added. */
static void test_folder__the_first_kind_of_the_list_counts(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_folder};
    tiny_open_fails(&options, LW_E_NOT_FOUND, "a folder without a tokenizer, expected");
    (void)tiny_write_text("config.json", "{}");
    tiny_open_fails(&options, LW_E_NOT_FOUND, "a folder without a tokenizer, expected");
    (void)tiny_write_bpe("merges.txt", "vocab.json");
    check(NULL, TINY_COUNT);
    (void)tiny_write_tiktoken("tokenizer.model");
    check("llama3", TINY_COUNT + 256);
    (void)tiny_write_tiktoken("qwen.tiktoken");
    check(NULL, TINY_COUNT + 208);
    tiny_json json = {.added = "[{\"id\": 265, \"content\": \"<x>\", \"special\": true}]"};
    (void)tiny_write_json("tokenizer.json", &json);
    check(NULL, TINY_COUNT + 1);
}

static void test_folder__messages_name_the_file(void **state)
{
    (void)state;
    (void)tiny_write_text("tokenizer.json", "[");
    char path[256];
    (void)snprintf(path, sizeof path, "%s/", tiny_folder);
    lw__tokenizer_options options = {.path = path};
    tiny_open_fails(&options, LW_E_CORRUPT, "/tokenizer.json\": byte ");
}

static void test_folder__two_alike_are_refused(void **state)
{
    (void)state;
    (void)unlink(tiny_write_text("tokenizer.json", ""));
    (void)tiny_write_tiktoken("a.tiktoken");
    (void)tiny_write_tiktoken("b.tiktoken");
    lw__tokenizer_options options = {.path = tiny_folder};
    tiny_open_fails(&options, LW_E_INVALID, "files *.tiktoken, expected one; name the file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folder__the_first_kind_of_the_list_counts),
        cmocka_unit_test(test_folder__messages_name_the_file),
        cmocka_unit_test(test_folder__two_alike_are_refused),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
