/* SPDX-License-Identifier: Apache-2.0 */
/* The option table itself: rows that the rest of the layer can rely on. */
#include "recipe/options.h"
#include "recipe/value.h"
#include "recipe_testing.h"

static const lw__origin no_origin;

static void test_options__every_default_is_a_value_of_its_option(void **state)
{
    (void)state;
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    for (size_t i = 0; i < count; i++) {
        char text[32];
        lw__node node = {.kind = LW__NODE_SCALAR, .plain = true, .text = text};
        if (options[i].initial == NULL || options[i].type == LW__OPTION_ONLY_EMPTY) {
            continue;
        }
        assert_in_range(strlen(options[i].initial), 1, 15);
        snprintf(text, sizeof(text), "%s", options[i].initial);
        lw__value from_text;
        lw__value from_table;
        assert_int_equal(
            lw__value_read(&options[i], &node, options[i].key, &no_origin, &from_text, NULL),
            LW_OK);
        assert_int_equal(
            lw__value_read(&options[i], NULL, options[i].key, &no_origin, &from_table, NULL),
            LW_OK);
        assert_int_equal(from_text.number, from_table.number);
        assert_int_equal(from_text.is_null, from_table.is_null);
        assert_int_equal(from_text.text == NULL, from_table.text == NULL);
    }
}

static void test_options__rows_are_well_formed(void **state)
{
    (void)state;
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(options[i].key) < LW__PATTERN_BYTES);
        assert_true(options[i].text[0] != '\0');
        assert_true(options[i].min <= options[i].max);
        bool named = options[i].type == LW__OPTION_ENUM || options[i].type == LW__OPTION_NAME;
        assert_true(named == (options[i].names != NULL));
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(options[i].key, options[k].key);
            bool same_base =
                lw__option_is_per_source(&options[i]) == lw__option_is_per_source(&options[k]);
            assert_false(same_base && options[i].stored && options[k].stored &&
                         options[i].offset == options[k].offset);
        }
    }
}

static void test_options__groups_are_not_torn_apart(void **state)
{
    (void)state;
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    for (size_t i = 0; i < count; i++) {
        size_t group = (size_t)(lw__option_leaf(&options[i]) - options[i].key);
        bool left = false;
        for (size_t k = i + 1; group > 0 && k < count; k++) {
            bool inside = strncmp(options[k].key, options[i].key, group) == 0;
            assert_false(inside && left);
            left = left || !inside;
        }
    }
}

static void test_options__speed_options_are_those_of_cache_and_runtime(void **state)
{
    (void)state;
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    for (size_t i = 0; i < count; i++) {
        bool speed = strncmp(options[i].key, "cache.", 6) == 0 ||
                     strncmp(options[i].key, "runtime.", 8) == 0;
        assert_int_equal(options[i].effect, speed ? LW__SPEED : LW__STREAM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options__every_default_is_a_value_of_its_option),
        cmocka_unit_test(test_options__rows_are_well_formed),
        cmocka_unit_test(test_options__groups_are_not_torn_apart),
        cmocka_unit_test(test_options__speed_options_are_those_of_cache_and_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
