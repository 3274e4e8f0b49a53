/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines: a run, its engine and its delivery; opening, restoring, checkpoints, counters. */
#include <unistd.h>

#include "api/run.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "engine/lane.h"

struct lw_pipeline {
    lw__run run;
    lw__topology topology;
    lw__engine *engine;
    lw__delivery *delivery;
    uint64_t start_step;
    pid_t owner; /* threads do not survive a fork */
};

static lw_status check_handle(const lw_pipeline *pipeline, const void *out, const char *function,
                              lw_error *err)
{
    if (pipeline == NULL || out == NULL) {
        return lw__fail(err, LW_E_INVALID, "pipeline: %s: an argument is NULL", function);
    }
    if (pipeline->owner != getpid()) {
        return lw__fail(err, LW_E_INVALID,
                        "pipeline: %s after fork, expected the process that opened it", function);
    }
    return LW_OK;
}

/* ---- opening -------------------------------------------------------------------------------- */

static lw_status restore_lanes(lw_pipeline *pipeline, const lw_state *state, lw_error *err)
{
    uint64_t expected = pipeline->start_step * pipeline->topology.lane_rows;
    for (size_t i = 0; i < pipeline->engine->lane_count; i++) {
        lw__lane *lane = &pipeline->engine->lanes[i];
        lw__lane_piece piece;
        LW__TRY(lw__lane_piece_find(state, lane->number, &piece, err));
        if (piece.taken != expected) {
            return lw__fail(err, LW_E_CORRUPT, "state: lane %llu stands at row %llu, expected %llu",
                            (unsigned long long)lane->number, (unsigned long long)piece.taken,
                            (unsigned long long)expected);
        }
        LW__TRY(lw__lane_restore(lane, piece.marker.data, piece.marker.bytes, piece.taken, err));
    }
    return LW_OK;
}

static lw_status open_parts(lw_pipeline *pipeline, const lw_pipeline_options *options,
                            const lw_state *state, lw_error *err)
{
    const lw__settings *settings = pipeline->run.settings;
    lw__engine_options engine =
        lw__run_engine_options(&pipeline->run, &pipeline->topology, options->agree != NULL);
    lw__delivery_options delivery = {.settings = settings,
                                     .topology = pipeline->topology,
                                     .rules = lw__run_render_rules(&pipeline->run),
                                     .start_step = pipeline->start_step,
                                     .agree = options->agree,
                                     .agree_ctx = options->agree_ctx};
    LW__TRY(lw__engine_check_budget(&engine, err));
    LW__TRY(lw__delivery_open(&delivery, lw__engine_threads(settings), &pipeline->delivery, err));
    engine.outlet = lw__delivery_outlet(pipeline->delivery);
    LW__TRY(lw__engine_open(&engine, &pipeline->engine, err));
    if (state != NULL) {
        LW__TRY(restore_lanes(pipeline, state, err));
    }
    lw__delivery_attach(pipeline->delivery, pipeline->engine);
    return LW_OK;
}

static lw_status open_all(lw_pipeline *pipeline, lw_recipe *recipe,
                          const lw_pipeline_options *options, const lw_state *state, lw_error *err)
{
    uint64_t world = options->world == 0 ? 1 : options->world;
    pipeline->owner = getpid();
    LW__TRY(lw__run_open(&pipeline->run, recipe, err));
    LW__TRY(lw__run_topology(&pipeline->run, options->rank, world, &pipeline->topology, err));
    if (state != NULL) {
        LW__TRY(lw__global_compare(state, &pipeline->run.identity, err));
        pipeline->start_step = lw_state_step(state);
    }
    return open_parts(pipeline, options, state, err);
}

/* A pipeline whose threads are not started yet. */
static lw_status create(lw_recipe *recipe, const lw_pipeline_options *options,
                        const lw_state *state, lw_pipeline **out, lw_error *err)
{
    lw_pipeline_options full = {0};
    lw_error failure = {0}; /* of its own: operators may leave the caller's as it was */
    LW__TRY(lw__options_copy(&full, sizeof full, options, "LW_PIPELINE_OPTIONS_INIT", err));
    lw_pipeline *pipeline = lw__alloc_zero(1, sizeof *pipeline);
    if (pipeline == NULL) {
        return lw__fail_nomem(err, sizeof *pipeline, "a pipeline");
    }
    lw_status status = open_all(pipeline, recipe, &full, state, &failure);
    if (status < 0) {
        lw_pipeline_close(pipeline);
        if (err != NULL) {
            *err = failure;
        }
        return status;
    }
    *out = pipeline;
    return LW_OK;
}

