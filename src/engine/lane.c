/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of a lane: draw, publish what came out, park; and the outlet's side of it. */
#include "engine/lane.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

uint64_t lw__lane_number(const lw__lane *lane)
{
    return lane->number;
}

/* ---- publishing ----------------------------------------------------------------------------- */

static void append_marker(lw__lane *lane, lw__marker *marker)
{
    if (lane->last_marker == NULL) {
        lane->first_marker = marker;
    } else {
        lane->last_marker->next = marker;
    }
    lane->last_marker = marker;
}

static void append_rows(lw__lane *lane)
{
    lw__chain *chain = &lane->chain;
    if (lane->out_head == NULL) {
        lane->out_head = chain->out_head;
    } else {
        lane->out_tail->next = chain->out_head;
    }
    lane->out_tail = chain->out_tail;
    lane->emitted += chain->out_count;
    chain->out_head = NULL;
    chain->out_tail = NULL;
    chain->out_count = 0;
}

/* About one marker a step: as soon as lane_rows rows have left since the last one. */
static lw_status mark(lw__lane *lane, lw__marker **out, lw_error *err)
{
    uint64_t row = lane->marked_row + lane->engine->options.topology.lane_rows;
    uint64_t emitted = lane->emitted + lane->chain.out_count; /* only this thread changes it */
    *out = NULL;
    if (emitted < row) {
        return LW_OK;
    }
    lane->marked_row = emitted;
    return lw__marker_save(lane, emitted, out, err);
}

static void move_counters(lw__lane *lane)
{
    lw__counters *counters = &lane->engine->counters;
    counters->documents += lane->documents;
    counters->empty += lane->empty;
    counters->skipped += lane->skipped;
    counters->dropped += lane->dropped + lane->chain.dropped;
    counters->dropped_tokens += lane->truncated_tokens + lane->chain.dropped_tokens;
    lane->documents = 0;
    lane->empty = 0;
    lane->skipped = 0;
    lane->dropped = 0;
    lane->truncated_tokens = 0;
    lane->chain.dropped = 0;
    lane->chain.dropped_tokens = 0;
}

static lw_status publish(lw__lane *lane, lw_error *err)
{
    lw__engine *engine = lane->engine;
    lw__marker *marker;
    if (lane->chain.out_head == NULL) {
        return LW_OK;
    }
    LW__TRY(mark(lane, &marker, err));
    pthread_mutex_lock(&engine->pool.lock);
    append_rows(lane);
    if (marker != NULL) {
        append_marker(lane, marker);
    }
    engine->options.outlet.changed(engine->options.outlet.ctx, lane);
    pthread_mutex_unlock(&engine->pool.lock);
    return LW_OK;
}

/* ---- the task ------------------------------------------------------------------------------- */

static bool may_go_on(const lw__lane *lane)
{
    const lw__chain *chain = &lane->chain;
    uint64_t under_way = chain->packed - chain->lost_rows - lane->taken_seen;
    return lane->emitted < lane->needed_seen || under_way < lane->engine->row_limit;
}

/* Looks at what others changed: rows taken and given back, the consumer's step. */
static bool look(lw__lane *lane)
{
    lw__engine *engine = lane->engine;
    pthread_mutex_lock(&engine->pool.lock);
    lw_record *row = lane->returned;
    lane->returned = NULL;
    lane->taken_seen = lane->taken;
    lane->needed_seen = (engine->goal_step + 1) * engine->options.topology.lane_rows;
    move_counters(lane);
    bool stopping = engine->pool.stopping;
    pthread_mutex_unlock(&engine->pool.lock);
    while (row != NULL) {
        lw_record *next = row->next;
        lw__store_put(&lane->store, row);
        row = next;
    }
    return !stopping && may_go_on(lane);
}

static lw__outcome run(lw__lane *lane, lw_error *err)
{
    while (may_go_on(lane) || look(lane)) {
        lw__outcome drawn = lw__lane_draw(lane, err);
        if (drawn != LW__DRAWN) {
            return drawn;
        }
        if (publish(lane, err) != LW_OK) {
            return LW__HAS_FAILED;
        }
    }
    return LW__MUST_WAIT;
}

