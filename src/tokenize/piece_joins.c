/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of pairs, and merging with it. Few symbols are kept in an array that is looked through
 * for the least value; many are a linked list whose pairs wait in lists by rank and a heap.
 *
 * An entry goes stale when one of its two symbols is merged away. It is told by its rank:
 * every link knows the rank that its pair has now.
 */
#include "tokenize/piece_joins.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/piece_rows.h"

#define FEW         32               /* symbols up to which looking through beats the heap */
#define NOWHERE     UINT32_MAX       /* no link */
#define NONE        UINT64_MAX       /* no pair */
#define MOST        (UINT32_MAX / 2) /* links, and twice as many waiting pairs, have 32-bit numbers */
#define FIRST_SLOTS 1024

static lw_status grow(lw__joins *joins, size_t slot_count, lw_error *err);

lw_status lw__joins_create(lw__joins *joins, lw_error *err)
{
    memset(joins, 0, sizeof *joins);
    return grow(joins, FIRST_SLOTS, err);
}

void lw__joins_reset(lw__joins *joins)
{
    lw__free(joins->slots);
    memset(joins, 0, sizeof *joins);
}

void lw__joins_scratch_reset(lw__joins_scratch *scratch)
{
    lw__free(scratch->links);
    lw__free(scratch->waiting);
    lw__free(scratch->heap);
    lw__free(scratch->lists);
    memset(scratch, 0, sizeof *scratch);
}

static lw_status grow(lw__joins *joins, size_t slot_count, lw_error *err)
{
    lw__join *slots = lw__alloc_array(slot_count, sizeof *slots);
    if (slots == NULL) {
        return lw__fail_nomem(err, slot_count * sizeof *slots, "merges");
    }
    memset(slots, 0xFF, slot_count * sizeof *slots);
    for (size_t i = 0; i < joins->slot_count; i++) {
        if (joins->slots[i].key != NONE) {
            *lw__joins_slot(slots, slot_count, joins->slots[i].key) = joins->slots[i];
        }
    }
    lw__free(joins->slots);
    joins->slots = slots;
    joins->slot_count = slot_count;
    return LW_OK;
}

lw_status lw__joins_put(lw__joins *joins, const lw__joint *joint, lw_error *err)
{
    if (joins->count >= joins->slot_count / 2) {
        LW__TRY(grow(joins, joins->slot_count * 2, err));
    }
    uint64_t key = (uint64_t)joint->left << 32 | joint->right;
    lw__join *slot = lw__joins_slot(joins->slots, joins->slot_count, key);
    joins->count += slot->key == NONE;
    slot->key = key;
    slot->value = (uint64_t)joint->rank << 32 | joint->becomes;
    joins->ranks = joint->rank >= joins->ranks ? (size_t)joint->rank + 1 : joins->ranks;
    return LW_OK;
}

/* Takes out symbol `at + 1` of `count`, and the pair it starts. */
static void close_gap(int32_t *symbols, uint64_t *values, size_t at, size_t count)
{
    for (size_t i = at + 1; i + 1 < count; i++) {
        symbols[i] = symbols[i + 1];
        values[i] = values[i + 1];
    }
}

static uint64_t pair_at(const lw__joins *joins, const int32_t *symbols, size_t at, size_t count)
{
    return at + 1 < count ? lw__joins_value(joins, (uint32_t)symbols[at], (uint32_t)symbols[at + 1])
                          : NONE;
}

static size_t merge_few(const lw__joins *joins, int32_t *symbols, size_t count)
{
    uint64_t values[FEW];
    for (size_t i = 0; i < count; i++) {
        values[i] = pair_at(joins, symbols, i, count);
    }
    for (;;) {
        size_t best = 0;
        uint64_t least = NONE;
        for (size_t i = 0; i + 1 < count; i++) {
            /* By rank alone, so that of equals the leftmost stays. */
            bool is_less = values[i] >> 32 < least >> 32;
            best = is_less ? i : best;
            least = is_less ? values[i] : least;
        }
        if (least == NONE) {
            return count;
        }
        symbols[best] = (int32_t)(uint32_t)least;
        close_gap(symbols, values, best, count);
        count--;
        if (best > 0) {
            values[best - 1] = pair_at(joins, symbols, best - 1, count);
        }
        values[best] = pair_at(joins, symbols, best, count);
    }
}

static uint64_t entry_of(const lw__link *links, uint32_t at)
{
    return (links[at].value >> 32) << 32 | at;
}

static void heap_push(uint64_t *heap, size_t *count, uint64_t item)
{
    size_t at = (*count)++;
    while (at > 0 && heap[(at - 1) / 2] > item) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = item;
}

static uint64_t heap_pop(uint64_t *heap, size_t *count)
{
    uint64_t top = heap[0];
    uint64_t item = heap[--*count];
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child + 1 < *count && heap[child + 1] < heap[child]) {
            child++;
        }
        if (child >= *count || item <= heap[child]) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
    return top;
}

static bool grow_array(void **items, size_t count, size_t item_bytes)
{
    void *grown = lw__resize_array(*items, count, item_bytes);
    *items = grown != NULL ? grown : *items;
    return grown != NULL;
}

static lw_status reserve_lists(lw__joins_scratch *scratch, size_t ranks, lw_error *err)
{
    if (ranks <= scratch->list_count) {
        return LW_OK;
    }
    void *lists = scratch->lists;
    if (!grow_array(&lists, ranks, sizeof *scratch->lists)) {
        return lw__fail_nomem(err, ranks * sizeof *scratch->lists, "a long unit");
    }
    scratch->lists = lists;
    memset(scratch->lists, 0xFF, ranks * sizeof *scratch->lists);
    scratch->list_count = ranks;
    return LW_OK;
}

