/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging of many symbols: the pair of lowest rank first, the leftmost of equals, until none merges.
 * The file that includes this says how pairs merge:
 *
 *   lw__merge_table                              what is known of pairs
 *   lw__merge_rank(table, left, right)           the rank of a pair, LW__TREE_NONE or more: it has none
 *   lw__merge_symbol(table, left, right, rank)   what the pair of that rank becomes
 *
 * It is done window by window, in a core's own cache. The next window begins where a symbol does in
 * the one before, near its end, and takes over at the first place where both have a boundary that no
 * merge goes across. Where there is none the window is taken twice as large. A window that reads like
 * the one before it needs no merging, so a run of a few characters costs next to nothing.
 *
 *   one           |  |    |   |  |  |
 *   the next                  |  |   |    |  |  |
 *
 * Each window goes on by a quarter of its size at least, so this is O(n log n) for any symbols.
 */
#ifndef LW__TOKENIZE_MERGE_LONG_H
#define LW__TOKENIZE_MERGE_LONG_H

#include "tokenize/merge_window.h"

#define LW__MERGE_WINDOW   LW__TREE_WIDTH /* symbols: the tree is one group */
#define LW__MERGE_MEETINGS 16             /* places that are tried for a window to take over at */

/* ---- one window ---- */

/* A pair that may merge, by the place of its left symbol. */
typedef struct lw__merge_pair {
    uint32_t rank;
    uint32_t at;
} lw__merge_pair;

static inline uint32_t lw__merge_bounded_rank(const lw__merge_table *table, uint32_t left,
                                              uint32_t right)
{
    uint32_t rank = lw__merge_rank(table, left, right);
    return rank < LW__TREE_NONE ? rank : LW__TREE_NONE;
}

static void lw__merge_start(const lw__merge_table *table, lw__merge_window *window,
                            const uint32_t *given, size_t count)
{
    window->given = given;
    window->count = count;
    window->step_count = 0;
    memcpy(window->symbols, given, count * sizeof *given);
    lw__tree_start(&window->tree, window->ranks, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank =
            i + 1 < count ? lw__merge_bounded_rank(table, given[i], given[i + 1]) : LW__TREE_NONE;
        window->next[i] = i + 1;
        window->previous[i + 1] = i;
        lw__tree_put(&window->tree, i, rank);
    }
    lw__tree_finish(&window->tree, count);
}

static inline void lw__merge_put(lw__merge_window *window, uint32_t at, uint32_t rank)
{
    lw__tree_put(&window->tree, at, rank);
    lw__tree_renew(&window->tree, at);
}

static inline lw__merge_pair lw__merge_first(const lw__merge_window *window)
{
    uint32_t rank;
    uint32_t at = (uint32_t)lw__tree_first(&window->tree, &rank);
    return (lw__merge_pair){.rank = rank, .at = at};
}

static inline lw__merge_pair lw__merge_less(lw__merge_pair a, lw__merge_pair b)
{
    return a.rank < b.rank || (a.rank == b.rank && a.at < b.at) ? a : b;
}

/* Joins the two symbols of a pair, and says so in the record. */
static inline void lw__merge_join(const lw__merge_table *table, lw__merge_window *window,
                                  lw__merge_pair pair, uint32_t gone)
{
    uint32_t *symbols = window->symbols;
    uint32_t end = window->next[gone];
    symbols[pair.at] = lw__merge_symbol(table, symbols[pair.at], symbols[gone], pair.rank);
    window->next[pair.at] = end;
    window->previous[end] = pair.at;
    window->steps[window->step_count++] = (lw__merge_step){
        .rank = pair.rank, .symbol = symbols[pair.at], .start = pair.at, .end = end};
}

/*
 * Merges some symbols, for which there is room, until no pair of them merges. The two pairs that a
 * merge makes go into the tree at the next one: to look them up takes longest, and meanwhile the
 * tree says what else is first.
 */
