/* SPDX-License-Identifier: Apache-2.0 */
/* The wrap packer in a chain: exact rows and last labels, the tail, and saves at every document. */
#include <laneway/random.h>

#include "op/builtin.h"
#include "support/chain_testing.h"

static const lw__operator wrap = {&lw__op_wrap, NULL};

static void test_wrap__a_full_row_of_the_stream_waits_for_its_last_label(void **state)
{
    (void)state;
    static bench b;
    bench_open(&b, &wrap, 1, 4, LW_SHIFT_STREAM);
    bench_push(&b, 0, 3);
    assert_string_equal(bench_left(&b), "");
    bench_push(&b, 1, 3);
    assert_string_equal(bench_left(&b), "a[0..3) b[0..1) >b1;");
    bench_push(&b, 2, 6);
    assert_string_equal(bench_left(&b), "b[1..3) c[0..2) >c2;");
    bench_push(&b, 3, 1);
    assert_string_equal(bench_left(&b), "c[2..6) >d0;");
    bench_flush(&b);
    assert_string_equal(bench_left(&b), "d[0..1) >-;");
    assert_int_equal(b.chain.packed, 4);
    bench_close(&b);
}

static void test_wrap__a_full_row_of_the_document_shift_leaves_at_once(void **state)
{
    (void)state;
    static bench b;
    bench_open(&b, &wrap, 1, 4, LW_SHIFT_DOCUMENT);
    bench_push(&b, 0, 3);
    bench_push(&b, 1, 1);
    assert_string_equal(bench_left(&b), "a[0..3) b[0..1) >b1;");
    bench_push(&b, 2, 9);
    assert_string_equal(bench_left(&b), "c[0..4) >c4;c[4..8) >c8;");
    bench_flush(&b);
    assert_string_equal(bench_left(&b), "c[8..9) >c9;");
    bench_close(&b);
}

static void test_wrap__data_that_fill_the_last_row_leave_it_without_a_label(void **state)
{
    (void)state;
    static bench b;
    bench_open(&b, &wrap, 1, 4, LW_SHIFT_STREAM);
    bench_push(&b, 0, 8);
    assert_string_equal(bench_left(&b), "a[0..4) >a4;");
    bench_flush(&b);
    assert_string_equal(bench_left(&b), "a[4..8) >-;");
    bench_close(&b);
}

static void test_wrap__no_data_give_no_rows(void **state)
{
    (void)state;
    static bench b;
    bench_open(&b, &wrap, 1, 4, LW_SHIFT_STREAM);
    bench_flush(&b);
    assert_string_equal(bench_left(&b), "");
    bench_close(&b);
}

static void check_cuts(uint64_t context, uint64_t most)
{
    uint64_t lengths[40];
    for (size_t i = 0; i < 40; i++) {
        lengths[i] = 1 + lw_random_key(context, LW_PURPOSE_USER, i, most, 0) % most;
    }
    bench_check_cuts(&wrap, 1, context, LW_SHIFT_STREAM, lengths, 40);
    bench_check_cuts(&wrap, 1, context, LW_SHIFT_DOCUMENT, lengths, 40);
}

static void test_wrap__a_save_at_any_document_changes_nothing(void **state)
{
    (void)state;
    check_cuts(8, 20);
    check_cuts(5, 5);
    check_cuts(1, 3);
    check_cuts(100, 30);
}

/* A length that makes rows full at a document's end, so that a full row is held and saved. */
static void test_wrap__a_held_full_row_is_saved_too(void **state)
{
    (void)state;
    uint64_t lengths[12];
    for (size_t i = 0; i < 12; i++) {
        lengths[i] = 4;
    }
    bench_check_cuts(&wrap, 1, 4, LW_SHIFT_STREAM, lengths, 12);
    bench_check_cuts(&wrap, 1, 8, LW_SHIFT_STREAM, lengths, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrap__a_full_row_of_the_stream_waits_for_its_last_label),
        cmocka_unit_test(test_wrap__a_full_row_of_the_document_shift_leaves_at_once),
        cmocka_unit_test(test_wrap__data_that_fill_the_last_row_leave_it_without_a_label),
        cmocka_unit_test(test_wrap__no_data_give_no_rows),
        cmocka_unit_test(test_wrap__a_save_at_any_document_changes_nothing),
        cmocka_unit_test(test_wrap__a_held_full_row_is_saved_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
