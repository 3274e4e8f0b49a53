/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where pieces of the cl100k pattern start, but for contractions.
 *
 *   X  the first of a run, unless U+0020 stands before it, which then starts the piece
 *   N  every one of a run, or every third from its first
 *   L  the first of a run, unless white space other than CR LF stands before it, or a run of a
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

/* Every third number from the first of each run. */
static inline uint64_t lw__cl100k_thirds(uint64_t number)
{
    uint64_t starts = lw__run_firsts(number);
    uint64_t goes_on = number & number >> 1 & number >> 2 & number >> 3;
    for (uint64_t next = starts & goes_on; next != 0; next = next << 3 & goes_on) {
        starts |= next << 3;
    }
    return starts;
}

/* Those runs of `bits` that one of `ends` follows directly. */
static inline uint64_t lw__cl100k_runs_before(uint64_t bits, uint64_t ends)
{
    uint64_t found = bits & ends >> 1;
    if (found == 0) {
        return 0;
    }
    for (unsigned step = 1; step < 64; step *= 2) {
        found |= bits & found >> step;
        bits &= bits >> step;
    }
    return found;
}

static inline uint64_t lw__cl100k_starts(const lw__masks *m, const lw__split_rules *rules,
                                         bool last)
{
    uint64_t other = m->valid & ~(m->letter | m->number | m->space);
    uint64_t other_firsts = lw__run_firsts(other);
    uint64_t other_starts = other_firsts & ~(m->blank << 1);
    uint64_t prefixes = (m->space & ~m->newline) | other_starts;
    uint64_t letter_starts = lw__run_firsts(m->letter) & ~(prefixes << 1);
    uint64_t number_starts = rules->digits == 1 ? m->number : lw__cl100k_thirds(m->number);

    /* The sum carries through each run of line ends that has X before it, and clears it. */
    uint64_t absorbed = m->newline & ~(m->newline + (m->newline & other << 1));
    uint64_t spaces = m->space & ~absorbed;
    uint64_t quiet = spaces & ~m->newline;
    uint64_t behind_last_newline =
        lw__run_firsts(quiet) & ~lw__cl100k_runs_before(quiet, m->newline);
    uint64_t run_firsts = lw__run_firsts(spaces);
    uint64_t last_spaces = quiet & (m->valid & ~m->space) >> 1;

    uint64_t starts = other_starts | letter_starts | number_starts | behind_last_newline |
                      run_firsts | last_spaces;
    bool ends_in_space = (spaces & (m->valid ^ m->valid >> 1)) != 0;
    /* What follows decides where that run is cut, or it is not cut at all. No jump: this is often
     * so, and hard to foresee. */
    bool kept_whole = ends_in_space && (!last || rules->trailing_whole);
    unsigned last_run = lw__highest_bit(run_firsts | 1);
    starts &= lw__bits_through(kept_whole ? last_run : 63);
    return starts;
}

#endif
