/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging whole rows at once. In a row of equal symbols the leftmost pair merges, then the one
 * behind it, and so on to the row's end, unless what has become of the first ones merges sooner
 * with a neighbour: that is looked at before, and then only one pair merges.
 *
 * Then the same steps may come again and again, as when a row of spaces becomes one long piece after
 * the other. What merges next depends on the symbols of the rows, and on which rows have but one.
 * So when some steps lead to the same symbols, and change no row but by a number, they are
 * repeated as often as no row becomes so short that it could matter.
 */
#include "tokenize/piece_rows.h"

#define ROWS  16   /* most of them, at any time */
#define STEPS 1024 /* after so many it is not a matter of rows */

#define NONE UINT64_MAX

typedef struct row {
    uint32_t symbol;
    size_t count;
    uint64_t
        inside; /* value of a pair of its symbols; NONE: it has but one, or they do not merge */
    uint64_t behind; /* of its last symbol and the first of the next row */
} row;

typedef struct row_list {
    row rows[ROWS];
    size_t count;
    bool is_full; /* a row was left out */
} row_list;

static void push(row_list *list, uint32_t symbol, size_t count)
{
    if (count == 0) {
        return;
    }
    if (list->count > 0 && list->rows[list->count - 1].symbol == symbol) {
        list->rows[list->count - 1].count += count;
    } else if (list->count == ROWS) {
        list->is_full = true;
    } else {
        list->rows[list->count++] = (row){.symbol = symbol, .count = count};
    }
}

static void find_values(const lw__joins *joins, row_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        row *at = &list->rows[i];
        at->inside = at->count > 1 ? lw__joins_value(joins, at->symbol, at->symbol) : NONE;
        at->behind = i + 1 < list->count ? lw__joins_value(joins, at->symbol, at[1].symbol) : NONE;
    }
}

/* The row whose first or last pair is the next to merge; `inside` says which. */
static size_t next_row(const row_list *list, bool *inside, uint64_t *value)
{
    size_t best = 0;
    *value = NONE;
    for (size_t i = 0; i < list->count; i++) {
        const row *at = &list->rows[i];
        if (at->inside >> 32 < *value >> 32) {
            *value = at->inside;
            *inside = true;
            best = i;
        }
        if (at->behind >> 32 < *value >> 32) {
            *value = at->behind;
            *inside = false;
            best = i;
        }
    }
    return best;
}

/* The number of pairs at the start of a row that merge before anything else does. */
static size_t pairs_at_once(const lw__joins *joins, const row_list *list, size_t at, uint64_t value)
{
    uint32_t became = (uint32_t)value;
    uint64_t rank = value >> 32;
    const row *from = &list->rows[at];
    bool sooner = lw__joins_value(joins, became, became) >> 32 <= rank ||
                  lw__joins_value(joins, became, from->symbol) >> 32 <= rank ||
                  (at > 0 && lw__joins_value(joins, from[-1].symbol, became) >> 32 <= rank);
    return sooner ? 1 : from->count / 2;
}

static void push_all(row_list *list, const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        push(list, rows[i].symbol, rows[i].count);
    }
}

/* Merges what is next to merge, in a row or behind it; false when nothing is. */
static bool step(const lw__joins *joins, row_list *list, size_t *row_at)
{
    row_list merged = {.count = 0};
    bool inside = false;
    uint64_t value;
    size_t at = next_row(list, &inside, &value);
    const row *from = &list->rows[at];
    *row_at = at;
    if (value == NONE) {
        return false;
    }
    push_all(&merged, list->rows, at);
    if (inside) {
        size_t pairs = pairs_at_once(joins, list, at, value);
        push(&merged, (uint32_t)value, pairs);
        push(&merged, from->symbol, from->count - 2 * pairs);
        push_all(&merged, from + 1, list->count - at - 1);
    } else {
        push(&merged, from->symbol, from->count - 1);
        push(&merged, (uint32_t)value, 1);
        push(&merged, from[1].symbol, from[1].count - 1);
        push_all(&merged, from + 2, list->count - at - 2);
    }
    *list = merged;
    find_values(joins, list);
    return true;
}

/* Steps that may come again: the rows before them, and the first row that any of them touched. */
typedef struct cycle {
    row_list before;
    size_t steps;
    size_t lowest;
} cycle;

static bool has_same_symbols(const row_list *a, const row_list *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = a->rows[i].symbol == b->rows[i].symbol;
    }
    return same;
}

/* How often the steps can come again; a step takes at most two symbols from a row. */
static size_t times_again(const row_list *list, const cycle *done)
{
    size_t times = SIZE_MAX;
    size_t enough = 2 * done->steps + 2;
    for (size_t i = 0; i < list->count; i++) {
        size_t before = done->before.rows[i].count;
        size_t now = list->rows[i].count;
        bool is_apart = i < done->lowest && before > 1;
        if (now > before && before < enough && !is_apart) {
            return 0;
        }
        if (now < before) {
            size_t most = now < enough ? 0 : (now - enough) / (before - now);
            times = most < times ? most : times;
        }
    }
    return times == SIZE_MAX ? 0 : times;
}

static void repeat(row_list *list, const cycle *done)
{
    if (!has_same_symbols(list, &done->before)) {
        return;
    }
    size_t times = times_again(list, done);
    for (size_t i = 0; i < list->count; i++) {
        size_t before = done->before.rows[i].count;
        row *at = &list->rows[i];
        at->count = at->count > before ? at->count + times * (at->count - before)
                                       : at->count - times * (before - at->count);
    }
}

/* All steps; false when they are too many, or the rows become too many. */
static bool merge_all(const lw__joins *joins, row_list *list)
{
    cycle now = {.before = *list, .lowest = ROWS};
    size_t at = 0;
    for (size_t steps = 1; steps < STEPS && !list->is_full; steps++) {
        if (!step(joins, list, &at)) {
            return true;
        }
        now.steps++;
        now.lowest = at < now.lowest ? at : now.lowest;
        repeat(list, &now);
        if ((steps & (steps - 1)) == 0) {
            now = (cycle){.before = *list, .lowest = ROWS};
        }
    }
    return false;
}

static size_t put_rows(const row_list *list, int32_t *symbols)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        for (size_t left = list->rows[i].count; left > 0; left--) {
            symbols[count++] = (int32_t)list->rows[i].symbol;
        }
    }
    return count;
}

bool lw__rows_merge(const lw__joins *joins, int32_t *symbols, size_t *count)
{
    row_list list = {.count = 0};
    for (size_t i = 0; i < *count && !list.is_full;) {
        size_t from = i;
        while (i < *count && symbols[i] == symbols[from]) {
            i++;
        }
        push(&list, (uint32_t)symbols[from], i - from);
    }
    find_values(joins, &list);
    if (list.is_full || !merge_all(joins, &list)) {
        return false;
    }
    *count = put_rows(&list, symbols);
    return true;
}
