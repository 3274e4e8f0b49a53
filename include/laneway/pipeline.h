/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines: a recipe, running, for one rank; and the batches it gives.
 */
#ifndef LANEWAY_PIPELINE_H
#define LANEWAY_PIPELINE_H

#include <laneway/error.h>
#include <laneway/op.h>
#include <laneway/recipe.h>
#include <laneway/state.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Confined: one consumer thread at a time; lw_pipeline_cancel and _stats are Signal. */
typedef struct lw_pipeline lw_pipeline;
/** Shared: immutable and counted; may outlive its pipeline. */
typedef struct lw_batch lw_batch;

#define LW_FOREVER     INT64_MAX
#define LW_STEP_NEWEST UINT64_MAX

#define LW_MAX 1 /* op of lw_agree: the largest of the values */
#define LW_MIN 2 /* the smallest */

/**
 * Combines one integer over all ranks (MPI_Allreduce or the like). Called on the consumer's thread,
 * by every rank equally often. Returns LW_OK or a failure.
 */
typedef lw_status lw_agree(void *ctx, int32_t op, int64_t value, int64_t *out, lw_error *err);

typedef struct lw_pipeline_options {
    size_t struct_size;
    uint64_t rank;
    uint64_t world; /* ranks; 0 means 1; must divide the global batch */
    /* With `end: drop` or `pad`: agree on the last step instead of following every lane. */
    lw_agree *agree;
    void *agree_ctx;
} lw_pipeline_options;

#define LW_PIPELINE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(lw_pipeline_options), 0, 0, NULL, NULL                                              \
    }

/**
 * Opens a pipeline and starts its threads (as many as runtime.threads says, none besides).
 *
 * @param recipe   copied; not NULL
 * @param options  NULL: rank 0 of 1
 * @param state    where to go on; NULL: at the start; borrowed during the call
 * @param out      receives the pipeline, or NULL on failure; not NULL
 * Returns  LW_OK
 * Errors   INVALID, NOT_FOUND, IO, CORRUPT, UNSUPPORTED, NOMEM (the budget is below the minimum),
 *          MISMATCH (the state belongs to something else; the message names what differs)
 * Threads  any
 * Memory   caller owns the pipeline (lw_pipeline_close)
 * Since    0.1, unstable
 */
LW_API lw_status lw_pipeline_open(lw_recipe *recipe, const lw_pipeline_options *options,
                                  const lw_state *state, lw_pipeline **out,
                                  lw_error *err) LW_MUST_CHECK;

/**
 * Takes the next batch: this rank's rows of the next step, or `runtime.microbatch` of them.
 *
 * Which batches come, and in which order, depends on the recipe's STREAM options alone. A failure
 * appears where a single-threaded run would have met it, after all batches before it.
 *
 * @param timeout_ns  nanoseconds; 0 polls; LW_FOREVER waits without limit
 * @param out         receives the batch, or NULL unless the result is LW_OK; not NULL
 * Returns  LW_OK; LW_END, then and at every later call; LW_AGAIN on time-out
 * Errors   IO, CORRUPT, OPERATOR, NOMEM, CANCELLED: sticky; BUSY: the caller holds every slot
 * Threads  Confined
 * Memory   caller owns the batch (lw_batch_release)
 * State    the batch counts as taken on return
 * Since    0.1, unstable
 */
LW_API lw_status lw_pipeline_next(lw_pipeline *pipeline, int64_t timeout_ns, lw_batch **out,
                                  lw_error *err) LW_MUST_CHECK;

/**
 * The state after a step: what a run that has taken the steps up to it must go on from.
 *
 * @param after  LW_STEP_NEWEST: the newest step taken (the start, when none was); else the number of
 *               steps taken, one of the last runtime.keep_states: 0 is the start, 1 after step 0
 * @param out    receives the state, or NULL on failure; not NULL
 * Returns  LW_OK
 * Errors   BUSY (a step is partly taken), NOT_FOUND (no longer kept, or not taken yet), NOMEM; IO the
 *          first time, which reads samples of the files
 * Threads  Confined; works after a failure of lw_pipeline_next too
 * Memory   caller owns the state
 * Since    0.1, unstable
 */
LW_API lw_status lw_pipeline_checkpoint(lw_pipeline *pipeline, uint64_t after, lw_state **out,
                                        lw_error *err) LW_MUST_CHECK;

/**
 * The state before the first step, as a pipeline opened with these would give. A distributed
 * checkpoint that asks a fresh loader what it wants to be given takes it: opens the data, starts
 * nothing.
 *
 * @param recipe, options  as of lw_pipeline_open
 * @param out              receives the state, or NULL on failure; not NULL
 * Returns  LW_OK
 * Errors   as lw_pipeline_open without a state, and as lw_pipeline_checkpoint
 * Threads  any
 * Memory   caller owns the state
 * Since    0.1, unstable
 */
LW_API lw_status lw_pipeline_start_state(lw_recipe *recipe, const lw_pipeline_options *options,
                                         lw_state **out, lw_error *err) LW_MUST_CHECK;

/** Makes a waiting or later lw_pipeline_next return CANCELLED. Signal; async-signal-unsafe. */
LW_API void lw_pipeline_cancel(lw_pipeline *pipeline);

/** Stops and joins all threads. Batches still held stay valid. NULL is fine. Since 0.1. */
LW_API void lw_pipeline_close(lw_pipeline *pipeline);

