/* SPDX-License-Identifier: Apache-2.0 */
/* A fork after the open: the child is refused and does not hang; the parent goes on. */
#include <sys/wait.h>
#include <unistd.h>

#include "deliver/delivery.h"
#include "support/running.h"

enum { FINE = 0, NEXT = 1, CHECKPOINT = 2, STATS = 3, CHILD_SECONDS = 20 };

/* In the child, where threads and their locks are gone; the alarm ends a hang. */
static int use_in_child(lw_pipeline *pipeline)
{
    lw_batch *batch = NULL;
    lw_state *saved = NULL;
    lw_stats stats = {.struct_size = sizeof stats};
    lw_error err = {0};
    alarm(CHILD_SECONDS);
    if (lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err) != LW_E_INVALID || batch != NULL ||
        strcmp(err.message, "pipeline: lw_pipeline_next after fork, expected the process that "
                            "opened it") != 0) {
        return NEXT;
    }
    if (lw_pipeline_checkpoint(pipeline, LW_STEP_NEWEST, &saved, &err) != LW_E_INVALID) {
        return CHECKPOINT;
    }
    if (lw_pipeline_stats(pipeline, &stats, &err) != LW_E_INVALID) {
        return STATS;
    }
    lw_pipeline_cancel(pipeline);
    lw_pipeline_close(pipeline);
    return FINE;
}

static void check_fork(lw_pipeline *pipeline)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(use_in_child(pipeline));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), FINE);
}

static void test_fork__a_child_is_refused_and_the_parent_goes_on(void **state)
{
    (void)state;
    static run_rows whole;
    lw_recipe *recipe = run_recipe("repeat");
    run_world(recipe, 1, NULL, 8, &whole);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    for (uint64_t step = 0; step < 8; step++) {
        lw_batch *batch = NULL;
        check_fork(pipeline); /* the threads are at work: their lock is held now and then */
        assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_OK);
        assert_memory_equal(run_view(batch).row_digests, whole.digests[step], RUN_ROWS * 32);
        lw_batch_release(batch);
    }
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

/* A thread that holds the pool's lock at the fork will never give it back in the child. */
static void test_fork__a_child_gives_back_a_batch_without_a_hang(void **state)
{
    (void)state;
    int status = 0;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_OK);
    const lw__delivery *delivery = batch->slot->shelf->ctx;
    pthread_mutex_t *lock = &delivery->engine->pool.lock;
    pthread_mutex_lock(lock);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        lw_batch_release(batch);
        lw_pipeline_close(pipeline);
        _exit(FINE);
    }
    pthread_mutex_unlock(lock);
    assert_int_equal(waitpid(child, &status, 0), child);
    lw_batch_release(batch);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork__a_child_is_refused_and_the_parent_goes_on),
        cmocka_unit_test(test_fork__a_child_gives_back_a_batch_without_a_hang),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
