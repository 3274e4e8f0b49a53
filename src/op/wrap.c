/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrap packer: a lane's documents, one after the other, cut into rows of `context` tokens.
 *
 * One row is open. With the stream shift a full row waits until the token after it is known, since
 * that is its last label; so a held row may be full.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "op/builtin.h"

typedef struct wrap {
    uint64_t context;
    uint32_t shift;
    lw_record *row; /* NULL: none open */
} wrap;

static lw_status wrap_create(const void *op, const lw_op_context *context, void **out,
                             lw_error *err)
{
    (void)op;
    wrap *acc = lw__alloc_zero(1, sizeof *acc);
    if (acc == NULL) {
        return lw__fail_nomem(err, sizeof *acc, "a packer");
    }
    acc->context = context->context;
    acc->shift = context->shift;
    *out = acc;
    return LW_OK;
}

static void wrap_destroy(void *self)
{
    lw__free(self);
}

static lw_status put_row(wrap *acc, lw_sink *out, lw_error *err)
{
    lw_record *row = acc->row;
    acc->row = NULL;
    return lw_sink_put(out, row, err);
}

/* After this the open row has room for the document's token `first`. */
static lw_status make_room(wrap *acc, const lw_record *document, uint64_t first, lw_sink *out,
                           lw_error *err)
{
    if (acc->row != NULL && lw_row_fill(acc->row) == acc->context) {
        LW__TRY(lw_row_follow(acc->row, document, first, err));
        LW__TRY(put_row(acc, out, err));
    }
    return acc->row != NULL ? LW_OK : lw_sink_row(out, &acc->row, err);
}

static lw_status wrap_push(void *self, lw_record *document, lw_sink *out, lw_error *err)
{
    wrap *acc = self;
    uint64_t length = lw_document_length(document);
    for (uint64_t first = 0; first < length;) {
        LW__TRY(make_room(acc, document, first, out, err));
        uint64_t room = acc->context - lw_row_fill(acc->row);
        uint64_t count = length - first < room ? length - first : room;
        LW__TRY(lw_row_append(acc->row, document, first, count, err));
        first += count;
        if (acc->shift == LW_SHIFT_DOCUMENT && count == room) {
            LW__TRY(put_row(acc, out, err));
        }
    }
    return lw_sink_use(out, document, err);
}

static lw_status wrap_flush(void *self, lw_sink *out, lw_error *err)
{
    wrap *acc = self;
    return acc->row != NULL ? put_row(acc, out, err) : LW_OK;
}

static lw_status wrap_save(const void *self, lw_writer *carry, lw_error *err)
{
    (void)err;
    const wrap *acc = self;
    lw_writer_put(carry, acc->row != NULL);
    if (acc->row != NULL) {
        lw_writer_record(carry, acc->row);
    }
    return LW_OK;
}

static lw_status wrap_load(void *self, lw_reader *carry, lw_error *err)
{
    wrap *acc = self;
    return lw_reader_get(carry) != 0 ? lw_reader_record(carry, &acc->row, err) : LW_OK;
}

const lw_op_type lw__op_wrap = {
    .struct_size = sizeof(lw_op_type),
    .name = "wrap",
    .version = 1,
    .phase = LW_PHASE_PACK,
    .acc_create = wrap_create,
    .acc_push = wrap_push,
    .acc_flush = wrap_flush,
    .acc_save = wrap_save,
    .acc_load = wrap_load,
    .acc_destroy = wrap_destroy,
};
