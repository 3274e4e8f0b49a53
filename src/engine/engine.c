/* SPDX-License-Identifier: Apache-2.0 */
/* Making, starting and stopping a rank's engine; its memory plan. */
#include "engine/engine.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "engine/lane.h"

/* Parts a stream reads ahead at least: one to draw from and one to come. */
#define LEAST_DEPTH 2u

size_t lw__engine_threads(const lw__settings *settings)
{
    return settings->threads > 0 ? (size_t)settings->threads : lw__os_processors();
}

uint64_t lw__engine_lanes(const lw__engine_options *options, uint64_t *first)
{
    const lw__topology *t = &options->topology;
    *first = options->all_lanes ? 0 : t->first_lane;
    return options->all_lanes ? t->lanes : t->lane_count;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Rows of a lane between packer and slots; the packer's own open rows come on top. */
static uint64_t row_limit(const lw__engine_options *options)
{
    return options->settings->shuffle_rows + options->slot_count * options->topology.lane_rows;
}

static uint64_t open_rows(const lw__settings *settings)
{
    return settings->algorithm == LW__PACK_BEST_FIT ? settings->open_rows + 1 : 1;
}

static uint64_t stream_bytes(const lw__engine_options *options)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < options->settings->source_count; i++) {
        sum += lw__part_limit(lw__dataset_block_bytes(options->datasets[i]));
    }
    return sum;
}

static uint64_t thread_bytes(const lw__engine_options *options)
{
    uint64_t most = 0;
    for (size_t i = 0; i < options->settings->source_count; i++) {
        uint64_t block = lw__dataset_block_bytes(options->datasets[i]);
        uint64_t bytes = lw__dataset_read_bytes(options->datasets[i]) + lw__part_limit(block);
        most = bytes > most ? bytes : most;
    }
    return most + LW__ENCODER_LEAST_BYTES;
}

lw__memory_plan lw__engine_memory(const lw__engine_options *options)
{
    uint64_t first;
    uint64_t lanes = lw__engine_lanes(options, &first);
    const lw__settings *settings = options->settings;
    lw__memory_plan plan = {.slots = options->slots_bytes};
    plan.rows = options->topology.lane_count * (row_limit(options) + open_rows(settings)) *
                lw__row_bytes(settings->context);
    plan.threads = lw__engine_threads(settings) * thread_bytes(options);
    plan.stream_count = lanes * settings->source_count;
    plan.streams = lanes * stream_bytes(options);
    plan.minimum = plan.slots + plan.rows + plan.threads + plan.streams;
    return plan;
}

lw_status lw__engine_check_budget(const lw__engine_options *options, lw_error *err)
{
    uint64_t limit = options->settings->memory_bytes;
    uint64_t minimum = lw__engine_memory(options).minimum;
    if (minimum > limit) {
        return lw__fail(
            err, LW_E_NOMEM,
            "runtime.memory: %llu bytes, expected at least %llu for this recipe and world "
            "(\"laneway explain\" shows what needs them)",
            (unsigned long long)limit, (unsigned long long)minimum);
    }
    return LW_OK;
}

/* ---- making --------------------------------------------------------------------------------- */

static lw_status open_blocks(lw__engine *engine, lw_error *err)
{
    const lw__settings *settings = engine->settings;
    size_t count = settings->source_count;
    engine->blocks = lw__alloc_zero(count, sizeof *engine->blocks);
    engine->estimates = lw__alloc_zero(count, sizeof *engine->estimates);
    if (engine->blocks == NULL || engine->estimates == NULL) {
        return lw__fail_nomem(err, count * sizeof *engine->blocks, "the sources");
    }
    for (size_t i = 0; i < count; i++) {
        const lw__dataset *dataset = engine->options.datasets[i];
        engine->blocks[i] = (lw__blocks){.seed = settings->seed,
                                         .source = i,
                                         .block_count = lw__dataset_block_count(dataset),
                                         .lanes = settings->lanes,
                                         .order = settings->order,
                                         .once = settings->end != LW__END_REPEAT};
        engine->estimates[i] = lw__part_limit(lw__dataset_block_bytes(dataset));
    }
    return LW_OK;
}