lw_status lw_pipeline_open(lw_recipe *recipe, const lw_pipeline_options *options,
                           const lw_state *state, lw_pipeline **out, lw_error *err)
{
    lw_pipeline *pipeline = NULL;
    if (out != NULL) {
        *out = NULL;
    }
    if (recipe == NULL || out == NULL) {
        return lw__fail(err, LW_E_INVALID, "pipeline: lw_pipeline_open: an argument is NULL");
    }
    LW__TRY(create(recipe, options, state, &pipeline, err));
    lw_status status = lw__engine_start(pipeline->engine, err);
    if (status < 0) {
        lw_pipeline_close(pipeline);
        return status;
    }
    *out = pipeline;
    return LW_OK;
}

lw_status lw_pipeline_start_state(lw_recipe *recipe, const lw_pipeline_options *options,
                                  lw_state **out, lw_error *err)
{
    lw_pipeline *pipeline = NULL;
    if (out != NULL) {
        *out = NULL;
    }
    if (recipe == NULL || out == NULL) {
        return lw__fail(err, LW_E_INVALID,
                        "pipeline: lw_pipeline_start_state: an argument is NULL");
    }
    LW__TRY(create(recipe, options, NULL, &pipeline, err));
    lw_status status = lw_pipeline_checkpoint(pipeline, LW_STEP_NEWEST, out, err);
    lw_pipeline_close(pipeline);
    return status;
}

/* In a forked child the threads are gone and their lock may be held: nothing can be undone there. */
void lw_pipeline_close(lw_pipeline *pipeline)
{
    if (pipeline == NULL || pipeline->owner != getpid()) {
        return;
    }
    if (pipeline->engine != NULL) {
        lw__engine_stop(pipeline->engine);
    }
    lw__delivery_close(pipeline->delivery);
    lw__engine_close(pipeline->engine);
    lw__run_close(&pipeline->run);
    lw__free(pipeline);
}

/* ---- taking --------------------------------------------------------------------------------- */

lw_status lw_pipeline_next(lw_pipeline *pipeline, int64_t timeout_ns, lw_batch **out, lw_error *err)
{
    if (out != NULL) {
        *out = NULL;
    }
    LW__TRY(check_handle(pipeline, out, "lw_pipeline_next", err));
    if (timeout_ns < 0) {
        return lw__fail(err, LW_E_INVALID, "pipeline: timeout_ns is %lld, expected 0 or more",
                        (long long)timeout_ns);
    }
    return lw__delivery_next(pipeline->delivery, timeout_ns, out, err);
}