/** What a batch holds; all pointers are borrowed until the batch is released. */
typedef struct lw_batch_view {
    size_t struct_size;
    uint64_t step;
    uint64_t first_row; /* number of the first row in the step */
    uint64_t rows;
    uint64_t context;
    uint32_t token_bytes; /* 4: int32_t, 8: int64_t; of tokens, positions and labels */
    uint32_t reserved;
    const void *tokens;             /* [rows][context] */
    const void *positions;          /* [rows][context] */
    const void *labels;             /* [rows][context], -100 where there is none */
    const uint8_t *loss_mask;       /* [rows][context], 1 where there is a label */
    const uint8_t *document_starts; /* [rows][context], 1 where the position is 0 */
    const uint8_t *row_digests;     /* [rows][32]; NULL unless runtime.digests */
    uint64_t valid_tokens;          /* input tokens that are not padding */
    const uint64_t *row_tokens;     /* [rows], the same of each row; padding follows them */
    /* The slot: the arrays [rows][context] and row_digests lie in it, nothing else does, and it is
     * whole pages: a program may pin it. The same for all batches of the slot, of which a pipeline
     * has runtime.prefetch_steps + 1, from open until it is closed and none of its batches is left. */
    const void *memory;
    uint64_t memory_bytes;
} lw_batch_view;

/** Fills a view; struct_size is set by the caller. Shared. Errors INVALID. Since 0.1. */
LW_API lw_status lw_batch_get(const lw_batch *batch, lw_batch_view *out,
                              lw_error *err) LW_MUST_CHECK;
/** The segments of a row (counted within the batch), in row order; borrowed. Since 0.1. */
LW_API lw_status lw_batch_segments(const lw_batch *batch, uint64_t row, const lw_segment **out,
                                   size_t *count, lw_error *err) LW_MUST_CHECK;

#define LW_ALL_ROWS UINT64_MAX

/**
 * Where the documents of a row, or of all rows laid end to end, begin, and where the last one ends:
 * what attention over documents of different lengths takes as cumulative lengths. Padding counts as
 * a document.
 *
 * @param row       counted within the batch; LW_ALL_ROWS: all of them
 * @param out       receives up to capacity values, rising from 0 to the number of places; may be
 *                  NULL with a capacity of 0
 * @param count     receives how many there are, also if that is more than capacity; not NULL
 * @param longest   receives the places of the longest document; may be NULL
 * Returns  LW_OK
 * Errors   INVALID (no such row; more than INT32_MAX places)
 * Threads  Shared
 * Since    0.1, unstable
 */
LW_API lw_status lw_batch_boundaries(const lw_batch *batch, uint64_t row, int32_t *out,
                                     size_t capacity, size_t *count, int32_t *longest,
                                     lw_error *err) LW_MUST_CHECK;
LW_API void lw_batch_retain(lw_batch *batch);
/** Gives a reference back; with the last one the memory is used again. NULL is fine. */
LW_API void lw_batch_release(lw_batch *batch);

/**
 * Where a segment's document lies. Counts records in the shard the first time (reads it).
 *
 * @param source  receives the source's name; borrowed from the pipeline; may be NULL
 * @param shard   receives the shard's path; borrowed from the pipeline; may be NULL
 * @param record  receives the number of the record in the shard; may be NULL
 * Errors   IO, CORRUPT, INVALID
 * Threads  any
 * Since    0.1, unstable
 */
LW_API lw_status lw_pipeline_locate(lw_pipeline *pipeline, const lw_segment *segment,
                                    const char **source, const char **shard, uint64_t *record,
                                    lw_error *err) LW_MUST_CHECK;

/**
 * SHA-256 over row digests (32 bytes each) in row order: the digest of their step.
 * Errors NOMEM, UNSUPPORTED (libcrypto has no SHA-256). Threads any. Since 0.1.
 */
LW_API lw_status lw_digest_merge(const uint8_t *row_digests, size_t count, uint8_t out[32],
                                 lw_error *err) LW_MUST_CHECK;

/** Counters since open; all grow only. Nanoseconds are summed over threads. */
typedef struct lw_stats {
    size_t struct_size;
    uint64_t steps;          /* taken */
    uint64_t rows;           /* taken */
    uint64_t tokens;         /* valid input tokens taken */
    uint64_t padding;        /* padding tokens taken */
    uint64_t documents;      /* drawn by the lanes run here */
    uint64_t empty;          /* documents of length 0 passed over */
    uint64_t skipped;        /* bad records passed over */
    uint64_t dropped;        /* documents dropped by pack.overflow or by an operator */
    uint64_t dropped_tokens; /* input tokens these or truncated documents lost */
    uint64_t read_bytes;     /* decoded bytes of lines */
    uint64_t read_ns;        /* storage and decompression */
    uint64_t parse_ns;
    uint64_t tokenize_ns;
    uint64_t decide_ns;
    uint64_t write_ns;
    uint64_t digest_ns;
    uint64_t wait_ns;      /* the consumer's, in lw_pipeline_next */
    uint64_t memory_bytes; /* charged to the budget now */
    uint64_t memory_peak_bytes;
    uint64_t remake_ns; /* after a restore, making the records that were held once more */
} lw_stats;

/** Signal. struct_size is set by the caller. Errors INVALID. Since 0.1. */
LW_API lw_status lw_pipeline_stats(lw_pipeline *pipeline, lw_stats *out,
                                   lw_error *err) LW_MUST_CHECK;

/**
 * The plan as a person reads it: sources, lanes of each rank, streams, memory, threads, what is
 * computed twice, what may change on resume. Opens the data, starts nothing. A memory budget that
 * opening would refuse is explained all the same; a line "error: <message>" then says so.
 *
 * @param state  NULL, or a state to be compared with the recipe
 * @param out    receives the text (lw_text_free)
 * Errors   as lw_pipeline_open
 * Since    0.1, unstable
 */
LW_API lw_status lw_explain(lw_recipe *recipe, uint64_t world, const lw_state *state, char **out,
                            lw_error *err) LW_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
