/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a world in one process: one pipeline each, asked in rank order, so that their batches
 * come in row order. A step may come in several batches (runtime.microbatch); none is held longer
 * than its visit, so any number of them fits into the pipelines' slots.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define POLL_NS INT64_C(200000000) /* how soon an interrupt is seen while waiting */

/* What the canonical text of the recipe says of steps and rows. */
static lw_status read_shape(lw_recipe *recipe, lw__cli_ranks *ranks, lw_error *err)
{
    char *text = NULL;
    lw_status status = lw_recipe_text(recipe, &text, err);
    if (status != LW_OK) {
        return status;
    }
    ranks->global_batch = lw__cli_recipe_number(text, "global_batch");
    ranks->lanes = lw__cli_recipe_number(text, "lanes");
    lw_text_free(text);
    if (ranks->global_batch == 0 || ranks->lanes == 0) {
        return lw__cli_fail(err, LW_E_INTERNAL,
                            "recipe: no global_batch or lanes in its text, expected both");
    }
    return LW_OK;
}

lw_status lw__cli_ranks_open(const lw__cli_args *args, lw_recipe *recipe, const lw_state *state,
                             lw__cli_ranks *ranks, lw_error *err)
{
    uint64_t world = args->given[LW__CLI_WORLD] ? args->number[LW__CLI_WORLD] : 1;
    uint64_t first = args->number[LW__CLI_RANK];
    lw_status status = read_shape(recipe, ranks, err);
    if (status != LW_OK) {
        return status;
    }
    size_t count = args->given[LW__CLI_RANK] ? 1 : (size_t)world;
    ranks->pipelines = calloc(count, sizeof(lw_pipeline *));
    if (ranks->pipelines == NULL) {
        return lw__cli_fail(err, LW_E_NOMEM, "ranks: no memory for %" PRIu64, world);
    }
    while (ranks->count < count && status == LW_OK) {
        lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
        options.rank = first + ranks->count;
        options.world = world;
        status = lw_pipeline_open(recipe, &options, state, &ranks->pipelines[ranks->count], err);
        ranks->count += status == LW_OK ? 1 : 0;
    }
    ranks->rank_rows = ranks->global_batch / world;
    ranks->first_row = first * ranks->rank_rows;
    ranks->rows = ranks->rank_rows * count;
    ranks->steps = state != NULL ? lw_state_step(state) : 0;
    return status;
}

/* Waits for a batch; LW_AGAIN for an interrupt, where it may stop. */
static lw_status wait_batch(lw_pipeline *pipeline, bool may_stop, lw_batch **out, lw_error *err)
{
    for (;;) {
        lw_status status = lw_pipeline_next(pipeline, POLL_NS, out, err);
        if (status != LW_AGAIN || (may_stop && lw__cli_interrupted() != 0)) {
            return status;
        }
    }
}

static lw_status check_batch(const lw__cli_ranks *ranks, size_t index, uint64_t rows,
                             const lw_batch_view *view, lw_error *err)
{
    uint64_t row = ranks->first_row + index * ranks->rank_rows + rows;
    if (view->step == ranks->steps && view->first_row == row && view->rows > 0 &&
        view->rows <= ranks->rank_rows - rows) {
        return LW_OK;
    }
    return lw__cli_fail(err, LW_E_INTERNAL,
                        "ranks: %" PRIu64 " rows from %" PRIu64 " of step %" PRIu64
                        ", expected row %" PRIu64 " of step %" PRIu64,
                        view->rows, view->first_row, view->step, row, ranks->steps);
}

static lw_status visit_batch(const lw__cli_ranks *ranks, size_t index, const lw_batch *batch,
                             uint64_t *rows, lw__cli_visit *visit, void *ctx, lw_error *err)
{
    lw__cli_batch item = {ranks->pipelines[index], batch, {.struct_size = sizeof item.view}};
    lw_status status = lw_batch_get(batch, &item.view, err);
    if (status == LW_OK) {
        status = check_batch(ranks, index, *rows, &item.view, err);
    }
    if (status == LW_OK) {
        status = visit(ctx, &item, err);
    }
    *rows += item.view.rows;
    return status;
}