void lw_pipeline_cancel(lw_pipeline *pipeline)
{
    if (pipeline != NULL && pipeline->owner == getpid()) {
        lw__delivery_cancel(pipeline->delivery);
    }
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

static lw_status check_step(const lw_pipeline *pipeline, uint64_t *after, lw_error *err)
{
    const lw__delivery *delivery = pipeline->delivery;
    uint64_t newest = delivery->next_step;
    uint64_t keep = pipeline->run.settings->keep_states;
    uint64_t oldest = newest > keep ? newest - keep : 0;
    oldest = oldest > pipeline->start_step ? oldest : pipeline->start_step;
    if (*after == LW_STEP_NEWEST && delivery->next_row > 0) {
        return lw__fail(
            err, LW_E_BUSY,
            "pipeline: %llu rows of step %llu are taken, expected all of them before a state "
            "is asked for",
            (unsigned long long)delivery->next_row, (unsigned long long)newest);
    }
    *after = *after == LW_STEP_NEWEST ? newest : *after;
    if (*after < oldest || *after > newest) {
        return lw__fail(err, LW_E_NOT_FOUND,
                        "pipeline: no state after %llu steps, expected %llu to %llu "
                        "(runtime.keep_states)",
                        (unsigned long long)*after, (unsigned long long)oldest,
                        (unsigned long long)newest);
    }
    return LW_OK;
}

static lw_status save_lanes(const lw_pipeline *pipeline, uint64_t after, lw_state *state,
                            lw_error *err)
{
    lw__engine *engine = pipeline->engine;
    uint64_t taken = after * pipeline->topology.lane_rows;
    lw_status status = LW_OK;
    pthread_mutex_lock(&engine->pool.lock);
    for (size_t i = 0; i < engine->lane_count && status == LW_OK; i++) {
        const lw__marker *marker = lw__lane_marker(&engine->lanes[i], taken);
        lw__lane_piece piece = {.lane = engine->lanes[i].number,
                                .taken = taken,
                                .marker = {(const char *)marker->bytes, marker->count}};
        status = lw__lane_piece_save(state, &piece, err);
    }
    pthread_mutex_unlock(&engine->pool.lock);
    return status;
}

static lw_status save_global(const lw_pipeline *pipeline, uint64_t after, lw_state *state,
                             lw_error *err)
{
    lw__bytes bytes;
    lw__bytes_init(&bytes);
    lw_status status = lw__global_save(&pipeline->run.identity, after, &bytes, err);
    status = status == LW_OK ? lw__state_add(state, "global", &bytes, err) : status;
    lw__bytes_reset(&bytes);
    return status;
}

lw_status lw_pipeline_checkpoint(lw_pipeline *pipeline, uint64_t after, lw_state **out,
                                 lw_error *err)
{
    lw_state *state = NULL;
    if (out != NULL) {
        *out = NULL;
    }
    LW__TRY(check_handle(pipeline, out, "lw_pipeline_checkpoint", err));
    LW__TRY(check_step(pipeline, &after, err));
    LW__TRY(lw__identity_sample(&pipeline->run.identity, err));
    LW__TRY(lw__state_create(&state, err));
    lw_status status = save_global(pipeline, after, state, err);
    status = status == LW_OK ? save_lanes(pipeline, after, state, err) : status;
    status = status == LW_OK ? lw__state_finish(state, err) : status;
    if (status < 0) {
        lw_state_close(state);
        return status;
    }
    *out = state;
    return LW_OK;
}

/* ---- looking -------------------------------------------------------------------------------- */

lw_status lw_pipeline_locate(lw_pipeline *pipeline, const lw_segment *segment, const char **source,
                             const char **shard, uint64_t *record, lw_error *err)
{
    LW__TRY(check_handle(pipeline, segment, "lw_pipeline_locate", err));
    if (segment->source >= pipeline->run.dataset_count ||
        segment->block >= lw__dataset_block_count(pipeline->run.datasets[segment->source])) {
        return lw__fail(
            err, LW_E_INVALID,
            "pipeline: a segment of source %u block %llu, expected one of this pipeline's",
            segment->source, (unsigned long long)segment->block);
    }
    lw__dataset *dataset = pipeline->run.datasets[segment->source];
    if (source != NULL) {
        *source = lw__dataset_name(dataset);
    }
    if (shard != NULL) {
        *shard = lw__dataset_shard(dataset, lw__dataset_shard_of(dataset, segment->block))->path;
    }
    if (record != NULL) {
        LW__TRY(lw__dataset_record_number(dataset, segment->block, segment->part, record, err));
        *record += (uint32_t)segment->document;
    }
    return LW_OK;
}

static lw_stats gather_stats(lw_pipeline *pipeline)
{
    lw__engine *engine = pipeline->engine;
    const lw__taken *taken = &pipeline->delivery->taken;
    pthread_mutex_lock(&engine->pool.lock);
    const lw__counters *c = &engine->counters;
    lw_stats stats = {.struct_size = sizeof stats,
                      .steps = taken->steps,
                      .rows = taken->rows,
                      .tokens = taken->tokens,
                      .padding = taken->padding,
                      .documents = c->documents,
                      .empty = c->empty,
                      .skipped = c->skipped,
                      .dropped = c->dropped,
                      .dropped_tokens = c->dropped_tokens,
                      .read_bytes = c->read_bytes,
                      .read_ns = c->read_ns,
                      .parse_ns = c->parse_ns,
                      .tokenize_ns = c->tokenize_ns,
                      .decide_ns = c->decide_ns,
                      .write_ns = c->write_ns,
                      .digest_ns = c->digest_ns,
                      .wait_ns = taken->wait_ns,
                      .memory_bytes = engine->budget.used,
                      .memory_peak_bytes = engine->budget.peak,
                      .remake_ns = c->remake_ns};
    pthread_mutex_unlock(&engine->pool.lock);
    return stats;
}

lw_status lw_pipeline_stats(lw_pipeline *pipeline, lw_stats *out, lw_error *err)
{
    LW__TRY(check_handle(pipeline, out, "lw_pipeline_stats", err));
    lw_stats stats = gather_stats(pipeline);
    return lw__options_give(out, &stats, sizeof stats, "lw_stats", err);
}
