/* SPDX-License-Identifier: Apache-2.0 */
/* Whole pipelines on small made-up data: what the tests of the public interface share. */
#ifndef LW__TEST_RUNNING_H
#define LW__TEST_RUNNING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <laneway/laneway.h>

#include "support/corpus.h"
#include "support/scratch.h"

enum {
    RUN_ROWS = 12,    /* rows of a step */
    RUN_CONTEXT = 32, /* tokens of a row */
    RUN_STEPS = 64,   /* a run's steps are kept up to here */
    RUN_SEED_A = 11,
    RUN_SEED_B = 12,
    RUN_COUNT_A = 150, /* documents */
    RUN_COUNT_B = 60,
    RUN_MOST_A = 60, /* bytes of a document */
    RUN_MOST_B = 150
};

/* Two sources, four lanes of three rows a step. */
#define RUN_RECIPE                                                                                 \
    "seed: 7\n"                                                                                    \
    "lanes: 4\n"                                                                                   \
    "global_batch: 12\n"                                                                           \
    "context: 32\n"                                                                                \
    "sources: [{name: a, path: a.jsonl, weight: 0.6, block: 512},\n"                               \
    "          {name: b, path: b.jsonl, weight: 0.4, block: 512}]\n"                               \
    "tokenizer: {name: bytes, bos: true, eos: true}\n"                                             \
    "shuffle: {rows: 3}\n"                                                                         \
    "runtime: {threads: 2, digests: true}\n"

/* Row digests of the steps a run has taken, one rank's or all ranks'. */
typedef struct run_rows {
    uint64_t first; /* step */
    uint64_t steps; /* taken, this run */
    lw_status last; /* what ended it; LW_OK: enough steps */
    uint8_t digests[RUN_STEPS][RUN_ROWS][32];
} run_rows;

/* Group set-up: the data. */
static inline int run_data(void **state)
{
    scratch_open(state);
    corpus_write("a.jsonl", RUN_SEED_A, RUN_COUNT_A, RUN_MOST_A);
    corpus_write("b.jsonl", RUN_SEED_B, RUN_COUNT_B, RUN_MOST_B);
    return 0;
}

static inline void run_set(lw_recipe *recipe, const char *key, const char *value)
{
    lw_error err = {0};
    if (lw_recipe_set(recipe, key, value, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
}

static inline lw_recipe *run_recipe(const char *end)
{
    lw_recipe *recipe = NULL;
    lw_error err = {0};
    if (lw_recipe_parse(RUN_RECIPE, scratch_folder(), &recipe, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    run_set(recipe, "end", end);
    return recipe;
}

static inline lw_pipeline *run_open(lw_recipe *recipe, uint64_t rank, uint64_t world,
                                    const lw_state *state)
{
    lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
    lw_pipeline *pipeline = NULL;
    lw_error err = {0};
    options.rank = rank;
    options.world = world;
    if (lw_pipeline_open(recipe, &options, state, &pipeline, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return pipeline;
}

static inline lw_batch_view run_view(const lw_batch *batch)
{
    lw_batch_view view = {.struct_size = sizeof view};
    assert_int_equal(lw_batch_get(batch, &view, NULL), LW_OK);
    return view;
}

static inline lw_state *run_save(lw_pipeline *pipeline, uint64_t after)
{
    lw_state *state = NULL;
    lw_error err = {0};
    if (lw_pipeline_checkpoint(pipeline, after, &state, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return state;
}

/* Takes the next batch, which must be there, and lets it go. */
static inline lw_batch_view run_take(lw_pipeline *pipeline)
{
    lw_batch *batch = NULL;
    lw_error err = {0};
    if (lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    lw_batch_view view = run_view(batch);
    lw_batch_release(batch);
    return view; /* its numbers; the arrays are gone */
}

/* The rows of all ranks of a world, one rank after the other. */
static inline void run_world(lw_recipe *recipe, uint64_t world, const lw_state *state, uint64_t end,
                             run_rows *out)
{
    memset(out, 0, sizeof *out);
    for (uint64_t rank = 0; rank < world; rank++) {
        lw_pipeline *pipeline = run_open(recipe, rank, world, state);
        lw_batch *batch = NULL;
        lw_error err = {0};
        uint64_t steps = 0;
        out->first = state != NULL ? lw_state_step(state) : 0;
        out->last = LW_OK;
        while (out->first + steps < end) {
            out->last = lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err);
            if (out->last != LW_OK) {
                break;
            }
            lw_batch_view view = run_view(batch);
            memcpy(out->digests[view.step][view.first_row], view.row_digests, view.rows * 32);
            steps += view.first_row + view.rows == (rank + 1) * RUN_ROWS / world;
            lw_batch_release(batch);
        }
        assert_true(rank == 0 || steps == out->steps);
        out->steps = steps;
        lw_pipeline_close(pipeline);
    }
}

/* The steps of `part` are those of `whole`. */
static inline void run_same(const run_rows *part, const run_rows *whole)
{
    for (uint64_t step = part->first; step < part->first + part->steps; step++) {
        assert_true(step < whole->first + whole->steps);
        assert_memory_equal(part->digests[step], whole->digests[step], RUN_ROWS * 32);
    }
}

#endif
