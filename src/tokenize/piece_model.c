/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a model of pieces: the symbols of characters, the pairs that merge, the indexes.
 *
 * The pieces of a .model merge by their texts: two neighbours that are together a normal piece
 * merge, at the rank of its score. So every split of a piece into two that can occur is a pair.
 */
#include "tokenize/piece_model.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define PIECE_BYTES  1024 /* most of a piece that merges: bounds the work on its splits */
#define UNKNOWN_COST 10.0 /* what an unknown character scores below the least piece */

static lw_status refuse(const lw__pieces *pieces, const char *what, lw_error *err)
{
    lw__place place = {.path = pieces->vocab->path};
    return lw__vocab_fail(err, LW_E_UNSUPPORTED, &place, "%s", what);
}

static size_t limit_of(const lw__pieces *pieces)
{
    return pieces->rules->count;
}

static lw__piece_kind kind_of(const lw__pieces *pieces, int32_t id)
{
    return lw__piece_rules_kind(pieces->rules, id);
}

/* The number of characters, up to two. */
static size_t characters(lw_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.bytes && count < 2; i++) {
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    }
    return count;
}

static uint32_t first_char(const lw__pieces *pieces, lw_str text)
{
    size_t bytes;
    uint32_t code = lw__piece_char((const unsigned char *)text.data, &bytes);
    return pieces->rules->escaped && code == LW__ESCAPED_SPACE_CODE ? ' ' : code;
}

static uint32_t last_char(const lw__pieces *pieces, lw_str text)
{
    size_t at = text.bytes - 1;
    while (at > 0 && ((unsigned char)text.data[at] & 0xC0) == 0x80) {
        at--;
    }
    return first_char(pieces, (lw_str){.data = text.data + at, .bytes = text.bytes - at});
}

/* Whether a prepared text can hold it. */
static bool can_occur(const lw__pieces *pieces, lw_str text)
{
    return text.bytes > 0 &&
           !(pieces->rules->escaped && memchr(text.data, ' ', text.bytes) != NULL);
}

/* ---- unknown characters and symbols ---- */

static lw_status find_bytes(lw__pieces *pieces, lw_error *err)
{
    lw__place place = {.path = pieces->vocab->path};
    bool found[256] = {false};
    for (int32_t id = 0; (size_t)id < limit_of(pieces); id++) {
        lw__piece_kind kind = kind_of(pieces, id);
        int byte = lw__piece_byte(lw__vocab_text(pieces->vocab, id));
        if (byte >= 0 && kind == (pieces->rules->scored ? LW__PIECE_BYTE : LW__PIECE_NORMAL)) {
            found[byte] = true;
            pieces->byte_ids[byte] = id;
        }
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        if (!found[byte]) {
            return lw__vocab_fail(err, LW_E_UNSUPPORTED, &place,
                                  "byte_fallback without a piece <0x%02X>, expected one for each "
                                  "of 256 bytes",
                                  byte);
        }
    }
    return LW_OK;
}

static lw_status check_unknown(lw__pieces *pieces, lw_error *err)
{
    if (pieces->rules->byte_fallback) {
        return find_bytes(pieces, err);
    }
    return pieces->rules->unknown >= 0
               ? LW_OK
               : refuse(pieces, "no unknown piece and no byte_fallback, expected one of them", err);
}

static lw_status put_symbol(lw__pieces *pieces, uint32_t code, int32_t symbol, lw_error *err)
{
    uint16_t *page = &pieces->page_of[code / LW__SYMBOL_PAGE];
    if (*page == 0) {
        void *pages =
            lw__resize_array(pieces->pages, pieces->page_count + 1, sizeof *pieces->pages);
        if (pages == NULL) {
            return lw__fail_nomem(err, sizeof *pieces->pages, "symbols");
        }
        pieces->pages = pages;
        memset(pieces->pages[pieces->page_count], 0xFF, sizeof *pieces->pages);
        *page = (uint16_t)pieces->page_count++;
    }
    pieces->pages[*page][code % LW__SYMBOL_PAGE] = symbol;
    return LW_OK;
}

