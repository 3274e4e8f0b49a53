/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three loops over a batch of pieces: cut them, ask for their cache lines, take their ids. By the
 * time a line is looked at it has come; what is not in it goes the long way.
 */
#include "tokenize/byte_pieces.h"

#include <string.h>

#include "base/error.h"

_Static_assert(LW__BYTE_PIECES_ROOM >= LW__BLOCK_ROOM, "a walk needs so much room");
_Static_assert(LW__VOCAB_LIMIT <= 1 << 24, "the cache keeps a count above 24 bits of an id");

#define PARTS 24 /* of a piece, looked up at a time */

lw_status lw__byte_pieces_create(lw__byte_pieces *pieces, const lw__tokenizer *tokenizer,
                                 lw_error *err)
{
    lw__blocks_form forms[3];
    (void)lw__blocks_forms(forms);
    pieces->tokenizer = tokenizer;
    pieces->walk = forms[0].walk;
    if (tokenizer->vocab.rules.family == LW__SPLIT_STEPS) {
        LW__TRY(lw__steps_scratch_create(&pieces->steps, err));
    }
    LW__TRY(lw__cache_create(&pieces->cache, err));
    return lw__long_cache_create(&pieces->long_cache, err);
}

void lw__byte_pieces_reset(lw__byte_pieces *pieces)
{
    lw__cache_reset(&pieces->cache);
    lw__long_cache_reset(&pieces->long_cache);
    lw__bpe_scratch_reset(&pieces->scratch);
    lw__steps_scratch_reset(&pieces->steps);
}

/*
 * The ids of some bytes, which are `whole` pieces or parts of one between certain cuts: those are
 * merged, and never taken from the vocabulary whole, as merging may not reach that token.
 */
static lw_status merge(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes, bool whole,
                       int32_t *ids, size_t *count, lw_error *err)
{
    const lw__tokenizer *tokenizer = pieces->tokenizer;
    int32_t id =
        whole && tokenizer->vocab.whole_piece ? lw__vocab_find(&tokenizer->vocab, text, bytes) : -1;
    if (id >= 0) {
        ids[0] = id;
        *count = 1;
        return LW_OK;
    }
    return lw__bpe_encode(&tokenizer->bpe, &pieces->scratch, text, bytes, ids, count, err);
}

/* The kind of a key; parts are told from pieces only where they may have other ids. */
static unsigned kind_of(const lw__byte_pieces *pieces, bool whole)
{
    return !whole && pieces->tokenizer->vocab.whole_piece;
}

/* Puts all four places of the entry, and counts those that are used. */
static inline int32_t *put_entry(int32_t *out, const lw__cache_entry *entry)
{
    uint32_t first = entry->ids[0];
    memcpy(out, entry->ids, sizeof entry->ids);
    out[0] = (int32_t)(first & ((1u << LW__CACHE_ID_BITS) - 1));
    return out + (first >> LW__CACHE_ID_BITS);
}

/* Bytes that are not where the cache of short pieces has them first; it is given them when they
 * fit. */
static lw_status put_merged(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                            bool whole, const lw__cache_key *key, int32_t **out, lw_error *err)
{
    const lw__cache_entry *entry = lw__cache_find_beside(&pieces->cache, key);
    if (entry != NULL) {
        *out = put_entry(*out, entry);
        return LW_OK;
    }
    size_t count = 0;
    bool may_be_long = bytes > LW__CACHE_IDS && bytes <= LW__LONG_CACHE_BYTES;
    lw__long_key long_key;
    if (may_be_long) {
        long_key = lw__long_cache_key(text, bytes, kind_of(pieces, whole));
        const uint32_t *ids = lw__long_cache_find(&pieces->long_cache, &long_key, &count);
        if (ids != NULL) {
            memcpy(*out, ids, count * sizeof *ids);
            *out += count;
            return LW_OK;
        }
    }
    LW__TRY(merge(pieces, text, bytes, whole, *out, &count, err));
    if (bytes <= LW__CACHE_KEY_BYTES && count <= LW__CACHE_IDS) {
        lw__cache_put_beside(&pieces->cache, key, *out, count);
    } else if (may_be_long) {
        lw__long_cache_put(&pieces->long_cache, &long_key, *out, count);
    }
    *out += count;
    return LW_OK;
}

/* What lies between two certain cuts of a piece. */
typedef struct part {
    const unsigned char *text;
    size_t bytes;
    lw__cache_key key;
} part;

/* Also asks for its line of the cache; the piece ends at `end`. */
static part part_of(const lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                    const unsigned char *end)
{
    part p = {.text = text, .bytes = bytes, .key = lw__cache_key_of(text, bytes, end)};
    if (kind_of(pieces, false) != 0) {
        p.key = lw__cache_other_kind(p.key);
    }
    __builtin_prefetch(lw__cache_pair(&pieces->cache, &p.key));
    return p;
}

static lw_status put_part(lw__byte_pieces *pieces, const part *p, int32_t **out, lw_error *err)
{
    const lw__cache_entry *pair = lw__cache_pair(&pieces->cache, &p->key);
    for (size_t i = 0; i < 2; i++) {
        if (lw__cache_is(&pair[i], &p->key)) {
            *out = put_entry(*out, &pair[i]);
            return LW_OK;
        }
    }
    return put_merged(pieces, p->text, p->bytes, false, &p->key, out, err);
}

