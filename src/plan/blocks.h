/* SPDX-License-Identifier: Apache-2.0 */
/* Which block of a source a lane reads next (docs/stream.md, section 4). Pure arithmetic. */
#ifndef LW__PLAN_BLOCKS_H
#define LW__PLAN_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/permutation.h"
#include "plan/settings.h"

/* The block order of one source; fixed for a run. */
typedef struct lw__blocks {
    uint64_t seed;
    uint64_t source;
    uint64_t block_count; /* at least 1 */
    uint64_t lanes;
    lw__order order;
    bool once; /* one pass: no second epoch */
} lw__blocks;

typedef struct lw__block_place {
    uint64_t g;
    uint64_t epoch;
    uint64_t block;
} lw__block_place;

/* The lane's j-th block; false when its data has ended before it. */
bool lw__blocks_at(const lw__blocks *blocks, uint64_t lane, uint64_t j, lw__block_place *out);

/* The order of a part's records. Only for order: permuted. record_count is at least 1. */
lw__permutation lw__blocks_documents(const lw__blocks *blocks, uint64_t g, uint64_t part,
                                     uint64_t record_count);

#endif
