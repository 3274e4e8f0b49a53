/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that agree on the last step deliver what they would deliver each following all lanes. */
#include <pthread.h>

#include "base/alloc.h"
#include "support/running.h"

enum { WORLD = 2 };

/* An all-reduce between threads. */
typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int arrived;
    uint64_t round;
    int64_t value; /* so far in this round */
    int64_t last;  /* of the round before */
    unsigned calls;
} meeting;

static lw_status meet(void *ctx, int32_t op, int64_t value, int64_t *out, lw_error *err)
{
    meeting *m = ctx;
    (void)err;
    pthread_mutex_lock(&m->lock);
    m->calls++;
    int better = op == LW_MAX ? value > m->value : value < m->value;
    m->value = m->arrived == 0 || better ? value : m->value;
    if (++m->arrived == WORLD) {
        m->arrived = 0;
        m->round++;
        m->last = m->value;
        pthread_cond_broadcast(&m->changed);
    } else {
        uint64_t round = m->round;
        while (m->round == round) {
            pthread_cond_wait(&m->changed, &m->lock);
        }
    }
    *out = m->last;
    pthread_mutex_unlock(&m->lock);
    return LW_OK;
}

typedef struct rank_run {
    lw_pipeline *pipeline;
    run_rows *rows;
    uint64_t steps;
    lw_status last;
} rank_run;

static void *take_all(void *argument)
{
    rank_run *run = argument;
    lw_batch *batch = NULL;
    while ((run->last = lw_pipeline_next(run->pipeline, LW_FOREVER, &batch, NULL)) == LW_OK) {
        lw_batch_view view = {.struct_size = sizeof view};
        if (lw_batch_get(batch, &view, NULL) == LW_OK) {
            memcpy(run->rows->digests[view.step][view.first_row], view.row_digests, view.rows * 32);
            run->steps++;
        }
        lw_batch_release(batch);
    }
    return NULL;
}

static void check_end(const char *end, const lw_state *from)
{
    static run_rows whole;
    static run_rows rows;
    lw_recipe *recipe = run_recipe(end);
    meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    rank_run runs[WORLD] = {{.rows = &rows}, {.rows = &rows}};
    pthread_t threads[WORLD];
    run_world(recipe, 1, from, RUN_STEPS, &whole);
    memset(&rows, 0, sizeof rows);
    for (uint64_t rank = 0; rank < WORLD; rank++) {
        lw_pipeline_options options = {sizeof options, rank, WORLD, meet, &m};
        assert_int_equal(lw_pipeline_open(recipe, &options, from, &runs[rank].pipeline, NULL),
                         LW_OK);
    }
    for (uint64_t rank = 0; rank < WORLD; rank++) {
        assert_int_equal(pthread_create(&threads[rank], NULL, take_all, &runs[rank]), 0);
    }
    for (uint64_t rank = 0; rank < WORLD; rank++) {
        pthread_join(threads[rank], NULL);
        assert_int_equal(runs[rank].last, LW_END);
        assert_int_equal(runs[rank].steps, whole.steps);
        lw_pipeline_close(runs[rank].pipeline);
    }
    rows.first = whole.first;
    rows.steps = whole.steps;
    run_same(&rows, &whole);
    assert_int_equal(m.calls, WORLD * (whole.steps + 1));
    lw_recipe_close(recipe);
}

static void test_agree__ranks_stop_at_the_same_step_with_drop(void **state)
{
    (void)state;
    check_end("drop", NULL);
}

static void test_agree__ranks_stop_at_the_same_step_with_pad(void **state)
{
    (void)state;
    check_end("pad", NULL);
}

