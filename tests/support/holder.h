/* SPDX-License-Identifier: Apache-2.0 */
/* An operator whose accumulator holds documents: what only carries of such operators go through. */
#ifndef LW__TEST_HOLDER_H
#define LW__TEST_HOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <laneway/op.h>

#include "base/alloc.h"

enum { HELD = 80 };

/* Holds all documents until the flush; saves and loads them. */
typedef struct holder {
    size_t count;
    lw_record *held[HELD];
} holder;

static inline lw_status hold_create(const void *op, const lw_op_context *context, void **acc,
                                    lw_error *err)
{
    (void)op;
    (void)context;
    (void)err;
    *acc = lw__alloc_zero(1, sizeof(holder));
    assert_non_null(*acc);
    return LW_OK;
}

static inline lw_status hold_push(void *acc, lw_record *rec, lw_sink *out, lw_error *err)
{
    (void)out;
    (void)err;
    holder *h = acc;
    assert_true(h->count < HELD);
    h->held[h->count++] = rec;
    return LW_OK;
}

static inline lw_status hold_flush(void *acc, lw_sink *out, lw_error *err)
{
    holder *h = acc;
    lw_status status = LW_OK;
    while (h->count > 0 && status == LW_OK) {
        status = lw_sink_put(out, h->held[--h->count], err);
    }
    return status;
}

static inline lw_status hold_save(const void *acc, lw_writer *carry, lw_error *err)
{
    (void)err;
    const holder *h = acc;
    lw_writer_put(carry, h->count);
    for (size_t i = 0; i < h->count; i++) {
        lw_writer_record(carry, h->held[i]);
    }
    return LW_OK;
}

static inline lw_status hold_load(void *acc, lw_reader *carry, lw_error *err)
{
    holder *h = acc;
    uint64_t count = lw_reader_get(carry);
    lw_status status = LW_OK;
    while (h->count < count && h->count < HELD && status == LW_OK) {
        status = lw_reader_record(carry, &h->held[h->count], err);
        h->count += status == LW_OK;
    }
    return status;
}

static const lw_op_type hold_type = {.struct_size = sizeof(lw_op_type),
                                     .name = "hold",
                                     .version = 1,
                                     .phase = LW_PHASE_DOCUMENT,
                                     .acc_create = hold_create,
                                     .acc_push = hold_push,
                                     .acc_flush = hold_flush,
                                     .acc_save = hold_save,
                                     .acc_load = hold_load,
                                     .acc_destroy = lw__free};

#endif
