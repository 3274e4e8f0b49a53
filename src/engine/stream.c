/* SPDX-License-Identifier: Apache-2.0 */
/* A stream's window, and the two queues that decide which stream reads next. */
#include "engine/stream.h"

#include "base/alloc.h"
#include "base/error.h"
#include "engine/lane.h"

lw_status lw__stream_open(lw__stream *stream, lw__engine *engine, lw__lane *lane, uint32_t source,
                          lw_error *err)
{
    *stream = (lw__stream){.engine = engine, .lane = lane, .source = source};
    stream->window = lw__alloc_zero(engine->depth, sizeof *stream->window);
    if (stream->window == NULL) {
        return lw__fail_nomem(err, engine->depth * sizeof *stream->window, "a stream's window");
    }
    for (size_t i = 0; i < engine->depth; i++) {
        stream->window[i].stream = stream;
        stream->window[i].task.run = lw__part_run;
    }
    return LW_OK;
}

void lw__stream_seek(lw__stream *stream, const lw__position *position)
{
    stream->position = *position;
    stream->next_j = position->j;
    stream->next_part = (uint32_t)position->part;
}

void lw__stream_close(lw__stream *stream)
{
    for (size_t i = 0; stream->window != NULL && i < stream->engine->depth; i++) {
        lw__part_reset(&stream->window[i]);
    }
    lw__cursor_close(stream->cursor);
    lw__free(stream->window);
    stream->window = NULL;
}

/* ---- queues --------------------------------------------------------------------------------- */

static void enter(lw__stream_list *list, lw__stream *stream)
{
    stream->list = list;
    stream->next = NULL;
    stream->previous = list->tail;
    if (list->tail == NULL) {
        list->head = stream;
    } else {
        list->tail->next = stream;
    }
    list->tail = stream;
}

static void leave(lw__stream *stream)
{
    lw__stream_list *list = stream->list;
    if (stream->previous == NULL) {
        list->head = stream->next;
    } else {
        stream->previous->next = stream->next;
    }
    if (stream->next == NULL) {
        list->tail = stream->previous;
    } else {
        stream->next->previous = stream->previous;
    }
    stream->list = NULL;
}

static void charge(lw__budget *budget, lw__part *part, uint64_t bytes)
{
    budget->used = budget->used - part->charge + bytes;
    part->charge = bytes;
    budget->peak = budget->used > budget->peak ? budget->used : budget->peak;
}

/* The part at the front of the window lives on its stream's entitlement. */
static void settle(lw__stream *stream, lw__part *part)
{
    bool front = part == &stream->window[stream->head];
    charge(&stream->engine->budget, part, front ? 0 : part->bytes);
}

static bool start_read(lw__stream *stream)
{
    lw__engine *engine = stream->engine;
    lw__part *part = &stream->window[(stream->head + stream->count) % engine->depth];
    leave(stream);
    if (!lw__blocks_at(&engine->blocks[stream->source], lw__lane_number(stream->lane),
                       stream->next_j, &part->place)) {
        stream->exhausted = true;
        return false;
    }
    part->j = stream->next_j;
    part->number = stream->next_part;
    part->ready = false;
    charge(&engine->budget, part, stream->count == 0 ? 0 : engine->estimates[stream->source]);
    stream->count++;
    stream->reading = true;
    engine->reads++;
    lw__pool_push(&engine->pool, LW__READ, &part->task);
    return true;
}

static bool has_bytes(const lw__engine *engine, const lw__stream *stream)
{
    return engine->budget.used + engine->estimates[stream->source] <= engine->budget.limit;
}

/* Starts reads: what lanes lack first, then ahead while the budget allows. */
static void dispatch(lw__engine *engine)
{
    size_t most = 2 * engine->pool.thread_count;
    while (engine->reads < most && engine->urgent.head != NULL) {
        lw__stream *stream = engine->urgent.head;
        if (!start_read(stream) && stream->waited) {
            lw__lane_wake(stream->lane);
        }
    }
    while (engine->reads < most && engine->urgent.head == NULL && engine->prefetch.head != NULL &&
           has_bytes(engine, engine->prefetch.head)) {
        start_read(engine->prefetch.head);
    }
}

void lw__stream_want(lw__stream *stream)
{
    lw__engine *engine = stream->engine;
    lw__stream_list *list = stream->count == 0 ? &engine->urgent : &engine->prefetch;
    bool room = !stream->reading && !stream->exhausted && stream->count < engine->depth;
    if (stream->list != NULL && stream->list != list) {
        leave(stream);
    }
    if (room && stream->list == NULL) {
        enter(list, stream);
    }
    dispatch(engine);
}

lw__part *lw__stream_front(lw__stream *stream, bool *ended)
{
    lw__part *part = &stream->window[stream->head];
    *ended = stream->count == 0 && stream->exhausted;
    stream->waited = false;
    if (stream->count > 0 && part->ready) {
        return part;
    }
    stream->waited = !*ended;
    return NULL;
}

void lw__stream_pop(lw__stream *stream)
{
    lw__engine *engine = stream->engine;
    lw__part *part = &stream->window[stream->head];
    charge(&engine->budget, part, 0);
    lw__part_reset(part);
    stream->head = (stream->head + 1) % engine->depth;
    stream->count--;
    if (stream->count > 0 && stream->window[stream->head].ready) {
        settle(stream, &stream->window[stream->head]);
    }
    lw__stream_want(stream);
}

/* ---- the part's task ------------------------------------------------------------------------ */

void lw__stream_fetched(lw__stream *stream, const lw__part *part)
{
    stream->reading = false;
    stream->next_j = part->j + (part->last ? 1 : 0);
    stream->next_part = part->last ? 0 : part->number + 1;
    if (part->status < 0) {
        stream->exhausted = true;
    }
    lw__stream_want(stream);
}

void lw__stream_finished(lw__stream *stream, lw__part *part)
{
    lw__engine *engine = stream->engine;
    uint64_t *estimate = &engine->estimates[stream->source];
    *estimate = (3 * *estimate + part->bytes) / 4;
    part->ready = true;
    settle(stream, part);
    engine->reads--;
    if (stream->waited && part == &stream->window[stream->head]) {
        lw__lane_wake(stream->lane);
    }
    dispatch(engine);
}
