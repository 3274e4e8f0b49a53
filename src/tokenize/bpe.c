/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging. A piece of up to 16 bytes keeps the ranks of its pairs in places that never move, and
 * a bit for each symbol that is still there; one of up to 32 keeps its symbols and ranks in
 * arrays. Both look for the least. A longer one keeps its pairs in a heap and its symbols in a
 * linked list.
 *
 * A heap entry goes stale when one of its two symbols is merged away. It is told by its rank:
 * every node knows the rank that its pair has now.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/bpe_pairs.h"

#define PACKED_PIECE  16               /* symbols that are looked at all at once */
#define PACKED_BITS   4                /* of a place among them, below the rank */
#define SHORT_PIECE   32               /* symbols up to which the scan beats the heap */
#define NOWHERE       UINT32_MAX       /* no node */
#define HEAP_WIDTH    4                /* children of a heap node */
#define LONGEST_PIECE (UINT32_MAX - 1) /* node indexes are 32 bits wide */

void lw__bpe_scratch_reset(lw__bpe_scratch *scratch)
{
    lw__free(scratch->nodes);
    lw__free(scratch->heap);
    memset(scratch, 0, sizeof *scratch);
}

/* Symbols in the places of their first bytes. */
typedef struct packed {
    uint32_t ranks[PACKED_PIECE]; /* rank and place of the pair that starts here */
    uint32_t ids[PACKED_PIECE];
    uint32_t live; /* bits of the places that start a symbol */
} packed;

static inline void packed_put(packed *p, unsigned at, uint32_t rank)
{
    p->ranks[at] = rank == LW__RANK_NONE ? LW__RANK_NONE : rank << PACKED_BITS | at;
}

/* Looks up the pair that starts at a symbol again. */
static inline void packed_renew(const lw__bpe *bpe, packed *p, unsigned at)
{
    uint32_t behind = p->live >> at >> 1;
    if (behind == 0) {
        p->ranks[at] = LW__RANK_NONE;
        return;
    }
    unsigned next = at + 1 + (unsigned)__builtin_ctz(behind);
    packed_put(p, at, lw__pair_rank(bpe, p->ids[at], p->ids[next]));
}

static inline uint32_t least_of(const uint32_t *ranks)
{
    uint32_t least[4] = {ranks[0], ranks[1], ranks[2], ranks[3]};
    for (unsigned i = 4; i < PACKED_PIECE; i++) {
        least[i % 4] = ranks[i] < least[i % 4] ? ranks[i] : least[i % 4];
    }
    least[0] = least[1] < least[0] ? least[1] : least[0];
    least[2] = least[3] < least[2] ? least[3] : least[2];
    return least[2] < least[0] ? least[2] : least[0];
}

static size_t encode_packed(const lw__bpe *bpe, const unsigned char *piece, size_t count,
                            int32_t *ids)
{
    packed p = {.live = (1u << count) - 1};
    memset(p.ranks, 0xFF, sizeof p.ranks);
    for (unsigned i = 0; i < count; i++) {
        p.ids[i] = (uint32_t)bpe->byte_ids[piece[i]];
    }
    for (unsigned i = 0; i + 1 < count; i++) {
        packed_put(&p, i, lw__pair_byte_rank(bpe, piece + i));
    }
    for (uint32_t least = least_of(p.ranks); least != LW__RANK_NONE; least = least_of(p.ranks)) {
        unsigned at = least % PACKED_PIECE;
        unsigned gone = at + 1 + (unsigned)__builtin_ctz(p.live >> at >> 1);
        uint32_t before = p.live & ((1u << at) - 1);
        p.live &= ~(1u << gone);
        p.ranks[gone] = LW__RANK_NONE;
        p.ids[at] = (uint32_t)bpe->ids[least >> PACKED_BITS];
        packed_renew(bpe, &p, at);
        if (before != 0) {
            packed_renew(bpe, &p, 31u - (unsigned)__builtin_clz(before));
        }
    }
    size_t found = 0;
    for (uint32_t left = p.live; left != 0; left &= left - 1) {
        ids[found++] = (int32_t)p.ids[__builtin_ctz(left)];
    }
    return found;
}

