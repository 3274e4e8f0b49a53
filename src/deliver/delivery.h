/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delivery: rows from the lanes' queues into slots, steps from slots to the consumer.
 *
 * Steps are given to free slots in order; rows of those steps leave their lanes as WRITE tasks of a
 * few rows each. A step is handed out when all its rows are written and it is certain that it
 * exists: that no lane failed before it, and in a finite run that the data reach so far.
 */
#ifndef LW__DELIVER_H
#define LW__DELIVER_H

#include "deliver/render.h"
#include "deliver/slot.h"
#include "engine/engine.h"

typedef struct lw__delivery lw__delivery;

/* The lw_stats that belong to the consumer. */
typedef struct lw__taken {
    uint64_t steps;
    uint64_t rows;
    uint64_t tokens;
    uint64_t padding;
    uint64_t wait_ns;
} lw__taken;

typedef struct lw__delivery_options {
    const lw__settings *settings;
    lw__topology topology;
    lw__render_rules rules;
    uint64_t start_step;
    lw_agree *agree;
    void *agree_ctx;
} lw__delivery_options;

struct lw__delivery {
    /* set at creation */
    lw__delivery_options options;
    lw__engine *engine;
    lw__shelf *shelf;
    lw__renderer *renderers; /* one a thread */
    size_t renderer_count;
    uint64_t task_rows; /* rows of a WRITE task */
    /* under the pool's lock */
    lw__slot **assigned; /* [step % slot_count]: the slot of a step, or NULL */
    lw__slot **spare;
    size_t spare_count;
    uint64_t next_assigned;  /* the first step without a slot */
    uint64_t next_step;      /* the step the consumer takes next */
    struct lw__write *tasks; /* all ever made */
    struct lw__write *idle;  /* those to be used again */
    bool cancelled;
    lw_status broken; /* a task could not be made */
    lw__taken taken;  /* written by the consumer */
    /* consumer only */
    uint64_t next_row; /* of the present step */
    lw_status sticky;  /* LW_END or a failure, for ever */
    lw_error failure;
};

size_t lw__delivery_slot_count(const lw__settings *settings);
lw__slot_shape lw__delivery_shape(const lw__settings *settings, const lw__topology *topology);
lw_status lw__delivery_open(const lw__delivery_options *options, size_t thread_count,
                            lw__delivery **out, lw_error *err);
/* What the engine calls; the engine is made after the delivery. */
lw__outlet lw__delivery_outlet(lw__delivery *delivery);
void lw__delivery_attach(lw__delivery *delivery, lw__engine *engine);
/* lw_pipeline_next, as the header says. */
lw_status lw__delivery_next(lw__delivery *delivery, int64_t timeout_ns, lw_batch **out,
                            lw_error *err);
void lw__delivery_cancel(lw__delivery *delivery);
/* After the engine has stopped. Batches stay. */
void lw__delivery_close(lw__delivery *delivery);

/* ---- write.c -------------------------------------------------------------------------------- */

/* Under lock: moves what a lane has into slots, and wakes it when that made room. */
void lw__delivery_move(lw__delivery *delivery, lw__lane *lane);
void lw__delivery_free_tasks(lw__delivery *delivery);

#endif
