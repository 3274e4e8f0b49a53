/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing, pushing, publishing: the loop of a lane. */
#include "engine/lane.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

/* A lane that reads this many passes' worth of parts without a document has none to find. */
#define BARREN_PASSES 64u

/* What one step of the loop came to. */
typedef enum outcome { DRAWN, MUST_WAIT, HAS_ENDED, HAS_FAILED } outcome;

uint64_t lw__lane_number(const lw__lane *lane)
{
    return lane->number;
}

/* ---- showing the next document of a source -------------------------------------------------- */

static lw_status fail_part(const lw__part *part, lw_error *err)
{
    if (part->failure == NULL) {
        return lw__fail(err, part->status, "memory: a failure could not be kept");
    }
    *err = *part->failure;
    return part->status;
}

static lw_status fail_changed(const lw__stream *stream, const lw__part *part, lw_error *err)
{
    const lw__dataset *dataset = stream->engine->options.datasets[stream->source];
    const lw__shard *shard =
        lw__dataset_shard(dataset, lw__dataset_shard_of(dataset, part->place.block));
    return lw__fail(err, LW_E_MISMATCH,
                    "state: \"%s\" block %llu has other bytes than when the state was saved",
                    shard->path, (unsigned long long)(part->place.block - shard->first_block));
}

static lw_status fail_barren(const lw__stream *stream, lw_error *err)
{
    const lw__dataset *dataset = stream->engine->options.datasets[stream->source];
    return lw__fail(err, LW_E_CORRUPT, "source: \"%s\" has no documents, expected at least one",
                    lw__dataset_name(dataset));
}

/* Makes the window's front the part being drawn from. */
static lw_status begin_part(lw__stream *stream, lw__part *part, lw_error *err)
{
    const lw__blocks *blocks = &stream->engine->blocks[stream->source];
    lw__position *position = &stream->position;
    if (part->status < 0) {
        return fail_part(part, err);
    }
    if (position->check != 0 && position->check != part->check) {
        return fail_changed(stream, part, err);
    }
    if (position->index > part->entry_count) {
        return fail_changed(stream, part, err);
    }
    stream->barren++;
    if (!blocks->once && stream->barren / BARREN_PASSES > blocks->block_count) {
        return fail_barren(stream, err);
    }
    stream->now = part;
    position->check = part->check;
    return LW_OK;
}

static outcome next_part(lw__stream *stream, lw_error *err)
{
    pthread_mutex_t *lock = &stream->engine->pool.lock;
    bool ended = false;
    pthread_mutex_lock(lock);
    if (stream->now != NULL) {
        const lw__part *done = stream->now;
        stream->position.j = done->j + (done->last ? 1 : 0);
        stream->position.part = done->last ? 0 : done->number + 1;
        stream->position.index = 0;
        stream->position.check = 0;
        stream->now = NULL;
        lw__stream_pop(stream);
    }
    lw__part *part = lw__stream_front(stream, &ended);
    pthread_mutex_unlock(lock);
    if (part == NULL) {
        return ended ? HAS_ENDED : MUST_WAIT;
    }
    return begin_part(stream, part, err) == LW_OK ? DRAWN : HAS_FAILED;
}

/* Input tokens of an entry, after pack.overflow; *token_count is cut with it. */
static uint64_t length_of(const lw__settings *settings, const lw__entry *entry, size_t *token_count)
{
    uint64_t lost = settings->shift == LW__SHIFT_DOCUMENT ? 1 : 0;
    *token_count = entry->token_count;
    if (*token_count <= lost) {
        return 0;
    }
    uint64_t length = *token_count - lost;
    if (length <= settings->context || settings->overflow == LW__OVERFLOW_SPLIT) {
        return length;
    }
    if (settings->overflow == LW__OVERFLOW_DROP) {
        return 0;
    }
    *token_count = (size_t)(settings->context + lost);
    return settings->context;
}

/* Of the lane's whole run, restores included. */
static uint64_t count_skipped(const lw__lane *lane)
{
    uint64_t count = 0;
    for (size_t i = 0; i < lane->mixture.source_count; i++) {
        count += lane->streams[i].position.skipped;
    }
    return count;
}

static lw_status meet_bad_record(lw__lane *lane, lw__stream *stream, const lw__entry *entry,
                                 lw_error *err)
{
    const lw__settings *settings = lane->engine->settings;
    const lw__part *part = stream->now;
    uint64_t limit = settings->bad_limit == 0 ? UINT64_MAX : settings->bad_limit;
    if (settings->policy == LW__POLICY_SKIP && count_skipped(lane) < limit) {
        stream->position.skipped++;
        lane->skipped++;
        return LW_OK;
    }
    return lw__dataset_fail_record(lane->engine->options.datasets[stream->source],
                                   part->place.block, part->number, (size_t)entry->document,
                                   entry->fault, err);
}

static void count_passed(lw__lane *lane, const lw__entry *entry)
{
    const lw__settings *settings = lane->engine->settings;
    uint64_t lost = settings->shift == LW__SHIFT_DOCUMENT ? 1 : 0;
    if (entry->dropped) {
        lane->dropped++;
    } else if (entry->token_count <= lost) {
        lane->empty++;
    } else {
        lane->dropped++;
        lane->truncated_tokens += entry->token_count - lost;
    }
}

