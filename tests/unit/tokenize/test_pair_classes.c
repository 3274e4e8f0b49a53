/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of bytes: no joined pair is cut, and few others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/pair_classes.h"

static bool is_joined(const lw__byte_pairs *pairs, unsigned before, unsigned behind)
{
    return (pairs->before[behind][before / 64] >> before % 64 & 1) != 0;
}

/* Counts the pairs that are neither joined nor cut. */
static size_t check(const lw__byte_pairs *pairs)
{
    lw__pair_classes classes;
    size_t lost = 0;
    assert_int_equal(lw__pair_classes_build(&classes, pairs, NULL), LW_OK);
    for (unsigned before = 0; before < 256; before++) {
        for (unsigned behind = 0; behind < 256; behind++) {
            bool is_cut =
                lw__pair_classes_cut(&classes, (unsigned char)before, (unsigned char)behind);
            bool follows = (behind & 0xC0) == 0x80;
            assert_false(is_cut && (follows || is_joined(pairs, before, behind)));
            lost += !is_cut && !follows && !is_joined(pairs, before, behind);
            if (behind == ' ') {
                assert_int_equal(is_cut, !is_joined(pairs, before, behind));
            }
        }
    }
    return lost;
}

static void test_pair_classes__few_kinds_are_told_apart_exactly(void **state)
{
    (void)state;
    static lw__byte_pairs pairs;
    memset(&pairs, 0, sizeof pairs);
    assert_int_equal(check(&pairs), 0);
    for (unsigned byte = 'a'; byte <= 'z'; byte++) {
        lw__byte_pairs_join(&pairs, byte, byte % 2 == 0 ? 'a' : 'b');
        lw__byte_pairs_join(&pairs, ' ', byte);
        lw__byte_pairs_join(&pairs, byte, 0xC3);
        lw__byte_pairs_join(&pairs, 0xA9, 'e');
    }
    assert_int_equal(check(&pairs), 0);
}

static void test_pair_classes__no_joined_pair_is_cut(void **state)
{
    (void)state;
    static lw__byte_pairs pairs;
    uint32_t seed = 7;
    for (unsigned share = 1; share < 40; share++) {
        memset(&pairs, 0, sizeof pairs);
        for (unsigned i = 0; i < 65536; i++) {
            seed = seed * 1664525u + 1013904223u;
            if ((seed >> 8) % 41 < share) {
                lw__byte_pairs_join(&pairs, i / 256, i % 256);
            }
        }
        assert_true(check(&pairs) < 65536);
    }
}

static void test_pair_classes__next_cut(void **state)
{
    (void)state;
    static lw__byte_pairs pairs;
    lw__pair_classes classes;
    const unsigned char text[] = "abba";
    memset(&pairs, 0, sizeof pairs);
    lw__byte_pairs_join(&pairs, 'a', 'b');
    lw__byte_pairs_join(&pairs, 'b', 'a');
    assert_int_equal(lw__pair_classes_build(&classes, &pairs, NULL), LW_OK);
    assert_int_equal(lw__pair_classes_next(&classes, text, 4, 0), 2);
    assert_int_equal(lw__pair_classes_next(&classes, text, 4, 2), 4);
    assert_int_equal(lw__pair_classes_next(&classes, text, 1, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair_classes__few_kinds_are_told_apart_exactly),
        cmocka_unit_test(test_pair_classes__no_joined_pair_is_cut),
        cmocka_unit_test(test_pair_classes__next_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
