/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain's books: operators that break the conservation rule, each in its own way, fail with
 * LW_E_OPERATOR in a line that starts with their name. And what operators that keep it may do.
 */
#include "op/builtin.h"
#include "support/chain_testing.h"

/* What an accumulator named "bad" does with a document. */
typedef enum deed {
    PUT_DOCUMENT_TWICE,
    PUT_ROW_TWICE,
    PUT_DOCUMENT_AS_ROW,
    PUT_STRANGER,
    DROP_TWICE,
    USE_EARLY,
    USE_TWICE,
    USE_A_ROW,
    APPEND_TOO_MUCH,
    APPEND_BEYOND,
    APPEND_NOTHING,
    APPEND_TO_A_ROW_PUT,
    FOLLOW_BEYOND,
    MAKE_ROW,
    HOLD,
    DROP,
    PASS,
    DROP_ODD,
    FAIL
} deed;

typedef struct worker {
    deed what;
    lw_record *kept;
} worker;

static lw_status bad_create(const void *op, const lw_op_context *context, void **acc, lw_error *err)
{
    (void)context;
    (void)err;
    worker *w = lw__alloc_zero(1, sizeof *w);
    assert_non_null(w);
    w->what = *(const deed *)op;
    *acc = w;
    return LW_OK;
}

static lw_status row_with(lw_sink *out, lw_record *rec, uint64_t first, uint64_t count,
                          lw_record **row, lw_error *err)
{
    lw_status status = lw_sink_row(out, row, err);
    return status == LW_OK ? lw_row_append(*row, rec, first, count, err) : status;
}

static lw_status misuse_row(worker *w, lw_record *rec, lw_sink *out, lw_error *err)
{
    lw_record *row = NULL;
    uint64_t length = lw_document_length(rec);
    uint64_t count = w->what == APPEND_NOTHING ? 0 : length;
    uint64_t first = w->what == APPEND_BEYOND ? 1 : 0;
    count -= w->what == USE_EARLY || w->what == APPEND_TO_A_ROW_PUT;
    lw_status status = row_with(out, rec, first, count, &row, err);
    if (status != LW_OK) {
        return status;
    }
    switch (w->what) {
    case APPEND_TOO_MUCH:
        return lw_row_append(row, rec, 0, length, err);
    case FOLLOW_BEYOND:
        return lw_row_follow(row, rec, length, err);
    case USE_A_ROW:
        return lw_sink_use(out, row, err);
    case PUT_ROW_TWICE:
        status = lw_sink_put(out, row, err);
        return status == LW_OK ? lw_sink_put(out, row, err) : status;
    case APPEND_TO_A_ROW_PUT:
        status = lw_sink_put(out, row, err);
        status = status == LW_OK ? lw_row_append(row, rec, count, 1, err) : status;
        return status == LW_OK ? lw_sink_use(out, rec, err) : status;
    case USE_TWICE:
        status = lw_sink_use(out, rec, err);
        return status == LW_OK ? lw_sink_use(out, rec, err) : status;
    default:
        return lw_sink_use(out, rec, err);
    }
}

static lw_status bad_push(void *acc, lw_record *rec, lw_sink *out, lw_error *err)
{
    worker *w = acc;
    lw_record *row;
    lw_status status = LW_OK;
    switch (w->what) {
    case HOLD:
        w->kept = rec;
        return LW_OK;
    case PASS:
    case PUT_DOCUMENT_AS_ROW:
        return lw_sink_put(out, rec, err);
    case PUT_DOCUMENT_TWICE:
        status = lw_sink_put(out, rec, err);
        return status == LW_OK ? lw_sink_put(out, rec, err) : status;
    case PUT_STRANGER:
        row = w->kept != NULL ? w->kept : rec;
        w->kept = row;
        return lw_sink_put(out, row, err);
    case DROP:
        return lw_sink_drop(out, rec, err);
    case DROP_TWICE:
        status = lw_sink_drop(out, rec, err);
        return status == LW_OK ? lw_sink_drop(out, rec, err) : status;
    case DROP_ODD:
        return lw_row_segment(rec, 0).document % 2 == 1 ? lw_sink_drop(out, rec, err)
                                                        : lw_sink_put(out, rec, err);
    case MAKE_ROW:
        return lw_sink_row(out, &row, err);
    case FAIL:
        snprintf(err->message, sizeof err->message, "bad: on purpose");
        return err->status = LW_E_IO;
    default:
        return misuse_row(w, rec, out, err);
    }
}

static lw_op_type bad_type(uint32_t phase)
{
    return (lw_op_type){.struct_size = sizeof(lw_op_type),
                        .name = "bad",
                        .version = 1,
                        .phase = phase,
                        .acc_create = bad_create,
                        .acc_push = bad_push,
                        .acc_destroy = lw__free};
}

