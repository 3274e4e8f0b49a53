/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building piece_trie.h from sorted texts, level by level. A node's children go to the first place
 * where all of them fit, looked for from where places are still to be had; after some tries they
 * go behind everything, which bounds the work on any set of texts.
 */
#include "tokenize/piece_trie.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define TRIES   128                  /* places looked at for the children of one node */
#define NO_NODE (LW__TRIE_NONE - 1u) /* the root's parent: in use, and no node's child */

/* A node whose children are still to be placed: the texts of keys[first, end) go through it. */
typedef struct pending {
    size_t first;
    size_t end;
    uint32_t node;
    uint32_t depth;
} pending;

typedef struct builder {
    lw__trie *trie;
    const lw__trie_key *keys;
    size_t capacity;
    size_t used;  /* one more than the last node in use */
    size_t start; /* nothing is looked for before this place */
    pending *queue;
    size_t queue_count;
    size_t queue_capacity;
} builder;

static int by_text(const void *a, const void *b)
{
    const lw__trie_key *x = a;
    const lw__trie_key *y = b;
    int order = memcmp(x->text, y->text, x->bytes < y->bytes ? x->bytes : y->bytes);
    return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static lw_status nodes_reserve(builder *build, size_t count, lw_error *err)
{
    if (count <= build->capacity) {
        return LW_OK;
    }
    size_t wanted = count < 1024 ? 1024 : count + count / 2;
    lw__trie_node *nodes =
        wanted >= NO_NODE ? NULL : lw__resize_array(build->trie->nodes, wanted, sizeof *nodes);
    if (nodes == NULL) {
        return lw__fail_nomem(err, wanted * sizeof *nodes, "an index of pieces");
    }
    for (size_t i = build->capacity; i < wanted; i++) {
        nodes[i] = (lw__trie_node){.parent = LW__TRIE_NONE, .id = -1};
    }
    build->trie->nodes = nodes;
    build->capacity = wanted;
    return LW_OK;
}

static lw_status enqueue(builder *build, const pending *item, lw_error *err)
{
    if (build->queue_count == build->queue_capacity) {
        size_t wanted = build->queue_capacity == 0 ? 256 : build->queue_capacity * 2;
        pending *queue = lw__resize_array(build->queue, wanted, sizeof *queue);
        if (queue == NULL) {
            return lw__fail_nomem(err, wanted * sizeof *queue, "an index of pieces");
        }
        build->queue = queue;
        build->queue_capacity = wanted;
    }
    build->queue[build->queue_count++] = *item;
    return LW_OK;
}

static bool fits(const builder *build, size_t base, const unsigned char *labels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (build->trie->nodes[base + labels[i]].parent != LW__TRIE_NONE) {
            return false;
        }
    }
    return true;
}

/* A base for children by these bytes, in rising order. */
static lw_status find_base(builder *build, const unsigned char *labels, size_t count,
                           uint32_t *base, lw_error *err)
{
    LW__TRY(nodes_reserve(build, build->used + 512, err));
    size_t at = build->start > labels[0] ? build->start - labels[0] : 0;
    for (size_t tried = 0; tried < TRIES && at < build->used; at++, tried++) {
        if (fits(build, at, labels, count)) {
            *base = (uint32_t)at;
            return LW_OK;
        }
    }
    build->start = at < build->used && count < 4 ? at : build->start;
    *base = (uint32_t)build->used;
    return LW_OK;
}

static size_t list_labels(const builder *build, const pending *item, unsigned char *labels)
{
    size_t count = 0;
    for (size_t i = item->first; i < item->end; i++) {
        unsigned char byte = build->keys[i].text[item->depth];
        if (count == 0 || labels[count - 1] != byte) {
            labels[count++] = byte;
        }
    }
    return count;
}

/* Puts a node's children in their places and in the queue; its own text is behind it already. */
static lw_status place(builder *build, const pending *item, lw_error *err)
{
    unsigned char labels[256];
    uint32_t base = 0;
    size_t label_count = list_labels(build, item, labels);
    LW__TRY(find_base(build, labels, label_count, &base, err));
    lw__trie_node *nodes = build->trie->nodes;
    nodes[item->node].base = base;
    size_t first = item->first;
    for (size_t i = 0; i < label_count; i++) {
        pending child = {.first = first, .node = base + labels[i], .depth = item->depth + 1};
        while (first < item->end && build->keys[first].text[item->depth] == labels[i]) {
            first++;
        }
        child.end = first;
        nodes[child.node].parent = item->node;
        if (build->keys[child.first].bytes == child.depth) {
            nodes[child.node].id = build->keys[child.first++].id;
        }
        build->used = build->used > child.node ? build->used : (size_t)child.node + 1;
        if (child.first < child.end) {
            LW__TRY(enqueue(build, &child, err));
        }
    }
    return LW_OK;
}

static lw_status build_all(builder *build, size_t count, lw_error *err)
{
    LW__TRY(nodes_reserve(build, 512, err));
    build->trie->nodes[LW__TRIE_ROOT].parent = NO_NODE;
    build->used = 1;
    build->start = 1;
    LW__TRY(enqueue(build, &(pending){.end = count, .node = LW__TRIE_ROOT}, err));
    for (size_t i = 0; i < build->queue_count; i++) {
        pending item = build->queue[i];
        LW__TRY(place(build, &item, err));
    }
    build->trie->count = build->capacity;
    return LW_OK;
}

lw_status lw__trie_build(lw__trie *trie, lw__trie_key *keys, size_t count, lw_error *err)
{
    builder build = {.trie = trie, .keys = keys};
    memset(trie, 0, sizeof *trie);
    if (count == 0) {
        return LW_OK;
    }
    qsort(keys, count, sizeof *keys, by_text);
    lw_status status = build_all(&build, count, err);
    lw__free(build.queue);
    return status;
}

void lw__trie_reset(lw__trie *trie)
{
    lw__free(trie->nodes);
    memset(trie, 0, sizeof *trie);
}

lw__trie_key lw__trie_longest(const lw__trie *trie, const unsigned char *p, size_t bytes)
{
    lw__trie_key longest = {.text = p, .bytes = 0, .id = -1};
    uint32_t node = LW__TRIE_ROOT;
    for (size_t i = 0; trie->nodes != NULL && i < bytes; i++) {
        node = lw__trie_child(trie, node, p[i]);
        if (node == LW__TRIE_NONE) {
            break;
        }
        if (trie->nodes[node].id >= 0) {
            longest.bytes = i + 1;
            longest.id = trie->nodes[node].id;
        }
    }
    return longest;
}
