/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens, positions, labels, loss mask, starts and digest of one row. */
#include "deliver/render.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#define IGNORED (-100)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digests are over little-endian bytes");

lw_status lw__renderer_init(lw__renderer *renderer, uint64_t context, lw_error *err)
{
    size_t count = (size_t)context;
    *renderer = (lw__renderer){0};
    renderer->tokens = lw__alloc_array(count, sizeof(int32_t));
    renderer->positions = lw__alloc_array(count, sizeof(int32_t));
    renderer->labels = lw__alloc_array(count, sizeof(int32_t));
    renderer->starts = lw__alloc_array(count, sizeof(int32_t));
    renderer->loss_mask = lw__alloc(count);
    if (renderer->tokens == NULL || renderer->positions == NULL || renderer->labels == NULL ||
        renderer->starts == NULL || renderer->loss_mask == NULL) {
        return lw__fail_nomem(err, count * 4 * sizeof(int32_t), "a row being rendered");
    }
    return lw__sha256_create(&renderer->hasher, err);
}

void lw__renderer_reset(lw__renderer *renderer)
{
    lw__free(renderer->tokens);
    lw__free(renderer->positions);
    lw__free(renderer->labels);
    lw__free(renderer->starts);
    lw__free(renderer->loss_mask);
    lw__sha256_destroy(renderer->hasher);
    *renderer = (lw__renderer){0};
}

/* ---- the arrays ----------------------------------------------------------------------------- */

static void count_up(int32_t *positions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        positions[i] = (int32_t)i;
    }
}

static void fill_tokens(lw__renderer *r, const lw__render_rules *rules, const lw__row *row,
                        size_t fill)
{
    if (fill > 0) {
        memcpy(r->tokens, row->tokens, fill * sizeof *r->tokens);
    }
    for (size_t i = fill; i < rules->context; i++) {
        r->tokens[i] = rules->pad;
    }
}

static void fill_positions(lw__renderer *r, const lw__render_rules *rules, const lw__row *row,
                           size_t fill)
{
    size_t at = 0;
    for (size_t i = 0; row != NULL && i < row->piece_count; i++) {
        size_t count = (size_t)row->pieces[i].segment.count;
        count_up(r->positions + at, count);
        at += count;
    }
    count_up(r->positions + fill, (size_t)rules->context - fill);
}

static int32_t label_of(int32_t token)
{
    return token == LW__NO_TOKEN ? IGNORED : token;
}

/* With the document shift the last token of every segment is followed by one of its document. */
static void fill_tails(lw__renderer *r, const lw__row *row)
{
    size_t at = 0;
    for (size_t i = 0; i < row->piece_count; i++) {
        at += (size_t)row->pieces[i].segment.count;
        r->labels[at - 1] = label_of(row->pieces[i].tail);
    }
}

static void mask_token(lw__renderer *r, int32_t token, size_t fill)
{
    for (size_t i = 0; i < fill; i++) {
        r->labels[i] = r->tokens[i] == token ? IGNORED : r->labels[i];
    }
}

static void fill_labels(lw__renderer *r, const lw__render_rules *rules, const lw__row *row,
                        size_t fill)
{
    if (fill > 0) {
        memcpy(r->labels, r->tokens + 1, (fill - 1) * sizeof *r->labels);
        r->labels[fill - 1] = label_of(lw__row_last_label(row));
        if (rules->shift == LW__SHIFT_DOCUMENT) {
            fill_tails(r, row);
        }
        if (rules->masked_token != LW__NO_TOKEN) {
            mask_token(r, rules->masked_token, fill);
        }
    }
    for (size_t i = fill; i < rules->context; i++) {
        r->labels[i] = IGNORED;
    }
    for (size_t i = 0; i < rules->context; i++) {
        r->loss_mask[i] = r->labels[i] != IGNORED;
    }
}

static lw_status run_workers(lw__renderer *r, const lw__render_rules *rules, lw_record *row,
                             lw_error *err)
{
    lw_row_arrays arrays = {.struct_size = sizeof arrays,
                            .context = rules->context,
                            .tokens = r->tokens,
                            .positions = r->positions,
                            .labels = r->labels,
                            .loss_mask = r->loss_mask};
    for (size_t i = 0; i < rules->operator_count; i++) {
        const lw__operator *oper = &rules->operators[i];
        if (oper->type->phase == LW_PHASE_ROW && oper->type->work != NULL) {
            lw_sink sink = {.type = oper->type};
            row->arrays = &arrays;
            lw_status status = oper->type->work(oper->op, &row, 1, &sink, err);
            row->arrays = NULL;
            LW__TRY(status);
        }
    }
    return LW_OK;
}

