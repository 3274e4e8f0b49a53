/* SPDX-License-Identifier: Apache-2.0 */
/* From a lane's queue to WRITE tasks, and what these do. */
#include "base/alloc.h"
#include "base/clock.h"
#include "deliver/delivery.h"
#include "engine/lane.h"

#define MOST_ROWS 64

typedef struct lw__write {
    lw__task task;
    struct lw__write *next; /* in the list of idle ones */
    struct lw__write *all;  /* in the list of all */
    lw__delivery *delivery;
    lw__lane *lane;
    lw__slot *slot;
    uint64_t first; /* row in the slot */
    uint64_t count;
    lw_record *rows[MOST_ROWS]; /* NULL: padding */
} write_task;

/* ---- the task ------------------------------------------------------------------------------- */

/* The failure of the lowest row is the one to report. */
static void keep_failure(lw__slot *slot, uint64_t row, lw_status status, const lw_error *err)
{
    if (slot->status == LW_OK || row < slot->failed_row) {
        slot->status = status;
        slot->failed_row = row;
        slot->failure = *err;
    }
}

static void give_back(write_task *job)
{
    for (uint64_t i = 0; i < job->count; i++) {
        if (job->rows[i] != NULL) {
            lw__lane_return(job->lane, job->rows[i]);
        }
    }
    job->next = job->delivery->idle;
    job->delivery->idle = job;
}

static void write_run(lw__task *task, size_t worker)
{
    write_task *job = (write_task *)task;
    lw__delivery *delivery = job->delivery;
    lw__engine *engine = delivery->engine;
    lw__slot *slot = job->slot;
    lw_error err = {0};
    lw_status status = LW_OK;
    uint64_t done = 0;
    uint64_t digest_ns = 0;
    uint64_t start = lw__clock_cpu_ns();
    for (; done < job->count && status == LW_OK; done++) {
        status = lw__render(&delivery->renderers[worker], &delivery->options.rules, job->rows[done],
                            slot, job->first + done, &digest_ns, &err);
    }
    uint64_t spent = lw__clock_cpu_ns() - start;

    pthread_mutex_lock(&engine->pool.lock);
    engine->counters.digest_ns += digest_ns;
    engine->counters.write_ns += spent - digest_ns;
    if (status < 0) {
        keep_failure(slot, job->first + done - 1, status, &err);
    }
    slot->written += job->count;
    if (slot->written == slot->shelf->shape.rows) {
        pthread_cond_broadcast(&engine->pool.changed);
    }
    give_back(job);
    pthread_mutex_unlock(&engine->pool.lock);
}

static write_task *take_task(lw__delivery *delivery)
{
    write_task *job = delivery->idle;
    if (job != NULL) {
        delivery->idle = job->next;
        return job;
    }
    job = lw__alloc(sizeof *job);
    if (job == NULL) {
        delivery->broken = LW_E_NOMEM;
        pthread_cond_broadcast(&delivery->engine->pool.changed);
        return NULL;
    }
    job->all = delivery->tasks;
    delivery->tasks = job;
    return job;
}

void lw__delivery_free_tasks(lw__delivery *delivery)
{
    while (delivery->tasks != NULL) {
        write_task *job = delivery->tasks;
        delivery->tasks = job->all;
        lw__free(job);
    }
}

/* ---- moving --------------------------------------------------------------------------------- */

static void submit(lw__delivery *delivery, write_task **job)
{
    if (*job != NULL) {
        lw__pool_push(&delivery->engine->pool, LW__WRITE, &(*job)->task);
        *job = NULL;
    }
}

/* Adds a row to the open task, or opens the next one. */
static void add_row(lw__delivery *delivery, lw__lane *lane, write_task **job, lw__slot *slot,
                    uint64_t slot_row, lw_record *row)
{
    bool fits = *job != NULL && (*job)->slot == slot && (*job)->count < delivery->task_rows &&
                (*job)->first + (*job)->count == slot_row;
    if (!fits) {
        submit(delivery, job);
        *job = take_task(delivery);
        if (*job == NULL) {
            return;
        }
        (*job)->task = (lw__task){.run = write_run};
        (*job)->delivery = delivery;
        (*job)->lane = lane;
        (*job)->slot = slot;
        (*job)->first = slot_row;
        (*job)->count = 0;
    }
    (*job)->rows[(*job)->count++] = row;
}

/* The next row of a lane, or a row of padding when a padded lane has run out. */
static bool next_row(lw__delivery *delivery, lw__lane *lane, lw_record **row)
{
    *row = lw__lane_take(lane);
    if (*row != NULL) {
        return true;
    }
    if (lane->ended && delivery->options.settings->end == LW__END_PAD) {
        lane->taken++;
        return true;
    }
    return false;
}

void lw__delivery_move(lw__delivery *delivery, lw__lane *lane)
{
    const lw__topology *t = &delivery->options.topology;
    uint64_t before = lane->taken;
    write_task *job = NULL;
    lw_record *row;
    while (lane->taken / t->lane_rows < delivery->next_assigned && delivery->broken == LW_OK) {
        uint64_t ordinal = lane->taken;
        uint64_t step = ordinal / t->lane_rows;
        uint64_t in_step = ordinal % t->lane_rows;
        if (!next_row(delivery, lane, &row)) {
            break;
        }
        bool wanted =
            ordinal >= lane->start_row && in_step >= lane->first_row && in_step < lane->end_row;
        if (wanted) {
            lw__slot *slot = delivery->assigned[step % delivery->shelf->slot_count];
            uint64_t slot_row = lane->number * t->lane_rows + in_step - t->first_row;
            add_row(delivery, lane, &job, slot, slot_row, row);
        } else if (row != NULL) {
            lw__lane_return(lane, row);
        }
    }
    submit(delivery, &job);
    if (lane->taken != before) {
        lw__lane_wake(lane);
    }
}
