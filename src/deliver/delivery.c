/* SPDX-License-Identifier: Apache-2.0 */
/* Giving slots to steps, and steps to the consumer. */
#include "deliver/delivery.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/lane.h"

/* Tokens of a WRITE task: enough to be worth queueing, few enough to be shared out. */
#define TASK_TOKENS 65536u
#define TASK_ROWS   64u

size_t lw__delivery_slot_count(const lw__settings *settings)
{
    return (size_t)settings->prefetch_steps + 1;
}

lw__slot_shape lw__delivery_shape(const lw__settings *settings, const lw__topology *topology)
{
    return (lw__slot_shape){.rows = topology->row_count,
                            .context = settings->context,
                            .token_bytes = settings->dtype == LW__DTYPE_INT64 ? 8 : 4,
                            .digests = settings->digests};
}

/* ---- slots for steps ------------------------------------------------------------------------ */

static void assign(lw__delivery *delivery, lw__slot *slot)
{
    slot->step = delivery->next_assigned++;
    slot->written = 0;
    slot->status = LW_OK;
    slot->references = 1; /* no batch of it exists: the shelf's lock is not needed */
    delivery->assigned[slot->step % delivery->shelf->slot_count] = slot;
}

static void move_all(lw__delivery *delivery)
{
    for (size_t i = 0; i < delivery->engine->lane_count; i++) {
        lw__delivery_move(delivery, &delivery->engine->lanes[i]);
    }
}

static void assign_spares(lw__delivery *delivery)
{
    size_t before = delivery->spare_count;
    while (delivery->spare_count > 0) {
        assign(delivery, delivery->spare[--delivery->spare_count]);
    }
    if (before > 0) {
        move_all(delivery);
    }
}

/* Under the shelf's lock: the last reference to a slot is gone. */
static void slot_freed(void *ctx, lw__slot *slot)
{
    lw__delivery *delivery = ctx;
    lw__pool *pool = &delivery->engine->pool;
    pthread_mutex_lock(&pool->lock);
    delivery->spare[delivery->spare_count++] = slot;
    assign_spares(delivery);
    pthread_mutex_unlock(&pool->lock);
}

static void lane_changed(void *ctx, lw__lane *lane)
{
    lw__delivery *delivery = ctx;
    lw__delivery_move(delivery, lane);
    pthread_cond_broadcast(&delivery->engine->pool.changed);
}

lw__outlet lw__delivery_outlet(lw__delivery *delivery)
{
    return (lw__outlet){.changed = lane_changed, .ctx = delivery};
}

void lw__delivery_attach(lw__delivery *delivery, lw__engine *engine)
{
    delivery->engine = engine;
    engine->goal_step = delivery->next_step;
    while (delivery->spare_count > 0) {
        assign(delivery, delivery->spare[--delivery->spare_count]);
    }
    delivery->shelf->freed = slot_freed;
    delivery->shelf->ctx = delivery;
}

/* ---- does the next step exist? -------------------------------------------------------------- */

/* How the lanes stand to a step. */
typedef struct verdict {
    bool open;              /* some lane may still give rows to it */
    const lw__lane *failed; /* the first lane that failed before giving all */
    bool all_full;
    bool any_row;
} verdict;

static verdict judge(const lw__delivery *delivery, uint64_t step)
{
    uint64_t rows = delivery->options.topology.lane_rows;
    verdict v = {.all_full = true};
    for (size_t i = 0; i < delivery->engine->lane_count; i++) {
        const lw__lane *lane = &delivery->engine->lanes[i];
        bool full = lane->emitted >= (step + 1) * rows;
        v.all_full = v.all_full && full;
        v.any_row = v.any_row || lane->emitted > step * rows;
        v.open = v.open || (!full && !lane->ended && !lane->failed);
        if (!full && lane->failed && v.failed == NULL) {
            v.failed = lane;
        }
    }
    return v;
}

static bool exists_here(const lw__delivery *delivery, const verdict *v)
{
    return delivery->options.settings->end == LW__END_PAD ? v->any_row : v->all_full;
}

/* Asks the other ranks, without the lock. */
static lw_status agree(lw__delivery *delivery, bool *exists, lw_error *err)
{
    const lw__delivery_options *options = &delivery->options;
    lw__pool *pool = &delivery->engine->pool;
    bool pad = options->settings->end == LW__END_PAD;
    int64_t answer = 0;
    if (options->agree == NULL || options->settings->end == LW__END_REPEAT) {
        return LW_OK;
    }
    pthread_mutex_unlock(&pool->lock);
    lw_status status =
        options->agree(options->agree_ctx, pad ? LW_MAX : LW_MIN, *exists ? 1 : 0, &answer, err);
    pthread_mutex_lock(&pool->lock);
    *exists = answer != 0;
    return status;
}

static lw_status stick(lw__delivery *delivery, lw_status status, const lw_error *failure,
                       lw_error *err)
{
    delivery->sticky = status;
    if (status < 0) {
        delivery->failure = *failure;
        if (err != NULL) {
            *err = *failure;
        }
    }
    return status;
}

