/* SPDX-License-Identifier: Apache-2.0 */
/* Setting single options: dotted keys, list indices, and recipes that failures leave alone. */
#include "recipe_testing.h"

static void test_set__a_recipe_can_be_built_call_by_call(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed("");
    set_option(recipe, "lanes", "4");
    set_option(recipe, "global_batch", "8");
    set_option(recipe, "context", "16");
    set_option(recipe, "sources.0.name", "web");
    set_option(recipe, "sources.0.path", "data");
    set_option(recipe, "sources.1", "{name: code, path: [x, y]}");
    set_option(recipe, "tokenizer", "{name: bytes}");
    const lw__settings *settings = settings_of(recipe);
    assert_int_equal(settings->lanes, 4);
    assert_int_equal(settings->source_count, 2);
    assert_string_equal(settings->sources[1].name, "code");
    assert_string_equal(settings->sources[1].paths[1], "y");
    lw_recipe_close(recipe);
}

static void test_set__a_value_takes_the_place_of_all_that_was_there(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL "pack: {algorithm: best_fit, open_rows: 7}\n");
    set_option(recipe, "pack", "{overflow: drop}");
    assert_int_equal(settings_of(recipe)->algorithm, LW__PACK_WRAP);
    assert_int_equal(settings_of(recipe)->overflow, LW__OVERFLOW_DROP);
    assert_int_equal(settings_of(recipe)->open_rows, 64);
    set_option(recipe, "tokenizer", "{path: t.json}");
    assert_null(settings_of(recipe)->tokenizer_name);
    set_option(recipe, "sources", "[{name: only, path: p}]");
    assert_string_equal(settings_of(recipe)->sources[0].name, "only");
    set_option(recipe, "sources.0", "{name: other, path: p}");
    assert_int_equal(settings_of(recipe)->source_count, 1);
    assert_string_equal(settings_of(recipe)->sources[0].name, "other");
    lw_recipe_close(recipe);
}

static void test_set__a_null_value_unsets_what_may_be_null(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    set_option(recipe, "tokenizer.path", "t.json");
    set_option(recipe, "tokenizer.name", "");
    assert_null(settings_of(recipe)->tokenizer_name);
    assert_string_equal(settings_of(recipe)->tokenizer_path, "t.json");
    lw_recipe_close(recipe);
}

static void test_set__keys_that_lead_nowhere_are_named(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    set_fails(recipe, "shufle.rows", "1", LW_E_INVALID,
              "recipe: set \"shufle.rows\": unknown key \"shufle\", expected one of this level's; "
              "the nearest is \"shuffle\"");
    set_fails(recipe, "sources.0.wieght", "1", LW_E_INVALID,
              "recipe: set \"sources.0.wieght\": unknown key \"wieght\", expected one of this "
              "level's; the nearest is \"weight\"");
    set_fails(
        recipe, "pack", "{pat: 1}", LW_E_INVALID,
        "recipe: set \"pack\": unknown key \"pat\", expected one of this level's; the nearest "
        "is \"pad\"");
    set_fails(recipe, "lanes.x", "1", LW_E_INVALID,
              "recipe: set \"lanes.x\": parts after \"lanes\", expected none after an option");
    set_fails(recipe, "", "1", LW_E_INVALID,
              "recipe: set \"\": unknown key \"\", expected one of this level's; the nearest is "
              "\"end\"");
    set_fails(recipe, "pack..pad", "1", LW_E_INVALID,
              "recipe: set \"pack..pad\": unknown key \"\", expected one of this level's; the "
              "nearest is \"pad\"");
    lw_recipe_close(recipe);
}

static void test_set__indices_reach_to_one_past_the_end(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    const char *const wrong[] = {"2", "01", "-1", "x", "", "1000000", "18446744073709551616"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char key[64];
        char message[256];
        snprintf(key, sizeof(key), "sources.%s.name", wrong[i]);
        snprintf(message, sizeof(message),
                 "recipe: set \"%s\": \"%s\" is no index, expected 0 to 1 (1 appends)", key,
                 wrong[i]);
        set_fails(recipe, key, "a", LW_E_INVALID, message);
    }
    set_option(recipe, "sources.1.name", "a");
    set_option(recipe, "sources.1.path", "b");
    assert_int_equal(settings_of(recipe)->source_count, 2);
    lw_recipe_close(recipe);
}

static void test_set__a_value_that_is_no_yaml_is_named(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    set_fails(
        recipe, "seed", "[1}", LW_E_INVALID,
        "recipe: set \"seed\": did not find expected ',' or ']' while parsing a flow sequence "
        "(column 3), expected YAML");
    set_fails(recipe, "seed", "\xFE", LW_E_INVALID,
              "recipe: set \"seed\": bytes that are not UTF-8, expected text");
    set_fails(recipe, "seed", "&a 1", LW_E_INVALID,
              "recipe: set \"seed\": anchor \"&a\", expected a value without one");
    lw_recipe_close(recipe);
}

static void test_set__a_failure_leaves_the_recipe_as_it_was(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    char *before = text_of(recipe);
    assert_int_equal(lw_recipe_set(recipe, "sources.1.weight", "-1", NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_set(recipe, "pack.pad", "x", NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_set(recipe, "sources.1.nme", "x", NULL), LW_E_INVALID);
    char *after = text_of(recipe);
    assert_string_equal(before, after);
    lw_text_free(before);
    lw_text_free(after);
    lw_recipe_close(recipe);
}

static void test_set__running_out_of_memory_leaves_the_recipe_as_it_was(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    char *before = text_of(recipe);
    lw_status status = LW_E_NOMEM;
    for (unsigned long calls = 1; status != LW_OK; calls++) {
        lw_error err = {0};
        lw__alloc_fail_after(calls);
        status = lw_recipe_set(recipe, "sources.1", "{name: b, path: [c, d]}", &err);
        lw__alloc_fail_after(0);
        assert_true(status == LW_OK || (status == LW_E_NOMEM && err.status == LW_E_NOMEM));
        if (status != LW_OK) {
            char *after = text_of(recipe);
            assert_string_equal(before, after);
            lw_text_free(after);
        }
    }
    assert_int_equal(settings_of(recipe)->source_count, 2);
    lw_text_free(before);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set__a_recipe_can_be_built_call_by_call),
        cmocka_unit_test(test_set__a_value_takes_the_place_of_all_that_was_there),
        cmocka_unit_test(test_set__a_null_value_unsets_what_may_be_null),
        cmocka_unit_test(test_set__keys_that_lead_nowhere_are_named),
        cmocka_unit_test(test_set__indices_reach_to_one_past_the_end),
        cmocka_unit_test(test_set__a_value_that_is_no_yaml_is_named),
        cmocka_unit_test(test_set__a_failure_leaves_the_recipe_as_it_was),
        cmocka_unit_test(test_set__running_out_of_memory_leaves_the_recipe_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
