/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts by their bytes, for finding all of them that start at one place: a double array. The child
 * of a node by a byte lies at the node's base plus the byte, and names the node as its parent.
 *
 * Immutable once built.
 */
#ifndef LW__TOKENIZE_PIECE_TRIE_H
#define LW__TOKENIZE_PIECE_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

typedef struct lw__trie_key {
    const unsigned char *text; /* borrowed while building; not empty */
    size_t bytes;
    int32_t id;
} lw__trie_key;

typedef struct lw__trie_node {
    uint32_t base;
    uint32_t parent; /* UINT32_MAX: free */
    int32_t id;      /* of the text that ends here; -1: none */
} lw__trie_node;

typedef struct lw__trie {
    lw__trie_node
        *nodes; /* NULL: no texts; else 256 more than any base, so children need no check */
    size_t count;
} lw__trie;

#define LW__TRIE_ROOT 0u
#define LW__TRIE_NONE UINT32_MAX

/* Sorts the keys, which are all different. */
lw_status lw__trie_build(lw__trie *trie, lw__trie_key *keys, size_t count, lw_error *err);
void lw__trie_reset(lw__trie *trie);

/* The child of a node; LW__TRIE_NONE when there is none. The trie is not empty. */
static inline uint32_t lw__trie_child(const lw__trie *trie, uint32_t node, unsigned char byte)
{
    uint32_t child = trie->nodes[node].base + byte;
    return trie->nodes[child].parent == node ? child : LW__TRIE_NONE;
}

/* The longest text that starts at p; its byte count is 0 when there is none. */
lw__trie_key lw__trie_longest(const lw__trie *trie, const unsigned char *p, size_t bytes);

#endif
