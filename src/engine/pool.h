/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: the only threads there are, one lock, and three queues of tasks.
 *
 * A free thread takes from WRITE before DECIDE before READ, so what is nearest to the consumer is
 * finished first. All shared state of an engine is under the pool's lock; tasks run without it.
 */
#ifndef LW__ENGINE_POOL_H
#define LW__ENGINE_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <laneway/error.h>

typedef enum lw__priority { LW__WRITE, LW__DECIDE, LW__READ, LW__PRIORITY_COUNT } lw__priority;

typedef struct lw__task lw__task;

/* Runs without the lock on some thread; `worker` is the thread's index. */
typedef void lw__task_run(lw__task *task, size_t worker);

/* Embedded in what it works on; in at most one queue at a time. */
struct lw__task {
    lw__task_run *run;
    lw__task *next;
};

typedef struct lw__queue {
    lw__task *head;
    lw__task *tail;
} lw__queue;

typedef struct lw__pool {
    pthread_mutex_t lock;
    pthread_cond_t work;    /* a task was pushed, or stopping */
    pthread_cond_t changed; /* something the consumer may wait for */
    /* under lock */
    lw__queue queues[LW__PRIORITY_COUNT];
    bool stopping;
    size_t started;
    /* set at creation */
    size_t thread_count;
    struct lw__pool_thread *threads;
} lw__pool;

lw_status lw__pool_open(lw__pool *pool, size_t thread_count, lw_error *err);
/* Starts the threads; called once everything they may touch is in place. */
lw_status lw__pool_start(lw__pool *pool, lw_error *err);
/* Joins the threads after their present tasks; queued ones are dropped. */
void lw__pool_stop(lw__pool *pool);
void lw__pool_close(lw__pool *pool);

/* Under lock. */
void lw__pool_push(lw__pool *pool, lw__priority priority, lw__task *task);
/* Under lock; waits for `changed`; false once the deadline (monotonic clock) has passed. */
#define LW__NO_DEADLINE INT64_MAX
bool lw__pool_wait(lw__pool *pool, int64_t deadline_ns);

#endif
