/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: the serial half. A lane draws documents from its streams by the mixer's rule, pushes them
 * down its chain, and queues the rows that come out, with markers between them.
 *
 * A lane is a DECIDE task that runs on one thread at a time and parks when it has to wait: for a
 * part, or because enough rows are under way. Whoever changes that wakes it.
 */
#ifndef LW__ENGINE_LANE_H
#define LW__ENGINE_LANE_H

#include "engine/engine.h"
#include "engine/stream.h"
#include "plan/mixture.h"

/* A cut through a lane after `row` rows: where its streams stand and what its operators hold. */
typedef struct lw__marker {
    struct lw__marker *next;
    uint64_t row;
    size_t count;
    unsigned char bytes[];
} lw__marker;

struct lw__lane {
    lw__task task;
    /* set at creation */
    lw__engine *engine;
    uint64_t number;
    uint64_t first_row; /* of the lane's rows in a step, those this rank takes */
    uint64_t end_row;   /* first_row == end_row: the lane is only followed */
    /* lane thread */
    lw__store store;
    lw__chain chain;
    lw__mixture mixture;
    lw__stream *streams; /* one a source */
    uint64_t documents;
    uint64_t empty;
    uint64_t skipped;
    uint64_t truncated_tokens;
    uint64_t dropped;    /* by pack.overflow */
    uint64_t marked_row; /* of the newest marker */
    uint64_t taken_seen; /* what the lane last saw of `taken` and the goal */
    uint64_t needed_seen;
    lw__remake_list remake;
    lw__task remake_task;
    /* under lock */
    bool running; /* queued or at work */
    bool again;   /* woken meanwhile */
    lw_record *out_head;
    lw_record *out_tail;
    uint64_t emitted;   /* rows that left the chain, ever */
    uint64_t taken;     /* of them, by the outlet */
    uint64_t start_row; /* rows before it are not delivered: they were before the restore */
    bool ended;
    bool failed;
    lw_error failure;
    lw_record *returned; /* rows to be used again */
    lw__marker *first_marker;
    lw__marker *last_marker;
};

lw_status lw__lane_open(lw__lane *lane, lw__engine *engine, uint64_t number, lw_error *err);
void lw__lane_close(lw__lane *lane);
uint64_t lw__lane_number(const lw__lane *lane);

/*
 * Before the start: goes on from a marker, `taken` rows having been delivered in all. The tokens of
 * held records are read again by a task of their own.
 */
lw_status lw__lane_restore(lw__lane *lane, const void *marker, size_t bytes, uint64_t taken,
                           lw_error *err);
/* Under lock, at the start. */
void lw__lane_begin(lw__lane *lane);
/* Under lock: something the lane may have waited for has changed. */
void lw__lane_wake(lw__lane *lane);

/* Under lock, by the outlet: the next row, or NULL. The caller owns it until it gives it back. */
lw_record *lw__lane_take(lw__lane *lane);
void lw__lane_return(lw__lane *lane, lw_record *row);
/* Under lock: the newest marker at or before a row. Never NULL for rows not yet forgotten. */
const lw__marker *lw__lane_marker(const lw__lane *lane, uint64_t row);
/* Under lock: markers that only rows before `row` need are freed. */
void lw__lane_forget(lw__lane *lane, uint64_t row);

/* What one step of the loop came to. */
typedef enum lw__outcome { LW__DRAWN, LW__MUST_WAIT, LW__HAS_ENDED, LW__HAS_FAILED } lw__outcome;

/* draw.c: draws one document and pushes it down the chain. Lane thread. */
lw__outcome lw__lane_draw(lw__lane *lane, lw_error *err);
/* Input tokens of an entry, after pack.overflow; *token_count, its tokens, is cut with it. */
uint64_t lw__draw_length(const lw__settings *settings, const lw__entry *entry, size_t *token_count);

/* marker.c: the lane's present state as a marker; and back. */
lw_status lw__marker_save(const lw__lane *lane, uint64_t row, lw__marker **out, lw_error *err);
lw_status lw__marker_load(lw__lane *lane, const void *data, size_t bytes, lw_error *err);

/* remake.c: the task that reads the tokens of restored records. */
void lw__remake_run(lw__task *task, size_t worker);

/* The lane's work has ended with a failure; under lock. */
void lw__lane_fail(lw__lane *lane, const lw_error *err);

#endif