/* A piece of which the first certain cut is known. */
static lw_status put_parts(lw__byte_pieces *pieces, const unsigned char *piece, size_t bytes,
                           size_t cut, int32_t **out, lw_error *err)
{
    part parts[PARTS];
    for (size_t at = 0; at < bytes;) {
        size_t count = 0;
        for (; count < PARTS && at < bytes; count++) {
            parts[count] = part_of(pieces, piece + at, cut - at, piece + bytes);
            at = cut;
            cut = at < bytes ? lw__cuts_next(&pieces->tokenizer->cuts, piece, bytes, at) : bytes;
        }
        for (size_t i = 0; i < count; i++) {
            LW__TRY(put_part(pieces, &parts[i], out, err));
        }
    }
    return LW_OK;
}

/*
 * A piece that is too long for the cache of short ones. Between certain cuts it becomes parts
 * that are not; languages without spaces between words owe their speed to this.
 */
static lw_status put_long(lw__byte_pieces *pieces, const unsigned char *piece, size_t bytes,
                          const lw__cache_key *key, int32_t **out, lw_error *err)
{
    const lw__tokenizer *tokenizer = pieces->tokenizer;
    int32_t id =
        tokenizer->vocab.whole_piece ? lw__vocab_find(&tokenizer->vocab, piece, bytes) : -1;
    size_t cut = id >= 0 ? bytes : lw__cuts_next(&tokenizer->cuts, piece, bytes, 0);
    return cut == bytes ? put_merged(pieces, piece, bytes, true, key, out, err)
                        : put_parts(pieces, piece, bytes, cut, out, err);
}

/* A piece that the cache of short ones does not have. */
static __attribute__((noinline)) lw_status put_missed(lw__byte_pieces *pieces,
                                                      const unsigned char *piece, size_t bytes,
                                                      const lw__cache_key *key, int32_t **out,
                                                      lw_error *err)
{
    return bytes > LW__CACHE_KEY_BYTES ? put_long(pieces, piece, bytes, key, out, err)
                                       : put_merged(pieces, piece, bytes, true, key, out, err);
}

/* Takes the ids of the second entry of a pair, which becomes the first: the one in more use. */
static inline int32_t *put_second(int32_t *out, lw__cache_entry *pair)
{
    lw__cache_entry used = pair[1];
    pair[1] = pair[0];
    pair[0] = used;
    return put_entry(out, &used);
}

static lw_status put_pieces(lw__byte_pieces *pieces, const unsigned char *text, size_t count,
                            lw__arena *arena, lw_error *err)
{
    const lw__piece_batch *batch = &pieces->batch;
    int32_t *out = arena->ids + arena->count;
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        lw__cache_entry *pair = &pieces->cache.entries[(size_t)batch->places[i] * 2];
        size_t end = batch->ends[i];
        if (__builtin_expect(lw__cache_is(&pair[0], &batch->keys[i]), 1)) {
            out = put_entry(out, &pair[0]);
        } else if (lw__cache_is(&pair[1], &batch->keys[i])) {
            out = put_second(out, pair);
        } else {
            int32_t *missed = out; /* so that `out` itself can stay in a register */
            LW__TRY(put_missed(pieces, text + start, end - start, &batch->keys[i], &missed, err));
            out = missed;
        }
        start = end;
    }
    arena->count = (size_t)(out - arena->ids);
    return LW_OK;
}

/* Asks for the cache lines of all pieces of the batch. */
static void prepare(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes, size_t count)
{
    lw__piece_batch *batch = &pieces->batch;
    const lw__cache_entry *entries = pieces->cache.entries;
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = batch->ends[i] - start;
        lw__cache_key key = __builtin_expect(bytes - start >= 16, 1)
                                ? lw__cache_key_of_16(text + start, length)
                                : lw__cache_key_of(text + start, length, text + bytes);
        uint32_t place = lw__cache_place(&key);
        __builtin_prefetch(&entries[(size_t)place * 2]);
        batch->keys[i] = key;
        batch->places[i] = place;
        start += length;
    }
}

lw_status lw__byte_pieces_take(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                               size_t count, lw__arena *arena, lw_error *err)
{
    LW__TRY(lw__arena_reserve(arena, pieces->batch.ends[count - 1] + LW__CACHE_IDS, err));
    prepare(pieces, text, bytes, count);
    return put_pieces(pieces, text, count, arena, err);
}

lw_status lw__byte_pieces_encode_by(lw__byte_pieces *pieces, const lw__split_rules *rules,
                                    const unsigned char *text, size_t bytes, lw__arena *arena,
                                    lw_error *err)
{
    while (bytes > 0) {
        size_t count = pieces->walk(rules, text, bytes, pieces->batch.ends, LW__BYTE_PIECES_ROOM);
        if (count == 0) {
            return lw__fail(err, LW_E_UNSUPPORTED,
                            "tokenizer: a piece of %zu bytes or more without a cut, expected less",
                            (size_t)UINT32_MAX);
        }
        size_t taken = pieces->batch.ends[count - 1];
        LW__TRY(lw__byte_pieces_take(pieces, text, bytes, count, arena, err));
        text += taken;
        bytes -= taken;
    }
    return LW_OK;
}

lw_status lw__byte_pieces_encode(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                                 lw__arena *arena, lw_error *err)
{
    const lw__split_rules *rules = &pieces->tokenizer->vocab.rules;
    return rules->family == LW__SPLIT_STEPS
               ? lw__byte_steps_encode(pieces, text, bytes, arena, err)
               : lw__byte_pieces_encode_by(pieces, rules, text, bytes, arena, err);
}
