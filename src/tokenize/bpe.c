/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging. A piece of up to 16 bytes keeps the ranks of its pairs in places that never move, and
 * a bit for each symbol that is still there; one of up to 32 keeps the values of its pairs in an
 * array. Both look for the least. A longer one keeps its pairs in a heap and its symbols in a
 * linked list.
 *
 * A heap entry goes stale when one of its two symbols is merged away. It is told by its rank:
 * every node knows the rank that its pair has now.
 */
#include "tokenize/bpe.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define PACKED_PIECE  16               /* symbols that are looked at all at once */
#define PACKED_BITS   4                /* of a place among them, below the rank */
#define SHORT_PIECE   32               /* symbols up to which the scan beats the heap */
#define FILTER_BITS   20               /* 128 KiB, which stays in a core's own cache */
#define NOWHERE       UINT32_MAX       /* no node */
#define HEAP_WIDTH    4                /* children of a heap node */
#define FIRST_SLOTS   1024             /* pair slots of a new table */
#define LONGEST_PIECE (UINT32_MAX - 1) /* node indexes are 32 bits wide */

void lw__bpe_init(lw__bpe *bpe)
{
    memset(bpe, 0, sizeof *bpe);
}

void lw__bpe_reset(lw__bpe *bpe)
{
    lw__free(bpe->slots);
    lw__free(bpe->filter);
    lw__free(bpe->byte_pairs);
    lw__bpe_init(bpe);
}

void lw__bpe_clear(lw__bpe *bpe)
{
    lw__free(bpe->slots);
    bpe->slots = NULL;
    bpe->slot_count = 0;
    bpe->count = 0;
    bpe->highest_rank = 0;
}

void lw__bpe_scratch_reset(lw__bpe_scratch *scratch)
{
    lw__free(scratch->nodes);
    lw__free(scratch->heap);
    memset(scratch, 0, sizeof *scratch);
}

