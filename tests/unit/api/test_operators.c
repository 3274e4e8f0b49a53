/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers of a program's own in whole pipelines, on texts and on rows; and their failures, which come
 * in stream order whatever thread met them.
 */
#include "operator_testing.h"

/* ---- ROW workers ----------------------------------------------------------------------------- */

/* Masks the first token of every row. */
static lw_status mask_first(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                            lw_error *err)
{
    (void)op;
    (void)count;
    (void)out;
    lw_row_arrays arrays = {.struct_size = sizeof arrays};
    lw_status status = lw_row_get(group[0], &arrays, err);
    if (status == LW_OK) {
        arrays.loss_mask[0] = 0;
    }
    return status;
}

static void test_operators__a_row_worker_edits_the_loss_mask(void **state)
{
    (void)state;
    static const lw_op_type type = {.struct_size = sizeof(lw_op_type),
                                    .name = "mask_first",
                                    .version = 1,
                                    .phase = LW_PHASE_ROW,
                                    .work = mask_first};
    lw_recipe *plain = run_recipe("repeat");
    lw_recipe *recipe = recipe_with("repeat", &type, NULL);
    lw_pipeline *a = run_open(plain, 0, 1, NULL);
    lw_pipeline *b = run_open(recipe, 0, 1, NULL);
    for (int step = 0; step < 4; step++) {
        lw_batch *x = NULL;
        lw_batch *y = NULL;
        assert_int_equal(lw_pipeline_next(a, LW_FOREVER, &x, NULL), LW_OK);
        assert_int_equal(lw_pipeline_next(b, LW_FOREVER, &y, NULL), LW_OK);
        lw_batch_view p = run_view(x);
        lw_batch_view q = run_view(y);
        size_t cells = RUN_ROWS * RUN_CONTEXT;
        assert_memory_equal(p.tokens, q.tokens, cells * sizeof(int32_t));
        assert_memory_equal(p.labels, q.labels, cells * sizeof(int32_t));
        for (size_t i = 0; i < cells; i++) {
            assert_int_equal(q.loss_mask[i], i % RUN_CONTEXT == 0 ? 0 : p.loss_mask[i]);
        }
        assert_memory_not_equal(p.row_digests, q.row_digests, 32);
        lw_batch_release(x);
        lw_batch_release(y);
    }
    lw_pipeline_close(a);
    lw_pipeline_close(b);
    lw_recipe_close(plain);
    lw_recipe_close(recipe);
}

/* How a failing operator reports; found by a step's first row of those that hold the token. */
typedef struct trap {
    int32_t token;  /* rows that start with it fail */
    int32_t silent; /* 1: without filling the error */
} trap;

static lw_status spring(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                        lw_error *err)
{
    (void)count;
    (void)out;
    const trap *t = op;
    lw_row_arrays arrays = {.struct_size = sizeof arrays};
    lw_status status = lw_row_get(group[0], &arrays, err);
    if (status != LW_OK || arrays.tokens[0] != t->token) {
        return status;
    }
    return t->silent ? LW_E_OPERATOR : fail_with(err, LW_E_OPERATOR, "trap: sprung");
}

static const lw_op_type trap_type = {.struct_size = sizeof(lw_op_type),
                                     .name = "trap",
                                     .version = 1,
                                     .phase = LW_PHASE_ROW,
                                     .work = spring};

/* The first step of the plain run with a row that starts with some token. */
static uint64_t first_step_with(int32_t token)
{
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    uint64_t found = UINT64_MAX;
    while (found == UINT64_MAX) {
        lw_batch *batch = NULL;
        assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_OK);
        lw_batch_view view = run_view(batch);
        const int32_t *tokens = view.tokens;
        for (size_t row = 0; row < RUN_ROWS && found == UINT64_MAX; row++) {
            found = tokens[row * RUN_CONTEXT] == token ? view.step : found;
        }
        assert_true(view.step < RUN_STEPS - 1);
        lw_batch_release(batch);
    }
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
    return found;
}

static void test_operators__a_row_worker_that_fails_stops_the_run_at_its_row(void **state)
{
    (void)state;
    static const trap t = {.token = 'q'};
    uint64_t expected = first_step_with('q');
    lw_recipe *plain = run_recipe("repeat");
    run_world(plain, 1, NULL, expected, &whole);
    lw_recipe_close(plain);
    for (int threads = 1; threads <= 3; threads++) {
        char text[4] = {(char)('0' + threads), 0};
        uint64_t steps;
        lw_error err;
        lw_recipe *recipe = recipe_with("repeat", &trap_type, &t);
        run_set(recipe, "runtime.threads", text);
        assert_int_equal(run_to_failure(recipe, &steps, &err), LW_E_OPERATOR);
        assert_int_equal(steps, expected);
        assert_int_equal(err.status, LW_E_OPERATOR);
        assert_string_equal(err.message, "trap: sprung");
        lw_recipe_close(recipe);
    }
}

static void test_operators__a_row_worker_that_says_nothing_still_fails(void **state)
{
    (void)state;
    static const trap t = {.token = 'q', .silent = 1};
    run_plain();
    check_silent(recipe_with("repeat", &trap_type, &t));
}

/* ---- DOCUMENT workers ------------------------------------------------------------------------ */

