/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting by scores: from left to right, the best sum to every position; then back from the end,
 * or from a position that no piece goes across: all ways meet there, and what is before it is settled.
 *
 * Sums are kept as the reference keeps them, in float for a .model and in double for a
 * tokenizer.json: rounding decides between splits whose sums are near.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/piece_model.h"

#define LONGEST    (UINT32_MAX - 1) /* positions are 32 bits wide */
#define MOST_SCORE 100000.0         /* beyond it a sum in float starts again at 0 */

typedef struct search {
    const lw__pieces *pieces;
    lw__summed *summed;
    lw__way *ways;   /* by position behind what was taken */
    size_t frontier; /* the furthest position that was reached; ways behind it are not set */
    bool is_short;   /* a piece may go on behind the text */
    int32_t *ids;
    size_t count;
} search;

static inline lw__way *way_to(const search *find, size_t at)
{
    return &find->ways[at - find->summed->taken];
}

/* Offers a way to `end`; of equals the one that starts first stays. */
static inline void offer(search *find, size_t end, double score, size_t from, int32_t id)
{
    while (find->frontier < end) {
        way_to(find, ++find->frontier)->id = LW__WAY_NONE;
    }
    lw__way *way = way_to(find, end);
    score = find->pieces->rules->scored ? (double)(float)score : score;
    if (way->id == LW__WAY_NONE || score > way->score) {
        *way = (lw__way){.score = score, .from = (uint32_t)from, .id = id};
    }
}

/* Offers all pieces that start at a position; true when one of them is just its character. */
static bool offer_pieces(search *find, size_t from, size_t char_bytes)
{
    const lw__trie *trie = &find->pieces->trie;
    const lw__summed *summed = find->summed;
    bool is_known = false;
    uint32_t node = trie->nodes == NULL ? LW__TRIE_NONE : LW__TRIE_ROOT;
    double so_far = way_to(find, from)->score;
    for (size_t at = from; node != LW__TRIE_NONE; at++) {
        if (at == summed->bytes) {
            find->is_short = !summed->is_last;
            break;
        }
        node = lw__trie_child(trie, node, summed->text[at]);
        int32_t id = node == LW__TRIE_NONE ? -1 : trie->nodes[node].id;
        if (id >= 0) {
            offer(find, at + 1, find->pieces->scores[id] + so_far, from, id);
            is_known = is_known || at + 1 - from == char_bytes;
        }
    }
    return is_known;
}

/* Floats lose what is small beside a large sum, so the reference moves all sums near a position. */
static void start_again(const search *find, size_t at)
{
    double offset = way_to(find, at)->score;
    if (!find->pieces->rules->scored || (offset >= -MOST_SCORE && offset <= MOST_SCORE)) {
        return;
    }
    for (size_t i = at; i <= find->frontier; i++) {
        lw__way *way = way_to(find, i);
        if (i == at || way->id != LW__WAY_NONE) {
            way->score = (double)(float)(way->score - offset);
        }
    }
}

static void reverse(int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        int32_t id = ids[i];
        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = id;
    }
}

static bool is_unknown(const search *find, size_t end)
{
    int32_t id = way_to(find, end)->id;
    return id == LW__SYMBOL_UNKNOWN || id == find->pieces->rules->unknown;
}

/*
 * The ids of [from, end), reversed: unknown characters, or the unknown piece itself, or both in a
 * row, which then count as unknown characters all.
 */
static size_t put_unknown(const search *find, size_t from, size_t end, int32_t *ids)
{
    const lw__pieces *pieces = find->pieces;
    const lw__way *way = way_to(find, end);
    bool is_piece = way->from == from && way->id != LW__SYMBOL_UNKNOWN;
    if (is_piece || !pieces->rules->byte_fallback) {
        ids[0] = pieces->rules->unknown;
        return 1;
    }
    size_t count = 0;
    size_t bytes;
    for (size_t at = from; at < end; at += bytes) {
        uint32_t code = lw__piece_char(find->summed->text + at, &bytes);
        count += lw__pieces_unknown(pieces, code, ids + count);
    }
    reverse(ids, count);
    return count;
}

/* The ids from a position back to what was taken. */
static size_t walk_back(const search *find, size_t end, int32_t *ids)
{
    size_t count = 0;
    for (size_t from; end > find->summed->taken; end = from) {
        from = way_to(find, end)->from;
        if (!is_unknown(find, end)) {
            ids[count++] = way_to(find, end)->id;
            continue;
        }
        while (from > find->summed->taken && is_unknown(find, from)) {
            from = way_to(find, from)->from;
        }
        count += put_unknown(find, from, end, ids + count);
    }
    return count;
}

/* Takes all up to a position that no way goes past. */
static void take(search *find, size_t at)
{
    size_t count = walk_back(find, at, find->ids + find->count);
    reverse(find->ids + find->count, count);
    find->count += count;
    find->ways[0] = (lw__way){.score = way_to(find, at)->score, .id = LW__WAY_NONE};
    find->summed->taken = at;
}

/*
 * Whether what is before a position that all ways meet at is settled: a run of unknown characters is
 * looked at as a whole, and a space may be dropped yet.
 */
static bool is_settled(const search *find, size_t at)
{
    const lw__summed *summed = find->summed;
    return at > summed->taken && at == find->frontier && !is_unknown(find, at) &&
           !(find->pieces->rules->collapsed && !summed->is_last && summed->text[at - 1] == ' ');
}

static void search_all(search *find)
{
    lw__summed *summed = find->summed;
    size_t char_bytes;
    for (size_t at = 0; at < summed->bytes && !find->is_short; at += char_bytes) {
        if (is_settled(find, at)) {
            take(find, at);
        }
        (void)lw__piece_char(summed->text + at, &char_bytes);
        start_again(find, at);
        if (!offer_pieces(find, at, char_bytes)) {
            double score = find->pieces->unknown_score + way_to(find, at)->score;
            offer(find, at + char_bytes, score, at, LW__SYMBOL_UNKNOWN);
        }
    }
    if (summed->is_last || (!find->is_short && is_settled(find, summed->bytes))) {
        take(find, summed->bytes);
    }
    summed->score = find->ways[0].score;
}

static lw_status reserve_ways(lw__pieces_scratch *scratch, size_t count, lw_error *err)
{
    if (count <= scratch->way_capacity) {
        return LW_OK;
    }
    size_t wanted = count + count / 4;
    lw__way *ways = lw__resize_array(scratch->ways, wanted, sizeof *ways);
    if (ways == NULL) {
        return lw__fail_nomem(err, wanted * sizeof *ways, "a long text");
    }
    scratch->ways = ways;
    scratch->way_capacity = wanted;
    return LW_OK;
}

lw_status lw__pieces_best(const lw__pieces *pieces, lw__pieces_scratch *scratch, lw__summed *summed,
                          int32_t *ids, size_t *count, lw_error *err)
{
    if (summed->bytes > LONGEST) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: a text of %zu bytes, expected at most %zu", summed->bytes,
                        (size_t)LONGEST);
    }
    LW__TRY(reserve_ways(scratch, summed->bytes + 1, err));
    search find = {.pieces = pieces, .summed = summed, .ways = scratch->ways, .ids = ids};
    summed->taken = 0;
    find.ways[0] = (lw__way){.score = summed->score, .id = LW__WAY_NONE};
    search_all(&find);
    *count = find.count;
    return LW_OK;
}
