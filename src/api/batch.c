/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch shows, and digests of steps. */
#include <string.h>

#include <laneway/pipeline.h>

#include "base/error.h"
#include "base/options.h"
#include "base/sha256.h"
#include "deliver/slot.h"

static const unsigned char *at(const void *array, uint64_t row, uint64_t row_bytes)
{
    return (const unsigned char *)array + row * row_bytes;
}

static uint64_t count_valid(const lw_batch *batch)
{
    uint64_t valid = 0;
    for (uint64_t i = 0; i < batch->rows; i++) {
        valid += batch->slot->valid_tokens[batch->first + i];
    }
    return valid;
}

lw_status lw_batch_get(const lw_batch *batch, lw_batch_view *out, lw_error *err)
{
    if (batch == NULL || out == NULL) {
        return lw__fail(err, LW_E_INVALID, "batch: lw_batch_get: an argument is NULL");
    }
    const lw__slot *slot = batch->slot;
    const lw__slot_shape *shape = &slot->shelf->shape;
    uint64_t wide = shape->context * shape->token_bytes;
    lw_batch_view view = {.struct_size = sizeof view,
                          .step = slot->step,
                          .first_row = batch->first_row + batch->first,
                          .rows = batch->rows,
                          .context = shape->context,
                          .token_bytes = shape->token_bytes,
                          .tokens = at(slot->tokens, batch->first, wide),
                          .positions = at(slot->positions, batch->first, wide),
                          .labels = at(slot->labels, batch->first, wide),
                          .loss_mask = at(slot->loss_mask, batch->first, shape->context),
                          .document_starts =
                              at(slot->document_starts, batch->first, shape->context),
                          .valid_tokens = count_valid(batch),
                          .row_tokens = slot->valid_tokens + batch->first,
                          .memory = slot->memory,
                          .memory_bytes = slot->memory_bytes};
    if (slot->row_digests != NULL) {
        view.row_digests = at(slot->row_digests, batch->first, LW__SHA256_BYTES);
    }
    return lw__options_give(out, &view, sizeof view, "lw_batch_view", err);
}

lw_status lw_batch_segments(const lw_batch *batch, uint64_t row, const lw_segment **out,
                            size_t *count, lw_error *err)
{
    if (batch == NULL || out == NULL || count == NULL || row >= batch->rows) {
        return lw__fail(err, LW_E_INVALID, "batch: lw_batch_segments: %s",
                        batch != NULL && out != NULL && count != NULL ? "no such row"
                                                                      : "an argument is NULL");
    }
    const lw__row_segments *segments = &batch->slot->segments[batch->first + row];
    *out = segments->items;
    *count = segments->count;
    return LW_OK;
}

/* ---- boundaries ----------------------------------------------------------------------------- */

/* Boundaries as they are found: those that fit are written, all are counted. */
typedef struct boundaries {
    int32_t *out;
    size_t capacity;
    size_t count;
    int32_t last;
    int32_t longest;
} boundaries;

static void add_boundary(boundaries *found, size_t place)
{
    int32_t value = (int32_t)place;
    if (found->count < found->capacity) {
        found->out[found->count] = value;
    }
    found->longest = value - found->last > found->longest ? value - found->last : found->longest;
    found->last = value;
    found->count++;
}

/* Adds the starts of a row whose first place is `base`; memchr jumps from one to the next. */
static void add_row(boundaries *found, const uint8_t *starts, size_t context, size_t base)
{
    const uint8_t *place = starts;
    add_boundary(found, base);
    while ((place = memchr(place + 1, 1, context - 1 - (size_t)(place - starts))) != NULL) {
        add_boundary(found, base + (size_t)(place - starts));
    }
}

lw_status lw_batch_boundaries(const lw_batch *batch, uint64_t row, int32_t *out, size_t capacity,
                              size_t *count, int32_t *longest, lw_error *err)
{
    if (batch == NULL || count == NULL || (out == NULL && capacity > 0)) {
        return lw__fail(err, LW_E_INVALID, "batch: lw_batch_boundaries: an argument is NULL");
    }
    const lw__slot *slot = batch->slot;
    size_t context = (size_t)slot->shelf->shape.context;
    uint64_t first = row == LW_ALL_ROWS ? 0 : row;
    uint64_t rows = row == LW_ALL_ROWS ? batch->rows : 1;
    if (first >= batch->rows || rows > INT32_MAX / context) {
        return lw__fail(err, LW_E_INVALID, "batch: lw_batch_boundaries: %s",
                        first >= batch->rows ? "no such row" : "more than INT32_MAX places");
    }
    boundaries found = {.out = out, .capacity = capacity};
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t at_row = batch->first + first + i;
        add_row(&found, slot->document_starts + at_row * context, context, (size_t)i * context);
    }
    add_boundary(&found, (size_t)rows * context);
    *count = found.count;
    if (longest != NULL) {
        *longest = found.longest;
    }
    return LW_OK;
}

lw_status lw_digest_merge(const uint8_t *row_digests, size_t count, uint8_t out[32], lw_error *err)
{
    lw__sha256 *hasher = NULL;
    if (row_digests == NULL || out == NULL) {
        return lw__fail(err, LW_E_INVALID, "digest: lw_digest_merge: an argument is NULL");
    }
    LW__TRY(lw__sha256_create(&hasher, err));
    lw__sha256_begin(hasher);
    lw__sha256_add(hasher, row_digests, count * LW__SHA256_BYTES);
    lw_status status =
        lw__sha256_end(hasher, out)
            ? LW_OK
            : lw__fail(err, LW_E_INTERNAL, "libcrypto: a digest could not be computed");
    lw__sha256_destroy(hasher);
    return status;
}