/* Takes out symbol `at + 1` of `count`, and the pair it starts. */
static void close_gap(uint32_t *symbols, uint32_t *ranks, size_t at, size_t count)
{
    for (size_t i = at + 1; i + 1 < count; i++) {
        symbols[i] = symbols[i + 1];
        ranks[i] = ranks[i + 1];
    }
}

static size_t encode_short(const lw__bpe *bpe, const unsigned char *piece, size_t count,
                           int32_t *ids)
{
    uint32_t symbols[SHORT_PIECE];
    uint32_t ranks[SHORT_PIECE];
    for (size_t i = 0; i < count; i++) {
        symbols[i] = (uint32_t)bpe->byte_ids[piece[i]];
        ranks[i] = LW__RANK_NONE;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        ranks[i] = lw__pair_byte_rank(bpe, piece + i);
    }
    for (;;) {
        size_t best = 0;
        uint32_t least = ranks[0];
        for (size_t i = 1; i + 1 < count; i++) {
            best = ranks[i] < least ? i : best;
            least = ranks[i] < least ? ranks[i] : least;
        }
        if (least == LW__RANK_NONE) {
            break;
        }
        symbols[best] = (uint32_t)bpe->ids[least];
        close_gap(symbols, ranks, best, count);
        count--;
        if (best > 0) {
            ranks[best - 1] = lw__pair_rank(bpe, symbols[best - 1], symbols[best]);
        }
        ranks[best] =
            best + 1 < count ? lw__pair_rank(bpe, symbols[best], symbols[best + 1]) : LW__RANK_NONE;
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = (int32_t)symbols[i];
    }
    return count;
}

/* Four children to a node: half the levels of a binary heap, and they share a line of the cache. */
static size_t least_child(const uint64_t *heap, size_t count, size_t at)
{
    size_t child = at * HEAP_WIDTH + 1;
    size_t end = child + HEAP_WIDTH < count ? child + HEAP_WIDTH : count;
    size_t least = child;
    for (child++; child < end; child++) {
        least = heap[child] < heap[least] ? child : least;
    }
    return least;
}

static void sift_down(uint64_t *heap, size_t count, size_t at)
{
    uint64_t item = heap[at];
    for (;;) {
        size_t child = least_child(heap, count, at);
        if (child >= count || item <= heap[child]) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

static void heap_push(uint64_t *heap, size_t *count, uint64_t item)
{
    size_t at = (*count)++;
    while (at > 0 && heap[(at - 1) / HEAP_WIDTH] > item) {
        heap[at] = heap[(at - 1) / HEAP_WIDTH];
        at = (at - 1) / HEAP_WIDTH;
    }
    heap[at] = item;
}

static uint64_t heap_pop(uint64_t *heap, size_t *count)
{
    uint64_t top = heap[0];
    heap[0] = heap[--*count];
    if (*count > 0) {
        sift_down(heap, *count, 0);
    }
    return top;
}

static uint64_t entry_of(const lw__node *nodes, uint32_t at)
{
    return (uint64_t)nodes[at].rank << 32 | at;
}

/* Each merge takes one entry out and puts at most two in, so twice the symbols are enough. */
static lw_status scratch_reserve(lw__bpe_scratch *scratch, size_t bytes, lw_error *err)
{
    if (bytes > scratch->node_capacity) {
        lw__node *nodes = lw__resize_array(scratch->nodes, bytes, sizeof *nodes);
        if (nodes == NULL) {
            return lw__fail_nomem(err, bytes * sizeof *nodes, "a long piece");
        }
        scratch->nodes = nodes;
        scratch->node_capacity = bytes;
    }
    if (bytes * 2 > scratch->heap_capacity) {
        uint64_t *heap = lw__resize_array(scratch->heap, bytes * 2, sizeof *heap);
        if (heap == NULL) {
            return lw__fail_nomem(err, bytes * 2 * sizeof *heap, "a long piece");
        }
        scratch->heap = heap;
        scratch->heap_capacity = bytes * 2;
    }
    return LW_OK;
}

static size_t heap_fill(const lw__bpe *bpe, lw__node *nodes, size_t count, uint64_t *heap)
{
    size_t heap_count = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        nodes[i].rank = lw__pair_rank(bpe, nodes[i].id, nodes[i + 1].id);
        if (nodes[i].rank != LW__RANK_NONE) {
            heap[heap_count++] = entry_of(nodes, (uint32_t)i);
        }
    }
    for (size_t i = heap_count / HEAP_WIDTH + (heap_count > 0); i-- > 0;) {
        sift_down(heap, heap_count, i);
    }
    return heap_count;
}

static void nodes_fill(const lw__bpe *bpe, lw__node *nodes, const unsigned char *piece,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        nodes[i].id = (uint32_t)bpe->byte_ids[piece[i]];
        nodes[i].previous = i == 0 ? NOWHERE : (uint32_t)(i - 1);
        nodes[i].next = i + 1 == count ? NOWHERE : (uint32_t)(i + 1);
        nodes[i].rank = LW__RANK_NONE;
    }
}

