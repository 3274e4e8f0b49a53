/* SPDX-License-Identifier: Apache-2.0 */
/* Which texts are values of which options, and the message for those that are not. */
#include "recipe_testing.h"

#define SET   "recipe: set "
#define WHOLE "expected a whole number from "

/* Sets the option in a small recipe and gives its settings; one recipe a call, closed by the next. */
static const lw__settings *with(const char *key, const char *value)
{
    static lw_recipe *recipe;
    lw_recipe_close(recipe);
    recipe = NULL;
    if (key == NULL) {
        return NULL;
    }
    recipe = parsed(SMALL);
    set_option(recipe, key, value);
    return settings_of(recipe);
}

static void refused(const char *key, const char *value, const char *message)
{
    char line[512];
    lw_recipe *recipe = parsed(SMALL);
    snprintf(line, sizeof(line), SET "\"%s\": %s %s", key, key, message);
    set_fails(recipe, key, value, LW_E_INVALID, line);
    lw_recipe_close(recipe);
}

static void test_value__whole_numbers_are_plain_decimal_digits(void **state)
{
    (void)state;
    assert_int_equal(with("seed", "0")->seed, 0);
    assert_true(with("seed", "18446744073709551615")->seed == UINT64_MAX);
    refused("seed", "18446744073709551616",
            "is 18446744073709551616, " WHOLE "0 to 18446744073709551615");
    refused("seed", "99999999999999999999999",
            "is 99999999999999999999999, " WHOLE "0 to 18446744073709551615");
    const char *const wrong[] = {"0x10", "1_000", "1e6", "-1", "+1", "1.0", "010", "1 2", "abc"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char message[128];
        snprintf(message, sizeof(message), "is %s, " WHOLE "0 to 18446744073709551615", wrong[i]);
        refused("seed", wrong[i], message);
    }
    refused("seed", "\"8\"", "is \"8\", " WHOLE "0 to 18446744073709551615");
    refused("seed", "null", "is null, " WHOLE "0 to 18446744073709551615");
    refused("seed", "", "is null, " WHOLE "0 to 18446744073709551615");
    refused("seed", "[1]", "is a list, " WHOLE "0 to 18446744073709551615");
    refused("seed", "{}", "is an empty map, " WHOLE "0 to 18446744073709551615");
    with(NULL, NULL);
}

static void test_value__ranges_are_kept(void **state)
{
    (void)state;
    refused("lanes", "0", "is 0, " WHOLE "1 to 4294967295");
    refused("global_batch", "4294967296", "is 4294967296, " WHOLE "1 to 4294967295");
    assert_int_equal(with("context", "16777216")->context, 16777216);
    refused("context", "16777217", "is 16777217, " WHOLE "1 to 16777216");
    refused("pack.open_rows", "65537", "is 65537, " WHOLE "1 to 65536");
    assert_int_equal(with("shuffle.rows", "1048576")->shuffle_rows, 1048576);
    refused("shuffle.rows", "1048577", "is 1048577, " WHOLE "0 to 1048576");
    refused("runtime.threads", "1025", "is 1025, " WHOLE "0 to 1024");
    refused("runtime.prefetch_steps", "1025", "is 1025, " WHOLE "0 to 1024");
    refused("runtime.keep_states", "0", "is 0, " WHOLE "1 to 1024");
    with(NULL, NULL);
}

static void test_value__sizes_take_units(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"65536", 65536},
                 {"\"65536\"", 65536},
                 {"64KB", 64000},
                 {"\"64KiB\"", 65536},
                 {"3MB", 3000000},
                 {"1MiB", 1048576},
                 {"4GB", 4000000000},
                 {"1GiB", 1073741824},
                 {"2TB", 2000000000000},
                 {"1TiB", 1099511627776},
                 {"9223372036854775807", 9223372036854775807}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_true(with("runtime.memory", sizes[i].text)->memory_bytes == sizes[i].bytes);
    }
    const char *const wrong[] = {"1.5GB",     "4 GB", "4gb", "4K", "GB", "9223372036854775808",
                                 "9223373TB", "0",    "-1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char message[160];
        snprintf(message, sizeof(message),
                 "is %s, expected a number of bytes from 1 to 9223372036854775807, as in 65536, "
                 "64KB or 64KiB",
                 wrong[i]);
        refused("runtime.memory", wrong[i], message);
    }
    with(NULL, NULL);
}