/* Pushes two documents of three tokens through the operator, alone or with wrap around it. */
static lw_status run(deed what, uint32_t phase, lw_error *err)
{
    static bench b;
    lw_op_type type = bad_type(phase);
    lw__operator bad = {&type, &what};
    lw__operator wrap = {&lw__op_wrap, NULL};
    lw__operator operators[] = {phase == LW_PHASE_ROW ? wrap : bad,
                                phase == LW_PHASE_ROW ? bad : wrap};
    *err = (lw_error){0};
    bench_open(&b, operators, phase == LW_PHASE_PACK ? 1 : 2, 4, LW_SHIFT_STREAM);
    lw_status status = bench_try_push(&b, 0, 3, err);
    status = status == LW_OK ? bench_try_push(&b, 1, 3, err) : status;
    status = status == LW_OK ? lw__chain_flush(&b.chain, err) : status;
    bench_close(&b);
    return status;
}

static void expect_failure(deed what, uint32_t phase, const char *message)
{
    lw_error err;
    assert_int_equal(run(what, phase, &err), LW_E_OPERATOR);
    assert_int_equal(err.status, LW_E_OPERATOR);
    assert_string_equal(err.message, message);
}

static void test_chain__a_record_put_twice_fails(void **state)
{
    (void)state;
    expect_failure(PUT_DOCUMENT_TWICE, LW_PHASE_DOCUMENT,
                   "bad: puts a record that it does not hold");
    expect_failure(PUT_ROW_TWICE, LW_PHASE_PACK, "bad: puts a record that it does not hold");
    expect_failure(PUT_DOCUMENT_TWICE, LW_PHASE_ROW, "bad: puts a record that it does not hold");
}

static void test_chain__a_record_that_is_not_held_cannot_be_put_or_dropped(void **state)
{
    (void)state;
    expect_failure(PUT_STRANGER, LW_PHASE_ROW, "bad: puts a record that it does not hold");
    expect_failure(DROP_TWICE, LW_PHASE_DOCUMENT, "bad: drops a record that it does not hold");
    expect_failure(DROP_TWICE, LW_PHASE_ROW, "bad: drops a record that it does not hold");
    expect_failure(USE_TWICE, LW_PHASE_PACK, "bad: uses up a record that it does not hold");
}

static void test_chain__a_document_with_tokens_left_is_not_used_up(void **state)
{
    (void)state;
    expect_failure(USE_EARLY, LW_PHASE_PACK, "bad: 2 of a document's tokens in rows, expected 3");
}

static void test_chain__each_phase_puts_its_own_kind(void **state)
{
    (void)state;
    expect_failure(PUT_DOCUMENT_AS_ROW, LW_PHASE_PACK, "bad: puts a document, expected a row");
    expect_failure(MAKE_ROW, LW_PHASE_DOCUMENT, "bad: makes a row, expected only of packers");
    expect_failure(MAKE_ROW, LW_PHASE_ROW, "bad: makes a row, expected only of packers");
    expect_failure(USE_A_ROW, LW_PHASE_PACK, "bad: uses up what is no document");
}

static void test_chain__a_wrong_append_or_follow_fails(void **state)
{
    (void)state;
    static const deed deeds[] = {APPEND_TOO_MUCH, APPEND_BEYOND, APPEND_NOTHING, FOLLOW_BEYOND};
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        lw_error err;
        assert_int_equal(run(deeds[i], LW_PHASE_PACK, &err), LW_E_OPERATOR);
        assert_int_equal(err.status, LW_E_OPERATOR);
        assert_non_null(
            strstr(err.message, deeds[i] == FOLLOW_BEYOND ? "lw_row_follow: " : "lw_row_append: "));
    }
}

static void test_chain__a_wrong_append_names_the_operator(void **state)
{
    (void)state;
    lw_error err;
    assert_int_equal(run(APPEND_TOO_MUCH, LW_PHASE_PACK, &err), LW_E_OPERATOR);
    if (strstr(err.message, "bad: ") == NULL) {
        fail_msg("\"%s\", expected the operator's name in it", err.message);
    }
}

/* A row that was put belongs to others: perhaps it is being written on another thread. */
static void test_chain__a_row_that_was_put_takes_no_more_tokens(void **state)
{
    (void)state;
    lw_error err;
    assert_int_equal(run(APPEND_TO_A_ROW_PUT, LW_PHASE_PACK, &err), LW_E_OPERATOR);
}

static void test_chain__records_held_after_the_flush_fail(void **state)
{
    (void)state;
    expect_failure(HOLD, LW_PHASE_DOCUMENT,
                   "bad: 2 records still held after the flush, expected none");
    expect_failure(HOLD, LW_PHASE_PACK, "bad: 2 records still held after the flush, expected none");
}

static void test_chain__records_held_but_not_saved_fail(void **state)
{
    (void)state;
    static bench b;
    deed what = HOLD;
    lw_op_type type = bad_type(LW_PHASE_DOCUMENT);
    lw__operator operators[] = {{&type, &what}, {&lw__op_wrap, NULL}};
    lw__bytes carry;
    lw_error err = {0};
    lw__bytes_init(&carry);
    bench_open(&b, operators, 2, 4, LW_SHIFT_STREAM);
    assert_int_equal(lw__chain_save(&b.chain, &carry, &err), LW_OK);
    bench_push(&b, 0, 3);
    assert_int_equal(lw__chain_save(&b.chain, &carry, &err), LW_E_OPERATOR);
    assert_string_equal(err.message, "bad: 1 records held, 0 saved");
    lw__bytes_reset(&carry);
    bench_close(&b);
}