static lw_status stick_broken(lw__delivery *delivery, lw_error *err)
{
    lw_error failure;
    lw_status status = lw__fail_nomem(&failure, sizeof(lw_error), "a write");
    return stick(delivery, status, &failure, err);
}

/* Under lock: LW_OK when the step is there, LW_AGAIN when it cannot be told yet. */
static lw_status examine(lw__delivery *delivery, lw_error *err)
{
    uint64_t step = delivery->next_step;
    lw__slot *slot = delivery->assigned[step % delivery->shelf->slot_count];
    verdict v = judge(delivery, step);
    lw_error failure = {0};
    if (delivery->broken < 0) {
        return stick_broken(delivery, err);
    }
    if (v.open) {
        return LW_AGAIN;
    }
    if (v.failed != NULL) {
        return stick(delivery, v.failed->failure.status, &v.failed->failure, err);
    }
    bool exists = exists_here(delivery, &v);
    lw_status agreed = agree(delivery, &exists, &failure);
    if (agreed < 0) {
        if (failure.status == LW_OK) {
            (void)lw__fail(&failure, agreed, "agree: failed, and did not say why");
        }
        return stick(delivery, agreed, &failure, err);
    }
    if (!exists) {
        return stick(delivery, LW_END, NULL, err);
    }
    while (slot->written < slot->shelf->shape.rows && delivery->broken == LW_OK) {
        lw__pool_wait(&delivery->engine->pool, LW__NO_DEADLINE);
    }
    if (delivery->broken < 0) {
        return stick_broken(delivery, err);
    }
    return slot->status < 0 ? stick(delivery, slot->status, &slot->failure, err) : LW_OK;
}

/* ---- taking --------------------------------------------------------------------------------- */

static void wake_lanes(lw__delivery *delivery)
{
    lw__engine *engine = delivery->engine;
    uint64_t needed = (engine->goal_step + 1) * delivery->options.topology.lane_rows;
    for (size_t i = 0; i < engine->lane_count; i++) {
        lw__lane *lane = &engine->lanes[i];
        uint64_t keep = delivery->options.settings->keep_states;
        uint64_t oldest = engine->goal_step > keep ? engine->goal_step - keep : 0;
        lw__lane_forget(lane, oldest * delivery->options.topology.lane_rows);
        if (lane->emitted < needed) {
            lw__lane_wake(lane);
        }
    }
}

/* The consumer has all of a step: the next one may take its place. */
static void finish_step(lw__delivery *delivery, lw__slot *slot)
{
    lw__engine *engine = delivery->engine;
    pthread_mutex_lock(&engine->pool.lock);
    delivery->assigned[delivery->next_step % delivery->shelf->slot_count] = NULL;
    delivery->next_step++;
    engine->goal_step = delivery->next_step;
    delivery->taken.steps++;
    wake_lanes(delivery);
    pthread_mutex_unlock(&engine->pool.lock);
    delivery->next_row = 0;
    lw__slot_release(slot);
}

static void count_rows(lw__delivery *delivery, const lw__slot *slot, uint64_t rows)
{
    uint64_t valid = 0;
    for (uint64_t i = 0; i < rows; i++) {
        valid += slot->valid_tokens[delivery->next_row + i];
    }
    pthread_mutex_lock(&delivery->engine->pool.lock);
    delivery->taken.rows += rows;
    delivery->taken.tokens += valid;
    delivery->taken.padding += rows * slot->shelf->shape.context - valid;
    pthread_mutex_unlock(&delivery->engine->pool.lock);
}

static lw_status hand_out(lw__delivery *delivery, lw__slot *slot, lw_batch **out, lw_error *err)
{
    uint64_t left = slot->shelf->shape.rows - delivery->next_row;
    uint64_t microbatch = delivery->options.settings->microbatch;
    uint64_t rows = microbatch == 0 || microbatch > left ? left : microbatch;
    lw_error failure;
    lw_status status = lw__batch_create(slot, delivery->next_row, rows,
                                        delivery->options.topology.first_row, out, &failure);
    if (status < 0) {
        return stick(delivery, status, &failure, err);
    }
    count_rows(delivery, slot, rows);
    delivery->next_row += rows;
    if (rows == left) {
        finish_step(delivery, slot);
    }
    return LW_OK;
}

static lw_status fail_busy(const lw__delivery *delivery, lw_error *err)
{
    return lw__fail(err, LW_E_BUSY,
                    "pipeline: the caller holds batches of %zu steps, expected at most %llu "
                    "(runtime.prefetch_steps)",
                    delivery->shelf->slot_count,
                    (unsigned long long)delivery->options.settings->prefetch_steps);
}

