/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and queues. All signals are blocked in the threads: they belong to the program. */
#include "engine/pool.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"

struct lw__pool_thread {
    pthread_t handle;
    lw__pool *pool;
    size_t index;
};

lw_status lw__pool_open(lw__pool *pool, size_t thread_count, lw_error *err)
{
    pthread_condattr_t attributes;
    *pool = (lw__pool){.thread_count = thread_count};
    pool->threads = lw__alloc_zero(thread_count, sizeof *pool->threads);
    if (pool->threads == NULL) {
        return lw__fail_nomem(err, thread_count * sizeof *pool->threads, "threads");
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return LW_OK;
}

static lw__task *pop(lw__pool *pool)
{
    for (size_t i = 0; i < LW__PRIORITY_COUNT; i++) {
        lw__queue *queue = &pool->queues[i];
        lw__task *task = queue->head;
        if (task != NULL) {
            queue->head = task->next;
            task->next = NULL;
            return task;
        }
    }
    return NULL;
}

static void *thread_main(void *argument)
{
    struct lw__pool_thread *thread = argument;
    lw__pool *pool = thread->pool;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping) {
        lw__task *task = pop(pool);
        if (task == NULL) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        pthread_mutex_unlock(&pool->lock);
        task->run(task, thread->index);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

lw_status lw__pool_start(lw__pool *pool, lw_error *err)
{
    sigset_t all;
    sigset_t before;
    int failure = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started < pool->thread_count && failure == 0) {
        struct lw__pool_thread *thread = &pool->threads[pool->started];
        *thread = (struct lw__pool_thread){.pool = pool, .index = pool->started};
        failure = pthread_create(&thread->handle, NULL, thread_main, thread);
        pool->started += failure == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        return lw__fail_os(err, LW_E_NOMEM, failure, "threads: %zu of %zu could be started",
                           pool->started, pool->thread_count);
    }
    return LW_OK;
}

void lw__pool_stop(lw__pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->started; i++) {
        pthread_join(pool->threads[i].handle, NULL);
    }
    pool->started = 0;
}

void lw__pool_close(lw__pool *pool)
{
    if (pool->threads != NULL) {
        pthread_cond_destroy(&pool->changed);
        pthread_cond_destroy(&pool->work);
        pthread_mutex_destroy(&pool->lock);
        lw__free(pool->threads);
        pool->threads = NULL;
    }
}

void lw__pool_push(lw__pool *pool, lw__priority priority, lw__task *task)
{
    lw__queue *queue = &pool->queues[priority];
    task->next = NULL;
    if (queue->head == NULL) {
        queue->head = task;
    } else {
        queue->tail->next = task;
    }
    queue->tail = task;
    pthread_cond_signal(&pool->work);
}

bool lw__pool_wait(lw__pool *pool, int64_t deadline_ns)
{
    if (deadline_ns == LW__NO_DEADLINE) {
        pthread_cond_wait(&pool->changed, &pool->lock);
        return true;
    }
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                             .tv_nsec = (long)(deadline_ns % 1000000000)};
    return pthread_cond_timedwait(&pool->changed, &pool->lock, &until) != ETIMEDOUT;
}
