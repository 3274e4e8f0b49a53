/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three loops over a batch of pieces: cut them, ask for their cache lines, take their ids. By the
 * time a line is looked at it has come; what is not in it goes the long way.
 */
#include "tokenize/byte_pieces.h"

#include <string.h>

#include "base/error.h"
#include "tokenize/entry_ids.h"

_Static_assert(LW__PIECE_BATCH >= LW__BLOCK_ROOM, "a walk needs so much room");
_Static_assert(LW__VOCAB_LIMIT <= 1 << 24, "the cache keeps a count above 24 bits of an id");
_Static_assert(LW__WIDE_BYTES *LW__PIECES_GROWTH <= LW__LONG_CACHE_KEPT, "ids of an entry fit");
_Static_assert(LW__KEPT_STEP <= LW__WIDE_IDS, "the room behind a batch is that of a step");

#define PARTS 24 /* of a piece, looked up at a time */

/* Sizes of the tables, as powers of two. */
typedef struct table_bits {
    unsigned pairs; /* of piece_cache.h, 64 bytes each */
    unsigned lines; /* of wide_cache.h, 64 bytes each */
    unsigned ring;  /* ids of long_cache.h */
} table_bits;

static const table_bits usual_bits = {.pairs = 18, .lines = 17, .ring = 21}; /* 33 MiB */
static const table_bits least_bits = {.pairs = 17, .lines = 16, .ring = 19}; /* 14.25 MiB */

/* How text is cut: by a pattern, or for SentencePiece wherever nothing merges. */
static void set_rules(lw__byte_pieces *pieces, const lw__tokenizer *tokenizer)
{
    bool by_pattern = tokenizer->pieces == NULL;
    pieces->rules = by_pattern ? &tokenizer->vocab.rules : lw__pieces_rules(tokenizer->pieces);
    pieces->cuts = by_pattern ? &tokenizer->cuts : lw__pieces_cuts(tokenizer->pieces);
    pieces->growth = by_pattern ? 1 : lw__pieces_growth(tokenizer->pieces);
}

lw_status lw__byte_pieces_create(lw__byte_pieces *pieces, const lw__tokenizer *tokenizer,
                                 lw__pieces_scratch *scratch, size_t bytes, lw_error *err)
{
    lw__blocks_form forms[3];
    (void)lw__blocks_forms(forms);
    pieces->tokenizer = tokenizer;
    pieces->pieces = scratch;
    set_rules(pieces, tokenizer);
    pieces->walk = forms[0].walk;
    pieces->do_jobs = forms[0].do_jobs;
    pieces->put_keys = forms[0].put_keys;
    if (tokenizer->vocab.rules.family == LW__SPLIT_STEPS) {
        LW__TRY(lw__steps_scratch_create(&pieces->steps, err));
    }
    const table_bits *bits = bytes < LW__ENCODER_BYTES ? &least_bits : &usual_bits;
    LW__TRY(lw__cache_create(&pieces->cache, bits->pairs, err));
    LW__TRY(lw__wide_cache_create(&pieces->wide_cache, bits->lines, err));
    return lw__long_cache_create(&pieces->long_cache, bits->ring, err);
}

void lw__byte_pieces_reset(lw__byte_pieces *pieces)
{
    lw__cache_reset(&pieces->cache);
    lw__wide_cache_reset(&pieces->wide_cache);
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
        whole ? lw__whole_tokens_find(&tokenizer->whole_tokens, &tokenizer->vocab, text, bytes)
              : -1;
    if (id >= 0) {
        ids[0] = id;
        *count = 1;
        return LW_OK;
    }
    if (tokenizer->pieces != NULL) {
        return lw__pieces_unit(tokenizer->pieces, pieces->pieces, text, bytes, ids, count, err);
    }
    return lw__bpe_encode(&tokenizer->bpe, &pieces->scratch, text, bytes, ids, count, err);
}

/* The kind of a key; parts are told from pieces only where they may have other ids. */
static unsigned kind_of(const lw__byte_pieces *pieces, bool whole)
{
    return !whole && pieces->tokenizer->vocab.whole_piece;
}

