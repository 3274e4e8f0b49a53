/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a longer row, merged as if they stood alone, with a record of what was merged when: it
 * tells whether the symbols beside them would have changed anything. merge_long.h fills it.
 *
 * A window belongs to one thread.
 */
#ifndef LW__TOKENIZE_MERGE_WINDOW_H
#define LW__TOKENIZE_MERGE_WINDOW_H

#include <stdbool.h>

#include <laneway/error.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/merge_tree.h"

/* One merge. */
typedef struct lw__merge_step {
    uint32_t rank;
    uint32_t symbol;
    uint32_t start;
    uint32_t end; /* where the next symbol starts */
} lw__merge_step;

typedef struct lw__merge_window {
    void *memory;
    size_t capacity;       /* symbols that it has room for */
    const uint32_t *given; /* the symbols before merging; borrowed */
    size_t count;
    uint32_t *symbols; /* by the place of their first */
    uint32_t *next;    /* the place where the next one starts */
    uint32_t *previous;
    int32_t *ranks; /* of the tree */
    lw__merge_tree tree;
    lw__merge_step *steps; /* in order */
    size_t step_count;
} lw__merge_window;

#define LW__MERGE_WINDOWS 3

/* What one thread needs. */
typedef struct lw__merge_scratch {
    uint32_t *given; /* all symbols before merging */
    size_t given_capacity;
    lw__merge_window windows[LW__MERGE_WINDOWS];
} lw__merge_scratch;

static inline void lw__merge_scratch_reset(lw__merge_scratch *scratch)
{
    lw__free(scratch->given);
    for (size_t i = 0; i < LW__MERGE_WINDOWS; i++) {
        lw__free(scratch->windows[i].memory);
    }
    memset(scratch, 0, sizeof *scratch);
}

/* Room for all symbols; those that are there are forgotten then. */
static inline lw_status lw__merge_reserve(lw__merge_scratch *scratch, size_t count, lw_error *err)
{
    if (count <= scratch->given_capacity) {
        return LW_OK;
    }
    uint32_t *given = lw__alloc_array(count, sizeof *given);
    if (given == NULL) {
        return lw__fail_nomem(err, count * sizeof *given, "a long piece");
    }
    lw__free(scratch->given);
    scratch->given = given;
    scratch->given_capacity = count;
    return LW_OK;
}

/* Room for so many symbols; what is in the window is forgotten then. */
static inline lw_status lw__window_reserve(lw__merge_window *window, size_t count, lw_error *err)
{
    if (count <= window->capacity) {
        return LW_OK;
    }
    size_t row = count + 1; /* a place behind the last symbol, too */
    size_t words = 3 * row + lw__tree_room(count);
    size_t bytes = count * sizeof *window->steps + words * sizeof *window->symbols;
    void *memory = lw__alloc(bytes);
    if (memory == NULL) {
        return lw__fail_nomem(err, bytes, "a long piece");
    }
    lw__free(window->memory);
    *window = (lw__merge_window){.memory = memory, .capacity = count, .steps = memory};
    window->symbols = (uint32_t *)(void *)(window->steps + count);
    window->next = window->symbols + row;
    window->previous = window->next + row;
    window->ranks = (int32_t *)(void *)(window->previous + row);
    return LW_OK;
}

/* What becomes of the symbol on one side of a boundary, while that side is merged alone. */
typedef struct lw__merge_side {
    const lw__merge_window *window;
    size_t at;   /* where the boundary is in the window */
    size_t step; /* the next one that makes the symbol there */
    uint32_t
        level; /* the highest rank that is merged on this side by then; LW__TREE_NONE: no step */
    uint32_t symbol; /* the one that is there until then */
} lw__merge_side;

/* To the first step from its own on that makes the symbol which ends at the boundary. */
static inline void lw__window_left_step(lw__merge_side *side)
{
    const lw__merge_step *steps = side->window->steps;
    for (; side->step < side->window->step_count; side->step++) {
        const lw__merge_step *step = &steps[side->step];
        if (step->end <= side->at && step->rank > side->level) {
            side->level = step->rank;
        }
        if (step->end == side->at) {
            return;
        }
    }
    side->level = LW__TREE_NONE;
}

/* The same for the one which starts there. */
static inline void lw__window_right_step(lw__merge_side *side)
{
    const lw__merge_step *steps = side->window->steps;
    for (; side->step < side->window->step_count; side->step++) {
        const lw__merge_step *step = &steps[side->step];
        if (step->start >= side->at && step->rank > side->level) {
            side->level = step->rank;
        }
        if (step->start == side->at) {
            return;
        }
    }
    side->level = LW__TREE_NONE;
}

#endif