static void test_agree__ranks_agree_after_a_resume_too(void **state)
{
    (void)state;
    static const char *const ends[] = {"drop", "pad"};
    for (size_t e = 0; e < 2; e++) {
        lw_recipe *recipe = run_recipe(ends[e]);
        lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
        for (int i = 0; i < 6; i++) {
            run_take(pipeline);
        }
        lw_state *saved = run_save(pipeline, LW_STEP_NEWEST);
        lw_pipeline_close(pipeline);
        lw_recipe_close(recipe);
        check_end(ends[e], saved);
        lw_state_close(saved);
    }
}

static lw_status refuse(void *ctx, int32_t op, int64_t value, int64_t *out, lw_error *err)
{
    (void)op;
    (void)value;
    (void)out;
    if (ctx != NULL && err != NULL) {
        snprintf(err->message, sizeof err->message, "no quorum");
        err->status = LW_E_IO;
    }
    return LW_E_IO;
}

static lw_status next_refused(void *ctx, lw_error *err)
{
    lw_recipe *recipe = run_recipe("drop");
    lw_pipeline_options options = {sizeof options, 0, 1, refuse, ctx};
    lw_pipeline *pipeline = NULL;
    lw_batch *batch = NULL;
    *err = (lw_error){0};
    assert_int_equal(lw_pipeline_open(recipe, &options, NULL, &pipeline, NULL), LW_OK);
    lw_status status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, err);
    assert_null(batch);
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), status);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
    return status;
}

static void test_agree__a_refusal_is_the_runs_failure(void **state)
{
    (void)state;
    lw_error err;
    assert_int_equal(next_refused(&err, &err), LW_E_IO);
    assert_int_equal(err.status, LW_E_IO);
    assert_string_equal(err.message, "no quorum");
}

static void test_agree__a_refusal_without_a_word_still_fills_the_error(void **state)
{
    (void)state;
    lw_error err;
    assert_int_equal(next_refused(NULL, &err), LW_E_IO);
    assert_int_equal(err.status, LW_E_IO);
    assert_true(strlen(err.message) > 0);
}

/* Agrees with itself; takes all memory away before the batch of one step is made. */
typedef struct starving {
    uint64_t calls;
    uint64_t starve_at;
} starving;

static lw_status starve(void *ctx, int32_t op, int64_t value, int64_t *out, lw_error *err)
{
    starving *s = ctx;
    (void)op;
    (void)err;
    *out = value;
    if (++s->calls == s->starve_at) {
        lw__alloc_fail_after(1);
    }
    return LW_OK;
}

/* The other ranks have their answer for this step: to ask again would meet their next question. */
static void test_agree__a_step_is_asked_about_once_though_memory_is_out(void **state)
{
    (void)state;
    static run_rows whole;
    lw_recipe *recipe = run_recipe("pad");
    lw_pipeline *pipeline = NULL;
    lw_batch *batch = NULL;
    lw_error err = {0};
    run_world(recipe, 1, NULL, RUN_STEPS, &whole);
    starving s = {.starve_at = whole.steps}; /* the last step, for which nothing is left to read */
    lw_pipeline_options options = {sizeof options, 0, 1, starve, &s};
    assert_int_equal(lw_pipeline_open(recipe, &options, NULL, &pipeline, NULL), LW_OK);
    for (uint64_t step = 0; step + 1 < whole.steps; step++) {
        run_take(pipeline);
    }
    lw_status status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err);
    lw__alloc_fail_after(0);
    assert_int_equal(status, LW_E_NOMEM);
    assert_int_equal(err.status, LW_E_NOMEM);
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err), LW_E_NOMEM);
    assert_int_equal(s.calls, whole.steps);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agree__ranks_stop_at_the_same_step_with_drop),
        cmocka_unit_test(test_agree__ranks_stop_at_the_same_step_with_pad),
        cmocka_unit_test(test_agree__ranks_agree_after_a_resume_too),
        cmocka_unit_test(test_agree__a_refusal_is_the_runs_failure),
        cmocka_unit_test(test_agree__a_step_is_asked_about_once_though_memory_is_out),
        cmocka_unit_test(test_agree__a_refusal_without_a_word_still_fills_the_error),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
