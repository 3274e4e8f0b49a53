/* SPDX-License-Identifier: Apache-2.0 */
/* The shape that the option table gives a recipe, and the nearest key to a wrong one. */
#include "recipe/options.h"
#include "recipe_testing.h"

static void test_shape__patterns_stand_for_options_maps_and_lists(void **state)
{
    (void)state;
    const lw__option *option = NULL;
    assert_int_equal(lw__options_shape("", &option), LW__SHAPE_MAP);
    assert_int_equal(lw__options_shape("pack", &option), LW__SHAPE_MAP);
    assert_int_equal(lw__options_shape("sources", &option), LW__SHAPE_LIST);
    assert_int_equal(lw__options_shape("sources[]", &option), LW__SHAPE_MAP);
    assert_int_equal(lw__options_shape("pac", &option), LW__SHAPE_NONE);
    assert_int_equal(lw__options_shape("sources[].weight", &option), LW__SHAPE_OPTION);
    assert_string_equal(option->key, "sources[].weight");
    assert_string_equal(lw__option_leaf(option), "weight");
}

static lw__shape_kind member(const char *pattern, const char *key, char *out)
{
    const lw__option *option = NULL;
    return lw__options_member(pattern, key, strlen(key), out, &option);
}

static void test_shape__a_key_does_not_reach_past_its_level(void **state)
{
    (void)state;
    char out[LW__PATTERN_BYTES];
    char longest[200];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(member("pack", "pad", out), LW__SHAPE_OPTION);
    assert_string_equal(out, "pack.pad");
    assert_int_equal(member("", "pack.pad", out), LW__SHAPE_NONE);
    assert_int_equal(member("", "sources[]", out), LW__SHAPE_NONE);
    assert_int_equal(member("", "", out), LW__SHAPE_NONE);
    assert_int_equal(member("pack", longest, out), LW__SHAPE_NONE);
}

static void nearest_is(const char *pattern, const char *key, const char *expected)
{
    lw_str nearest = lw__options_nearest(pattern, key, strlen(key));
    assert_int_equal(nearest.bytes, strlen(expected));
    assert_memory_equal(nearest.data, expected, nearest.bytes);
}

static void test_shape__the_nearest_key_of_a_level_is_found(void **state)
{
    (void)state;
    nearest_is("", "shufle", "shuffle");
    nearest_is("", "global_btach", "global_batch");
    nearest_is("", "source", "sources");
    nearest_is("sources[]", "wieght", "weight");
    nearest_is("tokenizer", "special", "special_text");
    nearest_is("labels", "", "shift");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape__patterns_stand_for_options_maps_and_lists),
        cmocka_unit_test(test_shape__a_key_does_not_reach_past_its_level),
        cmocka_unit_test(test_shape__the_nearest_key_of_a_level_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