/* Looks the pair that starts at a node up again, and enters it when it has a rank. */
static void pair_renew(const lw__bpe *bpe, lw__node *nodes, uint32_t at, uint64_t *heap,
                       size_t *heap_count)
{
    uint32_t next = nodes[at].next;
    nodes[at].rank =
        next == NOWHERE ? LW__RANK_NONE : lw__pair_rank(bpe, nodes[at].id, nodes[next].id);
    if (nodes[at].rank != LW__RANK_NONE) {
        heap_push(heap, heap_count, entry_of(nodes, at));
    }
}

static void merge_at(const lw__bpe *bpe, lw__node *nodes, uint32_t at, uint64_t *heap,
                     size_t *heap_count)
{
    uint32_t gone = nodes[at].next;
    nodes[at].id = (uint32_t)bpe->ids[nodes[at].rank];
    nodes[at].next = nodes[gone].next;
    nodes[gone].rank = LW__RANK_NONE;
    if (nodes[at].next != NOWHERE) {
        nodes[nodes[at].next].previous = at;
    }
    if (nodes[at].previous != NOWHERE) {
        pair_renew(bpe, nodes, nodes[at].previous, heap, heap_count);
    }
    pair_renew(bpe, nodes, at, heap, heap_count);
}

static size_t encode_long(const lw__bpe *bpe, lw__bpe_scratch *scratch, const unsigned char *piece,
                          size_t bytes, int32_t *ids)
{
    lw__node *nodes = scratch->nodes;
    uint64_t *heap = scratch->heap;
    nodes_fill(bpe, nodes, piece, bytes);
    size_t heap_count = heap_fill(bpe, nodes, bytes, heap);
    while (heap_count > 0) {
        uint64_t entry = heap_pop(heap, &heap_count);
        uint32_t at = (uint32_t)entry;
        if (nodes[at].rank != LW__RANK_NONE && entry_of(nodes, at) == entry) {
            merge_at(bpe, nodes, at, heap, &heap_count);
        }
    }
    size_t count = 0;
    for (uint32_t at = 0; at != NOWHERE; at = nodes[at].next) {
        ids[count++] = (int32_t)nodes[at].id;
    }
    return count;
}

lw_status lw__bpe_encode(const lw__bpe *bpe, lw__bpe_scratch *scratch, const unsigned char *piece,
                         size_t bytes, int32_t *ids, size_t *count, lw_error *err)
{
    if (bytes == 0) {
        *count = 0;
        return LW_OK;
    }
    if (bytes <= PACKED_PIECE) {
        *count = encode_packed(bpe, piece, bytes, ids);
        return LW_OK;
    }
    if (bytes <= SHORT_PIECE) {
        *count = encode_short(bpe, piece, bytes, ids);
        return LW_OK;
    }
    if (bytes > LONGEST_PIECE) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: a piece of %zu bytes without a cut, expected at most %zu",
                        bytes, (size_t)LONGEST_PIECE);
    }
    LW__TRY(scratch_reserve(scratch, bytes, err));
    *count = encode_long(bpe, scratch, piece, bytes, ids);
    return LW_OK;
}
