/* SPDX-License-Identifier: Apache-2.0 */
/* Merging as plainly as it can be said: what all quicker ways are compared with. */
#ifndef PLAIN_MERGES_H
#define PLAIN_MERGES_H

#include <stdint.h>
#include <string.h>

#include "tokenize/bpe.h"

/* Merges `count` ids in place, and returns how many are left. */
static inline size_t plain_merge(const lw__merge *merges, size_t merge_count, int32_t *ids,
                                 size_t count)
{
    for (;;) {
        const lw__merge *best = NULL;
        size_t best_at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            for (size_t m = 0; m < merge_count; m++) {
                if (merges[m].left == ids[i] && merges[m].right == ids[i + 1] &&
                    (best == NULL || merges[m].rank < best->rank)) {
                    best = &merges[m];
                    best_at = i;
                }
            }
        }
        if (best == NULL) {
            return count;
        }
        ids[best_at] = best->id;
        memmove(ids + best_at + 1, ids + best_at + 2, (count - best_at - 2) * sizeof *ids);
        count--;
    }
}

static inline uint32_t plain_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/*
 * Puts merges of the letters a, b, c and of what they become, ids from 300 on. One whose pair comes
 * again is marked by a left of -1, as the later one counts.
 */
static inline void plain_draw(lw__bpe *bpe, lw__merge *merges, size_t count, uint64_t *random)
{
    for (size_t m = 0; m < count; m++) {
        int32_t pair[2];
        for (size_t k = 0; k < 2; k++) {
            size_t symbol = plain_random(random) % (3 + m);
            pair[k] = symbol < 3 ? (int32_t)('a' + symbol) : 297 + (int32_t)symbol;
        }
        merges[m] = (lw__merge){
            .left = pair[0], .right = pair[1], .id = 300 + (int32_t)m, .rank = (uint32_t)m};
        assert_int_equal(lw__bpe_put(bpe, &merges[m], NULL), LW_OK);
        for (size_t k = 0; k < m; k++) {
            bool same = merges[k].left == pair[0] && merges[k].right == pair[1];
            merges[k].left = same ? -1 : merges[k].left;
        }
    }
}

#endif