/* One rank's rows of a step; LW_END or LW_AGAIN only before the first of them. */
static lw_status take_rank(const lw__cli_ranks *ranks, size_t index, lw__cli_visit *visit,
                           void *ctx, lw_error *err)
{
    uint64_t rows = 0;
    while (rows < ranks->rank_rows) {
        lw_batch *batch = NULL;
        lw_status status =
            wait_batch(ranks->pipelines[index], index == 0 && rows == 0, &batch, err);
        if (status == LW_OK) {
            status = visit_batch(ranks, index, batch, &rows, visit, ctx, err);
        } else if (status == LW_END && rows > 0) {
            status = lw__cli_fail(err, LW_E_INTERNAL,
                                  "ranks: step %" PRIu64 " ends after %" PRIu64
                                  " rows, expected %" PRIu64,
                                  ranks->steps, rows, ranks->rank_rows);
        }
        lw_batch_release(batch);
        if (status != LW_OK) {
            return status;
        }
    }
    return LW_OK;
}

static lw_status ends_differ(const lw__cli_ranks *ranks, size_t index, bool ended, lw_error *err)
{
    return lw__cli_fail(err, LW_E_INTERNAL,
                        "ranks: rank %zu %s at step %" PRIu64 ", expected %s as at rank 0", index,
                        ended ? "ends" : "goes on", ranks->steps, ended ? "a batch" : "the end");
}

/* Rank 0 has ended: so must all others, here. */
static lw_status check_ends(const lw__cli_ranks *ranks, lw_error *err)
{
    for (size_t i = 1; i < ranks->count; i++) {
        lw_batch *batch = NULL;
        lw_status status = wait_batch(ranks->pipelines[i], false, &batch, err);
        lw_batch_release(batch);
        if (status == LW_OK) {
            return ends_differ(ranks, i, false, err);
        }
        if (status != LW_END) {
            return status;
        }
    }
    return LW_END;
}

lw_status lw__cli_ranks_step(lw__cli_ranks *ranks, lw__cli_visit *visit, void *ctx, lw_error *err)
{
    for (size_t i = 0; i < ranks->count; i++) {
        lw_status status = take_rank(ranks, i, visit, ctx, err);
        if (status == LW_END) {
            return i == 0 ? check_ends(ranks, err) : ends_differ(ranks, i, true, err);
        }
        if (status != LW_OK) {
            return status;
        }
    }
    ranks->steps++;
    return LW_OK;
}

static lw_status collect_states(lw__cli_ranks *ranks, uint64_t after, lw_state **states,
                                lw_error *err)
{
    for (size_t i = 0; i < ranks->count; i++) {
        lw_status status = lw_pipeline_checkpoint(ranks->pipelines[i], after, &states[i], err);
        if (status != LW_OK) {
            return status;
        }
    }
    return LW_OK;
}

lw_status lw__cli_ranks_checkpoint(lw__cli_ranks *ranks, uint64_t after, lw_state **out,
                                   lw_error *err)
{
    *out = NULL;
    if (ranks->count == 1) {
        return lw_pipeline_checkpoint(ranks->pipelines[0], after, out, err);
    }
    lw_state **states = calloc(ranks->count, sizeof(lw_state *));
    if (states == NULL) {
        return lw__cli_fail(err, LW_E_NOMEM, "ranks: no memory for %zu states", ranks->count);
    }
    lw_status status = collect_states(ranks, after, states, err);
    if (status == LW_OK) {
        status = lw_state_merge((const lw_state *const *)states, ranks->count, out, err);
    }
    for (size_t i = 0; i < ranks->count; i++) {
        lw_state_close(states[i]);
    }
    free(states);
    return status;
}

void lw__cli_ranks_close(lw__cli_ranks *ranks)
{
    for (size_t i = 0; i < ranks->count; i++) {
        lw_pipeline_close(ranks->pipelines[i]);
    }
    free(ranks->pipelines);
    memset(ranks, 0, sizeof *ranks);
}
