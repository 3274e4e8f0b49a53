/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a source's blocks, and of the documents in a part, as pure functions. */
#include "plan/blocks.h"

#include <laneway/random.h>

bool lw__blocks_at(const lw__blocks *blocks, uint64_t lane, uint64_t j, lw__block_place *out)
{
    out->g = j * blocks->lanes + lane;
    out->epoch = out->g / blocks->block_count;
    out->block = out->g % blocks->block_count;
    if (blocks->once && out->epoch > 0) {
        return false;
    }
    if (blocks->order == LW__ORDER_PERMUTED) {
        uint64_t key =
            lw_random_key(blocks->seed, LW_PURPOSE_BLOCKS, blocks->source, out->epoch, 0);
        out->block = lw_random_permute(key, blocks->block_count, out->block);
    }
    return true;
}

lw__permutation lw__blocks_documents(const lw__blocks *blocks, uint64_t g, uint64_t part,
                                     uint64_t record_count)
{
    uint64_t key = lw_random_key(blocks->seed, LW_PURPOSE_DOCUMENTS, blocks->source, g, part);
    return lw__permutation_of(key, record_count);
}