static void lw__merge_alone(const lw__merge_table *table, lw__merge_window *window,
                            const uint32_t *given, size_t count)
{
    uint32_t last = (uint32_t)count - 1; /* where no pair starts */
    lw__merge_pair left = {.rank = LW__TREE_NONE, .at = last};
    lw__merge_pair right = left;
    lw__merge_start(table, window, given, count);
    lw__merge_pair first = lw__merge_first(window);
    while (first.rank != LW__TREE_NONE) {
        uint32_t at = first.at;
        uint32_t gone = window->next[at];
        uint32_t before = at > 0 ? window->previous[at] : last;
        lw__merge_join(table, window, first, gone);
        lw__merge_put(window, left.at, left.rank);
        lw__merge_put(window, right.at, right.rank);
        lw__merge_put(window, before, LW__TREE_NONE);
        lw__merge_put(window, at, LW__TREE_NONE);
        lw__merge_put(window, gone, LW__TREE_NONE);
        first = lw__merge_first(window);
        uint32_t symbol = window->symbols[at];
        uint32_t end = window->next[at];
        left.at = before;
        left.rank =
            at > 0 ? lw__merge_bounded_rank(table, window->symbols[before], symbol) : LW__TREE_NONE;
        right.at = at;
        right.rank = end < count ? lw__merge_bounded_rank(table, symbol, window->symbols[end])
                                 : LW__TREE_NONE;
        first = lw__merge_less(left, lw__merge_less(right, first));
    }
}

/*
 * Whether no merge goes across the boundary between what one window has before a place and another
 * has behind one, where both have a boundary themselves. Side by side the two are merged as alone,
 * the lower level first and of equal ones what stands left, as long as the pair across waits: its
 * rank must be above the level at which one of its two symbols changes, or as high if that is the
 * left one, and in the end it must have none.
 */
static bool lw__merge_stays_apart(const lw__merge_table *table, const lw__merge_window *left_window,
                                  size_t left_at, const lw__merge_window *right_window,
                                  size_t right_at)
{
    lw__merge_side left = {
        .window = left_window, .at = left_at, .symbol = left_window->given[left_at - 1]};
    lw__merge_side right = {
        .window = right_window, .at = right_at, .symbol = right_window->given[right_at]};
    lw__window_left_step(&left);
    lw__window_right_step(&right);
    for (;;) {
        uint32_t rank = lw__merge_bounded_rank(table, left.symbol, right.symbol);
        if (left.level <= right.level) {
            if (rank < left.level || left.level == LW__TREE_NONE) {
                return rank >= left.level;
            }
            left.symbol = left_window->steps[left.step++].symbol;
            lw__window_left_step(&left);
        } else {
            if (rank <= right.level) {
                return false;
            }
            right.symbol = right_window->steps[right.step++].symbol;
            lw__window_right_step(&right);
        }
    }
}

/* ---- window by window ---- */

/* A window, and where it lies among all symbols. */
typedef struct lw__merge_part {
    lw__merge_window *window;
    size_t start;
} lw__merge_part;

/* Symbols that are merged: those up to `from` have become the first `put` ids. */
typedef struct lw__merge_job {
    const lw__merge_table *table;
    lw__merge_scratch *scratch;
    size_t total;
    size_t from;
    int32_t *ids;
    size_t put;
    lw__merge_part now;    /* has what is behind `from` */
    lw__merge_part before; /* has what is before it; without a window at the start */
} lw__merge_job;

/* A window from a place on, of that size or what is left; not one that is still needed. */
static lw_status lw__merge_part_fill(const lw__merge_job *job, size_t start, size_t size,
                                     lw__merge_part *out, lw_error *err)
{
    size_t left = job->total - start;
    size_t count = size < left ? size : left;
    lw__merge_window *window = job->scratch->windows;
    while (window == job->now.window || window == job->before.window) {
        window++;
    }
    LW__TRY(lw__window_reserve(window, count, err));
    lw__merge_alone(job->table, window, job->scratch->given + start, count);
    *out = (lw__merge_part){.window = window, .start = start};
    return LW_OK;
}

/* Where in a window the next one begins; 0: nowhere. */
static size_t lw__merge_cut(const lw__merge_window *window)
{
    size_t most = window->count - window->count / 8;
    size_t cut = 0;
    for (size_t at = 0; at <= most; at = window->next[at]) {
        cut = at;
    }
    return cut >= window->count / 4 ? cut : 0;
}

