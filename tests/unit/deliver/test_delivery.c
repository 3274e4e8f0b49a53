/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of a running pipeline: held batches, BUSY and recovery, and batches after the close. */
#include <pthread.h>

#include "support/running.h"

static lw_recipe *narrow_recipe(void)
{
    lw_recipe *recipe = run_recipe("repeat");
    run_set(recipe, "runtime.prefetch_steps", "1"); /* two slots */
    return recipe;
}

static lw_batch *next(lw_pipeline *pipeline)
{
    lw_batch *batch = NULL;
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_OK);
    return batch;
}

static void test_delivery__a_caller_who_holds_every_slot_is_told_and_may_go_on(void **state)
{
    (void)state;
    static run_rows whole;
    lw_recipe *recipe = narrow_recipe();
    run_world(recipe, 1, NULL, 6, &whole);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *one = next(pipeline);
    lw_batch *two = next(pipeline);
    lw_batch *three = NULL;
    lw_error err = {0};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &three, &err), LW_E_BUSY);
        assert_null(three);
        assert_string_equal(err.message,
                            "pipeline: the caller holds batches of 2 steps, expected at "
                            "most 1 (runtime.prefetch_steps)");
    }
    assert_int_equal(run_view(one).step, 0);
    lw_batch_release(two);
    three = next(pipeline);
    assert_int_equal(run_view(three).step, 2);
    assert_memory_equal(run_view(three).row_digests, whole.digests[2], RUN_ROWS * 32);
    assert_memory_equal(run_view(one).row_digests, whole.digests[0], RUN_ROWS * 32);
    lw_batch_release(three);
    lw_batch_release(one);
    for (uint64_t step = 3; step < 6; step++) {
        lw_batch *batch = next(pipeline);
        assert_memory_equal(run_view(batch).row_digests, whole.digests[step], RUN_ROWS * 32);
        lw_batch_release(batch);
    }
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_delivery__a_single_slot_is_enough(void **state)
{
    (void)state;
    static run_rows whole;
    static run_rows single;
    lw_recipe *recipe = narrow_recipe();
    run_world(recipe, 1, NULL, 6, &whole);
    run_set(recipe, "runtime.prefetch_steps", "0");
    run_world(recipe, 1, NULL, 6, &single);
    assert_int_equal(single.steps, 6);
    run_same(&single, &whole);
    lw_recipe_close(recipe);
}

static void test_delivery__microbatches_are_the_rows_of_the_step_in_order(void **state)
{
    (void)state;
    static run_rows whole;
    lw_recipe *recipe = narrow_recipe();
    run_world(recipe, 1, NULL, 3, &whole);
    run_set(recipe, "runtime.microbatch", "5");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    for (uint64_t step = 0; step < 3; step++) {
        lw_batch *held[3];
        for (uint64_t i = 0; i < 3; i++) {
            held[i] = next(pipeline);
            lw_batch_view view = run_view(held[i]);
            assert_int_equal(view.step, step);
            assert_int_equal(view.first_row, 5 * i);
            assert_int_equal(view.rows, i < 2 ? 5 : 2);
            assert_memory_equal(view.row_digests, whole.digests[step][5 * i], view.rows * 32);
        }
        lw_batch_release(held[1]);
        lw_batch_release(held[2]);
        lw_batch_release(held[0]);
    }
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_delivery__batches_outlive_their_pipeline(void **state)
{
    (void)state;
    static run_rows whole;
    lw_recipe *recipe = narrow_recipe();
    run_world(recipe, 1, NULL, 2, &whole);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *one = next(pipeline);
    lw_batch *two = next(pipeline);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
    assert_memory_equal(run_view(two).row_digests, whole.digests[1], RUN_ROWS * 32);
    lw_batch_release(two);
    assert_memory_equal(run_view(one).row_digests, whole.digests[0], RUN_ROWS * 32);
    lw_batch_release(one);
}

static void *release(void *batch)
{
    lw_batch_release(batch);
    return NULL;
}

static void test_delivery__batches_released_on_another_thread_are_used_again(void **state)
{
    (void)state;
    static run_rows whole;
    lw_recipe *recipe = narrow_recipe();
    run_world(recipe, 1, NULL, 10, &whole);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    for (uint64_t step = 0; step < 10; step++) {
        pthread_t thread;
        lw_batch *batch = next(pipeline);
        assert_memory_equal(run_view(batch).row_digests, whole.digests[step], RUN_ROWS * 32);
        assert_int_equal(pthread_create(&thread, NULL, release, batch), 0);
        pthread_join(thread, NULL);
    }
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

/* The close and the release meet: whoever is last frees the memory. */
static void test_delivery__a_release_may_race_with_the_close(void **state)
{
    (void)state;
    lw_recipe *recipe = narrow_recipe();
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
        lw_batch *batch = next(pipeline);
        assert_int_equal(pthread_create(&thread, NULL, release, batch), 0);
        lw_pipeline_close(pipeline);
        pthread_join(thread, NULL);
    }
    lw_recipe_close(recipe);
}

static void test_delivery__wide_values_equal_narrow_ones(void **state)
{
    (void)state;
    lw_recipe *recipe = narrow_recipe();
    lw_pipeline *narrow = run_open(recipe, 0, 1, NULL);
    run_set(recipe, "runtime.dtype", "int64");
    lw_pipeline *wide = run_open(recipe, 0, 1, NULL);
    lw_batch *one = next(narrow);
    lw_batch *two = next(wide);
    lw_batch_view a = run_view(one);
    lw_batch_view b = run_view(two);
    assert_int_equal(a.token_bytes, 4);
    assert_int_equal(b.token_bytes, 8);
    for (size_t i = 0; i < RUN_ROWS * RUN_CONTEXT; i++) {
        assert_int_equal(((const int32_t *)a.tokens)[i], ((const int64_t *)b.tokens)[i]);
        assert_int_equal(((const int32_t *)a.labels)[i], ((const int64_t *)b.labels)[i]);
        assert_int_equal(((const int32_t *)a.positions)[i], ((const int64_t *)b.positions)[i]);
    }
    lw_batch_release(one);
    lw_batch_release(two);
    lw_pipeline_close(narrow);
    lw_pipeline_close(wide);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delivery__a_caller_who_holds_every_slot_is_told_and_may_go_on),
        cmocka_unit_test(test_delivery__a_single_slot_is_enough),
        cmocka_unit_test(test_delivery__microbatches_are_the_rows_of_the_step_in_order),
        cmocka_unit_test(test_delivery__batches_outlive_their_pipeline),
        cmocka_unit_test(test_delivery__batches_released_on_another_thread_are_used_again),
        cmocka_unit_test(test_delivery__a_release_may_race_with_the_close),
        cmocka_unit_test(test_delivery__wide_values_equal_narrow_ones),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
