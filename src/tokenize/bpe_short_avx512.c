/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging 16 short pieces side by side with AVX-512: a lane of a vector is a piece, and a row has
 * one place of each. A step merges the least pair of every piece that has one, and nothing in it
 * depends on what a piece holds but the number of slots looked at.
 */
#include "tokenize/bpe_short.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "tokenize/bpe_pairs.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512cd,avx512dq"))),                 \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512cd,avx512dq")
#endif

#define LANES   16
#define PLACES  LW__BPE_SHORT
#define QUERIES 4 /* 8 pairs each: those behind the new symbols, and those before them */
#define FEW     3 /* pieces that are quicker one after the other */

typedef struct group {
    uint32_t ranks[PLACES][LANES]; /* rank and place of the pair that starts there */
    uint32_t ids[PLACES][LANES];
    uint32_t live[LANES]; /* bits of the places that start a symbol */
    lw__bpe_job *jobs[LANES];
    lw__bpe_job *const *next;
    lw__bpe_job *const *end;
    uint32_t busy; /* bits of the lanes that have a piece */
} __attribute__((aligned(64))) group;

/* Pairs of eight lanes. */
typedef struct query {
    __m512i key;
    __m512i at;
    __m512i ranks;
    __mmask8 wanted; /* those without an answer yet */
} query;

static inline __m512i all(uint32_t value)
{
    return _mm512_set1_epi32((int)value);
}

static void start(group *g, size_t lane, const lw__bpe *bpe, lw__bpe_job *job)
{
    const unsigned char *piece = job->piece;
    g->jobs[lane] = job;
    g->live[lane] = (1u << job->bytes) - 1;
    for (uint32_t i = 0; i < job->bytes; i++) {
        g->ids[i][lane] = (uint32_t)bpe->byte_ids[piece[i]];
    }
    for (uint32_t i = 0; i + 1 < job->bytes; i++) {
        uint32_t rank = lw__pair_byte_rank(bpe, piece + i);
        g->ranks[i][lane] = rank == LW__RANK_NONE ? LW__RANK_NONE : rank << LW__BPE_PLACE_BITS | i;
    }
}

static void finish(const group *g, size_t lane)
{
    lw__bpe_job *job = g->jobs[lane];
    job->count = 0;
    for (uint32_t left = g->live[lane]; left != 0; left &= left - 1) {
        job->ids[job->count++] = (int32_t)g->ids[__builtin_ctz(left)][lane];
    }
}

/* Gives the lanes, which have no ranks left, other pieces as long as there are some. */
static void refill(group *g, const lw__bpe *bpe, uint32_t lanes)
{
    for (; lanes != 0 && g->next < g->end; lanes &= lanes - 1) {
        size_t lane = (size_t)__builtin_ctz(lanes);
        start(g, lane, bpe, *g->next++);
        g->busy |= 1u << lane;
    }
}

static void finish_lanes(group *g, uint32_t lanes)
{
    g->busy &= ~lanes;
    for (; lanes != 0; lanes &= lanes - 1) {
        finish(g, (size_t)__builtin_ctz(lanes));
    }
}

static inline __m512i lower_half(__m512i v)
{
    return _mm512_cvtepu32_epi64(_mm512_castsi512_si256(v));
}

static inline __m512i upper_half(__m512i v)
{
    return _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(v, 1));
}

/* The key, the filter's word, and where the slots begin, as in lw__pair_rank. */
static inline query ask(const lw__bpe_quick *quick, __m512i left, __m512i right, __mmask8 wanted)
{
    __m512i key = _mm512_or_si512(_mm512_slli_epi64(left, LW__PAIR_ID_BITS), right);
    __m512i hash = _mm512_mullo_epi64(key, _mm512_set1_epi64((int64_t)LW__PAIR_FACTOR));
    hash = _mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32));
    __m512i bit = _mm512_srli_epi64(hash, 64 - LW__PAIR_FILTER_BITS);
    __m512i words = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), wanted,
                                                _mm512_srli_epi64(bit, 6), quick->filter, 8);
    __m512i one =
        _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_and_si512(bit, _mm512_set1_epi64(63)));
    return (query){
        .key = key,
        .at = _mm512_and_si512(hash, _mm512_set1_epi64((int64_t)quick->slot_count - 1)),
        .ranks = _mm512_set1_epi64(LW__RANK_NONE),
        .wanted = _mm512_mask_test_epi64_mask(wanted, words, one),
    };
}