/* ---- into the slot -------------------------------------------------------------------------- */

static void store(unsigned char *out, const int32_t *values, size_t index, size_t count,
                  uint32_t token_bytes)
{
    if (token_bytes == sizeof(int32_t)) {
        memcpy(out + index * count * sizeof(int32_t), values, count * sizeof(int32_t));
        return;
    }
    int64_t *wide = (int64_t *)(void *)out + index * count;
    for (size_t i = 0; i < count; i++) {
        wide[i] = values[i];
    }
}

/* Marks the starts in `out` and lists them; memchr jumps from one to the next. */
static size_t store_starts(lw__renderer *r, uint8_t *out, size_t context)
{
    size_t count = 0;
    for (size_t i = 0; i < context; i++) {
        out[i] = r->positions[i] == 0;
    }
    for (const uint8_t *at = out; (at = memchr(at, 1, context - (size_t)(at - out))) != NULL;
         at++) {
        r->starts[count++] = (int32_t)(at - out);
    }
    return count;
}

static lw_status store_segments(lw__row_segments *out, const lw__row *row, lw_error *err)
{
    size_t count = row != NULL ? row->piece_count : 0;
    out->count = 0;
    if (count > out->capacity) {
        lw_segment *items = lw__resize_array(out->items, 2 * count, sizeof *items);
        if (items == NULL) {
            return lw__fail_nomem(err, 2 * count * sizeof *items, "the segments of a row");
        }
        out->items = items;
        out->capacity = 2 * count;
    }
    for (; out->count < count; out->count++) {
        out->items[out->count] = row->pieces[out->count].segment;
    }
    return LW_OK;
}

static lw_status store_digest(lw__renderer *r, uint8_t *out, size_t context, size_t start_count,
                              lw_error *err)
{
    uint32_t count = (uint32_t)start_count;
    lw__sha256_begin(r->hasher);
    lw__sha256_add(r->hasher, r->tokens, context * sizeof *r->tokens);
    lw__sha256_add(r->hasher, r->positions, context * sizeof *r->positions);
    lw__sha256_add(r->hasher, r->loss_mask, context);
    lw__sha256_add(r->hasher, &count, sizeof count);
    lw__sha256_add(r->hasher, r->starts, start_count * sizeof *r->starts);
    return lw__sha256_end(r->hasher, out)
               ? LW_OK
               : lw__fail(err, LW_E_INTERNAL, "libcrypto: a digest could not be computed");
}

lw_status lw__render(lw__renderer *r, const lw__render_rules *rules, lw_record *row, lw__slot *slot,
                     uint64_t index, uint64_t *digest_ns, lw_error *err)
{
    size_t context = (size_t)rules->context;
    size_t at = (size_t)index;
    uint32_t token_bytes = slot->shelf->shape.token_bytes;
    const lw__row *packed = row != NULL ? &row->u.row : NULL;
    size_t fill = packed != NULL ? (size_t)packed->fill : 0;
    fill_tokens(r, rules, packed, fill);
    fill_positions(r, rules, packed, fill);
    fill_labels(r, rules, packed, fill);
    if (row != NULL) {
        LW__TRY(run_workers(r, rules, row, err));
    }
    LW__TRY(store_segments(&slot->segments[at], packed, err));
    store(slot->tokens, r->tokens, at, context, token_bytes);
    store(slot->positions, r->positions, at, context, token_bytes);
    store(slot->labels, r->labels, at, context, token_bytes);
    memcpy(slot->loss_mask + at * context, r->loss_mask, context);
    size_t starts = store_starts(r, slot->document_starts + at * context, context);
    slot->valid_tokens[at] = fill;
    if (slot->row_digests == NULL) {
        return LW_OK;
    }
    uint64_t begin = lw__clock_cpu_ns();
    lw_status status = store_digest(r, slot->row_digests + at * 32, context, starts, err);
    *digest_ns += lw__clock_cpu_ns() - begin;
    return status;
}
