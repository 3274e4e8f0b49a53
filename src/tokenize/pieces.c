/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three loops over a batch of pieces: cut them, ask for their cache lines, take their ids. By the
 * time a line is looked at it has come; what is not in it goes the long way.
 */
#include "tokenize/pieces.h"

#include <string.h>

#include "base/error.h"

_Static_assert(LW__PIECES_ROOM >= LW__BLOCK_ROOM, "a walk needs so much room");
_Static_assert(LW__VOCAB_LIMIT <= 1 << 24, "the cache keeps a count above 24 bits of an id");

#define ID_BITS 24

lw_status lw__pieces_create(lw__pieces *pieces, const lw__tokenizer *tokenizer, lw_error *err)
{
    lw__blocks_form forms[3];
    (void)lw__blocks_forms(forms);
    pieces->tokenizer = tokenizer;
    pieces->walk = forms[0].walk;
    LW__TRY(lw__cache_create(&pieces->cache, err));
    return lw__long_cache_create(&pieces->long_cache, err);
}

void lw__pieces_reset(lw__pieces *pieces)
{
    lw__cache_reset(&pieces->cache);
    lw__long_cache_reset(&pieces->long_cache);
    lw__bpe_scratch_reset(&pieces->scratch);
}

static lw_status merge_piece(lw__pieces *pieces, const unsigned char *piece, size_t bytes,
                             int32_t *ids, size_t *count, lw_error *err)
{
    const lw__tokenizer *tokenizer = pieces->tokenizer;
    if (tokenizer->vocab.whole_piece) {
        int32_t id = lw__vocab_find(&tokenizer->vocab, piece, bytes);
        if (id >= 0) {
            ids[0] = id;
            *count = 1;
            return LW_OK;
        }
    }
    return lw__bpe_encode(&tokenizer->bpe, &pieces->scratch, piece, bytes, ids, count, err);
}

/* A piece that the cache of short ones does not have. */
static __attribute__((noinline)) lw_status put_missed(lw__pieces *pieces,
                                                      const unsigned char *piece, size_t bytes,
                                                      size_t at, int32_t **out, lw_error *err)
{
    size_t count = 0;
    bool may_be_long = bytes > LW__CACHE_IDS && bytes <= LW__LONG_CACHE_BYTES;
    lw__long_key key;
    if (may_be_long) {
        key = lw__long_cache_key(piece, bytes, 0);
        const uint32_t *ids = lw__long_cache_find(&pieces->long_cache, &key, &count);
        if (ids != NULL) {
            memcpy(*out, ids, count * sizeof *ids);
            *out += count;
            return LW_OK;
        }
    }
    LW__TRY(merge_piece(pieces, piece, bytes, *out, &count, err));
    if (bytes <= LW__CACHE_KEY_BYTES && count <= LW__CACHE_IDS) {
        const lw__piece_batch *batch = &pieces->batch;
        lw__cache_entry *pair = &pieces->cache.entries[(size_t)batch->pairs[at] * 2];
        lw__cache_put(pair, &batch->keys[at], *out, count);
    } else if (may_be_long) {
        lw__long_cache_put(&pieces->long_cache, &key, *out, count);
    }
    *out += count;
    return LW_OK;
}

/* Puts all four places of the entry, and counts those that are used. */
static inline int32_t *put_entry(int32_t *out, const lw__cache_entry *entry)
{
    uint32_t first = entry->ids[0];
    memcpy(out, entry->ids, sizeof entry->ids);
    out[0] = (int32_t)(first & ((1u << ID_BITS) - 1));
    return out + (first >> ID_BITS);
}

static lw_status put_pieces(lw__pieces *pieces, const unsigned char *text, size_t count,
                            lw__arena *arena, lw_error *err)
{
    const lw__piece_batch *batch = &pieces->batch;
    int32_t *out = arena->ids + arena->count;
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        const lw__cache_entry *pair = &pieces->cache.entries[(size_t)batch->pairs[i] * 2];
        size_t end = batch->ends[i];
        if (lw__cache_is(&pair[0], &batch->keys[i])) {
            out = put_entry(out, &pair[0]);
        } else if (lw__cache_is(&pair[1], &batch->keys[i])) {
            out = put_entry(out, &pair[1]);
        } else {
            LW__TRY(put_missed(pieces, text + start, end - start, i, &out, err));
        }
        start = end;
    }
    arena->count = (size_t)(out - arena->ids);
    return LW_OK;
}

/* The key of a piece that is less than 16 bytes before the end of its text. */
static lw__cache_key key_at_end(const unsigned char *piece, size_t bytes)
{
    unsigned char copy[16] = {0};
    memcpy(copy, piece, bytes < sizeof copy ? bytes : sizeof copy);
    return lw__cache_key_of(copy, bytes);
}

/* Asks for the cache lines of all pieces of the batch. */
static void prepare(lw__pieces *pieces, const unsigned char *text, size_t bytes, size_t count)
{
    lw__piece_batch *batch = &pieces->batch;
    const lw__cache_entry *entries = pieces->cache.entries;
    size_t start = 0;
    size_t safe = bytes >= 16 ? bytes - 16 : 0; /* from there on 16 bytes can not be read */
    for (size_t i = 0; i < count; i++) {
        size_t length = batch->ends[i] - start;
        lw__cache_key key = __builtin_expect(start <= safe && bytes >= 16, 1)
                                ? lw__cache_key_of(text + start, length)
                                : key_at_end(text + start, length);
        uint32_t pair = lw__cache_pair(&key);
        __builtin_prefetch(&entries[(size_t)pair * 2]);
        batch->keys[i] = key;
        batch->pairs[i] = pair;
        start += length;
    }
}

lw_status lw__pieces_encode(lw__pieces *pieces, const unsigned char *text, size_t bytes,
                            lw__arena *arena, lw_error *err)
{
    const lw__split_rules *rules = &pieces->tokenizer->vocab.rules;
    while (bytes > 0) {
        size_t count = pieces->walk(rules, text, bytes, pieces->batch.ends, LW__PIECES_ROOM);
        if (count == 0) {
            return lw__fail(err, LW_E_UNSUPPORTED,
                            "tokenizer: a piece of %zu bytes or more without a cut, expected less",
                            (size_t)UINT32_MAX);
        }
        size_t taken = pieces->batch.ends[count - 1];
        LW__TRY(lw__arena_reserve(arena, taken + LW__CACHE_IDS, err));
        prepare(pieces, text, bytes, count);
        LW__TRY(put_pieces(pieces, text, count, arena, err));
        text += taken;
        bytes -= taken;
    }
    return LW_OK;
}