static lw__outcome finish(lw__lane *lane, lw_error *err)
{
    if (lw__chain_flush(&lane->chain, err) != LW_OK || publish(lane, err) != LW_OK) {
        return LW__HAS_FAILED;
    }
    return LW__HAS_ENDED;
}

/* What an operator says of a document it fails at goes on to say which one that is. */
static void name_culprit(lw__lane *lane, lw_error *err)
{
    const lw_segment *place = &lane->chain.culprit;
    if (lane->chain.has_culprit) {
        lw__dataset_name_record(lane->engine->options.datasets[place->source], place->block,
                                place->part, (uint32_t)place->document, err);
    }
}

void lw__lane_fail(lw__lane *lane, const lw_error *err)
{
    lane->failed = true;
    lane->failure = *err;
    lane->engine->options.outlet.changed(lane->engine->options.outlet.ctx, lane);
}

static void park(lw__lane *lane, lw__outcome result, const lw_error *err)
{
    lw__engine *engine = lane->engine;
    if (result == LW__HAS_FAILED) {
        lw__lane_fail(lane, err);
    } else if (result == LW__HAS_ENDED) {
        lane->ended = true;
        engine->options.outlet.changed(engine->options.outlet.ctx, lane);
    } else if (lane->again) {
        lane->again = false;
        lw__pool_push(&engine->pool, LW__DECIDE, &lane->task);
        return;
    }
    lane->running = false;
}

static void lane_run(lw__task *task, size_t worker)
{
    (void)worker;
    lw__lane *lane = (lw__lane *)task;
    lw__engine *engine = lane->engine;
    lw_error err = {0};
    uint64_t start = lw__clock_cpu_ns();
    lw__outcome result = look(lane) ? run(lane, &err) : LW__MUST_WAIT;
    if (result == LW__HAS_ENDED) {
        result = finish(lane, &err);
    }
    if (result == LW__HAS_FAILED) {
        name_culprit(lane, &err);
    }
    pthread_mutex_lock(&engine->pool.lock);
    move_counters(lane);
    engine->counters.decide_ns += lw__clock_cpu_ns() - start;
    park(lane, result, &err);
    pthread_mutex_unlock(&engine->pool.lock);
}

void lw__lane_wake(lw__lane *lane)
{
    if (lane->ended || lane->failed) {
        return;
    }
    if (lane->running) {
        lane->again = true;
        return;
    }
    lane->running = true;
    lw__pool_push(&lane->engine->pool, LW__DECIDE, &lane->task);
}

void lw__lane_begin(lw__lane *lane)
{
    for (size_t i = 0; i < lane->mixture.source_count; i++) {
        lw__stream_want(&lane->streams[i]);
    }
    if (lane->remake.count > 0) {
        lane->running = true; /* until the held records are whole again */
        lw__pool_push(&lane->engine->pool, LW__READ, &lane->remake_task);
    } else {
        lw__lane_wake(lane);
    }
}

/* ---- the outlet's side ---------------------------------------------------------------------- */

lw_record *lw__lane_take(lw__lane *lane)
{
    lw_record *row = lane->out_head;
    if (row != NULL) {
        lane->out_head = row->next;
        row->next = NULL;
        lane->taken++;
    }
    return row;
}

void lw__lane_return(lw__lane *lane, lw_record *row)
{
    row->next = lane->returned;
    lane->returned = row;
}

const lw__marker *lw__lane_marker(const lw__lane *lane, uint64_t row)
{
    const lw__marker *found = lane->first_marker;
    for (const lw__marker *at = found; at != NULL && at->row <= row; at = at->next) {
        found = at;
    }
    return found;
}

void lw__lane_forget(lw__lane *lane, uint64_t row)
{
    while (lane->first_marker != NULL && lane->first_marker->next != NULL &&
           lane->first_marker->next->row <= row) {
        lw__marker *gone = lane->first_marker;
        lane->first_marker = gone->next;
        lw__free(gone);
    }
}

/* ---- making and closing --------------------------------------------------------------------- */

/* The rows of a lane's step that the rank takes: [first_row, end_row) within lane_rows. */
static void cut_rows(lw__lane *lane, const lw__topology *t)
{
    uint64_t lane_first = lane->number * t->lane_rows;
    uint64_t first = t->first_row > lane_first ? t->first_row : lane_first;
    uint64_t end = t->first_row + t->row_count;
    end = end < lane_first + t->lane_rows ? end : lane_first + t->lane_rows;
    if (first < end) {
        lane->first_row = first - lane_first;
        lane->end_row = end - lane_first;
    }
}

