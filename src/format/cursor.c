/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the decoded bytes of a block into parts of whole lines.
 *
 * With lo = p*S, hi = lo + S, E = the block's decoded bytes: part p's text is [begin, end), where
 *
 *     begin = 1 + the first newline at or after lo; 0 for the first part of a shard
 *     end   = 1 + the first newline at or after min(hi, E), or the shard's end
 *
 * and it has no lines if begin > min(hi, E). So the end of a part is the beginning of the next one,
 * and a cursor can start at any part without having seen the lines before. While a part is read,
 * the text holds the decoded bytes [text->at, decoded); what is left over goes to the carry.
 */
#include "format/cursor.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "format/dataset.h"

enum {
    SLACK = 64,             /* readable bytes after the text, for wide loads */
    TAIL_BYTES = 16 * 1024, /* read with a part, in the hope that its last line ends there */
    CHUNK_MIN = 64 * 1024,  /* first read when it does not; doubles */
    CHUNK_MAX = 1024 * 1024,
    KEEP_BYTES = 8 * 1024 * 1024 /* a text buffer grown beyond this is given back */
};

struct lw__cursor {
    lw__decoder *decoder;
    uint64_t part_bytes; /* S */
    uint64_t part;       /* the next to read */
    uint64_t decoded;    /* bytes the decoder has given */
    uint64_t begin;      /* decoded offset of the first line not yet given */
    bool has_begin;      /* begin is known; if not, bytes before the part are of no use */
    bool has_mark;       /* the shard's first line is still to come: drop a byte order mark */
    bool at_shard_end;
    lw_status status; /* of the decoder; a failure stays */
    lw_error failure;
    lw__text carry; /* decoded bytes [carry.at, decoded) between two reads */
};

void lw__text_reset(lw__text *text)
{
    lw__free(text->data);
    *text = (lw__text){0};
}

static lw_status reserve(lw__text *text, size_t extra, lw_error *err)
{
    size_t needed = 0;
    if (__builtin_add_overflow(text->count, extra, &needed) ||
        __builtin_add_overflow(needed, SLACK, &needed)) {
        return lw__fail_nomem(err, SIZE_MAX, "lines");
    }
    if (needed <= text->capacity) {
        return LW_OK;
    }
    size_t capacity = text->capacity + text->capacity / 2;
    capacity = capacity < needed ? needed : capacity;
    unsigned char *data = lw__resize_array(text->data, capacity, 1);
    if (data == NULL) {
        return lw__fail_nomem(err, capacity, "lines");
    }
    text->data = data;
    text->capacity = capacity;
    return LW_OK;
}

static void drop_front(lw__text *text, size_t count)
{
    text->count -= count;
    text->at += count;
    memmove(text->data, text->data + count, text->count);
}

static bool is_end_known(const lw__cursor *cursor)
{
    return cursor->decoder->block_end != LW__END_UNKNOWN;
}

/* min(hi, E), with an E that is not known taken as large. */
static uint64_t limit_of(const lw__cursor *cursor, uint64_t hi)
{
    uint64_t block_end = cursor->decoder->block_end;
    return block_end < hi ? block_end : hi;
}

/* A failure is met by who needs the bytes behind it: what was decoded before it comes first. */
static lw_status fail_again(const lw__cursor *cursor, lw_error *err)
{
    if (cursor->status < 0 && err != NULL) {
        *err = cursor->failure;
    }
    return cursor->status;
}

/* Appends up to `wanted` decoded bytes to the text. */
static lw_status fill(lw__cursor *cursor, lw__text *text, size_t wanted, lw_error *err)
{
    size_t count = 0;
    LW__TRY(fail_again(cursor, err));
    LW__TRY(reserve(text, wanted, err));
    cursor->status = cursor->decoder->type->read(cursor->decoder, text->data + text->count, wanted,
                                                 &count, &cursor->failure);
    if (count == 0) {
        LW__TRY(fail_again(cursor, err));
    }
    text->count += count;
    cursor->decoded += count;
    cursor->at_shard_end = count == 0;
    return LW_OK;
}