static lw_status put_symbols(lw__pieces *pieces, lw_error *err)
{
    for (int32_t id = 0; (size_t)id < limit_of(pieces); id++) {
        lw_str text = lw__vocab_text(pieces->vocab, id);
        lw__piece_kind kind = kind_of(pieces, id);
        if (kind == LW__PIECE_NONE || kind == LW__PIECE_USER_DEFINED || characters(text) != 1 ||
            !can_occur(pieces, text)) {
            continue;
        }
        if (kind != LW__PIECE_NORMAL) {
            lw__place place = {.path = pieces->vocab->path, .unit = "piece", .at = (uint64_t)id};
            return lw__vocab_fail(err, LW_E_UNSUPPORTED, &place,
                                  "\"%.*s\" is one character, expected that of a normal piece",
                                  lw__vocab_shown(text), text.data);
        }
        LW__TRY(put_symbol(pieces, first_char(pieces, text), id, err));
    }
    return LW_OK;
}

/* Makes a symbol of a character that is in pieces but is none itself. */
static lw_status put_loose(lw__pieces *pieces, uint32_t code, int32_t *symbol, lw_error *err)
{
    if (pieces->loose_count == pieces->loose_capacity) {
        size_t wanted = pieces->loose_capacity == 0 ? 64 : pieces->loose_capacity * 2;
        uint32_t *loose = lw__resize_array(pieces->loose, wanted, sizeof *loose);
        if (loose == NULL) {
            return lw__fail_nomem(err, wanted * sizeof *loose, "symbols");
        }
        pieces->loose = loose;
        pieces->loose_capacity = wanted;
    }
    *symbol = (int32_t)(limit_of(pieces) + pieces->loose_count);
    pieces->loose[pieces->loose_count++] = code;
    return put_symbol(pieces, code, *symbol, err);
}

/* ---- units ---- */

static void join_units(lw__pieces *pieces, uint32_t last, uint32_t first)
{
    if (first != ' ' || !pieces->rules->split) {
        lw__piece_units_join(&pieces->units, last, first);
    }
}

/* No user-defined piece is cut either. */
static void join_atoms(lw__pieces *pieces)
{
    for (int32_t id = 0; (size_t)id < limit_of(pieces); id++) {
        lw_str text = lw__vocab_text(pieces->vocab, id);
        if (kind_of(pieces, id) != LW__PIECE_USER_DEFINED) {
            continue;
        }
        for (size_t at = 1; at < text.bytes; at++) {
            if (((unsigned char)text.data[at] & 0xC0) != 0x80) {
                lw_str left = {.data = text.data, .bytes = at};
                lw_str right = {.data = text.data + at, .bytes = text.bytes - at};
                join_units(pieces, last_char(pieces, left), first_char(pieces, right));
            }
        }
    }
}

/* Whether a character may become the unknown piece; of those that are not ASCII any may. */
static bool may_be_unknown(const lw__pieces *pieces, unsigned byte)
{
    int32_t symbol = byte < 0x80 ? lw__pieces_symbol(pieces, byte) : LW__SYMBOL_UNKNOWN;
    return symbol < 0 || (size_t)symbol >= limit_of(pieces);
}

/* A run of unknown characters is one id, so it is one unit. */
static void join_unknown(lw__pieces *pieces)
{
    for (unsigned last = 0; last < 256; last++) {
        for (unsigned first = 0; first < 256; first++) {
            if (may_be_unknown(pieces, last) && may_be_unknown(pieces, first) &&
                (first != ' ' || !pieces->rules->split)) {
                lw__piece_units_join_bytes(&pieces->units, last, first);
            }
        }
    }
}

/* Scores are sums over all of a text, so it is cut only where the rules say so. */
static void join_summed(lw__pieces *pieces)
{
    for (unsigned last = 0; last < 256; last++) {
        for (unsigned first = 0; first < 256; first++) {
            if (first != ' ') {
                lw__piece_units_join_bytes(&pieces->units, last, first);
            }
        }
    }
}

/* ---- pairs ---- */

/* The symbol of one part of a piece; LW__SYMBOL_UNKNOWN when it can not come about. */
static lw_status part_symbol(lw__pieces *pieces, lw_str part, int32_t *symbol, lw_error *err)
{
    if (characters(part) > 1) {
        int32_t id = lw__vocab_find(pieces->vocab, part.data, part.bytes);
        *symbol = kind_of(pieces, id) == LW__PIECE_NORMAL ? id : LW__SYMBOL_UNKNOWN;
        return LW_OK;
    }
    uint32_t code = first_char(pieces, part);
    *symbol = lw__pieces_symbol(pieces, code);
    return *symbol >= 0 ? LW_OK : put_loose(pieces, code, symbol, err);
}

