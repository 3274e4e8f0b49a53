/* SPDX-License-Identifier: Apache-2.0 */
/* The row shuffle behind a packer: windows in keyed order, the short last window, and saves. */
#include <laneway/random.h>

#include "op/builtin.h"
#include "support/chain_testing.h"

static const lw__op_best_fit_options open_rows = {.open_rows = 3};
static const lw__op_shuffle_options two = {.rows = 2};
static const lw__op_shuffle_options five = {.rows = 5};

/* Documents of exactly a row each leave in the order of the window's permutation. */
static void expect_window(char *out, uint64_t window, uint64_t first, uint64_t count)
{
    uint64_t key = lw_random_key(5, LW_PURPOSE_ROWS, 3, window, 0);
    out[0] = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t document = first + lw_random_permute(key, count, i);
        size_t used = strlen(out);
        snprintf(out + used, BENCH_TEXT - used, "%c[0..4) >%c4;", bench_letter(document),
                 bench_letter(document));
    }
}

static void test_shuffle__rows_leave_window_by_window_in_keyed_order(void **state)
{
    (void)state;
    static bench b;
    static char expected[BENCH_TEXT];
    lw__operator operators[] = {{&lw__op_wrap, NULL}, {&lw__op_shuffle, &five}};
    bench_open(&b, operators, 2, 4, LW_SHIFT_DOCUMENT);
    for (size_t i = 0; i < 13; i++) {
        bench_push(&b, i, 4);
        if (i % 5 == 4) {
            expect_window(expected, i / 5, i - 4, 5);
            assert_string_equal(bench_left(&b), expected);
        } else {
            assert_string_equal(bench_left(&b), "");
            assert_int_equal(lw__chain_held_rows(&b.chain), i % 5 + 1);
        }
    }
    bench_flush(&b);
    expect_window(expected, 2, 10, 3);
    assert_string_equal(bench_left(&b), expected);
    assert_int_equal(lw__chain_held_rows(&b.chain), 0);
    bench_close(&b);
}

static void test_shuffle__a_whole_last_window_is_not_followed_by_an_empty_one(void **state)
{
    (void)state;
    static bench b;
    lw__operator operators[] = {{&lw__op_wrap, NULL}, {&lw__op_shuffle, &two}};
    bench_open(&b, operators, 2, 4, LW_SHIFT_DOCUMENT);
    bench_push(&b, 0, 8);
    assert_int_equal(strlen(bench_left(&b)), 2 * strlen("a[0..4) >a4;"));
    bench_flush(&b);
    assert_string_equal(bench_left(&b), "");
    bench_close(&b);
}

static void check_cuts(lw__operator packer, const lw__op_shuffle_options *options, uint64_t context)
{
    uint64_t lengths[45];
    lw__operator operators[] = {packer, {&lw__op_shuffle, options}};
    for (size_t i = 0; i < 45; i++) {
        lengths[i] =
            1 + lw_random_key(context, LW_PURPOSE_USER, i, options->rows, 2) % (2 * context);
    }
    bench_check_cuts(operators, 2, context, LW_SHIFT_STREAM, lengths, 45);
    bench_check_cuts(operators, 2, context, LW_SHIFT_DOCUMENT, lengths, 45);
}

static void test_shuffle__a_save_at_any_document_changes_nothing(void **state)
{
    (void)state;
    check_cuts((lw__operator){&lw__op_wrap, NULL}, &two, 7);
    check_cuts((lw__operator){&lw__op_wrap, NULL}, &five, 12);
    check_cuts((lw__operator){&lw__op_best_fit, &open_rows}, &two, 9);
    check_cuts((lw__operator){&lw__op_best_fit, &open_rows}, &five, 15);
}

static void test_shuffle__a_carry_of_a_whole_window_is_refused(void **state)
{
    (void)state;
    static bench wide;
    static bench narrow;
    lw__bytes carry;
    lw_error err = {0};
    lw__operator five_rows[] = {{&lw__op_wrap, NULL}, {&lw__op_shuffle, &five}};
    lw__operator two_rows[] = {{&lw__op_wrap, NULL}, {&lw__op_shuffle, &two}};
    bench_open(&wide, five_rows, 2, 4, LW_SHIFT_DOCUMENT);
    bench_push(&wide, 0, 8);
    bench_save(&wide, &carry);
    bench_open(&narrow, two_rows, 2, 4, LW_SHIFT_DOCUMENT);
    lw__reader from = lw__reader_of(carry.data, carry.count);
    assert_int_equal(lw__chain_load(&narrow.chain, &from, &narrow.remake, &err), LW_E_CORRUPT);
    assert_string_equal(err.message, "shuffle: a carry with 2 rows, expected fewer than 2");
    lw__bytes_reset(&carry);
    bench_close(&wide);
    bench_close(&narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffle__rows_leave_window_by_window_in_keyed_order),
        cmocka_unit_test(test_shuffle__a_whole_last_window_is_not_followed_by_an_empty_one),
        cmocka_unit_test(test_shuffle__a_save_at_any_document_changes_nothing),
        cmocka_unit_test(test_shuffle__a_carry_of_a_whole_window_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