/*
 * How much to read next so that the text goes a little beyond hi: all at once if the end says that
 * so much is there, else by chunks, for a part may be far larger than what a stream still holds.
 */
static size_t step_towards(const lw__cursor *cursor, uint64_t hi)
{
    uint64_t wanted = limit_of(cursor, hi) - cursor->decoded + TAIL_BYTES;
    return !is_end_known(cursor) && wanted > CHUNK_MAX ? (size_t)CHUNK_MAX : (size_t)wanted;
}

/* Passes over the bytes before lo; the text is empty then, or begins at or before lo. */
static lw_status pass_to(lw__cursor *cursor, lw__text *text, uint64_t lo, lw_error *err)
{
    while (cursor->decoded < lo && !cursor->at_shard_end && !is_end_known(cursor)) {
        uint64_t left = lo - cursor->decoded;
        text->count = 0;
        text->at = cursor->decoded;
        LW__TRY(fill(cursor, text, left < CHUNK_MAX ? (size_t)left : (size_t)CHUNK_MAX, err));
    }
    return LW_OK;
}

/*
 * Finds the part's first line: looks for a newline in [lo, min(hi, E)). What is before the line is
 * dropped from the text; without a newline there, all bytes before hi are.
 */
static lw_status find_begin(lw__cursor *cursor, lw__text *text, uint64_t lo, uint64_t hi,
                            lw_error *err)
{
    LW__TRY(pass_to(cursor, text, lo, err));
    for (;;) {
        uint64_t from = lo > text->at ? lo : text->at;
        uint64_t limit = limit_of(cursor, hi);
        uint64_t to = limit < cursor->decoded ? limit : cursor->decoded;
        const unsigned char *newline =
            from < to ? memchr(text->data + (from - text->at), '\n', (size_t)(to - from)) : NULL;
        if (newline != NULL) {
            drop_front(text, (size_t)(newline + 1 - text->data));
            cursor->begin = text->at;
            cursor->has_begin = true;
            return LW_OK;
        }
        if (to > text->at) {
            drop_front(text, (size_t)(to - text->at));
        }
        if (cursor->decoded >= limit || cursor->at_shard_end) {
            return LW_OK;
        }
        LW__TRY(fill(cursor, text, step_towards(cursor, hi), err));
    }
}

/* Reads until it is certain whether the block goes on after hi. */
static lw_status settle_end(lw__cursor *cursor, lw__text *text, uint64_t hi, lw_error *err)
{
    while (cursor->decoded <= hi && !is_end_known(cursor) && !cursor->at_shard_end) {
        LW__TRY(fill(cursor, text, step_towards(cursor, hi), err));
    }
    return LW_OK;
}

/* Finds the end of the line that holds the byte at limit, or would. */
static lw_status find_end(lw__cursor *cursor, lw__text *text, uint64_t limit, uint64_t *end,
                          lw_error *err)
{
    size_t chunk = CHUNK_MIN;
    uint64_t from = limit;
    for (;;) {
        const unsigned char *newline =
            from < cursor->decoded
                ? memchr(text->data + (from - text->at), '\n', (size_t)(cursor->decoded - from))
                : NULL;
        if (newline != NULL) {
            *end = text->at + (size_t)(newline + 1 - text->data);
            return LW_OK;
        }
        if (cursor->at_shard_end) {
            *end = cursor->decoded;
            return LW_OK;
        }
        if (cursor->decoded < limit) {
            LW__TRY(fill(cursor, text, step_towards(cursor, limit), err));
        } else {
            from = cursor->decoded;
            LW__TRY(fill(cursor, text, chunk, err));
            chunk = chunk < CHUNK_MAX ? chunk * 2 : chunk;
        }
    }
}

static void drop_mark(lw__cursor *cursor, lw__text *text)
{
    if (cursor->has_mark && text->count >= 3 && memcmp(text->data, "\xEF\xBB\xBF", 3) == 0) {
        drop_front(text, 3);
    }
    cursor->has_mark = false;
}

