/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and permutations against the worked numbers of docs/stream.md, and as bijections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <laneway/random.h>

#include "plan/permutation.h"

#define MOST 400u

static void test_random__keys_are_the_worked_ones(void **state)
{
    (void)state;
    assert_true(lw_random_key(0, 1, 0, 0, 0) == 0xE28195DDD9EE4956u);
    assert_true(lw_random_key(42, 1, 0, 0, 0) == 0x7C15E27C53336E6Fu);
    assert_true(lw_random_key(42, 2, 1, 7, 3) == 0xC7CEEB5A55E59A67u);
    assert_true(lw_random_key(UINT64_MAX, 3, 5, 9, 0) == 0x62F91523A981E8F9u);
}

static void check_permutation(uint64_t count, const uint64_t *expected)
{
    uint64_t key = lw_random_key(42, 1, 0, 0, 0);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(lw_random_permute(key, count, i), expected[i]);
    }
}

static void test_random__small_permutations_are_the_worked_ones(void **state)
{
    (void)state;
    check_permutation(1, (const uint64_t[]){0});
    check_permutation(2, (const uint64_t[]){1, 0});
    check_permutation(5, (const uint64_t[]){3, 2, 0, 1, 4});
    check_permutation(16, (const uint64_t[]){3, 8, 0, 1, 7, 6, 11, 9, 15, 10, 12, 5, 4, 13, 2, 14});
    check_permutation(17,
                      (const uint64_t[]){7, 9, 11, 0, 1, 2, 16, 4, 8, 5, 6, 14, 13, 10, 12, 3, 15});
}

static void test_random__large_permutations_are_the_worked_ones(void **state)
{
    (void)state;
    uint64_t key = lw_random_key(42, 1, 0, 0, 0);
    uint64_t wide = UINT64_C(1) << 40;
    assert_int_equal(lw_random_permute(key, 1000000, 0), 909043);
    assert_int_equal(lw_random_permute(key, 1000000, 1), 131842);
    assert_int_equal(lw_random_permute(key, 1000000, 999999), 97984);
    assert_true(lw_random_permute(key, wide, 0) == 136771018788u);
    assert_true(lw_random_permute(key, wide, 1) == 1074458490617u);
    assert_true(lw_random_permute(key, wide, 2) == 171315071280u);
}

static void test_random__every_count_gives_a_bijection(void **state)
{
    (void)state;
    for (uint64_t count = 1; count <= MOST; count++) {
        unsigned char seen[MOST] = {0};
        uint64_t key = lw_random_key(count, LW_PURPOSE_USER, 1, 2, 3);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t at = lw_random_permute(key, count, i);
            assert_true(at < count);
            assert_int_equal(seen[at]++, 0);
        }
    }
}

static void test_random__a_prepared_permutation_is_the_same_as_a_single_call(void **state)
{
    (void)state;
    const uint64_t counts[] = {1, 2, 3, 4, 5, 63, 64, 65, 1u << 20, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        lw__permutation p = lw__permutation_of(99, counts[c]);
        for (uint64_t i = 0; i < 40 && i < counts[c]; i++) {
            uint64_t at = lw__permutation_at(&p, i);
            assert_true(at < counts[c]);
            assert_true(at == lw_random_permute(99, counts[c], i));
        }
    }
}

static void test_random__no_items_and_one_item_go_to_zero(void **state)
{
    (void)state;
    assert_int_equal(lw_random_permute(5, 0, 0), 0);
    assert_int_equal(lw_random_permute(5, 1, 0), 0);
}

static void test_random__a_key_depends_on_each_of_its_numbers(void **state)
{
    (void)state;
    uint64_t base = lw_random_key(1, 2, 3, 4, 5);
    assert_true(base != lw_random_key(2, 2, 3, 4, 5));
    assert_true(base != lw_random_key(1, 3, 3, 4, 5));
    assert_true(base != lw_random_key(1, 2, 4, 4, 5));
    assert_true(base != lw_random_key(1, 2, 3, 5, 5));
    assert_true(base != lw_random_key(1, 2, 3, 4, 6));
    assert_true(lw_random_key(0, 0, 1, 2, 0) != lw_random_key(0, 0, 2, 1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random__keys_are_the_worked_ones),
        cmocka_unit_test(test_random__small_permutations_are_the_worked_ones),
        cmocka_unit_test(test_random__large_permutations_are_the_worked_ones),
        cmocka_unit_test(test_random__every_count_gives_a_bijection),
        cmocka_unit_test(test_random__a_prepared_permutation_is_the_same_as_a_single_call),
        cmocka_unit_test(test_random__no_items_and_one_item_go_to_zero),
        cmocka_unit_test(test_random__a_key_depends_on_each_of_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