/* The window that begins at a cut of the present one: that one again if it reads the same. */
static lw_status lw__merge_next(const lw__merge_job *job, size_t cut, size_t size,
                                lw__merge_part *out, lw_error *err)
{
    const uint32_t *given = job->scratch->given + job->now.start;
    size_t count = job->now.window->count;
    size_t start = job->now.start + cut;
    if (count <= job->total - start && memcmp(given, given + cut, count * sizeof *given) == 0) {
        *out = (lw__merge_part){.window = job->now.window, .start = start};
        return LW_OK;
    }
    return lw__merge_part_fill(job, start, size, out, err);
}

/* Where the next window can take over; SIZE_MAX: nowhere in its first quarter, or in the last one. */
static size_t lw__merge_meeting(const lw__merge_job *job, lw__merge_part next)
{
    const lw__merge_window *window = job->now.window;
    bool is_last = next.start + next.window->count == job->total;
    size_t most = is_last ? next.window->count : next.window->count / 4;
    size_t offset = next.start - job->now.start;
    size_t tries = 0;
    for (size_t at = 0, before = offset;
         at < most && before < window->count && tries < LW__MERGE_MEETINGS;) {
        size_t difference = before - offset;
        if (difference == at) {
            if (lw__merge_stays_apart(job->table, window, before, next.window, at)) {
                return next.start + at;
            }
            tries++;
        }
        before = difference <= at ? window->next[before] : before;
        at = difference >= at ? next.window->next[at] : at;
    }
    return SIZE_MAX;
}

/* Gives out what the present window has up to a place. */
static void lw__merge_emit(lw__merge_job *job, size_t end)
{
    const lw__merge_window *window = job->now.window;
    size_t start = job->now.start;
    for (size_t at = job->from - start; at < end - start; at = window->next[at]) {
        job->ids[job->put++] = (int32_t)window->symbols[at];
    }
    job->from = end;
}

/* Goes on by a window; false when the present one is too small for that. */
static lw_status lw__merge_go_on(lw__merge_job *job, size_t size, bool *done, lw_error *err)
{
    lw__merge_part next;
    size_t cut = lw__merge_cut(job->now.window);
    *done = false;
    if (cut == 0) {
        return LW_OK;
    }
    LW__TRY(lw__merge_next(job, cut, size, &next, err));
    size_t meeting = lw__merge_meeting(job, next);
    if (meeting != SIZE_MAX) {
        lw__merge_emit(job, meeting);
        job->before = job->now;
        job->now = next;
        *done = true;
    }
    return LW_OK;
}

/*
 * Has a window of twice the size in place of the present one. What it has first may not be what that
 * had, so it must stay apart from what is before it, too; else all symbols become one window.
 */
static lw_status lw__merge_widen(lw__merge_job *job, lw_error *err)
{
    lw__merge_part wider;
    LW__TRY(lw__merge_part_fill(job, job->from, 2 * job->now.window->count, &wider, err));
    job->now = wider;
    if (job->from == 0 || lw__merge_stays_apart(job->table, job->before.window,
                                                job->from - job->before.start, wider.window, 0)) {
        return LW_OK;
    }
    job->from = 0;
    job->put = 0;
    job->before.window = NULL;
    return lw__merge_part_fill(job, 0, job->total, &job->now, err);
}

/*
 * Merges the symbols that the scratch is given; `ids` has room for as many. Windows have that size
 * where nothing asks for larger ones.
 */
static lw_status lw__merge_long(const lw__merge_table *table, lw__merge_scratch *scratch,
                                size_t size, int32_t *ids, size_t *count, lw_error *err)
{
    lw__merge_job job = {.table = table, .scratch = scratch, .total = *count, .ids = ids};
    LW__TRY(lw__merge_part_fill(&job, 0, size, &job.now, err));
    while (job.now.start + job.now.window->count < job.total) {
        bool done;
        LW__TRY(lw__merge_go_on(&job, size, &done, err));
        if (!done) {
            LW__TRY(lw__merge_widen(&job, err));
        }
    }
    lw__merge_emit(&job, job.total);
    *count = job.put;
    return LW_OK;
}

#endif