static void test_value__weights_are_exact_decimals(void **state)
{
    (void)state;
    assert_true(with("sources.0.weight", "0.7")->sources[0].weight == 700000000);
    assert_true(with("sources.0.weight", "1")->sources[0].weight == 1000000000);
    assert_true(with("sources.0.weight", "0.000000001")->sources[0].weight == 1);
    assert_true(with("sources.0.weight", "999999999.999999999")->sources[0].weight ==
                999999999999999999);
    const char *const wrong[] = {"0",  "0.0", "0.0000000001", "1000000000", "-0.5", "1e-3", "01",
                                 "1.", ".5",  "1.5x",         "nan",        ".inf", "\"1\""};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char message[160];
        snprintf(message, sizeof(message),
                 "is %s, expected a decimal number above 0 and below 1000000000 with at most 9 "
                 "digits after the point",
                 wrong[i]);
        refused("sources.0.weight", wrong[i], message);
    }
    with(NULL, NULL);
}

static void test_value__booleans_are_true_and_false(void **state)
{
    (void)state;
    assert_true(with("runtime.digests", "true")->digests);
    assert_true(with("tokenizer.special_text", "True")->special_text);
    assert_false(with("runtime.digests", "FALSE")->digests);
    refused("runtime.digests", "yes", "is yes, expected true or false");
    refused("runtime.digests", "1", "is 1, expected true or false");
    refused("runtime.digests", "\"true\"", "is \"true\", expected true or false");
    with(NULL, NULL);
}

static void test_value__names_are_those_of_the_option(void **state)
{
    (void)state;
    assert_int_equal(with("order", "file")->order, LW__ORDER_FILE);
    assert_int_equal(with("mixture.unit", "\"documents\"")->unit, LW__UNIT_DOCUMENTS);
    assert_int_equal(with("pack.algorithm", "best_fit")->algorithm, LW__PACK_BEST_FIT);
    assert_int_equal(with("pack.overflow", "truncate")->overflow, LW__OVERFLOW_TRUNCATE);
    assert_int_equal(with("pack.overflow", "drop")->overflow, LW__OVERFLOW_DROP);
    assert_int_equal(with("labels.shift", "document")->shift, LW__SHIFT_DOCUMENT);
    assert_int_equal(with("end", "drop")->end, LW__END_DROP);
    assert_int_equal(with("end", "pad")->end, LW__END_PAD);
    assert_int_equal(with("on_bad_record.policy", "skip")->policy, LW__POLICY_SKIP);
    assert_int_equal(with("on_bad_record.policy", "replace")->policy, LW__POLICY_REPLACE);
    assert_int_equal(with("runtime.dtype", "int64")->dtype, LW__DTYPE_INT64);
    assert_string_equal(with("sources.0.format", "jsonl")->sources[0].format, "jsonl");
    assert_null(with("sources.0.format", "null")->sources[0].format);
    refused("end", "stop", "is stop, expected repeat, drop or pad");
    refused("order", "null", "is null, expected permuted or file");
    refused("runtime.device", "cuda", "is cuda, expected cpu");
    refused("sources.0.format", "parquet", "is parquet, expected null or jsonl");
    with(NULL, NULL);
}

static void test_value__quotes_make_text(void **state)
{
    (void)state;
    assert_string_equal(with("sources.0.name", "\"true\"")->sources[0].name, "true");
    assert_string_equal(with("sources.0.name", "2024")->sources[0].name, "2024");
    assert_string_equal(with("sources.0.text", "a.b")->sources[0].text, "a.b");
    refused("sources.0.name", "true", "is true, expected text");
    refused("sources.0.name", "~", "is null, expected text");
    refused("sources.0.name", "''", "is \"\", expected text");
    refused("tokenizer.path", "\"\"", "is \"\", expected text or null");
    with(NULL, NULL);
}