/* Bytes on their way to ids: a whole piece, or a part of one between certain cuts. */
typedef struct unit {
    const unsigned char *text;
    size_t bytes;
    bool whole;
    lw__cache_key key;   /* up to LW__CACHE_KEY_BYTES */
    lw__wide_key wide;   /* up to LW__WIDE_BYTES */
    lw__long_key longer; /* up to LW__LONG_CACHE_BYTES */
} unit;

/* Whether the ids of a short unit may wait for others: those of SentencePiece are merged elsewhere. */
static bool may_wait(const lw__byte_pieces *pieces, size_t bytes)
{
    return bytes <= LW__CACHE_KEY_BYTES && pieces->pieces == NULL;
}

/* Looks where put_pieces and put_part do not. */
static bool find_known(lw__byte_pieces *pieces, unit *u, const unsigned char *end, int32_t **out)
{
    unsigned kind = kind_of(pieces, u->whole);
    if (u->bytes <= LW__CACHE_KEY_BYTES) {
        lw__cache_entry *entry = lw__cache_find_beside(&pieces->cache, &u->key);
        return entry != NULL && lw__entry_put_short(&pieces->long_cache, entry, out);
    }
    if (u->bytes <= LW__WIDE_BYTES) {
        u->wide = lw__wide_key_of(u->text, u->bytes, end);
        u->wide.tail = kind != 0 ? lw__cache_other_kind(u->wide.tail) : u->wide.tail;
        lw__wide_entry *entry = lw__wide_find(&pieces->wide_cache, &u->wide);
        return entry != NULL && lw__entry_put(&pieces->long_cache, entry->ids, LW__WIDE_IDS, out);
    }
    if (u->bytes <= LW__LONG_CACHE_BYTES) {
        size_t count = 0;
        u->longer = lw__long_cache_key(u->text, u->bytes, kind);
        const uint32_t *ids = lw__long_cache_find(&pieces->long_cache, &u->longer, &count);
        if (ids != NULL) {
            memcpy(*out, ids, count * sizeof *ids);
            *out += count;
            return true;
        }
    }
    return false;
}

/* The same, for the ids of the arena. */
static bool put_known(lw__byte_pieces *pieces, unit *u, const unsigned char *end, lw__arena *arena)
{
    int32_t *out = arena->ids + arena->count;
    bool found = find_known(pieces, u, end, &out);
    arena->count = (size_t)(out - arena->ids);
    return found;
}

/* For what put_known did not find. */
static void keep(lw__byte_pieces *pieces, const unit *u, const int32_t *ids, size_t count)
{
    if (u->bytes <= LW__CACHE_KEY_BYTES) {
        lw__cache_entry *entry = lw__cache_take_beside(&pieces->cache, &u->key);
        lw__entry_fill(&pieces->long_cache, entry->ids, LW__CACHE_IDS, ids, count);
    } else if (u->bytes <= LW__WIDE_BYTES) {
        lw__wide_entry *entry = lw__wide_take(&pieces->wide_cache, &u->wide);
        lw__entry_fill(&pieces->long_cache, entry->ids, LW__WIDE_IDS, ids, count);
    } else if (u->bytes <= LW__LONG_CACHE_BYTES) {
        lw__long_cache_put(&pieces->long_cache, &u->longer, ids, count);
    }
}

/* The ids of what is not where the table of short pieces has it first. */
static lw_status put_missed_part(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                                 const lw__cache_key *key, const unsigned char *end,
                                 lw__arena *arena, lw_error *err)
{
    if (may_wait(pieces, bytes)) {
        lw__gap_piece piece = {.text = text, .bytes = bytes, .key = key, .whole = false};
        lw__gaps_leave(pieces, &piece, arena);
        return LW_OK;
    }
    unit u = {.text = text, .bytes = bytes, .whole = false, .key = *key};
    if (put_known(pieces, &u, end, arena)) {
        return LW_OK;
    }
    int32_t *ids = arena->ids + arena->count;
    size_t count = 0;
    LW__TRY(merge(pieces, text, bytes, false, ids, &count, err));
    keep(pieces, &u, ids, count);
    arena->count += count;
    return LW_OK;
}

/* What lies between two certain cuts of a piece. */
typedef struct part {
    const unsigned char *text;
    size_t bytes;
    lw__cache_key key;
    lw__cache_entry *pair;
} part;

