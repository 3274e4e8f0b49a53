/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best-fit packer: each document goes whole into the open row it fills best.
 *
 * A document longer than a row gives full rows first; what is left is placed like a short document.
 * The rows stand in the order they were opened, so "opened first" is "lowest index". A linear scan
 * of some dozens of rows costs less than a heap would for the documents that arrive.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "op/builtin.h"

typedef struct best_fit {
    uint64_t context;
    size_t limit; /* open rows at most */
    size_t count;
    lw_record **rows;
} best_fit;

static void best_fit_destroy(void *self)
{
    best_fit *acc = self;
    lw__free(acc->rows);
    lw__free(acc);
}

static lw_status best_fit_create(const void *op, const lw_op_context *context, void **out,
                                 lw_error *err)
{
    const lw__op_best_fit_options *options = op;
    best_fit *acc = lw__alloc_zero(1, sizeof *acc);
    if (acc != NULL) {
        acc->context = context->context;
        acc->limit = (size_t)options->open_rows;
        acc->rows = lw__alloc_array(acc->limit, sizeof(lw_record *));
    }
    if (acc == NULL || acc->rows == NULL) {
        lw__free(acc);
        return lw__fail_nomem(err, sizeof *acc, "a packer");
    }
    *out = acc;
    return LW_OK;
}

static lw_status put_row(best_fit *acc, size_t index, lw_sink *out, lw_error *err)
{
    lw_record *row = acc->rows[index];
    acc->count--;
    memmove(&acc->rows[index], &acc->rows[index + 1], (acc->count - index) * sizeof(lw_record *));
    return lw_sink_put(out, row, err);
}

/* The row with the least free space of those with room for `need`; count when there is none. */
static size_t find_row(const best_fit *acc, uint64_t need)
{
    size_t best = acc->count;
    uint64_t best_fill = 0;
    for (size_t i = 0; i < acc->count; i++) {
        uint64_t fill = lw_row_fill(acc->rows[i]);
        if (fill + need <= acc->context && (best == acc->count || fill > best_fill)) {
            best = i;
            best_fill = fill;
        }
    }
    return best;
}

static lw_status open_row(best_fit *acc, lw_sink *out, lw_error *err)
{
    if (acc->count == acc->limit) {
        LW__TRY(put_row(acc, find_row(acc, 0), out, err));
    }
    LW__TRY(lw_sink_row(out, &acc->rows[acc->count], err));
    acc->count++;
    return LW_OK;
}

static lw_status put_full_row(lw_record *document, uint64_t first, uint64_t count, lw_sink *out,
                              lw_error *err)
{
    lw_record *row = NULL;
    LW__TRY(lw_sink_row(out, &row, err));
    LW__TRY(lw_row_append(row, document, first, count, err));
    return lw_sink_put(out, row, err);
}

static lw_status place(best_fit *acc, lw_record *document, uint64_t first, uint64_t count,
                       lw_sink *out, lw_error *err)
{
    size_t index = find_row(acc, count);
    if (index == acc->count) {
        LW__TRY(open_row(acc, out, err));
        index = acc->count - 1;
    }
    LW__TRY(lw_row_append(acc->rows[index], document, first, count, err));
    return lw_row_fill(acc->rows[index]) == acc->context ? put_row(acc, index, out, err) : LW_OK;
}

static lw_status best_fit_push(void *self, lw_record *document, lw_sink *out, lw_error *err)
{
    best_fit *acc = self;
    uint64_t length = lw_document_length(document);
    uint64_t first = 0;
    for (; length - first >= acc->context; first += acc->context) {
        LW__TRY(put_full_row(document, first, acc->context, out, err));
    }
    if (first < length) {
        LW__TRY(place(acc, document, first, length - first, out, err));
    }
    return lw_sink_use(out, document, err);
}

static lw_status best_fit_flush(void *self, lw_sink *out, lw_error *err)
{
    best_fit *acc = self;
    while (acc->count > 0) {
        LW__TRY(put_row(acc, 0, out, err));
    }
    return LW_OK;
}

static lw_status best_fit_save(const void *self, lw_writer *carry, lw_error *err)
{
    (void)err;
    const best_fit *acc = self;
    lw_writer_put(carry, acc->count);
    for (size_t i = 0; i < acc->count; i++) {
        lw_writer_record(carry, acc->rows[i]);
    }
    return LW_OK;
}

static lw_status best_fit_load(void *self, lw_reader *carry, lw_error *err)
{
    best_fit *acc = self;
    uint64_t count = lw_reader_get(carry);
    if (count > acc->limit) {
        return lw__fail(err, LW_E_CORRUPT,
                        "best_fit: a carry with %llu open rows, expected at most %zu",
                        (unsigned long long)count, acc->limit);
    }
    for (; acc->count < count; acc->count++) {
        LW__TRY(lw_reader_record(carry, &acc->rows[acc->count], err));
    }
    return LW_OK;
}

const lw_op_type lw__op_best_fit = {
    .struct_size = sizeof(lw_op_type),
    .name = "best_fit",
    .version = 1,
    .phase = LW_PHASE_PACK,
    .acc_create = best_fit_create,
    .acc_push = best_fit_push,
    .acc_flush = best_fit_flush,
    .acc_save = best_fit_save,
    .acc_load = best_fit_load,
    .acc_destroy = best_fit_destroy,
};
