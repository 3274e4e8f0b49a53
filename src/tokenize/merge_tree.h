/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least of many ranks that change, and of equal ones the leftmost: a tree of groups.
 *
 *   top        rank, place in the group | ...   one group
 *   ...
 *   leaves     rank, place in its group | ...   one for each pair, and as many as fill up a group
 *
 * A group is looked at all at once. Whoever changes leaves renews what is above them; as long as all
 * leaves are one group, there is nothing.
 */
#ifndef LW__TOKENIZE_MERGE_TREE_H
#define LW__TOKENIZE_MERGE_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LW__TREE_BITS   6
#define LW__TREE_WIDTH  (1 << LW__TREE_BITS)         /* of a group */
#define LW__TREE_LEVELS 6                            /* enough for 2^32 leaves */
#define LW__TREE_NONE   (INT32_MAX >> LW__TREE_BITS) /* the rank of what does not merge */

typedef struct lw__merge_tree {
    int32_t *levels[LW__TREE_LEVELS]; /* the leaves first */
    size_t height;
} lw__merge_tree;

typedef int32_t lw__four_ranks __attribute__((vector_size(16)));

static inline lw__four_ranks lw__tree_load(const int32_t *p)
{
    lw__four_ranks four;
    memcpy(&four, p, sizeof four);
    return four;
}

static inline lw__four_ranks lw__tree_less(lw__four_ranks a, lw__four_ranks b)
{
    lw__four_ranks is_less = a < b;
    return (a & is_less) | (b & ~is_less);
}

static inline int32_t lw__tree_least(const int32_t *group)
{
    lw__four_ranks even = lw__tree_load(group);
    lw__four_ranks odd = lw__tree_load(group + 4);
    for (size_t i = 8; i < LW__TREE_WIDTH; i += 8) {
        even = lw__tree_less(even, lw__tree_load(group + i));
        odd = lw__tree_less(odd, lw__tree_load(group + i + 4));
    }
    even = lw__tree_less(even, odd);
    int32_t first = even[0] < even[1] ? even[0] : even[1];
    int32_t second = even[2] < even[3] ? even[2] : even[3];
    return first < second ? first : second;
}

static inline size_t lw__tree_groups(size_t count)
{
    return (count + LW__TREE_WIDTH - 1) / LW__TREE_WIDTH;
}

/* How many numbers the tree of so many leaves has. */
static inline size_t lw__tree_room(size_t count)
{
    size_t room = 0;
    do {
        count = lw__tree_groups(count);
        room += count * LW__TREE_WIDTH;
    } while (count > 1);
    return room;
}

/* Of so many leaves, which are to be put. */
static inline void lw__tree_start(lw__merge_tree *tree, int32_t *memory, size_t count)
{
    tree->height = 0;
    do {
        size_t groups = lw__tree_groups(count);
        tree->levels[tree->height++] = memory;
        for (size_t i = count; i < groups * LW__TREE_WIDTH; i++) {
            memory[i] = INT32_MAX;
        }
        memory += groups * LW__TREE_WIDTH;
        count = groups;
    } while (count > 1);
}

static inline void lw__tree_put(lw__merge_tree *tree, size_t at, uint32_t rank)
{
    tree->levels[0][at] = (int32_t)(rank << LW__TREE_BITS | at % LW__TREE_WIDTH);
}

/* What a level has for a group of the one below. */
static inline void lw__tree_raise(lw__merge_tree *tree, size_t level, size_t group)
{
    int32_t least = lw__tree_least(tree->levels[level - 1] + group * LW__TREE_WIDTH);
    tree->levels[level][group] =
        (least & ~(LW__TREE_WIDTH - 1)) | (int32_t)(group % LW__TREE_WIDTH);
}

/* All that is above the leaves. */
static inline void lw__tree_finish(lw__merge_tree *tree, size_t count)
{
    for (size_t level = 1; level < tree->height; level++) {
        count = lw__tree_groups(count);
        for (size_t group = 0; group < count; group++) {
            lw__tree_raise(tree, level, group);
        }
    }
}

/* What is above one leaf. */
static inline void lw__tree_renew(lw__merge_tree *tree, size_t at)
{
    for (size_t level = 1; level < tree->height; level++) {
        at /= LW__TREE_WIDTH;
        lw__tree_raise(tree, level, at);
    }
}

/* The place of the least rank; LW__TREE_NONE as the rank when there is none. */
static inline size_t lw__tree_first(const lw__merge_tree *tree, uint32_t *rank)
{
    size_t at = 0;
    int32_t least = 0;
    for (size_t level = tree->height; level-- > 0;) {
        least = lw__tree_least(tree->levels[level] + at * LW__TREE_WIDTH);
        at = at * LW__TREE_WIDTH + (size_t)(least & (LW__TREE_WIDTH - 1));
    }
    *rank = (uint32_t)least >> LW__TREE_BITS;
    return at;
}

#endif