/* Also asks for its line of the cache; the text ends at `end`. */
static part part_of(const lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                    const unsigned char *end)
{
    part p = {.text = text, .bytes = bytes, .key = lw__cache_key_of(text, bytes, end)};
    if (kind_of(pieces, false) != 0) {
        p.key = lw__cache_other_kind(p.key);
    }
    p.pair = lw__cache_pair(&pieces->cache, &p.key);
    __builtin_prefetch(p.pair);
    return p;
}

static lw_status put_part(lw__byte_pieces *pieces, const part *p, const unsigned char *end,
                          lw__arena *arena, lw_error *err)
{
    int32_t *out = arena->ids + arena->count;
    for (size_t i = 0; i < 2; i++) {
        if (lw__cache_is(&p->pair[i], &p->key) &&
            lw__entry_put_short(&pieces->long_cache, &p->pair[i], &out)) {
            arena->count = (size_t)(out - arena->ids);
            return LW_OK;
        }
    }
    return put_missed_part(pieces, p->text, p->bytes, &p->key, end, arena, err);
}

/* A piece of which the first certain cut is known. */
static lw_status put_parts(lw__byte_pieces *pieces, const unsigned char *piece, size_t bytes,
                           size_t cut, const unsigned char *end, lw__arena *arena, lw_error *err)
{
    part parts[PARTS];
    for (size_t at = 0; at < bytes;) {
        size_t count = 0;
        for (; count < PARTS && at < bytes; count++) {
            parts[count] = part_of(pieces, piece + at, cut - at, end);
            at = cut;
            cut = at < bytes ? lw__cuts_next(pieces->cuts, piece, bytes, at) : bytes;
        }
        for (size_t i = 0; i < count; i++) {
            LW__TRY(put_part(pieces, &parts[i], end, arena, err));
        }
    }
    return LW_OK;
}

/*
 * Where a piece is cut for certain first; its end when it is looked up whole. One that is too long
 * for the table of short pieces becomes parts that are not; languages without spaces between words
 * owe their speed to this. A piece that is a token has no such cut, as cuts are where no token is.
 */
static size_t first_cut(const lw__byte_pieces *pieces, const unsigned char *piece, size_t bytes)
{
    return lw__cuts_next(pieces->cuts, piece, bytes, 0);
}

/* A piece that the cache of short ones does not have; `end` is that of the text. */
static __attribute__((noinline)) lw_status put_missed(lw__byte_pieces *pieces,
                                                      const unsigned char *piece, size_t bytes,
                                                      const lw__cache_key *key,
                                                      const unsigned char *end, lw__arena *arena,
                                                      lw_error *err)
{
    if (may_wait(pieces, bytes)) {
        lw__gap_piece missed = {.text = piece, .bytes = bytes, .key = key, .whole = true};
        lw__gaps_leave(pieces, &missed, arena);
        return LW_OK;
    }
    unit u = {.text = piece, .bytes = bytes, .whole = true, .key = *key};
    size_t cut = bytes > LW__WIDE_BYTES ? first_cut(pieces, piece, bytes) : bytes;
    if (cut < bytes) { /* Such a piece seldom comes again, its parts do. */
        return put_parts(pieces, piece, bytes, cut, end, arena, err);
    }
    if (put_known(pieces, &u, end, arena)) {
        return LW_OK;
    }
    size_t start = arena->count;
    uint64_t gaps = pieces->gaps.left;
    if (bytes > LW__CACHE_KEY_BYTES && bytes <= LW__WIDE_BYTES) {
        cut = first_cut(pieces, piece, bytes);
    }
    if (cut < bytes) {
        LW__TRY(put_parts(pieces, piece, bytes, cut, end, arena, err));
    } else {
        size_t count = 0;
        LW__TRY(merge(pieces, piece, bytes, true, arena->ids + start, &count, err));
        arena->count += count;
    }
    if (gaps == pieces->gaps.left) { /* else not all ids are there yet */
        keep(pieces, &u, arena->ids + start, arena->count - start);
    }
    return LW_OK;
}