/* Each merge takes one pair out and puts at most two in, so twice the symbols are enough. */
static lw_status scratch_reserve(lw__joins_scratch *scratch, size_t ranks, size_t count,
                                 lw_error *err)
{
    LW__TRY(reserve_lists(scratch, ranks, err));
    if (count <= scratch->link_capacity) {
        return LW_OK;
    }
    void *links = scratch->links;
    void *waiting = scratch->waiting;
    void *heap = scratch->heap;
    bool grown = grow_array(&links, count, sizeof *scratch->links) &&
                 grow_array(&waiting, count * 2, sizeof *scratch->waiting) &&
                 grow_array(&heap, count * 2, sizeof *scratch->heap);
    scratch->links = links;
    scratch->waiting = waiting;
    scratch->heap = heap;
    if (!grown) {
        return lw__fail_nomem(err, count * sizeof *scratch->links, "a long unit");
    }
    scratch->link_capacity = count;
    return LW_OK;
}

/*
 * Puts a pair where it will be taken from in order. Mostly pairs of one rank come from left to
 * right: then they are a list, and the heap only has its first. Others go into the heap alone.
 */
static void wait_for(lw__joins_scratch *scratch, uint32_t at)
{
    uint64_t entry = entry_of(scratch->links, at);
    lw__rank_list *list = &scratch->lists[entry >> 32];
    if (list->head != NOWHERE && scratch->waiting[list->tail].link > at) {
        heap_push(scratch->heap, &scratch->heap_count, entry);
        return;
    }
    uint32_t item = scratch->free != NOWHERE ? scratch->free : scratch->waiting_count++;
    scratch->free = scratch->free != NOWHERE ? scratch->waiting[item].next : NOWHERE;
    scratch->waiting[item] = (lw__waiting){.link = at, .next = NOWHERE};
    if (list->head == NOWHERE) {
        list->head = item;
        heap_push(scratch->heap, &scratch->heap_count, entry);
    } else {
        scratch->waiting[list->tail].next = item;
    }
    list->tail = item;
}

/* Takes the least entry; when it is the first of a list, the next one of that goes to the heap. */
static uint64_t take_least(lw__joins_scratch *scratch)
{
    uint64_t entry = heap_pop(scratch->heap, &scratch->heap_count);
    lw__rank_list *list = &scratch->lists[entry >> 32];
    uint32_t item = list->head;
    if (item == NOWHERE || scratch->waiting[item].link != (uint32_t)entry) {
        return entry;
    }
    list->head = scratch->waiting[item].next;
    scratch->waiting[item].next = scratch->free;
    scratch->free = item;
    if (list->head != NOWHERE) {
        uint64_t next = (entry >> 32) << 32 | scratch->waiting[list->head].link;
        heap_push(scratch->heap, &scratch->heap_count, next);
    }
    return entry;
}

/* Looks the pair that starts at a link up, and lets it wait when it has a rank. */
static void renew(const lw__joins *joins, lw__joins_scratch *scratch, uint32_t at)
{
    lw__link *links = scratch->links;
    uint32_t next = links[at].next;
    links[at].value =
        next == NOWHERE ? NONE : lw__joins_value(joins, links[at].symbol, links[next].symbol);
    if (links[at].value != NONE) {
        wait_for(scratch, at);
    }
}

static void merge_at(const lw__joins *joins, lw__joins_scratch *scratch, uint32_t at)
{
    lw__link *links = scratch->links;
    uint32_t gone = links[at].next;
    links[at].symbol = (uint32_t)links[at].value;
    links[at].next = links[gone].next;
    links[gone].value = NONE;
    if (links[at].next != NOWHERE) {
        links[links[at].next].previous = at;
    }
    if (links[at].previous != NOWHERE) {
        renew(joins, scratch, links[at].previous);
    }
    renew(joins, scratch, at);
}

static size_t merge_many(const lw__joins *joins, lw__joins_scratch *scratch, int32_t *symbols,
                         size_t count)
{
    lw__link *links = scratch->links;
    scratch->heap_count = 0;
    scratch->waiting_count = 0;
    scratch->free = NOWHERE;
    for (size_t i = 0; i < count; i++) {
        links[i] = (lw__link){.symbol = (uint32_t)symbols[i],
                              .previous = i == 0 ? NOWHERE : (uint32_t)(i - 1),
                              .next = i + 1 == count ? NOWHERE : (uint32_t)(i + 1)};
    }
    for (size_t i = 0; i < count; i++) {
        renew(joins, scratch, (uint32_t)i);
    }
    while (scratch->heap_count > 0) {
        uint64_t entry = take_least(scratch);
        uint32_t at = (uint32_t)entry;
        if (links[at].value != NONE && entry_of(links, at) == entry) {
            merge_at(joins, scratch, at);
        }
    }
    size_t merged = 0;
    for (uint32_t at = 0; at != NOWHERE; at = links[at].next) {
        symbols[merged++] = (int32_t)links[at].symbol;
    }
    return merged;
}

lw_status lw__joins_merge(const lw__joins *joins, lw__joins_scratch *scratch, int32_t *symbols,
                          size_t *count, lw_error *err)
{
    if (*count < 2) {
        return LW_OK;
    }
    if (*count <= FEW) {
        *count = merge_few(joins, symbols, *count);
        return LW_OK;
    }
    if (lw__rows_merge(joins, symbols, count)) {
        return LW_OK;
    }
    if (*count > MOST) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: a unit of %zu characters without a cut, expected at most %zu",
                        *count, (size_t)MOST);
    }
    LW__TRY(scratch_reserve(scratch, joins->ranks, *count, err));
    *count = merge_many(joins, scratch, symbols, *count);
    return LW_OK;
}