/* Looks at one slot for each pair that has no answer. */
static inline void look(const lw__bpe_quick *quick, query *q)
{
    const __m512i empty = _mm512_set1_epi64(-1);
    __m512i slots = _mm512_mask_i64gather_epi64(empty, q->wanted, q->at, quick->slots, 8);
    __mmask8 found = _mm512_mask_cmpeq_epi64_mask(
        q->wanted, _mm512_srli_epi64(slots, LW__PAIR_RANK_BITS), q->key);
    q->ranks = _mm512_mask_and_epi64(q->ranks, found, slots,
                                     _mm512_set1_epi64((1 << LW__PAIR_RANK_BITS) - 1));
    q->wanted = _mm512_mask_cmpneq_epi64_mask(q->wanted & (__mmask8)~found, slots, empty);
    q->at = _mm512_and_si512(_mm512_add_epi64(q->at, _mm512_set1_epi64(1)),
                             _mm512_set1_epi64((int64_t)quick->slot_count - 1));
}

/* Two answers side by side, with the places of the pairs below their ranks. */
static inline __m512i answers(const query *lower, const query *upper, __m512i places)
{
    __m512i ranks = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(lower->ranks)),
                                       _mm512_cvtepi64_epi32(upper->ranks), 1);
    __mmask16 some = _mm512_cmpneq_epi32_mask(ranks, all(LW__RANK_NONE));
    return _mm512_mask_or_epi32(ranks, some, _mm512_slli_epi32(ranks, LW__BPE_PLACE_BITS), places);
}

static inline __m512i lowest_bit_of(__m512i bits)
{
    __m512i lowest = _mm512_and_si512(bits, _mm512_sub_epi32(_mm512_setzero_si512(), bits));
    return _mm512_sub_epi32(all(31), _mm512_lzcnt_epi32(lowest));
}

static inline __m512i highest_bit_of(__m512i bits)
{
    return _mm512_sub_epi32(all(31), _mm512_lzcnt_epi32(bits));
}

/* Where something of each lane lies in `ids`. */
static inline __m512i index_of(__m512i place)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_add_epi32(_mm512_slli_epi32(place, 4), lanes);
}

static inline __m512i least_of(uint32_t ranks[PLACES][LANES])
{
    __m512i least = _mm512_load_si512(ranks[0]);
    for (size_t i = 1; i < PLACES; i++) {
        least = _mm512_min_epu32(least, _mm512_load_si512(ranks[i]));
    }
    return least;
}

/* The places of a merge, and which lanes have them. */
typedef struct places {
    __m512i at;     /* the new symbol */
    __m512i gone;   /* its second half, no longer a symbol */
    __m512i next;   /* the symbol behind it */
    __m512i before; /* and before it */
    __mmask16 active;
    __mmask16 has_next;
    __mmask16 has_before;
} places;

static inline places places_of(__m512i least, __mmask16 active, __m512i *live)
{
    const __m512i one = all(1);
    places p = {.active = active};
    p.at = _mm512_and_si512(least, all(PLACES - 1));
    __m512i first = _mm512_add_epi32(p.at, one);
    p.gone = _mm512_add_epi32(first, lowest_bit_of(_mm512_srlv_epi32(*live, first)));
    *live = _mm512_mask_andnot_epi32(*live, p.active, _mm512_sllv_epi32(one, p.gone), *live);
    __m512i behind = _mm512_srlv_epi32(*live, first);
    p.has_next = _mm512_mask_test_epi32_mask(p.active, behind, behind);
    p.next = _mm512_add_epi32(first, lowest_bit_of(behind));
    __m512i before = _mm512_and_si512(*live, _mm512_sub_epi32(_mm512_sllv_epi32(one, p.at), one));
    p.has_before = _mm512_mask_test_epi32_mask(p.active, before, before);
    p.before = highest_bit_of(before);
    return p;
}