static lw_status put_split(lw__pieces *pieces, lw_str left, lw_str right, int32_t id, uint32_t rank,
                           lw_error *err)
{
    int32_t parts[2];
    LW__TRY(part_symbol(pieces, left, &parts[0], err));
    LW__TRY(part_symbol(pieces, right, &parts[1], err));
    if (parts[0] < 0 || parts[1] < 0) {
        return LW_OK;
    }
    lw__joint joint = {.left = (uint32_t)parts[0],
                       .right = (uint32_t)parts[1],
                       .becomes = (uint32_t)id,
                       .rank = rank};
    join_units(pieces, last_char(pieces, left), first_char(pieces, right));
    return lw__joins_put(&pieces->joins, &joint, err);
}

static lw_status put_splits(lw__pieces *pieces, int32_t id, uint32_t rank, lw_error *err)
{
    lw_str text = lw__vocab_text(pieces->vocab, id);
    if (text.bytes > PIECE_BYTES) {
        lw__place place = {.path = pieces->vocab->path, .unit = "piece", .at = (uint64_t)id};
        return lw__vocab_fail(err, LW_E_UNSUPPORTED, &place,
                              "a normal piece of %zu bytes, expected at most %d", text.bytes,
                              PIECE_BYTES);
    }
    for (size_t cut = 1; cut < text.bytes; cut++) {
        if (((unsigned char)text.data[cut] & 0xC0) != 0x80) {
            lw_str left = {.data = text.data, .bytes = cut};
            lw_str right = {.data = text.data + cut, .bytes = text.bytes - cut};
            LW__TRY(put_split(pieces, left, right, id, rank, err));
        }
    }
    return LW_OK;
}

typedef struct scored {
    double score;
    int32_t id;
} scored;