/* Moves a stream to its next document that has a length, passing over the others. */
static outcome show(lw__lane *lane, lw__stream *stream, uint64_t *length, lw_error *err)
{
    const lw__settings *settings = lane->engine->settings;
    for (;;) {
        if (stream->now == NULL || stream->position.index == stream->now->entry_count) {
            outcome moved = next_part(stream, err);
            if (moved != DRAWN) {
                return moved;
            }
            continue;
        }
        const lw__entry *entry = &stream->now->entries[stream->position.index];
        size_t token_count;
        if (entry->fault != NULL) {
            if (meet_bad_record(lane, stream, entry, err) != LW_OK) {
                return HAS_FAILED;
            }
        } else {
            *length = entry->dropped ? 0 : length_of(settings, entry, &token_count);
            if (*length > 0) {
                stream->barren = 0;
                return DRAWN;
            }
            count_passed(lane, entry);
        }
        stream->position.index++;
    }
}

/* ---- drawing -------------------------------------------------------------------------------- */

static uint64_t cost_of(const lw__lane *lane, uint64_t length)
{
    return lane->engine->settings->unit == LW__UNIT_TOKENS ? length : 1;
}

/* Chooses the source to draw from. Repeating it after a wait comes to the same. */
static outcome choose(lw__lane *lane, size_t *chosen, uint64_t *chosen_cost, lw_error *err)
{
    lw__mixture *mixture = &lane->mixture;
    *chosen = SIZE_MAX;
    for (size_t i = 0; i < mixture->source_count; i++) {
        uint64_t length = 0;
        if (!lw__mixture_is_eligible(mixture, i)) {
            continue;
        }
        outcome shown = show(lane, &lane->streams[i], &length, err);
        if (shown == HAS_ENDED) {
            lw__mixture_end(mixture, i);
            return lw__mixture_is_live(mixture) ? choose(lane, chosen, chosen_cost, err)
                                                : HAS_ENDED;
        }
        if (shown != DRAWN) {
            return shown;
        }
        uint64_t cost = cost_of(lane, length);
        if (*chosen == SIZE_MAX || lw__mixture_is_before(mixture, i, cost, *chosen, *chosen_cost)) {
            *chosen = i;
            *chosen_cost = cost;
        }
    }
    return DRAWN;
}

static void fill_document(const lw__lane *lane, lw__stream *stream, lw__doc *doc)
{
    const lw__part *part = stream->now;
    const lw__entry *entry = &part->entries[stream->position.index];
    doc->length = length_of(lane->engine->settings, entry, &doc->token_count);
    doc->tokens = part->ids + entry->offset;
    doc->j = part->j;
    doc->place = (lw_segment){.source = stream->source,
                              .part = part->number,
                              .epoch = part->place.epoch,
                              .block = part->place.block,
                              .document = entry->document};
}

static lw_status push_document(lw__lane *lane, size_t source, lw_error *err)
{
    lw__stream *stream = &lane->streams[source];
    lw_record *rec = NULL;
    LW__TRY(lw__store_doc(&lane->store, &rec, err));
    fill_document(lane, stream, &rec->u.doc);
    const lw__entry *entry = &stream->now->entries[stream->position.index];
    lane->truncated_tokens += entry->token_count - rec->u.doc.token_count;
    lane->documents++;
    stream->position.index++;
    return lw__chain_push(&lane->chain, rec, err);
}

static outcome draw(lw__lane *lane, lw_error *err)
{
    size_t source;
    uint64_t cost = 0;
    outcome chosen =
        lw__mixture_is_live(&lane->mixture) ? choose(lane, &source, &cost, err) : HAS_ENDED;
    if (chosen != DRAWN) {
        return chosen;
    }
    lw__mixture_draw(&lane->mixture, source, cost);
    return push_document(lane, source, err) == LW_OK ? DRAWN : HAS_FAILED;
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

static outcome run(lw__lane *lane, lw_error *err)
{
    while (may_go_on(lane) || look(lane)) {
        outcome drawn = draw(lane, err);
        if (drawn != DRAWN) {
            return drawn;
        }
        if (publish(lane, err) != LW_OK) {
            return HAS_FAILED;
        }
    }
    return MUST_WAIT;
}

static outcome finish(lw__lane *lane, lw_error *err)
{
    if (lw__chain_flush(&lane->chain, err) != LW_OK || publish(lane, err) != LW_OK) {
        return HAS_FAILED;
    }
    return HAS_ENDED;
}

void lw__lane_fail(lw__lane *lane, const lw_error *err)
{
    lane->failed = true;
    lane->failure = *err;
    lane->engine->options.outlet.changed(lane->engine->options.outlet.ctx, lane);
}

static void park(lw__lane *lane, outcome result, const lw_error *err)
{
    lw__engine *engine = lane->engine;
    if (result == HAS_FAILED) {
        lw__lane_fail(lane, err);
    } else if (result == HAS_ENDED) {
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
    outcome result = look(lane) ? run(lane, &err) : MUST_WAIT;
    if (result == HAS_ENDED) {
        result = finish(lane, &err);
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