static void test_value__tokens_are_booleans_or_text(void **state)
{
    (void)state;
    assert_null(with("tokenizer.eos", "false")->tokenizer_eos);
    assert_string_equal(with("tokenizer.eos", "true")->tokenizer_eos, "");
    assert_string_equal(with("tokenizer.bos", "<s>")->tokenizer_bos, "<s>");
    assert_string_equal(with("tokenizer.bos", "\"true\"")->tokenizer_bos, "true");
    refused("tokenizer.bos", "\"\"", "is \"\", expected true, false or the text of a token");
    refused("tokenizer.bos", "null", "is null, expected true, false or the text of a token");
    with(NULL, NULL);
}

static void test_value__ids_may_be_null(void **state)
{
    (void)state;
    assert_int_equal(with("pack.pad", "null")->pad, -1);
    assert_int_equal(with("pack.pad", "0")->pad, 0);
    assert_int_equal(with("pack.pad", "2147483647")->pad, 2147483647);
    refused("pack.pad", "-1", "is -1, expected null or a token id from 0 to 2147483647");
    refused("pack.pad", "2147483648",
            "is 2147483648, expected null or a token id from 0 to 2147483647");
    with(NULL, NULL);
}

static void test_value__paths_are_one_text_or_several(void **state)
{
    (void)state;
    const lw__settings *settings = with("sources.0.path", "[a, \"b c\"]");
    assert_int_equal(settings->sources[0].path_count, 2);
    assert_string_equal(settings->sources[0].paths[0], "a");
    assert_string_equal(settings->sources[0].paths[1], "b c");
    assert_int_equal(with("sources.0.path", "a")->sources[0].path_count, 1);
    refused("sources.0.path", "[]", "is an empty list, expected text or a list of texts");
    refused("sources.0.path", "[a, null]", "is a list, expected text or a list of texts");
    refused("sources.0.path", "[[a]]", "is a list, expected text or a list of texts");
    refused("sources.0.path", "{a: b}", "is a map, expected text or a list of texts");
    with(NULL, NULL);
}

static void test_value__what_a_later_release_may_take_is_unsupported(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL "cache: {path: null, limit: 100GB}\ndocuments: []\n");
    set_fails(recipe, "cache.path", "folder", LW_E_UNSUPPORTED,
              SET "\"cache.path\": cache.path is folder, expected null in this release");
    set_fails(recipe, "documents", "[lower]", LW_E_UNSUPPORTED,
              SET "\"documents\": documents is a list, expected [] in this release");
    set_fails(recipe, "documents", "lower", LW_E_INVALID,
              SET "\"documents\": documents is lower, expected [] in this release");
    set_fails(recipe, "cache.path", "{}", LW_E_INVALID,
              SET "\"cache.path\": cache.path is an empty map, expected null in this release");
    lw_recipe_close(recipe);
}

static void test_value__long_values_are_cut_between_characters(void **state)
{
    (void)state;
    char value[203];
    char message[256];
    for (size_t i = 0; i < 200; i += 2) {
        memcpy(value + i + 1, "\xC3\xA9", 2);
    }
    value[0] = 'x';
    value[201] = '\0';
    snprintf(message, sizeof(message), "is %.59s..., expected repeat, drop or pad", value);
    refused("end", value, message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value__whole_numbers_are_plain_decimal_digits),
        cmocka_unit_test(test_value__ranges_are_kept),
        cmocka_unit_test(test_value__sizes_take_units),
        cmocka_unit_test(test_value__weights_are_exact_decimals),
        cmocka_unit_test(test_value__booleans_are_true_and_false),
        cmocka_unit_test(test_value__names_are_those_of_the_option),
        cmocka_unit_test(test_value__quotes_make_text),
        cmocka_unit_test(test_value__tokens_are_booleans_or_text),
        cmocka_unit_test(test_value__ids_may_be_null),
        cmocka_unit_test(test_value__paths_are_one_text_or_several),
        cmocka_unit_test(test_value__what_a_later_release_may_take_is_unsupported),
        cmocka_unit_test(test_value__long_values_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