static inline uint64_t hash_of(uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static inline size_t first_slot(uint64_t key, size_t slot_count)
{
    return (size_t)hash_of(key) & (slot_count - 1);
}

/* The slot that holds the key, or the empty one where it would be put. */
static inline lw__pair *slot_of(lw__pair *slots, size_t slot_count, uint64_t key)
{
    size_t at = first_slot(key, slot_count);
    while (slots[at].key != key && slots[at].key != LW__PAIR_NONE) {
        at = (at + 1) & (slot_count - 1);
    }
    return &slots[at];
}

static lw_status grow(lw__bpe *bpe, lw_error *err)
{
    size_t slot_count = bpe->slot_count == 0 ? FIRST_SLOTS : bpe->slot_count * 2;
    lw__pair *slots = lw__alloc_array(slot_count, sizeof *slots);
    if (slots == NULL) {
        return lw__fail_nomem(err, slot_count * sizeof *slots, "merges");
    }
    memset(slots, 0xFF, slot_count * sizeof *slots);
    for (size_t i = 0; i < bpe->slot_count; i++) {
        if (bpe->slots[i].key != LW__PAIR_NONE) {
            *slot_of(slots, slot_count, bpe->slots[i].key) = bpe->slots[i];
        }
    }
    lw__free(bpe->slots);
    bpe->slots = slots;
    bpe->slot_count = slot_count;
    return LW_OK;
}

lw_status lw__bpe_put(lw__bpe *bpe, const lw__merge *merge, lw_error *err)
{
    if (bpe->count >= bpe->slot_count / 2) {
        LW__TRY(grow(bpe, err));
    }
    uint64_t key = (uint64_t)(uint32_t)merge->left << 32 | (uint32_t)merge->right;
    lw__pair *slot = slot_of(bpe->slots, bpe->slot_count, key);
    bpe->count += slot->key == LW__PAIR_NONE;
    slot->key = key;
    slot->value = (uint64_t)merge->rank << 32 | (uint32_t)merge->id;
    bpe->highest_rank = merge->rank > bpe->highest_rank ? merge->rank : bpe->highest_rank;
    return LW_OK;
}

/* Most pairs that are asked for have no rank: the filter says so from a small table. */
static inline bool is_filtered(const lw__bpe *bpe, uint64_t key)
{
    uint64_t bit = hash_of(key) >> (64 - FILTER_BITS);
    return bpe->filter != NULL && (bpe->filter[bit / 64] >> bit % 64 & 1) == 0;
}

static inline uint64_t value_of(const lw__bpe *bpe, uint32_t left, uint32_t right)
{
    uint64_t key = (uint64_t)left << 32 | right;
    if (bpe->slot_count == 0 || is_filtered(bpe, key)) {
        return LW__PAIR_NONE;
    }
    const lw__pair *slot = slot_of(bpe->slots, bpe->slot_count, key);
    return slot->key == key ? slot->value : LW__PAIR_NONE;
}

static void fill_byte_pairs(lw__bpe *bpe)
{
    for (size_t i = 0; i < 256 * 256; i++) {
        bpe->byte_pairs[i] =
            value_of(bpe, (uint32_t)bpe->byte_ids[i / 256], (uint32_t)bpe->byte_ids[i % 256]);
    }
}

lw_status lw__bpe_finish(lw__bpe *bpe, lw_error *err)
{
    size_t words = ((size_t)1 << FILTER_BITS) / 64;
    uint64_t *filter = lw__alloc_zero(words, sizeof *filter);
    bpe->byte_pairs = lw__alloc_array(256 * 256, sizeof *bpe->byte_pairs);
    if (filter == NULL || bpe->byte_pairs == NULL) {
        lw__free(filter);
        return lw__fail_nomem(err, 256 * 256 * sizeof *bpe->byte_pairs, "merges");
    }
    fill_byte_pairs(bpe);
    for (size_t i = 0; i < bpe->slot_count; i++) {
        if (bpe->slots[i].key != LW__PAIR_NONE) {
            uint64_t bit = hash_of(bpe->slots[i].key) >> (64 - FILTER_BITS);
            filter[bit / 64] |= (uint64_t)1 << bit % 64;
        }
    }
    bpe->filter = filter;
    return LW_OK;
}

/* The value of the pair of two bytes of a piece. */
static inline uint64_t value_of_bytes(const lw__bpe *bpe, const unsigned char *p)
{
    if (bpe->byte_pairs != NULL) {
        return bpe->byte_pairs[(size_t)p[0] << 8 | p[1]];
    }
    return value_of(bpe, (uint32_t)bpe->byte_ids[p[0]], (uint32_t)bpe->byte_ids[p[1]]);
}

/* Symbols in the places of their first bytes. */
typedef struct packed {
    uint32_t
        ranks[PACKED_PIECE]; /* rank and place of the pair that starts here; UINT32_MAX: none */
    uint32_t becomes[PACKED_PIECE]; /* the id that the pair would become */
    uint32_t ids[PACKED_PIECE];
    uint32_t live; /* bits of the places that start a symbol */
} packed;

static inline void packed_put(packed *p, unsigned at, uint64_t value)
{
    uint32_t rank = (uint32_t)(value >> 32);
    p->ranks[at] = value == LW__PAIR_NONE ? UINT32_MAX : rank << PACKED_BITS | at;
    p->becomes[at] = (uint32_t)value;
}

/* Looks up the pair that starts at a symbol again. */
static inline void packed_renew(const lw__bpe *bpe, packed *p, unsigned at)
{
    uint32_t behind = p->live >> at >> 1;
    if (behind == 0) {
        p->ranks[at] = UINT32_MAX;
        return;
    }
    unsigned next = at + 1 + (unsigned)__builtin_ctz(behind);
    packed_put(p, at, value_of(bpe, p->ids[at], p->ids[next]));
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
        packed_put(&p, i, value_of_bytes(bpe, piece + i));
    }
    for (uint32_t least = least_of(p.ranks); least != UINT32_MAX; least = least_of(p.ranks)) {
        unsigned at = least % PACKED_PIECE;
        unsigned gone = at + 1 + (unsigned)__builtin_ctz(p.live >> at >> 1);
        uint32_t before = p.live & ((1u << at) - 1);
        p.live &= ~(1u << gone);
        p.ranks[gone] = UINT32_MAX;
        p.ids[at] = p.becomes[at];
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
static void close_gap(uint32_t *symbols, uint64_t *values, size_t at, size_t count)
{
    for (size_t i = at + 1; i + 1 < count; i++) {
        symbols[i] = symbols[i + 1];
        values[i] = values[i + 1];
    }
}

static size_t encode_short(const lw__bpe *bpe, const unsigned char *piece, size_t count,
                           int32_t *ids)
{
    uint32_t symbols[SHORT_PIECE];
    uint64_t values[SHORT_PIECE];
    for (size_t i = 0; i < count; i++) {
        symbols[i] = (uint32_t)bpe->byte_ids[piece[i]];
        values[i] = LW__PAIR_NONE;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        values[i] = value_of_bytes(bpe, piece + i);
    }
    for (;;) {
        size_t best = 0;
        uint64_t least = values[0];
        for (size_t i = 1; i + 1 < count; i++) {
            best = values[i] < least ? i : best;
            least = values[i] < least ? values[i] : least;
        }
        if (least == LW__PAIR_NONE) {
            break;
        }
        symbols[best] = (uint32_t)least;
        close_gap(symbols, values, best, count);
        count--;
        if (best > 0) {
            values[best - 1] = value_of(bpe, symbols[best - 1], symbols[best]);
        }
        values[best] =
            best + 1 < count ? value_of(bpe, symbols[best], symbols[best + 1]) : LW__PAIR_NONE;
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
    return (nodes[at].value >> 32) << 32 | at;
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
        nodes[i].value = value_of(bpe, nodes[i].id, nodes[i + 1].id);
        if (nodes[i].value != LW__PAIR_NONE) {
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
        nodes[i].value = LW__PAIR_NONE;
    }
}

/* Looks the pair that starts at a node up again, and enters it when it has a rank. */
static void pair_renew(const lw__bpe *bpe, lw__node *nodes, uint32_t at, uint64_t *heap,
                       size_t *heap_count)
{
    uint32_t next = nodes[at].next;
    nodes[at].value = next == NOWHERE ? LW__PAIR_NONE : value_of(bpe, nodes[at].id, nodes[next].id);
    if (nodes[at].value != LW__PAIR_NONE) {
        heap_push(heap, heap_count, entry_of(nodes, at));
    }
}

static void merge_at(const lw__bpe *bpe, lw__node *nodes, uint32_t at, uint64_t *heap,
                     size_t *heap_count)
{
    uint32_t gone = nodes[at].next;
    nodes[at].id = (uint32_t)nodes[at].value;
    nodes[at].next = nodes[gone].next;
    nodes[gone].value = LW__PAIR_NONE;
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
        if (nodes[at].value != LW__PAIR_NONE && entry_of(nodes, at) == entry) {
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
    if (bytes <= PACKED_PIECE && bpe->highest_rank < UINT32_MAX >> PACKED_BITS) {
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
