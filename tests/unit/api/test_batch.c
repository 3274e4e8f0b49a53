/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch shows beside its arrays: tokens of each row, boundaries of documents. */
#include "support/running.h"

enum { PLACES = RUN_ROWS * RUN_CONTEXT, ROWS_OF_A_BATCH = 5 };

/* Opens a recipe whose last step has padding; its batches are microbatches, the last one smaller. */
static lw_pipeline *open_padded(lw_recipe **recipe)
{
    *recipe = run_recipe("pad");
    run_set(*recipe, "runtime.microbatch", "5");
    return run_open(*recipe, 0, 1, NULL);
}

/* The boundaries of rows [first, first + rows), found the long way. */
static size_t expected_boundaries(const lw_batch_view *view, uint64_t first, uint64_t rows,
                                  int32_t *out, int32_t *longest)
{
    const int32_t *positions = view->positions;
    size_t count = 0;
    *longest = 0;
    for (uint64_t i = 0; i < rows * RUN_CONTEXT; i++) {
        if (positions[first * RUN_CONTEXT + i] == 0) {
            out[count++] = (int32_t)i;
        }
    }
    out[count++] = (int32_t)(rows * RUN_CONTEXT);
    for (size_t i = 1; i < count; i++) {
        *longest = out[i] - out[i - 1] > *longest ? out[i] - out[i - 1] : *longest;
    }
    return count;
}

static void check_boundaries(const lw_batch *batch, uint64_t row)
{
    int32_t expected[PLACES + 1];
    int32_t found[PLACES + 1];
    int32_t longest[2];
    size_t count = 0;
    lw_batch_view view = run_view(batch);
    int all = row == LW_ALL_ROWS;
    size_t expected_count =
        expected_boundaries(&view, all ? 0 : row, all ? view.rows : 1, expected, &longest[0]);
    assert_int_equal(lw_batch_boundaries(batch, row, found, PLACES + 1, &count, &longest[1], NULL),
                     LW_OK);
    assert_int_equal(count, expected_count);
    assert_memory_equal(found, expected, count * sizeof *found);
    assert_int_equal(longest[1], longest[0]);
}

/* Every place behind a row's tokens is padding, which is never learnt from; the sums agree. */
static uint64_t check_row_tokens(const lw_batch_view *view)
{
    uint64_t sum = 0;
    for (uint64_t row = 0; row < view->rows; row++) {
        assert_true(view->row_tokens[row] <= RUN_CONTEXT);
        for (uint64_t i = view->row_tokens[row]; i < RUN_CONTEXT; i++) {
            assert_int_equal(view->loss_mask[row * RUN_CONTEXT + i], 0);
        }
        sum += view->row_tokens[row];
    }
    assert_int_equal(sum, view->valid_tokens);
    return sum;
}

static void test_batch__boundaries_and_row_tokens_are_those_of_the_arrays(void **state)
{
    (void)state;
    lw_recipe *recipe;
    lw_pipeline *pipeline = open_padded(&recipe);
    lw_batch *batch;
    uint64_t tokens = 0;
    uint64_t places = 0;
    while (lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL) == LW_OK) {
        lw_batch_view view = run_view(batch);
        tokens += check_row_tokens(&view);
        places += view.rows * RUN_CONTEXT;
        check_boundaries(batch, LW_ALL_ROWS);
        for (uint64_t row = 0; row < view.rows; row++) {
            check_boundaries(batch, row);
        }
        lw_batch_release(batch);
    }
    assert_true(tokens > 0 && tokens < places);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_batch__boundaries_beyond_the_capacity_are_counted(void **state)
{
    (void)state;
    lw_recipe *recipe;
    lw_pipeline *pipeline = open_padded(&recipe);
    lw_batch *batch;
    int32_t found[3] = {-1, -1, -1};
    size_t whole = 0;
    size_t count = 0;
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_OK);
    assert_int_equal(lw_batch_boundaries(batch, LW_ALL_ROWS, NULL, 0, &whole, NULL, NULL), LW_OK);
    assert_true(whole > ROWS_OF_A_BATCH);
    assert_int_equal(lw_batch_boundaries(batch, LW_ALL_ROWS, found, 2, &count, NULL, NULL), LW_OK);
    assert_int_equal(count, whole);
    assert_int_equal(found[0], 0);
    assert_true(found[1] > 0);
    assert_int_equal(found[2], -1);
    lw_batch_release(batch);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_batch__rows_that_are_not_there_and_null_are_refused(void **state)
{
    (void)state;
    lw_recipe *recipe;
    lw_pipeline *pipeline = open_padded(&recipe);
    lw_batch *batch;
    lw_error err = {0};
    size_t count = 0;
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_OK);
    assert_int_equal(lw_batch_boundaries(batch, ROWS_OF_A_BATCH, NULL, 0, &count, NULL, &err),
                     LW_E_INVALID);
    assert_string_equal(err.message, "batch: lw_batch_boundaries: no such row");
    assert_int_equal(lw_batch_boundaries(batch, 0, NULL, 1, &count, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_batch_boundaries(batch, 0, NULL, 0, NULL, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_batch_boundaries(NULL, 0, NULL, 0, &count, NULL, NULL), LW_E_INVALID);
    lw_batch_release(batch);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch__boundaries_and_row_tokens_are_those_of_the_arrays),
        cmocka_unit_test(test_batch__boundaries_beyond_the_capacity_are_counted),
        cmocka_unit_test(test_batch__rows_that_are_not_there_and_null_are_refused),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
