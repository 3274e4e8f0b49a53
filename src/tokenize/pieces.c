/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding a text: user-defined pieces are found, what lies between is cut into units, and a
 * unit's ids come from the cache or are made.
 */
#include "tokenize/pieces.h"

#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/piece_model.h"

#define UNITS 256 /* cut at a time */
#define BLOCK 64  /* ASCII bytes that are cut at once */

#define LONG_BITS  11 /* 2^11 long units: 280 KiB a thread */
#define LONG_BYTES 80 /* longest unit that is kept */
#define LONG_IDS   14 /* most ids of a unit that is kept */

typedef struct lw__unit_lookup {
    lw__cache_key key;
    lw__cache_entry *pair; /* NULL: the unit is too long for the cache */
} lookup;

/*
 * Rows of one character and deep indents are too long for the cache of pieces, come again and again,
 * and are dear to merge; a small table of their own holds the last ones.
 */
typedef struct lw__long_unit {
    uint8_t bytes; /* 0: empty */
    uint8_t count;
    unsigned char text[LONG_BYTES];
    int32_t ids[LONG_IDS];
} long_unit;

/* What one call works with. */
typedef struct job {
    const lw__pieces *pieces;
    lw__pieces_scratch *scratch;
    lw__arena *arena;
    size_t start; /* ids of the arena before this text */
} job;

typedef struct span {
    const unsigned char *data;
    size_t bytes;
} span;

static lw_status fill_scratch(lw__pieces_scratch *scratch, lw_error *err)
{
    scratch->lookups = lw__alloc_array(UNITS, sizeof *scratch->lookups);
    scratch->ends = lw__alloc_array(UNITS, sizeof *scratch->ends);
    scratch->longs = lw__alloc_zero((size_t)1 << LONG_BITS, sizeof *scratch->longs);
    if (scratch->lookups == NULL || scratch->ends == NULL || scratch->longs == NULL) {
        return lw__fail_nomem(err, sizeof *scratch->longs << LONG_BITS, "an encoder");
    }
    return lw__cache_create(&scratch->cache, err);
}

lw_status lw__pieces_scratch_create(lw__pieces_scratch **out, lw_error *err)
{
    *out = lw__alloc_zero(1, sizeof **out);
    if (*out == NULL) {
        return lw__fail_nomem(err, sizeof **out, "an encoder");
    }
    lw_status status = fill_scratch(*out, err);
    if (status < 0) {
        lw__pieces_scratch_destroy(*out);
        *out = NULL;
    }
    return status;
}

void lw__pieces_scratch_destroy(lw__pieces_scratch *scratch)
{
    if (scratch == NULL) {
        return;
    }
    lw__cache_reset(&scratch->cache);
    lw__joins_scratch_reset(&scratch->joins);
    lw__free(scratch->text);
    lw__free(scratch->ways);
    lw__free(scratch->lookups);
    lw__free(scratch->ends);
    lw__free(scratch->longs);
    lw__free(scratch);
}

size_t lw__pieces_unknown(const lw__pieces *pieces, uint32_t code, int32_t *ids)
{
    if (!pieces->rules->byte_fallback) {
        ids[0] = pieces->rules->unknown;
        return 1;
    }
    code = code == ' ' && pieces->rules->escaped ? LW__ESCAPED_SPACE_CODE : code;
    size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    unsigned lead = count == 1 ? 0 : 0xF00u >> count & 0xFFu;
    for (size_t i = count; i-- > 1; code >>= 6) {
        ids[i] = pieces->byte_ids[0x80 | (code & 0x3F)];
    }
    ids[0] = pieces->byte_ids[lead | code];
    return count;
}

/* ---- one unit ---- */

static size_t put_symbols(const lw__pieces *pieces, span unit, int32_t *symbols)
{
    size_t count = 0;
    size_t bytes;
    for (size_t at = 0; at < unit.bytes; at += bytes) {
        uint32_t code = lw__piece_char(unit.data + at, &bytes);
        int32_t symbol = lw__pieces_symbol(pieces, code);
        if (symbol >= 0) {
            symbols[count++] = symbol;
        } else {
            count += lw__pieces_unknown(pieces, code, symbols + count);
        }
    }
    return count;
}