/* Moves the text from `count` on into the carry. */
static lw_status keep_rest(lw__cursor *cursor, lw__text *text, size_t count, lw_error *err)
{
    lw__text *carry = &cursor->carry;
    size_t rest = text->count - count;
    carry->count = 0;
    LW__TRY(reserve(carry, rest, err));
    memcpy(carry->data, text->data + count, rest);
    carry->count = rest;
    carry->at = text->at + count;
    return LW_OK;
}

static lw_status take_carry(lw__cursor *cursor, lw__text *text, lw_error *err)
{
    if (text->capacity > KEEP_BYTES + 2 * cursor->part_bytes) {
        lw__text_reset(text);
    }
    text->count = 0;
    text->at = cursor->decoded - cursor->carry.count;
    LW__TRY(reserve(text, cursor->carry.count, err));
    if (cursor->carry.count > 0) {
        memcpy(text->data, cursor->carry.data, cursor->carry.count);
    }
    text->count = cursor->carry.count;
    cursor->carry.count = 0;
    return LW_OK;
}

/* The text holds what there is from the part's beginning on; leaves the part's lines in it. */
static lw_status cut_part(lw__cursor *cursor, lw__text *text, uint64_t hi, lw_error *err)
{
    LW__TRY(settle_end(cursor, text, hi, err));
    uint64_t limit = limit_of(cursor, hi);
    size_t count = 0;
    if (cursor->has_begin && cursor->begin <= limit) {
        LW__TRY(find_end(cursor, text, limit, &cursor->begin, err));
        count = (size_t)(cursor->begin - text->at);
    }
    if (cursor->decoder->block_end > hi) {
        LW__TRY(keep_rest(cursor, text, count, err));
    }
    text->count = count;
    if (count > 0) {
        drop_mark(cursor, text);
    }
    memset(text->data + text->count, 0, SLACK);
    return LW_OK;
}

/* Whether a part up to hi is certain to be empty without reading on. */
static bool is_surely_empty(const lw__cursor *cursor, uint64_t hi)
{
    return cursor->has_begin && cursor->begin > limit_of(cursor, hi) &&
           (is_end_known(cursor) || cursor->decoded > hi);
}

lw_status lw__cursor_read(lw__cursor *cursor, lw__text *text, bool *last, lw_error *err)
{
    uint64_t lo = cursor->part * cursor->part_bytes;
    uint64_t hi = lo + cursor->part_bytes;
    if (is_surely_empty(cursor, hi)) {
        text->count = 0;
        text->at = lo;
    } else {
        LW__TRY(take_carry(cursor, text, err));
        if (!cursor->has_begin) {
            LW__TRY(find_begin(cursor, text, lo, hi, err));
        }
        LW__TRY(cut_part(cursor, text, hi, err));
    }
    cursor->part++;
    *last = cursor->decoder->block_end <= hi;
    return LW_OK;
}

uint64_t lw__cursor_block_end(const lw__cursor *cursor)
{
    return cursor->decoder->block_end;
}

lw_status lw__cursor_open(const lw__dataset *dataset, uint64_t block, uint64_t first_part,
                          lw__cursor **out, lw_error *err)
{
    *out = NULL;
    size_t shard_index = lw__dataset_shard_of(dataset, block);
    lw__cursor *cursor = lw__alloc_zero(1, sizeof *cursor);
    if (cursor == NULL) {
        return lw__fail_nomem(err, sizeof *cursor, "a cursor");
    }
    lw__span span = lw__dataset_span(dataset, shard_index, block);
    lw_status status = dataset->decoders[shard_index]->open(&span, &cursor->decoder, err);
    if (status != LW_OK) {
        lw__free(cursor);
        return status;
    }
    cursor->part_bytes = dataset->block_bytes;
    cursor->part = first_part;
    cursor->has_begin = first_part == 0 && block == dataset->shards[shard_index].first_block;
    cursor->has_mark = cursor->has_begin;
    *out = cursor;
    return LW_OK;
}

void lw__cursor_close(lw__cursor *cursor)
{
    if (cursor != NULL) {
        cursor->decoder->type->close(cursor->decoder);
        lw__text_reset(&cursor->carry);
        lw__free(cursor);
    }
}
