/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding a text: it is prepared and encoded part by part, each up to a cut that is certain, so
 * that a large text needs no more memory than a small one. User-defined pieces are found, and what
 * lies between is cut into units, whose ids come from the caches or are made here.
 */
#include "tokenize/pieces.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/byte_pieces.h"
#include "tokenize/piece_model.h"

#define PART_BYTES 32768 /* prepared at a time: it stays in a core's own cache */

/* What one call works with. */
typedef struct job {
    const lw__pieces *pieces;
    lw__pieces_scratch *scratch;
    lw__byte_pieces *units;
    lw__arena *arena;
    double score; /* unigram: of what was taken */
} job;

typedef struct span {
    const unsigned char *data;
    size_t bytes;
} span;

lw_status lw__pieces_scratch_create(lw__pieces_scratch **out, lw_error *err)
{
    *out = lw__alloc_zero(1, sizeof **out);
    return *out == NULL ? lw__fail_nomem(err, sizeof **out, "an encoder") : LW_OK;
}

void lw__pieces_scratch_destroy(lw__pieces_scratch *scratch)
{
    if (scratch == NULL) {
        return;
    }
    lw__merge_scratch_reset(&scratch->joins);
    lw__free(scratch->text);
    lw__free(scratch->ways);
    lw__free(scratch);
}

const lw__split_rules *lw__pieces_rules(const lw__pieces *pieces)
{
    return &pieces->units.rules;
}

const lw__cuts *lw__pieces_cuts(const lw__pieces *pieces)
{
    return &pieces->units.cuts;
}

size_t lw__pieces_growth(const lw__pieces *pieces)
{
    return pieces->growth;
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

static lw_status split_unit(const lw__pieces *pieces, lw__pieces_scratch *scratch, span unit,
                            int32_t *ids, size_t *count, lw_error *err)
{
    lw__summed summed = {.text = unit.data, .bytes = unit.bytes, .is_last = true};
    return lw__pieces_best(pieces, scratch, &summed, ids, count, err);
}

lw_status lw__pieces_unit(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                          const unsigned char *text, size_t bytes, int32_t *ids, size_t *count,
                          lw_error *err)
{
    span unit = {.data = text, .bytes = bytes};
    if (pieces->rules->unigram) {
        return split_unit(pieces, scratch, unit, ids, count, err);
    }
    *count = put_symbols(pieces, unit, ids);
    LW__TRY(lw__joins_merge(&pieces->joins, &scratch->joins, ids, count, err));
    if (pieces->loose_count > 0) {
        *count = resolve_loose(pieces, ids, *count);
    }
    if (pieces->fuses) {
        *count = fuse(pieces, ids, *count);
    }
    return LW_OK;
}

/* ---- user-defined pieces ---- */

/* The next place where one may start. */
static size_t next_start(const lw__pieces *pieces, span text, size_t at)
{
    if (pieces->atom_start >= 0) {
        const unsigned char *found = memchr(text.data + at, pieces->atom_start, text.bytes - at);
        return found == NULL ? text.bytes : (size_t)(found - text.data);
    }
    while (at < text.bytes && !pieces->atom_starts[text.data[at]]) {
        at++;
    }
    return at;
}

/* The next one from `at` on; its start goes to *at. */
static lw__trie_key next_atom(const lw__pieces *pieces, span text, size_t *at)
{
    for (;; ++*at) {
        *at = next_start(pieces, text, *at);
        if (*at == text.bytes) {
            return (lw__trie_key){.bytes = 0};
        }
        lw__trie_key atom = lw__trie_longest(&pieces->atoms, text.data + *at, text.bytes - *at);
        if (atom.bytes > 0) {
            return atom;
        }
    }
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
        LW__TRY(lw__byte_pieces_encode(now->units, text.data + done, at - done, now->arena, err));
        if (atom.bytes == 0) {
            return LW_OK;
        }
        LW__TRY(put_atom(now, atom.id, err));
        done = at + atom.bytes;
    }
}

/* ---- parts ---- */

/* Units up to the last certain cut of a text, or to its end. */
static lw_status encode_units(const job *now, span text, bool is_last, size_t *taken, lw_error *err)
{
    const lw__pieces *pieces = now->pieces;
    int but = pieces->rules->collapsed ? ' ' : -1; /* a space that ends the text is dropped */
    *taken =
        is_last ? text.bytes : lw__piece_units_last(&pieces->units, text.data, text.bytes, but);
    text.bytes = *taken;
    return pieces->atoms.nodes != NULL
               ? encode_around_atoms(now, text, err)
               : lw__byte_pieces_encode(now->units, text.data, text.bytes, now->arena, err);
}

static lw_status encode_summed(job *now, span text, bool is_last, size_t *taken, lw_error *err)
{
    lw__arena *arena = now->arena;
    size_t count = 0;
    lw__summed summed = {
        .text = text.data, .bytes = text.bytes, .is_last = is_last, .score = now->score};
    LW__TRY(lw__arena_reserve(arena, text.bytes * now->pieces->growth, err));
    LW__TRY(lw__pieces_best(now->pieces, now->scratch, &summed, arena->ids + arena->count, &count,
                            err));
    arena->count += count;
    now->score = summed.score;
    *taken = summed.taken;
    return LW_OK;
}

/* Encodes as much of the prepared text as is certain, and moves the rest to its start. */
static lw_status encode_part(job *now, bool is_last, size_t *taken, lw_error *err)
{
    lw__pieces_scratch *scratch = now->scratch;
    const lw__piece_rules *rules = now->pieces->rules;
    span text = {.data = scratch->text, .bytes = scratch->text_count};
    if (text.bytes == 0) {
        return LW_OK;
    }
    LW__TRY(rules->unigram && !rules->split ? encode_summed(now, text, is_last, taken, err)
                                            : encode_units(now, text, is_last, taken, err));
    scratch->text_count -= *taken;
    memmove(scratch->text, scratch->text + *taken, scratch->text_count);
    return LW_OK;
}

static lw_status encode_text(job *now, lw__piece_text text, lw_error *err)
{
    lw__pieces_scratch *scratch = now->scratch;
    lw__piece_source source = {.left = text.text, .first = text.first};
    bool is_last = false;
    now->score = 0;
    scratch->text_count = 0;
    for (size_t wanted = PART_BYTES; !is_last;) {
        size_t taken = 0;
        LW__TRY(lw__pieces_prepare(now->pieces, scratch, &source, wanted, err));
        is_last = source.left.bytes == 0;
        LW__TRY(encode_part(now, is_last, &taken, err));
        /* Twice as much when nothing was certain, so that no text is looked at again and again. */
        wanted = scratch->text_count + (taken == 0 ? scratch->text_count : 0) + PART_BYTES;
    }
    return LW_OK;
}

static lw_status take_piece(void *context, const unsigned char *piece, size_t bytes, lw_error *err)
{
    lw__piece_text text = {.text = {.data = (const char *)piece, .bytes = bytes}};
    return encode_text(context, text, err);
}

lw_status lw__pieces_encode(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                            lw__byte_pieces *units, lw__piece_text text, lw__arena *arena,
                            lw_error *err)
{
    job now = {.pieces = pieces, .scratch = scratch, .units = units, .arena = arena};
    const lw__steps *steps = &pieces->vocab->steps;
    return steps->count == 0 ? encode_text(&now, text, err)
                             : lw__steps_walk(steps, steps->count, &units->steps,
                                              (const unsigned char *)text.text.data,
                                              text.text.bytes, take_piece, &now, err);
}
