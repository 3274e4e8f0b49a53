/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the classes of pair_classes.h: bytes that the same bytes are joined to are one group to
 * start with, then the two groups that are most alike become one until no more than eight are left.
 */
#include "tokenize/pair_classes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define CLASSES 8 /* bits of a mask */
#define OTHERS  6 /* less that of the space and that of following bytes */

#define SPACE_CLASS  6
#define FOLLOW_CLASS 7

typedef struct group {
    uint64_t before[4];  /* what is joined to any of its bytes */
    uint64_t members[4]; /* its bytes */
    unsigned size;       /* 0: it went into another */
} group;

typedef struct grouping {
    group groups[256];
    size_t count;
    size_t left;              /* groups that are not empty */
    uint32_t costs[256][256]; /* pairs that joining two groups adds; the smaller number first */
} grouping;

static bool follows(unsigned byte)
{
    return (byte & 0xC0) == 0x80;
}

static unsigned bits_only_in(const uint64_t a[4], const uint64_t b[4])
{
    unsigned count = 0;
    for (size_t i = 0; i < 4; i++) {
        count += (unsigned)__builtin_popcountll(a[i] & ~b[i]);
    }
    return count;
}

static uint32_t cost_of(const group *a, const group *b)
{
    return bits_only_in(a->before, b->before) * b->size +
           bits_only_in(b->before, a->before) * a->size;
}

static void group_equals(grouping *all, const lw__byte_pairs *pairs)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        if (follows(byte) || byte == ' ') {
            continue;
        }
        size_t at = 0;
        while (at < all->count && memcmp(all->groups[at].before, pairs->before[byte],
                                         sizeof pairs->before[byte]) != 0) {
            at++;
        }
        group *found = &all->groups[at];
        all->count += at == all->count;
        memcpy(found->before, pairs->before[byte], sizeof found->before);
        found->members[byte / 64] |= UINT64_C(1) << byte % 64;
        found->size++;
    }
    all->left = all->count;
}

static void renew_costs(grouping *all, size_t at)
{
    for (size_t i = 0; i < all->count; i++) {
        uint32_t *cost = i < at ? &all->costs[i][at] : &all->costs[at][i];
        bool is_pair = i != at && all->groups[i].size > 0 && all->groups[at].size > 0;
        *cost = is_pair ? cost_of(&all->groups[i], &all->groups[at]) : UINT32_MAX;
    }
}

static void join_cheapest(grouping *all)
{
    size_t to = 0;
    size_t from = 0;
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < all->count; i++) {
        for (size_t j = i + 1; j < all->count; j++) {
            if (all->costs[i][j] < least) {
                least = all->costs[i][j];
                to = i;
                from = j;
            }
        }
    }
    for (size_t i = 0; i < 4; i++) {
        all->groups[to].before[i] |= all->groups[from].before[i];
        all->groups[to].members[i] |= all->groups[from].members[i];
    }
    all->groups[to].size += all->groups[from].size;
    all->groups[from].size = 0;
    all->left--;
    renew_costs(all, from);
    renew_costs(all, to);
}

/* Gives the bytes of a group a class, and lets it be in the masks of what is joined to them. */
static void put_class(lw__pair_classes *classes, const group *of, unsigned class)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        if ((of->members[byte / 64] >> byte % 64 & 1) != 0) {
            classes->class[byte] = (uint8_t)(1u << class);
        }
        if ((of->before[byte / 64] >> byte % 64 & 1) != 0) {
            classes->joined[byte] |= (uint8_t)(1u << class);
        }
    }
}

static void put_own_classes(lw__pair_classes *classes, const lw__byte_pairs *pairs)
{
    group space = {.members = {UINT64_C(1) << ' '}};
    group following = {.members = {0, 0, UINT64_MAX}};
    memcpy(space.before, pairs->before[' '], sizeof space.before);
    memset(following.before, 0xFF, sizeof following.before);
    put_class(classes, &space, SPACE_CLASS);
    put_class(classes, &following, FOLLOW_CLASS);
}

lw_status lw__pair_classes_build(lw__pair_classes *classes, const lw__byte_pairs *pairs,
                                 lw_error *err)
{
    _Static_assert(OTHERS + 2 == CLASSES, "two classes are taken");
    memset(classes, 0, sizeof *classes);
    grouping *all = lw__alloc_zero(1, sizeof *all);
    if (all == NULL) {
        return lw__fail_nomem(err, sizeof *all, "classes of bytes");
    }
    group_equals(all, pairs);
    for (size_t i = 0; i < all->count; i++) {
        renew_costs(all, i);
    }
    while (all->left > OTHERS) {
        join_cheapest(all);
    }
    unsigned class = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->groups[i].size > 0) {
            put_class(classes, &all->groups[i], class ++);
        }
    }
    put_own_classes(classes, pairs);
    lw__free(all);
    return LW_OK;
}