/* The merges of one step, and the ranks of the pairs that come of them. */
static inline void merge(group *g, const lw__bpe *bpe, __m512i least, const places *p)
{
    const __m512i none = all(LW__RANK_NONE);
    const lw__bpe_quick *quick = &bpe->quick;
    __m512i id = _mm512_mask_i32gather_epi32(
        none, p->active, _mm512_srli_epi32(least, LW__BPE_PLACE_BITS), bpe->ids, 4);
    __m512i next = _mm512_mask_i32gather_epi32(none, p->has_next, index_of(p->next), g->ids, 4);
    __m512i before =
        _mm512_mask_i32gather_epi32(none, p->has_before, index_of(p->before), g->ids, 4);
    _mm512_mask_i32scatter_epi32(g->ids, p->active, index_of(p->at), id, 4);
    query q[QUERIES] = {
        ask(quick, lower_half(id), lower_half(next), (__mmask8)p->has_next),
        ask(quick, upper_half(id), upper_half(next), (__mmask8)(p->has_next >> 8)),
        ask(quick, lower_half(before), lower_half(id), (__mmask8)p->has_before),
        ask(quick, upper_half(before), upper_half(id), (__mmask8)(p->has_before >> 8)),
    };
    do {
        for (size_t i = 0; i < QUERIES; i++) {
            look(quick, &q[i]);
        }
    } while ((q[0].wanted | q[1].wanted | q[2].wanted | q[3].wanted) != 0);
    __m512i behind_rank = answers(&q[0], &q[1], p->at);
    __m512i before_rank = answers(&q[2], &q[3], p->before);
    for (uint32_t i = 0; i < PLACES; i++) {
        __m512i r = _mm512_load_si512(g->ranks[i]);
        r = _mm512_mask_mov_epi32(r, _mm512_mask_cmpeq_epi32_mask(p->active, p->gone, all(i)),
                                  none);
        r = _mm512_mask_mov_epi32(r, _mm512_mask_cmpeq_epi32_mask(p->active, p->at, all(i)),
                                  behind_rank);
        r = _mm512_mask_mov_epi32(r, _mm512_mask_cmpeq_epi32_mask(p->has_before, p->before, all(i)),
                                  before_rank);
        _mm512_store_si512(g->ranks[i], r);
    }
}

/* A merge of each piece that has one; the others are done. */
static inline void step(group *g, const lw__bpe *bpe)
{
    __m512i least = least_of(g->ranks);
    uint32_t done = g->busy & ~(uint32_t)_mm512_cmpneq_epi32_mask(least, all(LW__RANK_NONE));
    if (done != 0) {
        finish_lanes(g, done);
        refill(g, bpe, done);
        return;
    }
    __m512i live = _mm512_load_si512(g->live);
    places p = places_of(least, (__mmask16)g->busy, &live);
    _mm512_store_si512(g->live, live);
    merge(g, bpe, least, &p);
}

void lw__bpe_jobs_avx512(const lw__bpe *bpe, lw__bpe_job *const *jobs, size_t count)
{
    if (count < FEW || bpe->quick.memory == NULL) {
        lw__bpe_jobs_portable(bpe, jobs, count);
        return;
    }
    group g = {.next = jobs, .end = jobs + count};
    memset(g.ranks, 0xFF, sizeof g.ranks);
    refill(&g, bpe, (1u << LANES) - 1);
    while (g.busy != 0) {
        step(&g, bpe);
    }
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
