/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe's tree against the option table: unknown keys and values of the wrong shape. */
#include "recipe_testing.h"

static void test_check__an_unknown_key_names_the_nearest_of_its_level(void **state)
{
    (void)state;
    parse_fails("seed: 1\n\nshufle: {rows: 1}\n", LW_E_INVALID,
                "recipe: line 3: unknown key \"shufle\", expected one of this level's; the nearest "
                "is \"shuffle\"");
    parse_fails("sources:\n  - name: a\n    pth: b\n", LW_E_INVALID,
                "recipe: line 3: unknown key \"pth\", expected one of this level's; the nearest is "
                "\"path\"");
    parse_fails("pack: {algoritm: wrap}\n", LW_E_INVALID,
                "recipe: line 1: unknown key \"algoritm\", expected one of this level's; the "
                "nearest is \"algorithm\"");
    parse_fails("pack.pad: 1\n", LW_E_INVALID,
                "recipe: line 1: unknown key \"pack.pad\", expected one of this level's; the "
                "nearest is \"pack\"");
    parse_fails("<<: {}\n", LW_E_INVALID,
                "recipe: line 1: unknown key \"<<\", expected one of this level's; the nearest is "
                "\"end\"");
}

static void test_check__a_long_unknown_key_is_cut(void **state)
{
    (void)state;
    char text[402];
    char message[400];
    memset(text, 'k', 400);
    snprintf(message, sizeof(message),
             "recipe: line 1: unknown key \"%.128s\", expected one of this level's; the nearest is "
             "\"tokenizer\"",
             text);
    memcpy(text + 398, ": ", 3);
    lw_recipe *recipe = NULL;
    lw_error err = {0};
    assert_int_equal(lw_recipe_parse(text, NULL, &recipe, &err), LW_E_INVALID);
    assert_memory_equal(err.message, message, 150);
}

static void test_check__values_have_the_shape_of_their_place(void **state)
{
    (void)state;
    parse_fails("[seed]\n", LW_E_INVALID, "recipe: line 1: the recipe is a list, expected a map");
    parse_fails("seed\n", LW_E_INVALID, "recipe: line 1: the recipe is seed, expected a map");
    parse_fails("pack:\n", LW_E_INVALID, "recipe: line 1: pack is null, expected a map");
    parse_fails("pack: [wrap]\n", LW_E_INVALID, "recipe: line 1: pack is a list, expected a map");
    parse_fails("sources: {name: a}\n", LW_E_INVALID,
                "recipe: line 1: sources is a map, expected a list of maps");
    parse_fails("sources:\n  - {name: a}\n  - web\n", LW_E_INVALID,
                "recipe: line 3: sources.1 is web, expected a map");
    parse_fails("global_batch: [{step: 0, rows: 8}]\n", LW_E_INVALID,
                "recipe: line 1: global_batch is a list, expected a whole number from 1 to "
                "4294967295");
}

static void test_check__values_are_named_by_their_full_key(void **state)
{
    (void)state;
    parse_fails("sources:\n  - name: a\n  - name: b\n    weight: -1\n", LW_E_INVALID,
                "recipe: line 4: sources.1.weight is -1, expected a decimal number above 0 and "
                "below 1000000000 with at most 9 digits after the point");
    parse_fails("runtime:\n  threads: many\n", LW_E_INVALID,
                "recipe: line 2: runtime.threads is many, expected a whole number from 0 to 1024");
    parse_fails("cache: {path: x}\n", LW_E_UNSUPPORTED,
                "recipe: line 1: cache.path is x, expected null in this release");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check__an_unknown_key_names_the_nearest_of_its_level),
        cmocka_unit_test(test_check__a_long_unknown_key_is_cut),
        cmocka_unit_test(test_check__values_have_the_shape_of_their_place),
        cmocka_unit_test(test_check__values_are_named_by_their_full_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
