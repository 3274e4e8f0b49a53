/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a whole recipe: defaults, required options, and the rules between options. */
#include "recipe_testing.h"

#define SOURCES "sources: [{name: web, path: data}]\n"
#define NUMBERS "lanes: 4\nglobal_batch: 8\ncontext: 16\n"
#define BYTES   "tokenizer: {name: bytes}\n"

static void test_build__options_not_given_have_their_defaults(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    const lw__settings *s = settings_of(recipe);
    assert_int_equal(s->seed, 0);
    assert_int_equal(s->order, LW__ORDER_PERMUTED);
    assert_int_equal(s->unit, LW__UNIT_TOKENS);
    assert_null(s->sources[0].format);
    assert_string_equal(s->sources[0].text, "text");
    assert_int_equal(s->sources[0].weight, 1000000000);
    assert_int_equal(s->sources[0].block_bytes, 0);
    assert_null(s->tokenizer_path);
    assert_string_equal(s->tokenizer_name, "bytes");
    assert_null(s->tokenizer_pattern);
    assert_null(s->tokenizer_bos);
    assert_null(s->tokenizer_eos);
    assert_false(s->special_text);
    assert_int_equal(s->algorithm, LW__PACK_WRAP);
    assert_int_equal(s->overflow, LW__OVERFLOW_SPLIT);
    assert_int_equal(s->open_rows, 64);
    assert_int_equal(s->pad, -1);
    assert_int_equal(s->shuffle_rows, 0);
    assert_int_equal(s->shift, LW__SHIFT_STREAM);
    assert_false(s->mask_eos);
    assert_int_equal(s->end, LW__END_REPEAT);
    assert_int_equal(s->policy, LW__POLICY_FAIL);
    assert_int_equal(s->bad_limit, 0);
    assert_int_equal(s->threads, 0);
    assert_int_equal(s->memory_bytes, 4000000000);
    assert_int_equal(s->prefetch_steps, 2);
    assert_int_equal(s->microbatch, 0);
    assert_int_equal(s->keep_states, 8);
    assert_int_equal(s->dtype, LW__DTYPE_INT32);
    assert_false(s->digests);
    lw_recipe_close(recipe);
}

static void test_build__required_options_are_named_when_missing(void **state)
{
    (void)state;
    settings_fail("", "recipe: lanes is missing, expected a whole number from 1 to 4294967295");
    settings_fail("lanes: 1\n",
                  "recipe: global_batch is missing, expected a whole number from 1 to 4294967295");
    settings_fail("lanes: 1\nglobal_batch: 1\n",
                  "recipe: context is missing, expected a whole number from 1 to 16777216");
    settings_fail(NUMBERS, "recipe: sources is missing, expected a list of at least one map");
    settings_fail(NUMBERS "sources: []\n",
                  "recipe: sources is an empty list, expected a list of at least one map");
    settings_fail(NUMBERS "sources: [{path: a}]\n",
                  "recipe: sources.0.name is missing, expected text");
    settings_fail(NUMBERS "sources: [{name: a, path: a}, {name: b}]\n",
                  "recipe: sources.1.path is missing, expected text or a list of texts");
    settings_fail(NUMBERS SOURCES,
                  "recipe: tokenizer.path and tokenizer.name are missing, expected one of them");
}

static void test_build__rules_between_options_are_kept(void **state)
{
    (void)state;
    settings_fail("lanes: 8\nglobal_batch: 50\ncontext: 16\n" SOURCES BYTES,
                  "recipe: global_batch is 50, expected a multiple of lanes (8)");
    settings_fail(NUMBERS SOURCES "tokenizer: {name: bytes, path: x}\n",
                  "recipe: tokenizer.path and tokenizer.name are both set, expected one of them");
    settings_fail(NUMBERS SOURCES "tokenizer: {name: bytes, pattern: gpt2}\n",
                  "recipe: tokenizer.pattern is gpt2, expected null without tokenizer.path");
    settings_fail(NUMBERS BYTES "sources: [{name: a, path: x}, {name: b, path: y}, "
                                "{name: a, path: z}]\n",
                  "recipe: sources.2.name is \"a\" as sources.0.name, expected a name of its own");
    settings_fail(SMALL "labels: {mask_eos: true}\n",
                  "recipe: labels.mask_eos is true, expected false without tokenizer.eos");
    lw_recipe *recipe = parsed(NUMBERS SOURCES "tokenizer: {name: bytes, eos: true}\n"
                                               "labels: {mask_eos: true}\n"
                                               "runtime: {microbatch: 7}\n");
    assert_true(settings_of(recipe)->mask_eos);
    assert_int_equal(settings_of(recipe)->microbatch, 7);
    lw_recipe_close(recipe);
}

static void path_in(const char *folder, const char *path, const char *expected)
{
    char text[256];
    lw_recipe *recipe = NULL;
    snprintf(text, sizeof(text), NUMBERS SOURCES "tokenizer: {path: %s}\n", path);
    assert_int_equal(lw_recipe_parse(text, folder, &recipe, NULL), LW_OK);
    assert_string_equal(settings_of(recipe)->tokenizer_path, expected);
    assert_string_equal(settings_of(recipe)->sources[0].paths[0], "data");
    lw_recipe_close(recipe);
}

static void test_build__a_relative_tokenizer_path_starts_at_the_folder(void **state)
{
    (void)state;
    path_in(NULL, "t.json", "t.json");
    path_in(".", "t.json", "t.json");
    path_in("", "t.json", "t.json");
    path_in("a/b", "t.json", "a/b/t.json");
    path_in("a/", "../t.json", "a/../t.json");
    path_in("/", "t.json", "/t.json");
    path_in("a", "/x/t.json", "/x/t.json");
}

static void test_build__settings_are_kept_until_the_recipe_changes(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    const lw__settings *first = settings_of(recipe);
    const lw__source_settings *sources = first->sources;
    assert_ptr_equal(settings_of(recipe)->sources, sources);
    set_option(recipe, "seed", "9");
    assert_int_equal(settings_of(recipe)->seed, 9);
    lw_recipe_close(recipe);
}

static void test_build__running_out_of_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    lw_recipe *recipe = NULL;
    assert_int_equal(lw_recipe_parse(NUMBERS "sources: [{name: a, path: x}, {name: b, path: y}]\n"
                                             "tokenizer: {path: t.json}\n",
                                     "folder", &recipe, NULL),
                     LW_OK);
    lw_status status = LW_E_NOMEM;
    for (unsigned long calls = 1; status != LW_OK; calls++) {
        const lw__settings *settings = NULL;
        lw__alloc_fail_after(calls);
        status = lw__recipe_settings(recipe, &settings, NULL);
        lw__alloc_fail_after(0);
        assert_true(status == LW_OK || status == LW_E_NOMEM);
    }
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build__options_not_given_have_their_defaults),
        cmocka_unit_test(test_build__required_options_are_named_when_missing),
        cmocka_unit_test(test_build__rules_between_options_are_kept),
        cmocka_unit_test(test_build__a_relative_tokenizer_path_starts_at_the_folder),
        cmocka_unit_test(test_build__settings_are_kept_until_the_recipe_changes),
        cmocka_unit_test(test_build__running_out_of_memory_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
