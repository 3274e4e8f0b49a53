/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and references of slots and batches. */
#include "deliver/slot.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "base/sha256.h"

/* Every array begins at a multiple of this, a cache line, which no other array is in. */
#define LINE_BYTES 64

static uint64_t cells(const lw__slot_shape *shape)
{
    return shape->rows * shape->context;
}

uint64_t lw__slot_bytes(const lw__slot_shape *shape)
{
    uint64_t row =
        sizeof(lw__row_segments) + sizeof(uint64_t) + LW__SHA256_BYTES + 4 * sizeof(lw_segment);
    return cells(shape) * (3 * shape->token_bytes + 2) + shape->rows * row;
}

static void slot_reset(lw__slot *slot, uint64_t rows)
{
    for (uint64_t i = 0; slot->segments != NULL && i < rows; i++) {
        lw__free(slot->segments[i].items);
    }
    lw__free(slot->segments);
    lw__free(slot->block);
    lw__free(slot->valid_tokens);
}

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* One block for all arrays, one after the other. */
static void slot_place(lw__slot *slot, const lw__slot_shape *shape)
{
    size_t integers = round_up((size_t)cells(shape) * shape->token_bytes, LINE_BYTES);
    size_t flags = round_up((size_t)cells(shape), LINE_BYTES);
    size_t digests = shape->digests ? (size_t)shape->rows * LW__SHA256_BYTES : 0;
    size_t bytes = 3 * integers + 2 * flags + digests;
    void *start = NULL;
    slot->block = lw__alloc_aligned(bytes, lw__os_page_bytes(), &start);
    if (slot->block == NULL) {
        return;
    }
    slot->memory = start;
    slot->memory_bytes = round_up(bytes, lw__os_page_bytes());
    slot->tokens = slot->memory;
    slot->positions = slot->tokens + integers;
    slot->labels = slot->positions + integers;
    slot->loss_mask = slot->labels + integers;
    slot->document_starts = slot->loss_mask + flags;
    slot->row_digests = shape->digests ? slot->document_starts + flags : NULL;
}

static lw_status slot_init(lw__slot *slot, lw__shelf *shelf, lw_error *err)
{
    const lw__slot_shape *shape = &shelf->shape;
    *slot = (lw__slot){.shelf = shelf};
    slot_place(slot, shape);
    slot->valid_tokens = lw__alloc_array(shape->rows, sizeof *slot->valid_tokens);
    slot->segments = lw__alloc_zero(shape->rows, sizeof *slot->segments);
    bool fine = slot->block != NULL && slot->valid_tokens != NULL && slot->segments != NULL;
    return fine ? LW_OK : lw__fail_nomem(err, lw__slot_bytes(shape), "a slot");
}

static void shelf_destroy(lw__shelf *shelf)
{
    for (size_t i = 0; shelf->slots != NULL && i < shelf->slot_count; i++) {
        slot_reset(&shelf->slots[i], shelf->shape.rows);
    }
    pthread_mutex_destroy(&shelf->lock);
    lw__free(shelf->slots);
    lw__free(shelf);
}

lw_status lw__shelf_create(const lw__slot_shape *shape, size_t slot_count, lw__shelf **out,
                           lw_error *err)
{
    lw__shelf *shelf = lw__alloc_zero(1, sizeof *shelf);
    lw_status status = LW_OK;
    *out = NULL;
    if (shelf == NULL) {
        return lw__fail_nomem(err, sizeof *shelf, "the slots");
    }
    shelf->shape = *shape;
    shelf->references = 1;
    shelf->owner = getpid();
    pthread_mutex_init(&shelf->lock, NULL);
    shelf->slots = lw__alloc_zero(slot_count, sizeof *shelf->slots);
    if (shelf->slots == NULL) {
        status = lw__fail_nomem(err, slot_count * sizeof *shelf->slots, "the slots");
    }
    for (; status == LW_OK && shelf->slot_count < slot_count; shelf->slot_count++) {
        status = slot_init(&shelf->slots[shelf->slot_count], shelf, err);
    }
    if (status < 0) {
        shelf_destroy(shelf);
        return status;
    }
    *out = shelf;
    return LW_OK;
}

void lw__shelf_release(lw__shelf *shelf)
{
    pthread_mutex_lock(&shelf->lock);
    bool last = --shelf->references == 0;
    pthread_mutex_unlock(&shelf->lock);
    if (last) {
        shelf_destroy(shelf);
    }
}

void lw__slot_release(lw__slot *slot)
{
    lw__shelf *shelf = slot->shelf;
    pthread_mutex_lock(&shelf->lock);
    bool last = --slot->references == 0;
    if (last && shelf->freed != NULL) {
        shelf->freed(shelf->ctx, slot);
    }
    pthread_mutex_unlock(&shelf->lock);
}

lw_status lw__batch_create(lw__slot *slot, uint64_t first, uint64_t rows, uint64_t first_row,
                           lw_batch **out, lw_error *err)
{
    lw_batch *batch = lw__alloc(sizeof *batch);
    *out = NULL;
    if (batch == NULL) {
        return lw__fail_nomem(err, sizeof *batch, "a batch");
    }
    *batch = (lw_batch){
        .slot = slot, .references = 1, .first = first, .rows = rows, .first_row = first_row};
    pthread_mutex_lock(&slot->shelf->lock);
    slot->references++;
    slot->shelf->references++;
    pthread_mutex_unlock(&slot->shelf->lock);
    *out = batch;
    return LW_OK;
}

void lw_batch_retain(lw_batch *batch)
{
    if (batch->slot->shelf->owner != getpid()) {
        return;
    }
    pthread_mutex_lock(&batch->slot->shelf->lock);
    batch->references++;
    pthread_mutex_unlock(&batch->slot->shelf->lock);
}

void lw_batch_release(lw_batch *batch)
{
    if (batch == NULL || batch->slot->shelf->owner != getpid()) {
        return;
    }
    lw__shelf *shelf = batch->slot->shelf;
    pthread_mutex_lock(&shelf->lock);
    bool last = --batch->references == 0;
    pthread_mutex_unlock(&shelf->lock);
    if (last) {
        lw__slot_release(batch->slot);
        lw__free(batch);
        lw__shelf_release(shelf);
    }
}
