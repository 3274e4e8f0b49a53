/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of a program's own operators share. */
#ifndef LW__TESTS_OPERATOR_TESTING_H
#define LW__TESTS_OPERATOR_TESTING_H

#include "support/forging.h"

/* The run without the operator, for comparison. */
static run_rows whole;

static inline lw_recipe *recipe_with(const char *end, const lw_op_type *type, const void *op)
{
    lw_recipe *recipe = run_recipe(end);
    lw_error err = {0};
    if (lw_recipe_add_operator(recipe, type, op, NULL, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return recipe;
}

static inline lw_status fail_with(lw_error *err, lw_status status, const char *message)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, "%s", message);
    return status;
}

/* All steps before the failing one are those of the plain run; then the failure, for ever. */
static inline lw_status run_to_failure(lw_recipe *recipe, uint64_t *steps, lw_error *err)
{
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    lw_status status;
    *err = (lw_error){0};
    for (*steps = 0; (status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, err)) == LW_OK;
         ++*steps) {
        assert_true(*steps < RUN_STEPS - 1);
        assert_memory_equal(run_view(batch).row_digests, whole.digests[*steps], RUN_ROWS * 32);
        lw_batch_release(batch);
    }
    assert_null(batch);
    lw_error again = {0};
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, &again), status);
    assert_string_equal(again.message, err->message);
    lw_pipeline_close(pipeline);
    return status;
}

static inline void check_silent(lw_recipe *recipe)
{
    uint64_t steps;
    lw_error err;
    assert_int_equal(run_to_failure(recipe, &steps, &err), LW_E_OPERATOR);
    assert_int_equal(err.status, LW_E_OPERATOR);
    assert_true(strlen(err.message) > 0);
    lw_recipe_close(recipe);
}

static inline void run_plain(void)
{
    lw_recipe *plain = run_recipe("repeat");
    run_world(plain, 1, NULL, RUN_STEPS, &whole);
    lw_recipe_close(plain);
}

#endif
