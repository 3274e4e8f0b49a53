/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row shuffle: a lane's rows leave window by window, each window in the order of a keyed
 * permutation.
 *
 * A window rather than a reservoir: right after a window has left nothing is held, so a marker
 * there is a few integers, and a restore re-makes one window, which a fresh start has to do too.
 */
#include <laneway/random.h>

#include "base/alloc.h"
#include "base/error.h"
#include "op/builtin.h"

typedef struct shuffle {
    uint64_t seed;
    uint64_t lane;
    uint64_t window; /* its number */
    size_t limit;    /* rows of a window */
    size_t count;
    lw_record **rows;
} shuffle;

static void shuffle_destroy(void *self)
{
    shuffle *acc = self;
    lw__free(acc->rows);
    lw__free(acc);
}

static lw_status shuffle_create(const void *op, const lw_op_context *context, void **out,
                                lw_error *err)
{
    const lw__op_shuffle_options *options = op;
    shuffle *acc = lw__alloc_zero(1, sizeof *acc);
    if (acc != NULL) {
        acc->seed = context->seed;
        acc->lane = context->lane;
        acc->limit = (size_t)options->rows;
        acc->rows = lw__alloc_array(acc->limit, sizeof(lw_record *));
    }
    if (acc == NULL || acc->rows == NULL) {
        lw__free(acc);
        return lw__fail_nomem(err, sizeof *acc, "a row shuffle");
    }
    *out = acc;
    return LW_OK;
}

static lw_status put_window(shuffle *acc, lw_sink *out, lw_error *err)
{
    uint64_t key = lw_random_key(acc->seed, LW_PURPOSE_ROWS, acc->lane, acc->window, 0);
    size_t count = acc->count;
    acc->count = 0;
    acc->window++;
    for (size_t i = 0; i < count; i++) {
        LW__TRY(lw_sink_put(out, acc->rows[lw_random_permute(key, count, i)], err));
    }
    return LW_OK;
}

static lw_status shuffle_push(void *self, lw_record *row, lw_sink *out, lw_error *err)
{
    shuffle *acc = self;
    acc->rows[acc->count++] = row;
    return acc->count == acc->limit ? put_window(acc, out, err) : LW_OK;
}

static lw_status shuffle_flush(void *self, lw_sink *out, lw_error *err)
{
    shuffle *acc = self;
    return acc->count > 0 ? put_window(acc, out, err) : LW_OK;
}

static lw_status shuffle_save(const void *self, lw_writer *carry, lw_error *err)
{
    (void)err;
    const shuffle *acc = self;
    lw_writer_put(carry, acc->window);
    lw_writer_put(carry, acc->count);
    for (size_t i = 0; i < acc->count; i++) {
        lw_writer_record(carry, acc->rows[i]);
    }
    return LW_OK;
}

static lw_status shuffle_load(void *self, lw_reader *carry, lw_error *err)
{
    shuffle *acc = self;
    acc->window = lw_reader_get(carry);
    uint64_t count = lw_reader_get(carry);
    if (count >= acc->limit) {
        return lw__fail(err, LW_E_CORRUPT,
                        "shuffle: a carry with %llu rows, expected fewer than %zu",
                        (unsigned long long)count, acc->limit);
    }
    for (; acc->count < count; acc->count++) {
        LW__TRY(lw_reader_record(carry, &acc->rows[acc->count], err));
    }
    return LW_OK;
}

const lw_op_type lw__op_shuffle = {
    .struct_size = sizeof(lw_op_type),
    .name = "shuffle",
    .version = 1,
    .phase = LW_PHASE_ROW,
    .acc_create = shuffle_create,
    .acc_push = shuffle_push,
    .acc_flush = shuffle_flush,
    .acc_save = shuffle_save,
    .acc_load = shuffle_load,
    .acc_destroy = shuffle_destroy,
};