/* Replaces symbols of characters that are no piece, from the last on as they may become more. */
static size_t resolve_loose(const lw__pieces *pieces, int32_t *ids, size_t count)
{
    int32_t limit = (int32_t)pieces->rules->count;
    int32_t bytes[4];
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_loose = ids[i] >= limit;
        total += is_loose ? lw__pieces_unknown(pieces, pieces->loose[ids[i] - limit], bytes) : 1;
    }
    size_t to = total;
    for (size_t i = count; i-- > 0;) {
        if (ids[i] < limit) {
            ids[--to] = ids[i];
        } else {
            size_t added = lw__pieces_unknown(pieces, pieces->loose[ids[i] - limit], bytes);
            to -= added;
            memcpy(ids + to, bytes, added * sizeof *ids);
        }
    }
    return total;
}

static bool fuses(const lw__pieces *pieces)
{
    return pieces->rules->fused && !pieces->rules->byte_fallback;
}

static size_t fuse(const lw__pieces *pieces, int32_t *ids, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || ids[i] != pieces->rules->unknown || ids[kept - 1] != ids[i]) {
            ids[kept++] = ids[i];
        }
    }
    return kept;
}

static lw_status encode_unit(const job *now, span unit, int32_t *ids, size_t *count, lw_error *err)
{
    const lw__pieces *pieces = now->pieces;
    if (pieces->rules->unigram) {
        return lw__pieces_best(pieces, now->scratch, unit.data, unit.bytes, ids, count, err);
    }
    *count = put_symbols(pieces, unit, ids);
    LW__TRY(lw__joins_merge(&pieces->joins, &now->scratch->joins, ids, count, err));
    if (pieces->loose_count > 0) {
        *count = resolve_loose(pieces, ids, *count);
    }
    if (fuses(pieces)) {
        *count = fuse(pieces, ids, *count);
    }
    return LW_OK;
}

/* Takes back an unknown id that goes on from the unit before. */
static void fuse_with_last(const job *now, span unit, size_t before)
{
    lw__arena *arena = now->arena;
    int32_t unknown = now->pieces->rules->unknown;
    bool is_apart = now->pieces->rules->split && unit.data[0] == ' ';
    if (before > now->start && !is_apart && arena->ids[before] == unknown &&
        arena->ids[before - 1] == unknown) {
        arena->count--;
        memmove(arena->ids + before, arena->ids + before + 1,
                (arena->count - before) * sizeof *arena->ids);
    }
}

static lw_status make_long(const job *now, span unit, lw_error *err)
{
    lw__arena *arena = now->arena;
    int32_t *ids = arena->ids + arena->count;
    size_t count = 0;
    if (unit.bytes > LONG_BYTES) {
        LW__TRY(encode_unit(now, unit, ids, &count, err));
        arena->count += count;
        return LW_OK;
    }
    uint64_t hash = XXH3_64bits(unit.data, unit.bytes);
    long_unit *kept = &now->scratch->longs[hash >> (64 - LONG_BITS)];
    if (kept->bytes == unit.bytes && memcmp(kept->text, unit.data, unit.bytes) == 0) {
        count = kept->count;
        memcpy(ids, kept->ids, count * sizeof *ids);
    } else {
        LW__TRY(encode_unit(now, unit, ids, &count, err));
        if (count <= LONG_IDS) {
            kept->bytes = (uint8_t)unit.bytes;
            kept->count = (uint8_t)count;
            memcpy(kept->text, unit.data, unit.bytes);
            memcpy(kept->ids, ids, count * sizeof *ids);
        }
    }
    arena->count += count;
    return LW_OK;
}