static int by_score(const void *a, const void *b)
{
    const scored *x = a;
    const scored *y = b;
    if (x->score > y->score || x->score < y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return (x->id > y->id) - (x->id < y->id);
}

static size_t list_merging(const lw__pieces *pieces, scored *list)
{
    size_t count = 0;
    for (int32_t id = 0; (size_t)id < limit_of(pieces); id++) {
        lw_str text = lw__vocab_text(pieces->vocab, id);
        if (kind_of(pieces, id) == LW__PIECE_NORMAL && characters(text) > 1 &&
            can_occur(pieces, text)) {
            list[count++] = (scored){.score = pieces->rules->items[id].score, .id = id};
        }
    }
    return count;
}

/* Pieces of equal score have equal rank: of them the leftmost pair merges first. */
static lw_status put_scored(lw__pieces *pieces, scored *list, lw_error *err)
{
    size_t count = list_merging(pieces, list);
    uint32_t rank = 0;
    qsort(list, count, sizeof *list, by_score);
    for (size_t i = 0; i < count; i++) {
        rank += i > 0 && list[i].score < list[i - 1].score;
        LW__TRY(put_splits(pieces, list[i].id, rank, err));
    }
    return LW_OK;
}

static lw_status join_scored(lw__pieces *pieces, lw_error *err)
{
    scored *list = lw__alloc_array(limit_of(pieces), sizeof *list);
    if (list == NULL) {
        return lw__fail_nomem(err, limit_of(pieces) * sizeof *list, "merges");
    }
    lw_status status = put_scored(pieces, list, err);
    lw__free(list);
    return status;
}

/* Whether an id can come from a character that is no piece. */
static bool is_fallback(const lw__pieces *pieces, int32_t id)
{
    if (!pieces->rules->byte_fallback) {
        return id == pieces->rules->unknown;
    }
    return lw__piece_byte(lw__vocab_text(pieces->vocab, id)) >= 0;
}

static lw_status join_listed(lw__pieces *pieces, lw_error *err)
{
    const lw__vocab *vocab = pieces->vocab;
    lw__place place = {.path = vocab->path, .unit = "merge"};
    for (size_t i = 0; i < vocab->merge_count; i++) {
        const lw__merge *merge = &vocab->merges[i];
        lw_str left = lw__vocab_text(vocab, merge->left);
        lw_str right = lw__vocab_text(vocab, merge->right);
        place.at = i;
        if (is_fallback(pieces, merge->left) || is_fallback(pieces, merge->right) ||
            (is_fallback(pieces, merge->id) && !pieces->rules->byte_fallback)) {
            return lw__vocab_fail(err, LW_E_UNSUPPORTED, &place,
                                  "\"%.*s\" + \"%.*s\", expected pieces that no unknown character "
                                  "becomes",
                                  lw__vocab_shown(left), left.data, lw__vocab_shown(right),
                                  right.data);
        }
        if (!can_occur(pieces, left) || !can_occur(pieces, right)) {
            continue;
        }
        lw__joint joint = {.left = (uint32_t)merge->left,
                           .right = (uint32_t)merge->right,
                           .becomes = (uint32_t)merge->id,
                           .rank = merge->rank};
        join_units(pieces, last_char(pieces, left), first_char(pieces, right));
        LW__TRY(lw__joins_put(&pieces->joins, &joint, err));
    }
    return LW_OK;
}

static lw_status build_merging(lw__pieces *pieces, lw_error *err)
{
    LW__TRY(put_symbols(pieces, err));
    LW__TRY(lw__joins_create(&pieces->joins, err));
    LW__TRY(lw__piece_units_create(&pieces->units, err));
    LW__TRY(pieces->rules->scored ? join_scored(pieces, err) : join_listed(pieces, err));
    join_atoms(pieces);
    if (pieces->fuses) {
        join_unknown(pieces);
    }
    return lw__piece_units_finish(&pieces->units, err);
}

/* ---- indexes ---- */

typedef struct key_list {
    lw__trie_key *keys;
    size_t count;
    unsigned char *texts;
    size_t used;
} key_list;

static void list_key(key_list *list, const lw__pieces *pieces, int32_t id, bool canonical)
{
    lw_str text = lw__vocab_text(pieces->vocab, id);
    unsigned char *out = list->texts + list->used;
    size_t bytes = text.bytes;
    if (bytes == 0) {
        return;
    }
    if (!canonical) {
        memcpy(out, text.data, bytes);
    } else if (!lw__piece_canonical(pieces->rules, text, out, &bytes)) {
        return;
    }
    list->keys[list->count++] = (lw__trie_key){.text = out, .bytes = bytes, .id = id};
    list->used += bytes;
}

/* Indexes user-defined pieces, and with `normal` the normal ones too. */
static lw_status build_trie(const lw__pieces *pieces, lw__trie *trie, bool normal, bool canonical,
                            lw_error *err)
{
    size_t room = pieces->vocab->pool.count + 1;
    key_list list = {.keys = lw__alloc_array(limit_of(pieces), sizeof *list.keys),
                     .texts = lw__alloc(room)};
    lw_status status = LW_OK;
    if (list.keys == NULL || list.texts == NULL) {
        status = lw__fail_nomem(err, room, "an index of pieces");
    } else {
        for (int32_t id = 0; (size_t)id < limit_of(pieces); id++) {
            lw__piece_kind kind = kind_of(pieces, id);
            if (kind == LW__PIECE_USER_DEFINED || (normal && kind == LW__PIECE_NORMAL)) {
                list_key(&list, pieces, id, canonical);
            }
        }
        status = lw__trie_build(trie, list.keys, list.count, err);
    }
    lw__free(list.keys);
    lw__free(list.texts);
    return status;
}

static lw_status build_atoms(lw__pieces *pieces, lw_error *err)
{
    if (!pieces->rules->unigram) {
        LW__TRY(build_trie(pieces, &pieces->atoms, false, true, err));
    }
    size_t starts = 0;
    for (unsigned byte = 0; byte < 256 && pieces->atoms.nodes != NULL; byte++) {
        pieces->atom_starts[byte] =
            lw__trie_child(&pieces->atoms, LW__TRIE_ROOT, (unsigned char)byte) != LW__TRIE_NONE;
        if (pieces->atom_starts[byte]) {
            pieces->atom_start = starts == 0 ? (int)byte : -1;
            starts++;
        }
    }
    return pieces->plain ? LW_OK : build_trie(pieces, &pieces->raw_atoms, false, false, err);
}

static void find_as_is(lw__pieces *pieces)
{
    const lw__trie *atoms = &pieces->raw_atoms;
    for (unsigned char byte = 0; byte < 128; byte++) {
        bool starts_atom =
            atoms->nodes != NULL && lw__trie_child(atoms, LW__TRIE_ROOT, byte) != LW__TRIE_NONE;
        pieces->as_is[byte] = !starts_atom && !lw__charsmap_has_ascii(&pieces->charsmap, byte);
    }
}

/* A user-defined piece scores by its bytes, so that it always wins. */
static void fill_scores(lw__pieces *pieces)
{
    const lw__piece_rules *rules = pieces->rules;
    double least = FLT_MAX;
    for (size_t id = 0; id < rules->count; id++) {
        pieces->scores[id] = rules->items[id].score;
        if (rules->items[id].kind == LW__PIECE_NORMAL) {
            least = rules->items[id].score < least ? rules->items[id].score : least;
        }
    }
    for (size_t id = 0; id < rules->count; id++) {
        if (rules->items[id].kind == LW__PIECE_USER_DEFINED) {
            size_t bytes = lw__vocab_text(pieces->vocab, (int32_t)id).bytes;
            pieces->scores[id] = (double)(float)(0.1 * (double)(bytes - 1));
        }
    }
    double unknown = least - UNKNOWN_COST;
    pieces->unknown_score = rules->scored ? (double)(float)unknown : unknown;
}

static lw_status build_unigram(lw__pieces *pieces, lw_error *err)
{
    pieces->scores = lw__alloc_array(limit_of(pieces), sizeof *pieces->scores);
    if (pieces->scores == NULL) {
        return lw__fail_nomem(err, limit_of(pieces) * sizeof *pieces->scores, "scores");
    }
    fill_scores(pieces);
    if (pieces->unknown_score > 0) {
        return refuse(pieces, "all scores are above 10, expected at most that", err);
    }
    LW__TRY(lw__piece_units_create(&pieces->units, err));
    join_summed(pieces);
    LW__TRY(lw__piece_units_finish(&pieces->units, err));
    return build_trie(pieces, &pieces->trie, true, true, err);
}

/* Whether an escaped space, one byte here, is no piece and so becomes the three of U+2581. */
static bool spreads(const lw__pieces *pieces)
{
    int32_t id = lw__vocab_find(pieces->vocab, LW__ESCAPED_SPACE, 3);
    return pieces->rules->escaped && pieces->rules->byte_fallback &&
           kind_of(pieces, id) != LW__PIECE_NORMAL && kind_of(pieces, id) != LW__PIECE_USER_DEFINED;
}

static lw_status build(lw__pieces *pieces, lw_error *err)
{
    const lw__piece_rules *rules = pieces->rules;
    LW__TRY(put_symbol(pieces, 0, LW__SYMBOL_UNKNOWN, err)); /* page 0 */
    memset(pieces->page_of, 0, sizeof pieces->page_of);
    LW__TRY(check_unknown(pieces, err));
    if (rules->charsmap.count > 0 &&
        !lw__charsmap_open(&pieces->charsmap, rules->charsmap.data, rules->charsmap.count)) {
        return refuse(pieces, "precompiled_charsmap is cut short, expected a whole one", err);
    }
    pieces->plain = !rules->collapsed && rules->charsmap.count == 0;
    pieces->fuses = rules->fused && !rules->byte_fallback;
    pieces->growth = spreads(pieces) ? LW__PIECES_GROWTH : 1;
    LW__TRY(build_atoms(pieces, err));
    find_as_is(pieces);
    return rules->unigram ? build_unigram(pieces, err) : build_merging(pieces, err);
}

lw_status lw__pieces_build(const lw__vocab *vocab, lw__pieces **out, lw_error *err)
{
    *out = NULL;
    lw__pieces *pieces = lw__alloc_zero(1, sizeof *pieces);
    if (pieces == NULL) {
        return lw__fail_nomem(err, sizeof *pieces, "a model of pieces");
    }
    pieces->vocab = vocab;
    pieces->rules = &vocab->pieces;
    lw_status status = build(pieces, err);
    if (status < 0) {
        lw__pieces_destroy(pieces);
        return status;
    }
    *out = pieces;
    return LW_OK;
}

void lw__pieces_destroy(lw__pieces *pieces)
{
    if (pieces == NULL) {
        return;
    }
    lw__joins_reset(&pieces->joins);
    lw__piece_units_reset(&pieces->units);
    lw__trie_reset(&pieces->atoms);
    lw__trie_reset(&pieces->raw_atoms);
    lw__trie_reset(&pieces->trie);
    lw__free(pieces->pages);
    lw__free(pieces->loose);
    lw__free(pieces->scores);
    lw__free(pieces);
}
