/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where pieces of the cl100k pattern start, but for contractions; and of those that have its shape
 * with other classes of characters.
 *
 *   X  the first of a run, unless U+0020 stands before it, which then starts the piece
 *   N  every one of a run, or every third from its first
 *   W  the first of a run, unless white space other than CR LF stands before it, or a run of a
 *      single X that does not itself begin with U+0020: that is then the first of the piece
 *   white space, but for the CR and LF that directly follow X and belong to its piece: the first
 *      of a run, the first behind its last CR or LF, and its last, unless that is CR or LF, when
 *      something else follows
 */
#ifndef LW__TOKENIZE_BLOCKS_CL100K_H
#define LW__TOKENIZE_BLOCKS_CL100K_H

#include <stdbool.h>

#include "tokenize/blocks_masks.h"
#include "tokenize/split.h"

/* What the characters of a block are to a pattern. */
typedef struct lw__roles {
    uint64_t word;  /* W: L, or L and M */
    uint64_t other; /* X */
    uint64_t tail;  /* what belongs to the piece of X from the first line end behind it on */
} lw__roles;

static inline lw__roles lw__cl100k_roles(const lw__masks *m, uint64_t word)
{
    return (lw__roles){
        .word = word, .other = m->valid & ~(word | m->number | m->space), .tail = m->newline};
}

static inline uint64_t lw__number_starts(const lw__masks *m, const lw__split_rules *rules)
{
    return rules->digits == 1 ? m->number : lw__run_thirds(m->number);
}

/* `spaces` are those that belong to no piece of X; of a run before `followers` the last starts. */
static inline uint64_t lw__space_starts(const lw__masks *m, uint64_t spaces, uint64_t followers)
{
    uint64_t quiet = spaces & ~m->newline;
    uint64_t before_newline = lw__runs_to(quiet, quiet & m->newline >> 1);
    return lw__run_firsts(spaces) | (lw__run_firsts(quiet) & ~before_newline) |
           (quiet & followers >> 1);
}

/*
 * Takes back the starts inside of `spaces` that end the block. What follows decides where that run
 * is cut, or it is not cut at all. No jump: this is often so, and hard to foresee.
 */
static inline uint64_t lw__settled_starts(const lw__masks *m, uint64_t starts, uint64_t spaces,
                                          bool kept_whole)
{
    bool ends_in_space = (spaces & (m->valid ^ m->valid >> 1)) != 0;
    unsigned last_run = lw__highest_bit(lw__run_firsts(spaces) | 1);
    return starts & lw__bits_through(ends_in_space && kept_whole ? last_run : 63);
}

static inline uint64_t lw__cl100k_starts(const lw__masks *m, const lw__roles *roles,
                                         const lw__split_rules *rules, bool last)
{
    uint64_t absorbed = lw__runs_from(roles->tail, m->newline & roles->other << 1);
    uint64_t other = roles->other & ~absorbed;
    uint64_t other_starts = lw__run_firsts(other) & ~(m->blank << 1);
    uint64_t prefixes = (m->space & ~m->newline) | other_starts;
    uint64_t word_starts = lw__run_firsts(roles->word) & ~(prefixes << 1);
    uint64_t spaces = m->space & ~absorbed;
    uint64_t starts = other_starts | word_starts | lw__number_starts(m, rules) |
                      lw__space_starts(m, spaces, m->valid & ~m->space);
    return lw__settled_starts(m, starts, spaces, !last || rules->trailing_whole);
}

#endif