static lw_status make_unit(const job *now, span unit, const lookup *found, lw_error *err)
{
    size_t count = 0;
    int32_t *ids = now->arena->ids + now->arena->count;
    if (found->pair == NULL) {
        return make_long(now, unit, err);
    }
    LW__TRY(encode_unit(now, unit, ids, &count, err));
    if (count <= LW__CACHE_IDS) {
        lw__cache_put(found->pair, &found->key, ids, count);
    }
    now->arena->count += count;
    return LW_OK;
}

/* Copies all four places of an entry, and counts those that are used. */
static inline void put_entry(lw__arena *arena, const lw__cache_entry *entry)
{
    int32_t *ids = arena->ids + arena->count;
    uint32_t first = entry->ids[0];
    memcpy(ids, entry->ids, sizeof entry->ids);
    ids[0] = (int32_t)(first & 0xFFFFFF);
    arena->count += first >> 24;
}

static inline lw_status put_unit(const job *now, span unit, const lookup *found, lw_error *err)
{
    lw__arena *arena = now->arena;
    size_t before = arena->count;
    size_t room = unit.bytes * now->pieces->growth + LW__CACHE_IDS;
    if (arena->capacity - arena->count < room) {
        LW__TRY(lw__arena_reserve(arena, room, err));
    }
    if (found->pair != NULL && lw__cache_is(&found->pair[0], &found->key)) {
        put_entry(arena, &found->pair[0]);
    } else if (found->pair != NULL && lw__cache_is(&found->pair[1], &found->key)) {
        put_entry(arena, &found->pair[1]);
    } else {
        LW__TRY(make_unit(now, unit, found, err));
    }
    if (fuses(now->pieces)) {
        fuse_with_last(now, unit, before);
    }
    return LW_OK;
}

/* ---- cutting ---- */

/* The end of the unit that starts at p: the first boundary that no merge goes across. */
static const unsigned char *unit_end(const lw__pieces *pieces, const unsigned char *p,
                                     const unsigned char *end)
{
    const lw__joins *joins = &pieces->joins;
    size_t bytes;
    uint32_t last = lw__piece_char(p, &bytes);
    p += bytes;
    for (;;) {
        if (last < 0x80) {
            while (p < end && *p < 0x80 && joins->ascii[last][*p]) {
                last = *p++;
            }
            if (p == end || *p < 0x80) {
                return p;
            }
        }
        if (p == end || (*p == ' ' && pieces->rules->split)) {
            return p;
        }
        uint32_t next = lw__piece_char(p, &bytes);
        if (!lw__joins_wide(joins, last, next)) {
            return p;
        }
        last = next;
        p += bytes;
    }
}

/* Scores are sums over all of a text, so it is cut only where the rules say so. */
static const unsigned char *summed_end(const lw__pieces *pieces, const unsigned char *p,
                                       const unsigned char *end)
{
    const unsigned char *space =
        pieces->rules->split ? memchr(p + 1, ' ', (size_t)(end - p - 1)) : NULL;
    return space == NULL ? end : space;
}

static bool is_ascii_block(const unsigned char *p)
{
    uint64_t all = p[BLOCK] >= 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < BLOCK; i += sizeof all) {
        uint64_t word;
        memcpy(&word, p + i, sizeof word);
        all |= word;
    }
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

/*
 * The boundaries behind each of 64 ASCII bytes, all at once: where units end is hard to foresee,
 * so looking for one end after the other costs a wrong guess for each.
 */
static size_t cut_block(const lw__pieces *pieces, span text, size_t at, size_t *ends)
{
    const unsigned char *p = text.data + at;
    uint64_t cuts = 0;
    size_t count = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        cuts |= (uint64_t)!pieces->joins.ascii[p[i]][p[i + 1]] << i;
    }
    for (; cuts != 0; cuts &= cuts - 1) {
        ends[count++] = at + (size_t)__builtin_ctzll(cuts) + 1;
    }
    return count;
}