/* Takes the ids of the second entry of a pair, which becomes the first: the one in more use. */
static inline bool put_second(const lw__byte_pieces *pieces, lw__cache_entry *pair, int32_t **out)
{
    lw__cache_entry used = pair[1];
    pair[1] = pair[0];
    pair[0] = used;
    return lw__entry_put_short(&pieces->long_cache, &pair[0], out);
}

/* A piece of the batch that is not simply in the first entry of its pair. */
static __attribute__((noinline)) lw_status put_rare(lw__byte_pieces *pieces,
                                                    const unsigned char *text, size_t bytes,
                                                    size_t number, lw__arena *arena, lw_error *err)
{
    const lw__piece_batch *batch = &pieces->batch;
    const lw__cache_key *key = &batch->keys[number];
    lw__cache_entry *pair = &pieces->cache.entries[(size_t)batch->places[number] * 2];
    int32_t *out = arena->ids + arena->count;
    if (lw__cache_is(&pair[0], key)
            ? lw__entry_put_short(&pieces->long_cache, &pair[0], &out)
            : lw__cache_is(&pair[1], key) && put_second(pieces, pair, &out)) {
        arena->count = (size_t)(out - arena->ids);
        return LW_OK;
    }
    size_t start = number > 0 ? batch->ends[number - 1] : 0;
    return put_missed(pieces, text + start, batch->ends[number] - start, key, text + bytes, arena,
                      err);
}

static lw_status put_pieces(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                            size_t count, lw__arena *arena, lw_error *err)
{
    const lw__piece_batch *batch = &pieces->batch;
    const lw__cache_entry *entries = pieces->cache.entries;
    int32_t *out = arena->ids + arena->count;
    for (size_t i = 0; i < count; i++) {
        const lw__cache_entry *entry = &entries[(size_t)batch->places[i] * 2];
        if (__builtin_expect(lw__cache_is(entry, &batch->keys[i]) && lw__entry_has_all(entry->ids),
                             1)) {
            out += lw__entry_copy(entry->ids, LW__CACHE_IDS, out);
            continue;
        }
        arena->count = (size_t)(out - arena->ids);
        LW__TRY(put_rare(pieces, text, bytes, i, arena, err));
        out = arena->ids + arena->count;
    }
    arena->count = (size_t)(out - arena->ids);
    return LW_OK;
}

/* Asks for the lines of pieces that are too long for the table of short ones. */
static void ask_longer(const lw__byte_pieces *pieces, const unsigned char *text, size_t bytes)
{
    const lw__piece_batch *batch = &pieces->batch;
    for (size_t i = 0; i < batch->longer_count; i++) {
        size_t number = batch->longer[i];
        size_t start = number > 0 ? batch->ends[number - 1] : 0;
        size_t length = batch->ends[number] - start;
        if (length <= LW__WIDE_BYTES) {
            lw__wide_key key = lw__wide_key_of(text + start, length, text + bytes);
            __builtin_prefetch(lw__wide_place(&pieces->wide_cache, &key));
        }
    }
}

lw_status lw__byte_pieces_take(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                               size_t count, lw__arena *arena, lw_error *err)
{
    size_t taken = pieces->batch.ends[count - 1];
    LW__TRY(lw__arena_reserve(arena, taken * pieces->growth + LW__WIDE_IDS + LW__GAP_ROOM, err));
    pieces->put_keys(&pieces->batch, &pieces->cache, text, bytes, count);
    ask_longer(pieces, text, bytes);
    return put_pieces(pieces, text, bytes, count, arena, err);
}

lw_status lw__byte_pieces_encode_by(lw__byte_pieces *pieces, const lw__split_rules *rules,
                                    const unsigned char *text, size_t bytes, lw__arena *arena,
                                    lw_error *err)
{
    while (bytes > 0) {
        size_t count = pieces->walk(rules, text, bytes, pieces->batch.ends, LW__PIECE_BATCH);
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
    pieces->gaps.count = 0;
    LW__TRY(pieces->rules->family == LW__SPLIT_STEPS
                ? lw__byte_steps_encode(pieces, text, bytes, arena, err)
                : lw__byte_pieces_encode_by(pieces, pieces->rules, text, bytes, arena, err));
    if (pieces->gaps.count > 0) {
        lw__gaps_fill(pieces, arena);
    }
    return LW_OK;
}