/* Under lock: waits until the step is there, or there is an end, a failure or no time left. */
static lw_status await(lw__delivery *delivery, int64_t deadline_ns, lw__slot **out, lw_error *err)
{
    lw__pool *pool = &delivery->engine->pool;
    bool timely = true;
    for (;;) {
        if (delivery->cancelled) {
            lw_error failure;
            lw_status status = lw__fail(&failure, LW_E_CANCELLED, "pipeline: cancelled");
            return stick(delivery, status, &failure, err);
        }
        if (delivery->next_assigned == delivery->next_step) {
            return fail_busy(delivery, err);
        }
        lw_status status = examine(delivery, err);
        *out = delivery->assigned[delivery->next_step % delivery->shelf->slot_count];
        if (status != LW_AGAIN || !timely) {
            return status;
        }
        timely = lw__pool_wait(pool, deadline_ns);
    }
}

static int64_t deadline_of(int64_t timeout_ns)
{
    int64_t now = (int64_t)lw__clock_ns();
    return timeout_ns > INT64_MAX - now ? LW__NO_DEADLINE : now + timeout_ns;
}

lw_status lw__delivery_next(lw__delivery *delivery, int64_t timeout_ns, lw_batch **out,
                            lw_error *err)
{
    lw__slot *slot = NULL;
    *out = NULL;
    if (delivery->sticky != LW_OK) {
        return stick(delivery, delivery->sticky, &delivery->failure, err);
    }
    uint64_t start = lw__clock_ns();
    pthread_mutex_lock(&delivery->engine->pool.lock);
    slot = delivery->assigned[delivery->next_step % delivery->shelf->slot_count];
    lw_status status =
        delivery->next_row > 0 ? LW_OK : await(delivery, deadline_of(timeout_ns), &slot, err);
    delivery->taken.wait_ns += lw__clock_ns() - start;
    pthread_mutex_unlock(&delivery->engine->pool.lock);
    return status == LW_OK ? hand_out(delivery, slot, out, err) : status;
}

void lw__delivery_cancel(lw__delivery *delivery)
{
    pthread_mutex_lock(&delivery->engine->pool.lock);
    delivery->cancelled = true;
    pthread_cond_broadcast(&delivery->engine->pool.changed);
    pthread_mutex_unlock(&delivery->engine->pool.lock);
}

/* ---- making and closing --------------------------------------------------------------------- */

static uint64_t task_rows(const lw__settings *settings)
{
    uint64_t rows = TASK_TOKENS / settings->context;
    return rows < 1 ? 1 : rows > TASK_ROWS ? TASK_ROWS : rows;
}

static lw_status open_all(lw__delivery *delivery, size_t thread_count, lw_error *err)
{
    const lw__delivery_options *options = &delivery->options;
    size_t count = lw__delivery_slot_count(options->settings);
    lw__slot_shape shape = lw__delivery_shape(options->settings, &options->topology);
    LW__TRY(lw__shelf_create(&shape, count, &delivery->shelf, err));
    delivery->assigned = lw__alloc_zero(count, sizeof(lw__slot *));
    delivery->spare = lw__alloc_zero(count, sizeof(lw__slot *));
    delivery->renderers = lw__alloc_zero(thread_count, sizeof *delivery->renderers);
    if (delivery->assigned == NULL || delivery->spare == NULL || delivery->renderers == NULL) {
        return lw__fail_nomem(err, count * sizeof(lw__slot *), "the delivery");
    }
    for (size_t i = count; i-- > 0;) {
        delivery->spare[delivery->spare_count++] = &delivery->shelf->slots[i];
    }
    while (delivery->renderer_count < thread_count) {
        LW__TRY(lw__renderer_init(&delivery->renderers[delivery->renderer_count++],
                                  options->settings->context, err));
    }
    return LW_OK;
}

lw_status lw__delivery_open(const lw__delivery_options *options, size_t thread_count,
                            lw__delivery **out, lw_error *err)
{
    lw__delivery *delivery = lw__alloc_zero(1, sizeof *delivery);
    *out = NULL;
    if (delivery == NULL) {
        return lw__fail_nomem(err, sizeof *delivery, "the delivery");
    }
    delivery->options = *options;
    delivery->task_rows = task_rows(options->settings);
    delivery->next_step = options->start_step;
    delivery->next_assigned = options->start_step;
    lw_status status = open_all(delivery, thread_count, err);
    if (status < 0) {
        lw__delivery_close(delivery);
        return status;
    }
    *out = delivery;
    return LW_OK;
}

void lw__delivery_close(lw__delivery *delivery)
{
    if (delivery == NULL) {
        return;
    }
    if (delivery->shelf != NULL) {
        pthread_mutex_lock(&delivery->shelf->lock);
        delivery->shelf->freed = NULL;
        pthread_mutex_unlock(&delivery->shelf->lock);
        lw__shelf_release(delivery->shelf);
    }
    for (size_t i = 0; i < delivery->renderer_count; i++) {
        lw__renderer_reset(&delivery->renderers[i]);
    }
    lw__delivery_free_tasks(delivery);
    lw__free(delivery->renderers);
    lw__free(delivery->assigned);
    lw__free(delivery->spare);
    lw__free(delivery);
}
