/* SPDX-License-Identifier: Apache-2.0 */
/* The best-fit packer in a chain: the worked rows of docs/stream.md, ties, and saves. */
#include <laneway/random.h>

#include "op/builtin.h"
#include "support/chain_testing.h"

static const lw__op_best_fit_options one_row = {.open_rows = 1};
static const lw__op_best_fit_options two_rows = {.open_rows = 2};
static const lw__op_best_fit_options eight_rows = {.open_rows = 8};

static void test_best_fit__the_worked_rows_leave_with_their_documents(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {6, 7, 3, 14, 4, 2, 5, 9};
    static const char *const left[] = {
        "", "", "b[0..7) c[0..3) >-;", "d[0..10) >d10;a[0..6) d[10..14) >-;", "",
        "", "", "e[0..4) f[0..2) >-;"};
    static bench b;
    lw__operator best_fit = {&lw__op_best_fit, &two_rows};
    bench_open(&b, &best_fit, 1, 10, LW_SHIFT_STREAM);
    for (size_t i = 0; i < 8; i++) {
        bench_push(&b, i, lengths[i]);
        assert_string_equal(bench_left(&b), left[i]);
    }
    bench_flush(&b);
    assert_string_equal(bench_left(&b), "g[0..5) >-;h[0..9) >-;");
    bench_close(&b);
}

static void test_best_fit__of_equal_rows_the_one_opened_first_is_taken(void **state)
{
    (void)state;
    static bench b;
    lw__operator best_fit = {&lw__op_best_fit, &two_rows};
    bench_open(&b, &best_fit, 1, 10, LW_SHIFT_STREAM);
    bench_push(&b, 0, 6);
    bench_push(&b, 1, 6);
    bench_push(&b, 2, 4);
    assert_string_equal(bench_left(&b), "a[0..6) c[0..4) >-;");
    bench_push(&b, 3, 6);
    bench_push(&b, 4, 6);
    assert_string_equal(bench_left(&b), "b[0..6) >-;");
    bench_close(&b);
}

static void test_best_fit__multiples_of_a_row_leave_nothing_open(void **state)
{
    (void)state;
    static bench b;
    lw__operator best_fit = {&lw__op_best_fit, &eight_rows};
    bench_open(&b, &best_fit, 1, 10, LW_SHIFT_DOCUMENT);
    bench_push(&b, 0, 20);
    assert_string_equal(bench_left(&b), "a[0..10) >a10;a[10..20) >a20;");
    bench_flush(&b);
    assert_string_equal(bench_left(&b), "");
    bench_close(&b);
}

static void check_cuts(const lw__op_best_fit_options *options, uint64_t context, uint64_t most)
{
    uint64_t lengths[40];
    lw__operator best_fit = {&lw__op_best_fit, options};
    for (size_t i = 0; i < 40; i++) {
        lengths[i] = 1 + lw_random_key(context, LW_PURPOSE_USER, i, most, 1) % most;
    }
    bench_check_cuts(&best_fit, 1, context, LW_SHIFT_STREAM, lengths, 40);
    bench_check_cuts(&best_fit, 1, context, LW_SHIFT_DOCUMENT, lengths, 40);
}

static void test_best_fit__a_save_at_any_document_changes_nothing(void **state)
{
    (void)state;
    check_cuts(&one_row, 10, 25);
    check_cuts(&two_rows, 16, 16);
    check_cuts(&eight_rows, 30, 20);
    check_cuts(&eight_rows, 1, 2);
}

static void test_best_fit__a_carry_with_more_rows_than_may_be_open_is_refused(void **state)
{
    (void)state;
    static bench wide;
    static bench narrow;
    lw__bytes carry;
    lw_error err = {0};
    lw__operator eight = {&lw__op_best_fit, &eight_rows};
    lw__operator two = {&lw__op_best_fit, &two_rows};
    bench_open(&wide, &eight, 1, 10, LW_SHIFT_STREAM);
    for (size_t i = 0; i < 3; i++) {
        bench_push(&wide, i, 9);
    }
    bench_save(&wide, &carry);
    bench_open(&narrow, &two, 1, 10, LW_SHIFT_STREAM);
    lw__reader from = lw__reader_of(carry.data, carry.count);
    assert_int_equal(lw__chain_load(&narrow.chain, &from, &narrow.remake, &err), LW_E_CORRUPT);
    assert_string_equal(err.message, "best_fit: a carry with 3 open rows, expected at most 2");
    lw__bytes_reset(&carry);
    bench_close(&wide);
    bench_close(&narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_fit__the_worked_rows_leave_with_their_documents),
        cmocka_unit_test(test_best_fit__of_equal_rows_the_one_opened_first_is_taken),
        cmocka_unit_test(test_best_fit__multiples_of_a_row_leave_nothing_open),
        cmocka_unit_test(test_best_fit__a_save_at_any_document_changes_nothing),
        cmocka_unit_test(test_best_fit__a_carry_with_more_rows_than_may_be_open_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