static lw_status open_chain(lw__lane *lane, lw_error *err)
{
    const lw__engine_options *options = &lane->engine->options;
    const lw__settings *settings = options->settings;
    lw_op_context context = {.struct_size = sizeof context,
                             .seed = settings->seed,
                             .lane = lane->number,
                             .context = settings->context,
                             .shift = settings->shift == LW__SHIFT_DOCUMENT ? LW_SHIFT_DOCUMENT
                                                                            : LW_SHIFT_STREAM};
    lane->store = (lw__store){.context = settings->context,
                              .shift = context.shift,
                              .counts_only = lane->first_row == lane->end_row,
                              .spare_limit = lane->engine->row_limit};
    return lw__chain_open(&lane->chain, options->operators, options->operator_count, &context,
                          &lane->store, err);
}

static lw_status open_sources(lw__lane *lane, lw_error *err)
{
    const lw__settings *settings = lane->engine->settings;
    size_t count = settings->source_count;
    lane->mixture.sources = lw__alloc_zero(count, sizeof *lane->mixture.sources);
    lane->streams = lw__alloc_zero(count, sizeof *lane->streams);
    if (lane->mixture.sources == NULL || lane->streams == NULL) {
        return lw__fail_nomem(err, count * sizeof *lane->streams, "a lane's streams");
    }
    for (size_t i = 0; i < count; i++) {
        lane->mixture.sources[i].weight = settings->sources[i].weight;
        LW__TRY(lw__stream_open(&lane->streams[i], lane->engine, lane, (uint32_t)i, err));
        lane->mixture.source_count++;
    }
    lw__mixture_restart(&lane->mixture);
    return LW_OK;
}

lw_status lw__lane_open(lw__lane *lane, lw__engine *engine, uint64_t number, lw_error *err)
{
    lw__marker *marker = NULL;
    *lane = (lw__lane){.engine = engine, .number = number};
    lane->task.run = lane_run;
    lane->remake_task.run = lw__remake_run;
    cut_rows(lane, &engine->options.topology);
    LW__TRY(open_chain(lane, err));
    LW__TRY(open_sources(lane, err));
    LW__TRY(lw__marker_save(lane, 0, &marker, err));
    append_marker(lane, marker);
    return LW_OK;
}

lw_status lw__lane_restore(lw__lane *lane, const void *marker, size_t bytes, uint64_t taken,
                           lw_error *err)
{
    lw__marker *again = NULL;
    LW__TRY(lw__marker_load(lane, marker, bytes, err));
    if (lane->emitted > taken) {
        return lw__fail(err, LW_E_CORRUPT,
                        "state: lane %llu has a marker at row %llu, expected at most %llu",
                        (unsigned long long)lane->number, (unsigned long long)lane->emitted,
                        (unsigned long long)taken);
    }
    lane->start_row = taken;
    lane->taken = lane->emitted;
    lane->marked_row = lane->emitted;
    lane->chain.packed = lane->emitted + lw__chain_held_rows(&lane->chain);
    again = lw__alloc(sizeof *again + bytes);
    if (again == NULL) {
        return lw__fail_nomem(err, bytes, "a marker");
    }
    *again = (lw__marker){.row = lane->emitted, .count = bytes};
    memcpy(again->bytes, marker, bytes);
    lw__free(lane->first_marker);
    lane->first_marker = NULL;
    lane->last_marker = NULL;
    append_marker(lane, again);
    return LW_OK;
}

void lw__lane_close(lw__lane *lane)
{
    for (size_t i = 0; i < lane->mixture.source_count; i++) {
        lw__stream_close(&lane->streams[i]);
    }
    lw__chain_close(&lane->chain);
    lw__store_reset(&lane->store);
    while (lane->first_marker != NULL) {
        lw__marker *gone = lane->first_marker;
        lane->first_marker = gone->next;
        lw__free(gone);
    }
    lw__free(lane->remake.items);
    lw__free(lane->mixture.sources);
    lw__free(lane->streams);
}