static size_t cut(const lw__pieces *pieces, span text, size_t at, size_t *ends)
{
    size_t count = 0;
    const size_t first = at;
    const unsigned char *end = text.data + text.bytes;
    bool in_blocks = !pieces->rules->unigram;
    size_t scalar_until = 0; /* a block with other characters is not looked at twice */
    while (count < UNITS && at < text.bytes) {
        if (in_blocks && at >= scalar_until && count + BLOCK <= UNITS && text.bytes - at > BLOCK) {
            if (is_ascii_block(text.data + at)) {
                count += cut_block(pieces, text, at, ends + count);
                at += BLOCK;
                continue;
            }
            scalar_until = at + BLOCK;
        }
        /* A unit that began in a block goes on from its last character. */
        bool is_open = at > 0 && (count == 0 ? at != first : ends[count - 1] != at);
        const unsigned char *p = text.data + at - is_open;
        p = pieces->rules->unigram ? summed_end(pieces, p, end) : unit_end(pieces, p, end);
        at = (size_t)(p - text.data);
        ends[count++] = at;
    }
    return count;
}

/* Asks for the cache lines of all units, so that none is waited for when it is looked at. */
static void prepare_lookups(const job *now, span text, size_t at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lookup *next = &now->scratch->lookups[i];
        size_t bytes = now->scratch->ends[i] - at;
        next->pair = NULL;
        if (bytes <= LW__CACHE_KEY_BYTES) {
            next->key = lw__cache_key_of(text.data + at, bytes, text.data + text.bytes);
            next->pair = lw__cache_pair(&now->scratch->cache, &next->key);
            __builtin_prefetch(next->pair);
        }
        at = now->scratch->ends[i];
    }
}

static lw_status encode_run(const job *now, span text, lw_error *err)
{
    size_t at = 0;
    while (at < text.bytes) {
        size_t count = cut(now->pieces, text, at, now->scratch->ends);
        prepare_lookups(now, text, at, count);
        for (size_t i = 0; i < count; i++) {
            span unit = {.data = text.data + at, .bytes = now->scratch->ends[i] - at};
            LW__TRY(put_unit(now, unit, &now->scratch->lookups[i], err));
            at = now->scratch->ends[i];
        }
    }
    return LW_OK;
}

/* ---- user-defined pieces ---- */

/* The next one from `at` on; its start goes to *at. */
static lw__trie_key next_atom(const lw__pieces *pieces, span text, size_t *at)
{
    for (; *at < text.bytes; ++*at) {
        if (pieces->atom_starts[text.data[*at]]) {
            lw__trie_key atom = lw__trie_longest(&pieces->atoms, text.data + *at, text.bytes - *at);
            if (atom.bytes > 0) {
                return atom;
            }
        }
    }
    return (lw__trie_key){.bytes = 0};
}

static lw_status put_atom(const job *now, int32_t id, lw_error *err)
{
    LW__TRY(lw__arena_reserve(now->arena, 1, err));
    now->arena->ids[now->arena->count++] = id;
    return LW_OK;
}

static lw_status encode_around_atoms(const job *now, span text, lw_error *err)
{
    size_t done = 0;
    for (;;) {
        size_t at = done;
        lw__trie_key atom = next_atom(now->pieces, text, &at);
        LW__TRY(encode_run(now, (span){.data = text.data + done, .bytes = at - done}, err));
        if (atom.bytes == 0) {
            return LW_OK;
        }
        LW__TRY(put_atom(now, atom.id, err));
        done = at + atom.bytes;
    }
}

lw_status lw__pieces_encode(const lw__pieces *pieces, lw__pieces_scratch *scratch, lw_str text,
                            bool first, lw__arena *arena, lw_error *err)
{
    lw_str prepared;
    LW__TRY(lw__pieces_prepare(pieces, scratch, text, first, &prepared, err));
    job now = {.pieces = pieces, .scratch = scratch, .arena = arena, .start = arena->count};
    span all = {.data = (const unsigned char *)prepared.data, .bytes = prepared.bytes};
    return pieces->atoms.nodes != NULL ? encode_around_atoms(&now, all, err)
                                       : encode_run(&now, all, err);
}
