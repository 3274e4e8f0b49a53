/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: the parts of one source, in one lane's order, read ahead into a window.
 *
 * Fetching (storage, decompression) is serial within a stream, since a part begins where the one
 * before it ended; parsing and tokenizing of several parts run side by side. The window hands the
 * parts on in order. The oldest part of every stream is paid for at open (the stream's entitlement),
 * so a lane always gets what it waits for; the others are charged to the budget.
 */
#ifndef LW__ENGINE_STREAM_H
#define LW__ENGINE_STREAM_H

#include "engine/engine.h"

/* A document of a decoded part, in stream order. */
typedef struct lw__entry {
    size_t offset; /* in ids */
    uint32_t token_count;
    uint32_t dropped;  /* by a DOCUMENT worker */
    uint64_t document; /* record number in the part */
    const lw__fault *fault;
} lw__entry;

/* A decoded part. */
typedef struct lw__part {
    lw__task task;
    lw__stream *stream;
    uint64_t j;
    lw__block_place place;
    uint32_t number;    /* of the part in its block */
    bool last;          /* of its block */
    bool ready;         /* under lock */
    uint64_t charge;    /* to the budget; under lock */
    uint64_t check;     /* hash of the part's raw lines */
    lw__entry *entries; /* a buffer of the engine's; the ids follow in it */
    int32_t *ids;
    int32_t *huge_ids; /* ids of their own instead; NULL as a rule */
    size_t entry_count;
    lw__fault *faults;
    uint64_t bytes;    /* of ids and entries */
    lw_status status;  /* of reading it */
    lw_error *failure; /* what was wrong; NULL when not even that could be kept */
} lw__part;

/* How far a stream has been drawn; lane thread. */
typedef struct lw__position {
    uint64_t j;
    uint64_t part;
    uint64_t index;   /* documents of the part drawn or passed over */
    uint64_t skipped; /* bad records passed over, ever */
    uint64_t check;   /* of the part, once it was looked at; 0 before */
} lw__position;

struct lw__stream {
    /* set at creation */
    lw__engine *engine;
    lw__lane *lane;
    uint32_t source;
    lw__part *window; /* a ring of engine->depth */
    /* under lock */
    size_t head;
    size_t count;
    uint64_t next_j;
    uint32_t next_part;
    bool exhausted;        /* nothing left to read */
    bool reading;          /* a task is fetching */
    bool waited;           /* the lane stands still for it */
    lw__stream_list *list; /* the one it stands in, or NULL */
    lw__stream *next;
    lw__stream *previous;
    /* the fetching task's */
    lw__cursor *cursor;
    /* lane thread */
    lw__part *now; /* the part being drawn from; NULL: none yet */
    lw__position position;
    uint64_t barren; /* parts without a document since the last one with some */
};

lw_status lw__stream_open(lw__stream *stream, lw__engine *engine, lw__lane *lane, uint32_t source,
                          lw_error *err);
/* Before the start: go on here instead of at the beginning. */
void lw__stream_seek(lw__stream *stream, const lw__position *position);
void lw__stream_close(lw__stream *stream);

/* Under lock: queues the stream for reading if its window has room, and starts what may start. */
void lw__stream_want(lw__stream *stream);
/* Under lock: the oldest part if it is ready; else NULL, and *ended tells whether none will come. */
lw__part *lw__stream_front(lw__stream *stream, bool *ended);
/* Under lock: gives the oldest part back. */
void lw__stream_pop(lw__stream *stream);
/* Under lock, by the part's task: fetched, so that the next part may be; and decoded. */
void lw__stream_fetched(lw__stream *stream, const lw__part *part);
void lw__stream_finished(lw__stream *stream, lw__part *part);

/* ---- reading one part (read.c) -------------------------------------------------------------- */

/* Bytes of budget a part of this source may take at most, long documents aside. */
uint64_t lw__part_limit(uint64_t block_bytes);
/* The task of a part: fetch, then decode, then ready. */
void lw__part_run(lw__task *task, size_t worker);
/* Fetches and decodes a part that is in no window (restores). `part->stream` and place are set. */
lw_status lw__part_read_alone(lw__part *part, size_t worker, lw_error *err);
void lw__part_reset(lw__part *part);
void lw__scratch_reset(lw__scratch *scratch);

#endif
