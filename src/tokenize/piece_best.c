/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting by scores: from left to right, the best sum to every position; then back from the end.
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
    const unsigned char *text;
    size_t bytes;
    lw__way *ways;   /* one more than bytes */
    size_t frontier; /* the furthest position that was reached */
} search;

/* Offers a way to `end`; of equals the one that starts first stays. */
static inline void offer(search *find, size_t end, double score, size_t from, int32_t id)
{
    lw__way *way = &find->ways[end];
    score = find->pieces->rules->scored ? (double)(float)score : score;
    if (way->id == LW__WAY_NONE || score > way->score) {
        *way = (lw__way){.score = score, .from = (uint32_t)from, .id = id};
    }
    find->frontier = end > find->frontier ? end : find->frontier;
}

/* Offers all pieces that start at a position; true when one of them is just its character. */
static bool offer_pieces(search *find, size_t from, size_t char_bytes)
{
    const lw__trie *trie = &find->pieces->trie;
    bool is_known = false;
    uint32_t node = LW__TRIE_ROOT;
    double so_far = find->ways[from].score;
    for (size_t at = from; trie->nodes != NULL && at < find->bytes; at++) {
        node = lw__trie_child(trie, node, find->text[at]);
        if (node == LW__TRIE_NONE) {
            break;
        }
        int32_t id = trie->nodes[node].id;
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
    double offset = find->ways[at].score;
    if (!find->pieces->rules->scored || (offset >= -MOST_SCORE && offset <= MOST_SCORE)) {
        return;
    }
    for (size_t i = at; i <= find->frontier; i++) {
        if (i == at || find->ways[i].id != LW__WAY_NONE) {
            find->ways[i].score = (double)(float)(find->ways[i].score - offset);
        }
    }
}

static void search_all(search *find)
{
    const lw__pieces *pieces = find->pieces;
    for (size_t i = 0; i <= find->bytes; i++) {
        find->ways[i] = (lw__way){.id = LW__WAY_NONE};
    }
    size_t char_bytes;
    for (size_t at = 0; at < find->bytes; at += char_bytes) {
        (void)lw__piece_char(find->text + at, &char_bytes);
        start_again(find, at);
        if (!offer_pieces(find, at, char_bytes)) {
            double score = pieces->unknown_score + find->ways[at].score;
            offer(find, at + char_bytes, score, at, LW__SYMBOL_UNKNOWN);
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
    int32_t id = find->ways[end].id;
    return id == LW__SYMBOL_UNKNOWN || id == find->pieces->rules->unknown;
}

/*
 * The ids of [from, end), reversed: unknown characters, or the unknown piece itself, or both in a
 * row, which then count as unknown characters all.
 */
static size_t put_unknown(const search *find, size_t from, size_t end, int32_t *ids)
{
    const lw__pieces *pieces = find->pieces;
    bool is_piece = find->ways[end].from == from && find->ways[end].id != LW__SYMBOL_UNKNOWN;
    if (is_piece || !pieces->rules->byte_fallback) {
        ids[0] = pieces->rules->unknown;
        return 1;
    }
    size_t count = 0;
    size_t bytes;
    for (size_t at = from; at < end; at += bytes) {
        uint32_t code = lw__piece_char(find->text + at, &bytes);
        count += lw__pieces_unknown(pieces, code, ids + count);
    }
    reverse(ids, count);
    return count;
}

/* The ids from the end of the text to its start. */
static size_t walk_back(const search *find, int32_t *ids)
{
    size_t count = 0;
    size_t from;
    for (size_t end = find->bytes; end > 0; end = from) {
        from = find->ways[end].from;
        if (!is_unknown(find, end)) {
            ids[count++] = find->ways[end].id;
            continue;
        }
        while (from > 0 && is_unknown(find, from)) {
            from = find->ways[from].from;
        }
        count += put_unknown(find, from, end, ids + count);
    }
    return count;
}

lw_status lw__pieces_best(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                          const unsigned char *unit, size_t bytes, int32_t *ids, size_t *count,
                          lw_error *err)
{
    if (bytes > LONGEST) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: a text of %zu bytes, expected at most %zu", bytes,
                        (size_t)LONGEST);
    }
    if (bytes + 1 > scratch->way_capacity) {
        size_t wanted = bytes + 1 + bytes / 4;
        lw__way *ways = lw__resize_array(scratch->ways, wanted, sizeof *ways);
        if (ways == NULL) {
            return lw__fail_nomem(err, wanted * sizeof *ways, "a long text");
        }
        scratch->ways = ways;
        scratch->way_capacity = wanted;
    }
    search find = {.pieces = pieces, .text = unit, .bytes = bytes, .ways = scratch->ways};
    search_all(&find);
    *count = walk_back(&find, ids);
    reverse(ids, *count);
    return LW_OK;
}
