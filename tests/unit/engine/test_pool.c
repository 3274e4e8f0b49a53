/* SPDX-License-Identifier: Apache-2.0 */
/* The pool: priorities, every task once, and stopping with tasks still queued. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/pool.h"

enum { MANY = 1000 };

typedef struct job {
    lw__task task; /* first, so that a task is its job */
    lw__pool *pool;
    int number;
} job;

/* Under the pool's lock. */
static int order[MANY];
static int done;

static void note(lw__task *task, size_t worker)
{
    job *j = (job *)task;
    (void)worker;
    pthread_mutex_lock(&j->pool->lock);
    order[done++] = j->number;
    pthread_cond_broadcast(&j->pool->changed);
    pthread_mutex_unlock(&j->pool->lock);
}

static void await_done(lw__pool *pool, int count)
{
    pthread_mutex_lock(&pool->lock);
    while (done < count) {
        assert_true(lw__pool_wait(pool, LW__NO_DEADLINE));
    }
    pthread_mutex_unlock(&pool->lock);
}

static void push(lw__pool *pool, job *j, lw__priority priority, int number, lw__task_run *run)
{
    *j = (job){.task = {.run = run}, .pool = pool, .number = number};
    pthread_mutex_lock(&pool->lock);
    lw__pool_push(pool, priority, &j->task);
    pthread_mutex_unlock(&pool->lock);
}

static int restart(void **state)
{
    (void)state;
    done = 0;
    return 0;
}

static void test_pool__what_is_nearest_to_the_consumer_runs_first(void **state)
{
    (void)state;
    lw__pool pool;
    job jobs[6];
    assert_int_equal(lw__pool_open(&pool, 1, NULL), LW_OK);
    push(&pool, &jobs[0], LW__READ, 4, note);
    push(&pool, &jobs[1], LW__DECIDE, 2, note);
    push(&pool, &jobs[2], LW__READ, 5, note);
    push(&pool, &jobs[3], LW__WRITE, 0, note);
    push(&pool, &jobs[4], LW__DECIDE, 3, note);
    push(&pool, &jobs[5], LW__WRITE, 1, note);
    assert_int_equal(lw__pool_start(&pool, NULL), LW_OK);
    await_done(&pool, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(order[i], i);
    }
    lw__pool_stop(&pool);
    lw__pool_close(&pool);
}

static void test_pool__every_task_runs_once_on_several_threads(void **state)
{
    (void)state;
    static job jobs[MANY];
    int seen[MANY] = {0};
    lw__pool pool;
    assert_int_equal(lw__pool_open(&pool, 4, NULL), LW_OK);
    assert_int_equal(lw__pool_start(&pool, NULL), LW_OK);
    for (int i = 0; i < MANY; i++) {
        push(&pool, &jobs[i], (lw__priority)(i % LW__PRIORITY_COUNT), i, note);
    }
    await_done(&pool, MANY);
    lw__pool_stop(&pool);
    for (int i = 0; i < MANY; i++) {
        seen[order[i]]++;
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(seen[i], 1);
    }
    lw__pool_close(&pool);
}

/* Keeps its thread until the pool is being stopped. */
static void linger(lw__task *task, size_t worker)
{
    job *j = (job *)task;
    note(task, worker);
    pthread_mutex_lock(&j->pool->lock);
    while (!j->pool->stopping) {
        pthread_cond_wait(&j->pool->changed, &j->pool->lock);
    }
    pthread_mutex_unlock(&j->pool->lock);
}

static void test_pool__a_stop_drops_the_tasks_that_wait(void **state)
{
    (void)state;
    lw__pool pool;
    job jobs[4];
    assert_int_equal(lw__pool_open(&pool, 1, NULL), LW_OK);
    push(&pool, &jobs[0], LW__WRITE, 0, linger);
    for (int i = 1; i < 4; i++) {
        push(&pool, &jobs[i], LW__READ, i, note);
    }
    assert_int_equal(lw__pool_start(&pool, NULL), LW_OK);
    await_done(&pool, 1);
    lw__pool_stop(&pool);
    assert_int_equal(done, 1);
    lw__pool_close(&pool);
}

static void test_pool__it_may_stop_without_a_start_and_twice(void **state)
{
    (void)state;
    lw__pool pool;
    job waiting;
    assert_int_equal(lw__pool_open(&pool, 3, NULL), LW_OK);
    push(&pool, &waiting, LW__READ, 0, note);
    lw__pool_stop(&pool);
    lw__pool_stop(&pool);
    lw__pool_close(&pool);
    lw__pool_close(&pool);
    assert_int_equal(done, 0);
}

static void test_pool__a_wait_ends_at_its_deadline(void **state)
{
    (void)state;
    lw__pool pool;
    assert_int_equal(lw__pool_open(&pool, 1, NULL), LW_OK);
    pthread_mutex_lock(&pool.lock);
    assert_false(lw__pool_wait(&pool, 1));
    pthread_mutex_unlock(&pool.lock);
    lw__pool_close(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_pool__what_is_nearest_to_the_consumer_runs_first, restart),
        cmocka_unit_test_setup(test_pool__every_task_runs_once_on_several_threads, restart),
        cmocka_unit_test_setup(test_pool__a_stop_drops_the_tasks_that_wait, restart),
        cmocka_unit_test_setup(test_pool__it_may_stop_without_a_start_and_twice, restart),
        cmocka_unit_test_setup(test_pool__a_wait_ends_at_its_deadline, restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
