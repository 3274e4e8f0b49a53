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
    if (renderer->tokens == NULL || renderer->positions == NULL || renderer->labels == NULL ||
        renderer->starts == NULL) {
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
    lw__sha256_destroy(renderer->hasher);
    *renderer = (lw__renderer){0};
}

/* Where a row is drawn: in the slot itself, or in scratch when the slot's integers are wider. */
typedef struct canvas {
    int32_t *tokens;
    int32_t *positions;
    int32_t *labels;
    uint8_t *loss_mask;
} canvas;

static canvas canvas_for(const lw__renderer *r, const lw__slot *slot, size_t at, size_t context)
{
    canvas c = {.tokens = r->tokens,
                .positions = r->positions,
                .labels = r->labels,
                .loss_mask = slot->loss_mask + at * context};
    if (slot->shelf->shape.token_bytes == sizeof(int32_t)) {
        c.tokens = (int32_t *)(void *)slot->tokens + at * context;
        c.positions = (int32_t *)(void *)slot->positions + at * context;
        c.labels = (int32_t *)(void *)slot->labels + at * context;
    }
    return c;
}

/* ---- the arrays ----------------------------------------------------------------------------- */

static void count_up(int32_t *positions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        positions[i] = (int32_t)i;
    }
}

static void fill_tokens(const canvas *c, const lw__render_rules *rules, const lw__row *row,
                        size_t fill)
{
    if (fill > 0) {
        memcpy(c->tokens, row->tokens, fill * sizeof *c->tokens);
    }
    for (size_t i = fill; i < rules->context; i++) {
        c->tokens[i] = rules->pad;
    }
}

static void fill_positions(const canvas *c, const lw__render_rules *rules, const lw__row *row,
                           size_t fill)
{
    size_t at = 0;
    for (size_t i = 0; row != NULL && i < row->piece_count; i++) {
        size_t count = (size_t)row->pieces[i].segment.count;
        count_up(c->positions + at, count);
        at += count;
    }
    count_up(c->positions + fill, (size_t)rules->context - fill);
}

static int32_t label_of(int32_t token)
{
    return token < 0 ? IGNORED : token; /* none, or one that is not learnt */
}

/* With the document shift the last token of every segment is followed by one of its document. */
static void fill_tails(const canvas *c, const lw__row *row)
{
    size_t at = 0;
    for (size_t i = 0; i < row->piece_count; i++) {
        at += (size_t)row->pieces[i].segment.count;
        c->labels[at - 1] = label_of(row->pieces[i].tail);
    }
}

/*
 * Bytes may alias anything, so a loop over them goes wide only with its bounds and its pointers in
 * arguments of their own.
 */
static void fill_loss_mask(uint8_t *restrict mask, const int32_t *restrict labels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mask[i] = labels[i] != IGNORED;
    }
}

static void mark_starts(uint8_t *restrict marks, const int32_t *restrict positions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        marks[i] = positions[i] == 0;
    }
}

static void mask_token(const canvas *c, int32_t token, size_t fill)
{
    for (size_t i = 0; i < fill; i++) {
        c->labels[i] = c->tokens[i] == token ? IGNORED : c->labels[i];
    }
}

/* Takes the labels away that are not learnt, and the marks off the tokens. */
static void take_marks(const canvas *c, size_t fill)
{
    for (size_t i = 0; i < fill; i++) {
        c->labels[i] = c->labels[i] < 0 ? IGNORED : c->labels[i];
        c->tokens[i] = LW_TOKEN_ID(c->tokens[i]);
    }
}

static void fill_labels(const canvas *c, const lw__render_rules *rules, const lw__row *row,
                        size_t fill)
{
    if (fill > 0) {
        memcpy(c->labels, c->tokens + 1, (fill - 1) * sizeof *c->labels);
        c->labels[fill - 1] = label_of(lw__row_last_label(row));
        if (rules->shift == LW__SHIFT_DOCUMENT) {
            fill_tails(c, row);
        }
        if (rules->supervised) {
            take_marks(c, fill);
        }
        if (rules->masked_token != LW__NO_TOKEN) {
            mask_token(c, rules->masked_token, fill);
        }
    }
    for (size_t i = fill; i < rules->context; i++) {
        c->labels[i] = IGNORED;
    }
    fill_loss_mask(c->loss_mask, c->labels, (size_t)rules->context);
}

static lw_status run_workers(const canvas *c, const lw__render_rules *rules, lw_record *row,
                             lw_error *err)
{
    lw_row_arrays arrays = {.struct_size = sizeof arrays,
                            .context = rules->context,
                            .tokens = c->tokens,
                            .positions = c->positions,
                            .labels = c->labels,
                            .loss_mask = c->loss_mask};
    for (size_t i = 0; i < rules->operator_count; i++) {
        const lw__operator *oper = &rules->operators[i];
        if (oper->type->phase == LW_PHASE_ROW && oper->type->work != NULL) {
            lw_sink sink = {.type = oper->type};
            row->arrays = &arrays;
            lw_status status = oper->type->work(oper->op, &row, 1, &sink, err);
            row->arrays = NULL;
            LW__TRY(lw__operator_status(oper->type, status, err));
        }
    }
    return LW_OK;
}

/* ---- into the slot -------------------------------------------------------------------------- */

static void widen(unsigned char *out, const int32_t *values, size_t index, size_t count)
{
    int64_t *wide = (int64_t *)(void *)out + index * count;
    for (size_t i = 0; i < count; i++) {
        wide[i] = values[i];
    }
}

/* Marks the starts in `out` and lists them; memchr jumps from one to the next. */
static size_t store_starts(lw__renderer *r, const canvas *c, uint8_t *out, size_t context)
{
    size_t count = 0;
    mark_starts(out, c->positions, context);
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

static lw_status store_digest(const lw__renderer *r, const canvas *c, uint8_t *out, size_t context,
                              size_t start_count, lw_error *err)
{
    uint32_t count = (uint32_t)start_count;
    lw__sha256_begin(r->hasher);
    lw__sha256_add(r->hasher, c->tokens, context * sizeof *c->tokens);
    lw__sha256_add(r->hasher, c->positions, context * sizeof *c->positions);
    lw__sha256_add(r->hasher, c->loss_mask, context);
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
    canvas c = canvas_for(r, slot, at, context);
    const lw__row *packed = row != NULL ? &row->u.row : NULL;
    size_t fill = packed != NULL ? (size_t)packed->fill : 0;
    fill_tokens(&c, rules, packed, fill);
    fill_positions(&c, rules, packed, fill);
    fill_labels(&c, rules, packed, fill);
    if (row != NULL) {
        LW__TRY(run_workers(&c, rules, row, err));
    }
    LW__TRY(store_segments(&slot->segments[at], packed, err));
    if (slot->shelf->shape.token_bytes != sizeof(int32_t)) {
        widen(slot->tokens, c.tokens, at, context);
        widen(slot->positions, c.positions, at, context);
        widen(slot->labels, c.labels, at, context);
    }
    size_t starts = store_starts(r, &c, slot->document_starts + at * context, context);
    slot->valid_tokens[at] = fill;
    if (slot->row_digests == NULL) {
        return LW_OK;
    }
    uint64_t begin = lw__clock_cpu_ns();
    lw_status status = store_digest(r, &c, slot->row_digests + at * 32, context, starts, err);
    *digest_ns += lw__clock_cpu_ns() - begin;
    return status;
}
