/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs of a long piece, the lowest rank first and of equal ones the leftmost.
 *
 * Pairs that come with one rank, each to the right of the one before, make a chain, and only the
 * first of a chain is in the heap. In a run of one character a merge goes from left to right, so
 * all pairs are in a few chains, and a heap of a few items costs next to nothing. The order is the
 * same whichever pairs are chained.
 */
#ifndef LW__TOKENIZE_BPE_QUEUE_H
#define LW__TOKENIZE_BPE_QUEUE_H

#include <stdbool.h>
#include <string.h>

#include "tokenize/bpe.h"

#define LW__QUEUE_WIDTH 4 /* children of a heap item: half the levels of a binary heap */
#define LW__QUEUE_NONE  UINT32_MAX

static inline uint64_t lw__queue_key(uint32_t rank, uint32_t at)
{
    return (uint64_t)rank << 32 | at;
}

/* For a queue with room for `count` pairs at a time; it is empty then. */
static inline void lw__queue_start(lw__bpe_queue *queue)
{
    queue->count = 0;
    queue->used = 0;
    queue->free = LW__QUEUE_NONE;
    memset(queue->tails, 0xFF, sizeof queue->tails);
}

static inline uint32_t lw__queue_link(lw__bpe_queue *queue, uint32_t at)
{
    uint32_t link = queue->free;
    if (link == LW__QUEUE_NONE) {
        link = queue->used++;
    } else {
        queue->free = queue->links[link].next;
    }
    queue->links[link] = (lw__queue_link_to){.at = at, .next = LW__QUEUE_NONE};
    return link;
}

static inline void lw__queue_up(lw__bpe_queue *queue, lw__queue_item item)
{
    size_t at = queue->count++;
    while (at > 0 && queue->items[(at - 1) / LW__QUEUE_WIDTH].key > item.key) {
        queue->items[at] = queue->items[(at - 1) / LW__QUEUE_WIDTH];
        at = (at - 1) / LW__QUEUE_WIDTH;
    }
    queue->items[at] = item;
}

/* Puts an item at the top, in place of the one that is there. */
static inline void lw__queue_down(lw__bpe_queue *queue, lw__queue_item item)
{
    lw__queue_item *items = queue->items;
    size_t at = 0;
    for (;;) {
        size_t child = at * LW__QUEUE_WIDTH + 1;
        size_t end =
            child + LW__QUEUE_WIDTH < queue->count ? child + LW__QUEUE_WIDTH : queue->count;
        size_t least = child;
        for (child++; child < end; child++) {
            least = items[child].key < items[least].key ? child : least;
        }
        if (least >= queue->count || item.key <= items[least].key) {
            break;
        }
        items[at] = items[least];
        at = least;
    }
    items[at] = item;
}

static inline void lw__queue_push(lw__bpe_queue *queue, uint32_t rank, uint32_t at)
{
    lw__queue_tail *tail = &queue->tails[rank % LW__QUEUE_TAILS];
    uint32_t link = lw__queue_link(queue, at);
    if (tail->rank == rank && tail->at < at) {
        queue->links[tail->link].next = link;
    } else {
        lw__queue_up(queue, (lw__queue_item){.key = lw__queue_key(rank, at), .link = link});
    }
    *tail = (lw__queue_tail){.rank = rank, .link = link, .at = at};
}

/* Takes the first pair out; false when there is none. */
static inline bool lw__queue_pop(lw__bpe_queue *queue, uint64_t *key)
{
    if (queue->count == 0) {
        return false;
    }
    lw__queue_item top = queue->items[0];
    uint32_t rank = (uint32_t)(top.key >> 32);
    uint32_t link = (uint32_t)top.link;
    uint32_t next = queue->links[link].next;
    *key = top.key;
    queue->links[link].next = queue->free;
    queue->free = link;
    if (next != LW__QUEUE_NONE) {
        uint64_t behind = lw__queue_key(rank, queue->links[next].at);
        lw__queue_down(queue, (lw__queue_item){.key = behind, .link = next});
        return true;
    }
    lw__queue_tail *tail = &queue->tails[rank % LW__QUEUE_TAILS];
    if (tail->link == link) {
        tail->rank = LW__RANK_NONE; /* The chain has ended, nothing may be put behind it. */
    }
    if (--queue->count > 0) {
        lw__queue_down(queue, queue->items[queue->count]);
    }
    return true;
}

#endif