/* Upper case for even documents (by their number, which the text starts with); odd ones go. */
static lw_status shout(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                       lw_error *err)
{
    (void)op;
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        char text[CORPUS_TEXT];
        lw_str from = lw_document_text(group[i]);
        for (size_t k = 0; k < from.bytes; k++) {
            char c = from.data[k];
            text[k] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        }
        if (strtoull(from.data, NULL, 10) % 2 == 1) {
            status = lw_sink_drop(out, group[i], err);
            continue;
        }
        status = lw_document_set_text(group[i], text, from.bytes, err);
        status = status == LW_OK ? lw_sink_put(out, group[i], err) : status;
    }
    return status;
}

static void test_operators__a_document_worker_replaces_and_drops(void **state)
{
    (void)state;
    static const lw_op_type type = {.struct_size = sizeof(lw_op_type),
                                    .name = "shout",
                                    .version = 1,
                                    .phase = LW_PHASE_DOCUMENT,
                                    .work = shout};
    lw_recipe *recipe = recipe_with("pad", &type, NULL);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    uint64_t documents = 0;
    while (lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL) == LW_OK) {
        lw_batch_view view = run_view(batch);
        const int32_t *tokens = view.tokens;
        for (size_t i = 0; i < RUN_ROWS * RUN_CONTEXT; i++) {
            assert_false(tokens[i] >= 'a' && tokens[i] <= 'z');
            documents += tokens[i] == 256;
        }
        lw_batch_release(batch);
    }
    lw_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(lw_pipeline_stats(pipeline, &stats, NULL), LW_OK);
    assert_int_equal(documents, (RUN_COUNT_A + RUN_COUNT_B) / 2);
    assert_int_equal(stats.documents, documents);
    assert_int_equal(stats.dropped, documents);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static lw_status drop_all(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                          lw_error *err)
{
    (void)op;
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        status = lw_sink_drop(out, group[i], err);
    }
    return status;
}

static void test_operators__a_source_that_gives_nothing_ends_or_fails_but_never_hangs(void **state)
{
    (void)state;
    static const lw_op_type type = {.struct_size = sizeof(lw_op_type),
                                    .name = "drop_all",
                                    .version = 1,
                                    .phase = LW_PHASE_DOCUMENT,
                                    .work = drop_all};
    static const char *const ends[] = {"repeat", "drop", "pad"};
    for (size_t e = 0; e < 3; e++) {
        lw_recipe *recipe = recipe_with(ends[e], &type, NULL);
        uint64_t steps;
        lw_error err;
        assert_int_equal(run_to_failure(recipe, &steps, &err), e == 0 ? LW_E_CORRUPT : LW_END);
        assert_int_equal(steps, 0);
        if (e == 0) {
            assert_string_equal(err.message,
                                "source: \"a\" has no documents, expected at least one");
        }
        lw_recipe_close(recipe);
    }
}

/* What a misbehaving DOCUMENT worker does. */
typedef enum fault { FORGETS, SWAPS, PUTS_TWICE, NOT_UTF8, SAYS_NOTHING } fault;

static lw_status misbehave(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                           lw_error *err)
{
    lw_status status = LW_OK;
    switch (*(const fault *)op) {
    case FORGETS:
        return LW_OK;
    case SWAPS:
        for (size_t i = count; i-- > 0 && status == LW_OK;) {
            status = lw_sink_put(out, group[i], err);
        }
        return status;
    case PUTS_TWICE:
        status = lw_sink_put(out, group[0], err);
        return status == LW_OK ? lw_sink_put(out, group[0], err) : status;
    case NOT_UTF8:
        return lw_document_set_text(group[0], "\xff", 1, err);
    case SAYS_NOTHING:
        break;
    }
    return LW_E_OPERATOR;
}

static const lw_op_type misbehaving = {.struct_size = sizeof(lw_op_type),
                                       .name = "odd",
                                       .version = 1,
                                       .phase = LW_PHASE_DOCUMENT,
                                       .work = misbehave};

static void test_operators__a_document_worker_accounts_for_all_in_order(void **state)
{
    (void)state;
    static const fault faults[] = {FORGETS, SWAPS, PUTS_TWICE, NOT_UTF8};
    static const char *const words[] = {"odd: ", "odd: documents put or dropped out of order",
                                        "odd: documents put or dropped out of order",
                                        "odd: lw_document_set_text: the new text is not UTF-8"};
    for (size_t i = 0; i < 4; i++) {
        uint64_t steps;
        lw_error err;
        lw_recipe *recipe = recipe_with("repeat", &misbehaving, &faults[i]);
        assert_int_equal(run_to_failure(recipe, &steps, &err), LW_E_OPERATOR);
        assert_int_equal(steps, 0);
        assert_memory_equal(err.message, words[i], strlen(words[i]));
        lw_recipe_close(recipe);
    }
}

static void test_operators__a_document_worker_that_says_nothing_still_fails(void **state)
{
    (void)state;
    static const fault silent = SAYS_NOTHING;
    run_plain();
    check_silent(recipe_with("repeat", &misbehaving, &silent));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators__a_row_worker_edits_the_loss_mask),
        cmocka_unit_test(test_operators__a_row_worker_that_fails_stops_the_run_at_its_row),
        cmocka_unit_test(test_operators__a_row_worker_that_says_nothing_still_fails),
        cmocka_unit_test(test_operators__a_document_worker_replaces_and_drops),
        cmocka_unit_test(test_operators__a_source_that_gives_nothing_ends_or_fails_but_never_hangs),
        cmocka_unit_test(test_operators__a_document_worker_accounts_for_all_in_order),
        cmocka_unit_test(test_operators__a_document_worker_that_says_nothing_still_fails),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
