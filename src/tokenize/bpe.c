/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging. A piece of up to 16 bytes keeps the ranks of its pairs in places that never move, and
 * a bit for each symbol that is still there; one of up to 32 keeps its symbols and ranks in
 * arrays. Both look for the least. A longer one keeps its pairs in a queue and its symbols in a
 * linked list.
 *
 * A queued pair goes stale when one of its two symbols is merged away. It is told by its rank:
 * every node knows the rank that its pair has now.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/bpe_pairs.h"
#include "tokenize/bpe_queue.h"
#include "tokenize/bpe_short.h"

#define SHORT_PIECE   32               /* symbols up to which the scan beats the heap */
#define NOWHERE       UINT32_MAX       /* no node */
#define LONGEST_PIECE (UINT32_MAX / 2) /* links of its pairs are counted in 32 bits */

void lw__bpe_scratch_reset(lw__bpe_scratch *scratch)
{
    lw__free(scratch->nodes);
    lw__free(scratch->queue.items);
    lw__free(scratch->queue.links);
    memset(scratch, 0, sizeof *scratch);
}

static size_t encode_packed(const lw__bpe *bpe, const unsigned char *piece, size_t bytes,
                            int32_t *ids)
{
    lw__bpe_job job = {.piece = piece, .bytes = (uint32_t)bytes};
    lw__bpe_job *only = &job;
    lw__bpe_jobs_portable(bpe, &only, 1);
    memcpy(ids, job.ids, job.count * sizeof *ids);
    return job.count;
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

/* Each merge takes one pair out and puts at most two in, so twice the symbols are enough. */
static lw_status queue_reserve(lw__bpe_queue *queue, size_t pairs, lw_error *err)
{
    if (pairs <= queue->capacity) {
        return LW_OK;
    }
    lw__queue_item *items = lw__resize_array(queue->items, pairs, sizeof *items);
    if (items != NULL) {
        queue->items = items;
    }
    lw__queue_link_to *links = lw__resize_array(queue->links, pairs, sizeof *links);
    if (links != NULL) {
        queue->links = links;
    }
    if (items == NULL || links == NULL) {
        return lw__fail_nomem(err, pairs * sizeof *items, "a long piece");
    }
    queue->capacity = pairs;
    return LW_OK;
}

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
    return queue_reserve(&scratch->queue, bytes * 2, err);
}

/* Queues the pair that starts at a node when it has a rank. */
static inline void pair_put(lw__node *nodes, uint32_t at, uint32_t rank, lw__bpe_queue *queue)
{
    nodes[at].rank = rank;
    if (rank != LW__RANK_NONE) {
        lw__queue_push(queue, rank, at);
    }
}

/* A symbol for each byte, and their pairs; all in one go, as a piece may be larger than a cache. */
static void nodes_fill(const lw__bpe *bpe, lw__bpe_scratch *scratch, const unsigned char *piece,
                       size_t count)
{
    lw__node *nodes = scratch->nodes;
    lw__queue_start(&scratch->queue);
    for (uint32_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        nodes[i].id = (uint32_t)bpe->byte_ids[piece[i]];
        nodes[i].previous = i == 0 ? NOWHERE : i - 1;
        nodes[i].next = last ? NOWHERE : i + 1;
        pair_put(nodes, i, last ? LW__RANK_NONE : lw__pair_byte_rank(bpe, piece + i),
                 &scratch->queue);
    }
}

static inline void pair_renew(const lw__bpe *bpe, lw__node *nodes, uint32_t at,
                              lw__bpe_queue *queue)
{
    uint32_t next = nodes[at].next;
    pair_put(nodes, at,
             next == NOWHERE ? LW__RANK_NONE : lw__pair_rank(bpe, nodes[at].id, nodes[next].id),
             queue);
}

static void merge_at(const lw__bpe *bpe, lw__node *nodes, uint32_t at, lw__bpe_queue *queue)
{
    uint32_t gone = nodes[at].next;
    nodes[at].id = (uint32_t)bpe->ids[nodes[at].rank];
    nodes[at].next = nodes[gone].next;
    nodes[gone].rank = LW__RANK_NONE;
    if (nodes[at].next != NOWHERE) {
        nodes[nodes[at].next].previous = at;
    }
    if (nodes[at].previous != NOWHERE) {
        pair_renew(bpe, nodes, nodes[at].previous, queue);
    }
    pair_renew(bpe, nodes, at, queue);
}

static size_t encode_long(const lw__bpe *bpe, lw__bpe_scratch *scratch, const unsigned char *piece,
                          size_t bytes, int32_t *ids)
{
    lw__node *nodes = scratch->nodes;
    lw__bpe_queue *queue = &scratch->queue;
    uint64_t key = 0;
    nodes_fill(bpe, scratch, piece, bytes);
    while (lw__queue_pop(queue, &key)) {
        uint32_t at = (uint32_t)key;
        if (nodes[at].rank != LW__RANK_NONE && lw__queue_key(nodes[at].rank, at) == key) {
            merge_at(bpe, nodes, at, queue);
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
    if (bytes <= LW__BPE_SHORT) {
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