/* Larger tables than the least ones, when that leaves half of the budget's rest for reading ahead. */
static size_t take_encoder_bytes(lw__engine *engine)
{
    const lw__budget *budget = &engine->budget;
    uint64_t rest = budget->limit > budget->used ? budget->limit - budget->used : 0;
    uint64_t more = engine->pool.thread_count * (LW__ENCODER_BYTES - LW__ENCODER_LEAST_BYTES);
    if (more > rest / 2) {
        return LW__ENCODER_LEAST_BYTES;
    }
    engine->budget.used += more;
    engine->budget.peak = engine->budget.used;
    return LW__ENCODER_BYTES;
}

static lw_status open_scratch(lw__engine *engine, lw_error *err)
{
    size_t count = engine->pool.thread_count;
    size_t bytes = take_encoder_bytes(engine);
    engine->scratch = lw__alloc_zero(count, sizeof *engine->scratch);
    if (engine->scratch == NULL) {
        return lw__fail_nomem(err, count * sizeof *engine->scratch, "the threads' scratch");
    }
    for (size_t i = 0; i < count; i++) {
        LW__TRY(lw__encoder_create_within(engine->options.tokenizer, bytes,
                                          &engine->scratch[i].encoder, err));
    }
    return LW_OK;
}

static lw_status open_lanes(lw__engine *engine, lw_error *err)
{
    uint64_t first;
    uint64_t count = lw__engine_lanes(&engine->options, &first);
    engine->lanes = lw__alloc_zero(count, sizeof *engine->lanes);
    if (engine->lanes == NULL) {
        return lw__fail_nomem(err, count * sizeof *engine->lanes, "the lanes");
    }
    for (uint64_t i = 0; i < count; i++) {
        engine->lane_count++;
        LW__TRY(lw__lane_open(&engine->lanes[i], engine, first + i, err));
    }
    return LW_OK;
}

/* Enough parts that all threads can read even when there are few streams. */
static size_t depth_for(const lw__engine_options *options)
{
    uint64_t first;
    uint64_t streams = lw__engine_lanes(options, &first) * options->settings->source_count;
    size_t threads = lw__engine_threads(options->settings);
    return LEAST_DEPTH + (size_t)((2 * threads + streams - 1) / streams);
}

static lw_status open_all(lw__engine *engine, lw_error *err)
{
    engine->budget.limit = engine->settings->memory_bytes;
    engine->budget.used = lw__engine_memory(&engine->options).minimum;
    engine->budget.peak = engine->budget.used;
    LW__TRY(lw__pool_open(&engine->pool, lw__engine_threads(engine->settings), err));
    LW__TRY(open_blocks(engine, err));
    LW__TRY(open_scratch(engine, err));
    return open_lanes(engine, err);
}

lw_status lw__engine_open(const lw__engine_options *options, lw__engine **out, lw_error *err)
{
    lw__engine *engine = lw__alloc_zero(1, sizeof *engine);
    *out = NULL;
    if (engine == NULL) {
        return lw__fail_nomem(err, sizeof *engine, "an engine");
    }
    engine->options = *options;
    engine->settings = options->settings;
    engine->depth = depth_for(options);
    engine->row_limit = row_limit(options);
    lw__buffers_init(&engine->buffers);
    lw_status status = open_all(engine, err);
    if (status < 0) {
        lw__engine_close(engine);
        return status;
    }
    *out = engine;
    return LW_OK;
}

lw_status lw__engine_start(lw__engine *engine, lw_error *err)
{
    pthread_mutex_lock(&engine->pool.lock);
    for (size_t i = 0; i < engine->lane_count; i++) {
        lw__lane_begin(&engine->lanes[i]);
    }
    pthread_mutex_unlock(&engine->pool.lock);
    return lw__pool_start(&engine->pool, err);
}

void lw__engine_stop(lw__engine *engine)
{
    lw__pool_stop(&engine->pool);
}

void lw__engine_close(lw__engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (size_t i = 0; i < engine->lane_count; i++) {
        lw__lane_close(&engine->lanes[i]);
    }
    for (size_t i = 0; engine->scratch != NULL && i < engine->pool.thread_count; i++) {
        lw__scratch_reset(&engine->scratch[i]);
    }
    lw__free(engine->lanes);
    lw__free(engine->scratch);
    lw__free(engine->estimates);
    lw__free(engine->blocks);
    lw__pool_close(&engine->pool);
    lw__buffers_reset(&engine->buffers);
    lw__free(engine);
}
