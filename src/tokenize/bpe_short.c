/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of the pairs of a piece are kept in places that never move, with a bit for each symbol
 * that is still there; the least is looked for among all of them.
 */
#include "tokenize/bpe_short.h"

#include <string.h>

#include "tokenize/bpe_pairs.h"

/* Symbols in the places of their first bytes. */
typedef struct packed {
    uint32_t ranks[LW__BPE_SHORT]; /* rank and place of the pair that starts here */
    uint32_t ids[LW__BPE_SHORT];
    uint32_t live; /* bits of the places that start a symbol */
} packed;

static inline void put_rank(packed *p, unsigned at, uint32_t rank)
{
    p->ranks[at] = rank == LW__RANK_NONE ? LW__RANK_NONE : rank << LW__BPE_PLACE_BITS | at;
}

static inline void fill(packed *p, const lw__bpe *bpe, const unsigned char *piece, unsigned bytes)
{
    p->live = (1u << bytes) - 1;
    memset(p->ranks, 0xFF, sizeof p->ranks);
    for (unsigned i = 0; i < bytes; i++) {
        p->ids[i] = (uint32_t)bpe->byte_ids[piece[i]];
    }
    for (unsigned i = 0; i + 1 < bytes; i++) {
        put_rank(p, i, lw__pair_byte_rank(bpe, piece + i));
    }
}

/* Looks up the pair that starts at a symbol again. */
static inline void renew(packed *p, const lw__bpe *bpe, unsigned at)
{
    uint32_t behind = p->live >> at >> 1;
    if (behind == 0) {
        p->ranks[at] = LW__RANK_NONE;
        return;
    }
    unsigned next = at + 1 + (unsigned)__builtin_ctz(behind);
    put_rank(p, at, lw__pair_rank(bpe, p->ids[at], p->ids[next]));
}

static inline uint32_t least_of(const uint32_t *ranks)
{
    uint32_t least[4] = {ranks[0], ranks[1], ranks[2], ranks[3]};
    for (unsigned i = 4; i < LW__BPE_SHORT; i++) {
        least[i % 4] = ranks[i] < least[i % 4] ? ranks[i] : least[i % 4];
    }
    least[0] = least[1] < least[0] ? least[1] : least[0];
    least[2] = least[3] < least[2] ? least[3] : least[2];
    return least[2] < least[0] ? least[2] : least[0];
}

static inline void merge(packed *p, const lw__bpe *bpe, uint32_t least)
{
    unsigned at = least % LW__BPE_SHORT;
    unsigned gone = at + 1 + (unsigned)__builtin_ctz(p->live >> at >> 1);
    uint32_t before = p->live & ((1u << at) - 1);
    p->live &= ~(1u << gone);
    p->ranks[gone] = LW__RANK_NONE;
    p->ids[at] = (uint32_t)bpe->ids[least >> LW__BPE_PLACE_BITS];
    renew(p, bpe, at);
    if (before != 0) {
        renew(p, bpe, 31u - (unsigned)__builtin_clz(before));
    }
}

static void do_job(const lw__bpe *bpe, lw__bpe_job *job)
{
    packed p;
    fill(&p, bpe, job->piece, job->bytes);
    for (uint32_t least = least_of(p.ranks); least != LW__RANK_NONE; least = least_of(p.ranks)) {
        merge(&p, bpe, least);
    }
    job->count = 0;
    for (uint32_t left = p.live; left != 0; left &= left - 1) {
        job->ids[job->count++] = (int32_t)p.ids[__builtin_ctz(left)];
    }
}

void lw__bpe_jobs_portable(const lw__bpe *bpe, lw__bpe_job *const *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        do_job(bpe, jobs[i]);
    }
}
