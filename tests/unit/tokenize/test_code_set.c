/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of code points: order, complements, intersections, and the properties with names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/code_set.h"

static void check_range(const lw__code_set *set, size_t index, uint32_t first, uint32_t last)
{
    assert_true(index < set->count);
    assert_int_equal(set->ranges[index].first, first);
    assert_int_equal(set->ranges[index].last, last);
}

static void test_code_set__order_joins_what_touches(void **state)
{
    (void)state;
    lw__code_set set = {.count = 0};
    lw__code_set_order(&set);
    assert_int_equal(set.count, 0);
    lw__code_set_put(&set, 20, 30);
    lw__code_set_put(&set, 1, 4);
    lw__code_set_put(&set, 5, 6);
    lw__code_set_put(&set, 22, 23);
    lw__code_set_put(&set, 30, 31);
    lw__code_set_order(&set);
    assert_int_equal(set.count, 2);
    check_range(&set, 0, 1, 6);
    check_range(&set, 1, 20, 31);
    assert_true(lw__code_set_has(&set, 6));
    assert_false(lw__code_set_has(&set, 7));
    assert_false(lw__code_set_has(&set, 0));
    assert_true(lw__code_set_has(&set, 31));
    assert_false(lw__code_set_has(&set, 32));
    lw__code_set_reset(&set);
}

static void test_code_set__negation_covers_the_rest(void **state)
{
    (void)state;
    lw__code_set set = {.count = 0};
    lw__code_set_negate(&set);
    check_range(&set, 0, 0, LW__LAST_CODE);
    lw__code_set_negate(&set);
    assert_int_equal(set.count, 0);
    lw__code_set_put(&set, 0, 9);
    lw__code_set_put(&set, 20, LW__LAST_CODE);
    lw__code_set_negate(&set);
    assert_int_equal(set.count, 1);
    check_range(&set, 0, 10, 19);
    lw__code_set_reset(&set);
}

static void test_code_set__intersection_takes_any_order(void **state)
{
    (void)state;
    lw__code_set a = {.count = 0};
    lw__code_set b = {.count = 0};
    lw__code_set_put(&a, 30, 40);
    lw__code_set_put(&a, 0, 10);
    lw__code_set_put(&b, 35, 50);
    lw__code_set_put(&b, 5, 31);
    lw__code_set_intersect(&a, &b);
    assert_int_equal(a.count, 3);
    check_range(&a, 0, 5, 10);
    check_range(&a, 1, 30, 31);
    check_range(&a, 2, 35, 40);
    lw__code_set_reset(&a);
    lw__code_set_reset(&b);
}

static bool has(const char *property, uint32_t code)
{
    lw__code_set set = {.count = 0};
    lw_str name = {.data = property, .bytes = strlen(property)};
    assert_true(lw__code_set_put_property(&set, name));
    lw__code_set_order(&set);
    bool found = lw__code_set_has(&set, code);
    lw__code_set_reset(&set);
    return found;
}

static void test_code_set__properties(void **state)
{
    (void)state;
    assert_true(has("Lu", 'A'));
    assert_false(has("Lu", 'a'));
    assert_true(has("L", 'a'));
    assert_true(has("Letter", 0x1C5));
    assert_true(has("Nd", 0x967));
    assert_false(has("Nd", 0xBD));
    assert_true(has("N", 0xBD));
    assert_true(has("Cn", LW__LAST_CODE));
    assert_true(has("Han", 0x4E2D));
    assert_false(has("Han", 0x3042));
    /* A letter of Unicode 16 and one that came later. */
    assert_true(has("L", 0x10D4A));
    assert_false(has("L", 0x88F));
}

static void test_code_set__other_names_are_no_properties(void **state)
{
    (void)state;
    static const char *const names[] = {"", "X", "Lx", "l", "Letters", "Greek", "uL"};
    lw__code_set set = {.count = 0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        lw_str name = {.data = names[i], .bytes = strlen(names[i])};
        assert_false(lw__code_set_put_property(&set, name));
    }
    assert_int_equal(set.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_set__order_joins_what_touches),
        cmocka_unit_test(test_code_set__negation_covers_the_rest),
        cmocka_unit_test(test_code_set__intersection_takes_any_order),
        cmocka_unit_test(test_code_set__properties),
        cmocka_unit_test(test_code_set__other_names_are_no_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
