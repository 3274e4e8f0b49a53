/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where pieces of the o200k pattern start, and of tekken's: cl100k's shape, and starts within runs
 * of W, which are L and M.
 *
 *   M     is of the word before or behind it, or alone is one; but X from two X in a row on, or from an X
 *         behind U+0020 on, as long as there are only X and M.
 *   W     a capital starts a word behind a run of others that holds a small letter; and where only
 *         capitals are left of the run of W.
 *   tail  CR, LF and "/"
 */
#ifndef LW__TOKENIZE_BLOCKS_O200K_H
#define LW__TOKENIZE_BLOCKS_O200K_H

#include <stdbool.h>

#include "tokenize/blocks_cl100k.h"
#include "tokenize/blocks_masks.h"

static inline lw__roles lw__o200k_roles(const lw__masks *m)
{
    uint64_t other = m->valid & ~(m->letter | m->mark | m->number | m->space);
    uint64_t surely_other = other & (other << 1 | m->blank << 1);
    uint64_t other_marks = m->mark & lw__runs_from(other | m->mark, surely_other);
    return (lw__roles){.word = m->letter | (m->mark & ~other_marks),
                       .other = other | other_marks,
                       .tail = m->newline | m->slash};
}

/* A "/" that belongs to the line ends before it is no X to the marks behind it; the roles do not see
 * that, and it is rare. */
static inline bool lw__o200k_can_tell(const lw__masks *m)
{
    return m->mark == 0 || (m->slash & m->newline << 1) == 0;
}

/* The starts within runs of W. */
static inline uint64_t lw__case_starts(const lw__masks *m, uint64_t word, bool last)
{
    uint64_t upper = m->upper & word;
    uint64_t others = word & ~upper;
    uint64_t lower = others & ~(m->caseless | m->mark);
    uint64_t behind = upper & others << 1;
    uint64_t starts = behind & lw__runs_from(others, lower) << 1;
    uint64_t undecided = behind & ~starts;
    if (undecided != 0) {
        uint64_t known = last ? m->valid : m->valid >> 1;
        starts |= undecided & lw__runs_to(upper, upper & ~(word >> 1) & known);
    }
    return starts;
}

static inline uint64_t lw__o200k_starts(const lw__masks *m, const lw__roles *roles,
                                        const lw__split_rules *rules, bool last)
{
    return lw__cl100k_starts(m, roles, rules, last) | lw__case_starts(m, roles->word, last);
}

#endif
