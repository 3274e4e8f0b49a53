/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: lanes that decide, streams that read for them, and the pool they run on.
 *
 *     stream  (lane, source): a window of decoded parts, read ahead in order
 *     lane    draws documents from its streams, pushes them down its chain, queues the rows
 *     engine  all lanes of a rank; tells the outlet (deliver) when rows are there
 *
 * Everything shared is under the pool's lock. Lock order: a shelf's (deliver/slot.h), then the
 * pool's; the datasets' own (record counting) is taken with neither.
 *
 * The door of the layer: deliver and checkpoint use what is declared here and in lane.h.
 */
#ifndef LW__ENGINE_H
#define LW__ENGINE_H

#include "engine/buffers.h"
#include "engine/chain.h"
#include "engine/pool.h"
#include "format/format.h"
#include "plan/blocks.h"
#include "plan/settings.h"
#include "plan/topology.h"
#include "tokenize/tokenize.h"

typedef struct lw__engine lw__engine;
typedef struct lw__lane lw__lane;
typedef struct lw__stream lw__stream;

/* What has been done, summed over threads; under lock. */
typedef struct lw__counters {
    uint64_t documents;
    uint64_t empty;
    uint64_t skipped;
    uint64_t dropped;
    uint64_t dropped_tokens;
    uint64_t read_bytes;
    uint64_t read_ns;
    uint64_t parse_ns;
    uint64_t tokenize_ns;
    uint64_t decide_ns;
    uint64_t remake_ns;
    uint64_t write_ns;
    uint64_t digest_ns;
} lw__counters;

/* What one thread needs to read: reused from part to part. */
typedef struct lw__text_list {
    lw_record *items;
    size_t count;
    size_t capacity;
} lw__text_list;

/* The texts of a part while workers pass over them (texts.c); empty where there are no workers. */
typedef struct lw__texts {
    lw_record **group; /* what the worker is given */
    size_t *firsts;    /* of each record, its first text */
    size_t capacity;   /* of firsts */
    size_t group_capacity;
    lw__text_list now;  /* in file order; what is made of a record stands in its place */
    lw__text_list made; /* by the worker, in order */
    lw__text_list spare;
} lw__texts;

typedef struct lw__scratch {
    lw__encoder *encoder;
    lw__text text;
    lw__documents documents;
    lw__arena arena;
    struct lw__span *spans; /* a part's texts in the arena, in file order */
    size_t span_capacity;
    lw__texts texts; /* under DOCUMENT workers */
} lw__scratch;

/* Bytes: `fixed` and the entitlements are spent at open, the rest goes to reading ahead. */
typedef struct lw__budget {
    uint64_t limit;
    uint64_t used;
    uint64_t peak;
} lw__budget;

typedef struct lw__stream_list {
    lw__stream *head;
    lw__stream *tail;
} lw__stream_list;

/* Who takes the rows. Called under lock whenever a lane has new rows, has ended or has failed. */
typedef struct lw__outlet {
    void (*changed)(void *ctx, lw__lane *lane);
    void *ctx;
} lw__outlet;

typedef struct lw__engine_options {
    const lw__settings *settings;
    lw__dataset *const *datasets; /* one a source */
    const lw__tokenizer *tokenizer;
    const lw__operator *operators; /* in order: documents, packer, rows */
    size_t operator_count;
    lw__topology topology;
    bool all_lanes;       /* a finite run without agreement: follow every lane */
    uint64_t slot_count;  /* steps in flight */
    uint64_t slots_bytes; /* their memory, for the budget */
    lw__outlet outlet;
} lw__engine_options;

struct lw__engine {
    /* set at creation */
    lw__engine_options options;
    const lw__settings *settings;
    lw__blocks *blocks; /* one a source */
    lw__lane *lanes;    /* those run here, by number */
    size_t lane_count;
    lw__scratch *scratch; /* one a thread */
    size_t depth;         /* parts a stream may have in its window */
    uint64_t row_limit;   /* rows of a lane between packer and slots */
    lw__pool pool;
    lw__buffers buffers; /* of decoded parts */
    /* under lock */
    lw__budget budget;
    lw__stream_list urgent;   /* streams with an empty window */
    lw__stream_list prefetch; /* streams with room in it */
    size_t reads;             /* READ tasks queued or running */
    uint64_t *estimates;      /* bytes of a part, one a source */
    uint64_t goal_step;       /* the step the consumer takes next */
    lw__counters counters;
};

/* Bytes a run needs at least: what is fixed, and one part for every stream. */
typedef struct lw__memory_plan {
    uint64_t slots;
    uint64_t rows;
    uint64_t threads;
    uint64_t streams;
    uint64_t stream_count;
    uint64_t minimum; /* their sum */
} lw__memory_plan;

lw__memory_plan lw__engine_memory(const lw__engine_options *options);
/* LW_E_NOMEM when runtime.memory is below the minimum. */
lw_status lw__engine_check_budget(const lw__engine_options *options, lw_error *err);
size_t lw__engine_threads(const lw__settings *settings);
/* Number of lanes a rank runs, and the first of them. */
uint64_t lw__engine_lanes(const lw__engine_options *options, uint64_t *first);

/* Makes lanes and streams; no thread runs yet. */
lw_status lw__engine_open(const lw__engine_options *options, lw__engine **out, lw_error *err);
/* Starts the threads and the lanes. Lanes may have been restored before (lane.h). */
lw_status lw__engine_start(lw__engine *engine, lw_error *err);
void lw__engine_stop(lw__engine *engine);
void lw__engine_close(lw__engine *engine);

#endif