static void test_chain__a_failure_of_an_operator_is_handed_on_as_it_is(void **state)
{
    (void)state;
    lw_error err;
    assert_int_equal(run(FAIL, LW_PHASE_DOCUMENT, &err), LW_E_IO);
    assert_string_equal(err.message, "bad: on purpose");
}

static void test_chain__dropped_documents_and_rows_are_counted(void **state)
{
    (void)state;
    static bench b;
    deed what = DROP;
    lw_op_type type = bad_type(LW_PHASE_DOCUMENT);
    lw__operator documents[] = {{&type, &what}, {&lw__op_wrap, NULL}};
    bench_open(&b, documents, 2, 4, LW_SHIFT_STREAM);
    bench_push(&b, 0, 3);
    bench_push(&b, 1, 9);
    bench_flush(&b);
    assert_string_equal(bench_left(&b), "");
    assert_int_equal(b.chain.dropped, 2);
    assert_int_equal(b.chain.dropped_tokens, 12);
    bench_close(&b);

    what = DROP_ODD;
    type = bad_type(LW_PHASE_ROW);
    lw__operator rows[] = {{&lw__op_wrap, NULL}, {&type, &what}};
    bench_open(&b, rows, 2, 4, LW_SHIFT_DOCUMENT);
    for (size_t i = 0; i < 4; i++) {
        bench_push(&b, i, 4);
    }
    assert_string_equal(bench_left(&b), "a[0..4) >a4;c[0..4) >c4;");
    assert_int_equal(b.chain.packed, 4);
    assert_int_equal(b.chain.lost_rows, 2);
    assert_int_equal(b.chain.dropped_tokens, 8);
    bench_close(&b);
}

static void test_chain__a_worker_without_accumulator_is_passed_over(void **state)
{
    (void)state;
    static bench b;
    lw_op_type type = {.struct_size = sizeof type, .name = "none", .phase = LW_PHASE_DOCUMENT};
    lw__operator operators[] = {{&type, NULL}, {&lw__op_wrap, NULL}};
    bench_open(&b, operators, 2, 4, LW_SHIFT_DOCUMENT);
    assert_int_equal(b.chain.stage_count, 1);
    bench_push(&b, 0, 4);
    assert_string_equal(bench_left(&b), "a[0..4) >a4;");
    bench_close(&b);
}

static void test_chain__running_out_of_memory_anywhere_leaks_nothing(void **state)
{
    (void)state;
    static bench b;
    lw__op_best_fit_options best = {.open_rows = 3};
    lw__op_shuffle_options rows = {.rows = 3};
    lw__operator operators[] = {{&lw__op_best_fit, &best}, {&lw__op_shuffle, &rows}};
    lw_status status = LW_E_NOMEM;
    unsigned long calls = 0;
    for (calls = 1; status == LW_E_NOMEM; calls++) {
        lw_error err = {0};
        lw__alloc_fail_after(calls);
        status = bench_try_open(&b, operators, 2, 8, LW_SHIFT_STREAM, &err);
        for (uint64_t i = 0; i < 12 && status == LW_OK; i++) {
            lw_record *document = NULL;
            status = lw__store_doc(&b.store, &document, &err);
            if (status == LW_OK) {
                document->u.doc = (lw__doc){.tokens = b.tokens, .token_count = 5, .length = 5};
                status = lw__chain_push(&b.chain, document, &err);
            }
        }
        lw__alloc_fail_after(0);
        assert_true(status == LW_OK || err.status == LW_E_NOMEM);
        bench_close(&b);
    }
    assert_int_equal(status, LW_OK);
    assert_true(calls > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain__a_record_put_twice_fails),
        cmocka_unit_test(test_chain__a_record_that_is_not_held_cannot_be_put_or_dropped),
        cmocka_unit_test(test_chain__a_document_with_tokens_left_is_not_used_up),
        cmocka_unit_test(test_chain__each_phase_puts_its_own_kind),
        cmocka_unit_test(test_chain__a_wrong_append_or_follow_fails),
        cmocka_unit_test(test_chain__a_wrong_append_names_the_operator),
        cmocka_unit_test(test_chain__a_row_that_was_put_takes_no_more_tokens),
        cmocka_unit_test(test_chain__records_held_after_the_flush_fail),
        cmocka_unit_test(test_chain__records_held_but_not_saved_fail),
        cmocka_unit_test(test_chain__a_failure_of_an_operator_is_handed_on_as_it_is),
        cmocka_unit_test(test_chain__dropped_documents_and_rows_are_counted),
        cmocka_unit_test(test_chain__a_worker_without_accumulator_is_passed_over),
        cmocka_unit_test(test_chain__running_out_of_memory_anywhere_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
