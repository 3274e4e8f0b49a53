/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recipe's tree in memory, and the wording of a failure's place in it.
 *
 * Trees are small (a few dozen nodes), so members are searched one by one and whole trees are
 * copied where a change must not be left half done.
 */
#include "recipe/node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

lw_status lw__node_create(lw__node_kind kind, lw__node **out, lw_error *err)
{
    lw__node *node = lw__alloc_zero(1, sizeof(*node));
    *out = node;
    if (node == NULL) {
        return lw__fail_nomem(err, sizeof(*node), "a recipe");
    }
    node->kind = kind;
    return LW_OK;
}

void lw__node_destroy(lw__node *node)
{
    if (node == NULL) {
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        lw__node_destroy(node->children[i]);
    }
    lw__free(node->children);
    lw__free(node->key);
    lw__free(node->text);
    lw__free(node);
}

lw_status lw__node_append(lw__node *parent, lw__node *child, lw_error *err)
{
    if (parent->count == parent->capacity) {
        size_t capacity = parent->capacity == 0 ? 4 : parent->capacity * 2;
        lw__node **children = lw__resize_array(parent->children, capacity, sizeof(void *));
        if (children == NULL) {
            return lw__fail_nomem(err, capacity * sizeof(void *), "a recipe");
        }
        parent->children = children;
        parent->capacity = capacity;
    }
    parent->children[parent->count++] = child;
    return LW_OK;
}

lw_status lw__node_set_key(lw__node *node, const char *key, size_t bytes, lw_error *err)
{
    char *copy = lw__copy_text(key, bytes);
    if (copy == NULL) {
        return lw__fail_nomem(err, bytes + 1, "a recipe");
    }
    lw__free(node->key);
    node->key = copy;
    return LW_OK;
}

static lw_status copy_scalars(const lw__node *from, lw__node *to, lw_error *err)
{
    to->plain = from->plain;
    to->line = from->line;
    if (from->key != NULL) {
        LW__TRY(lw__node_set_key(to, from->key, strlen(from->key), err));
    }
    if (from->text != NULL) {
        to->text = lw__copy_text(from->text, strlen(from->text));
        if (to->text == NULL) {
            return lw__fail_nomem(err, strlen(from->text) + 1, "a recipe");
        }
    }
    return LW_OK;
}

static lw_status copy_child(const lw__node *child, lw__node *parent, lw_error *err)
{
    lw__node *copy = NULL;
    LW__TRY(lw__node_copy(child, &copy, err));
    lw_status status = lw__node_append(parent, copy, err);
    if (status < 0) {
        lw__node_destroy(copy);
    }
    return status;
}

lw_status lw__node_copy(const lw__node *node, lw__node **out, lw_error *err)
{
    lw__node *copy = NULL;
    *out = NULL;
    LW__TRY(lw__node_create(node->kind, &copy, err));
    lw_status status = copy_scalars(node, copy, err);
    for (size_t i = 0; i < node->count && status == LW_OK; i++) {
        status = copy_child(node->children[i], copy, err);
    }
    if (status < 0) {
        lw__node_destroy(copy);
        return status;
    }
    *out = copy;
    return LW_OK;
}

size_t lw__node_find(const lw__node *map, const char *key, size_t bytes)
{
    size_t at = 0;
    while (at < map->count && (strlen(map->children[at]->key) != bytes ||
                               memcmp(map->children[at]->key, key, bytes) != 0)) {
        at++;
    }
    return at;
}

const lw__node *lw__node_get(const lw__node *map, const char *key, size_t bytes)
{
    if (map == NULL) {
        return NULL;
    }
    size_t at = lw__node_find(map, key, bytes);
    return at < map->count ? map->children[at] : NULL;
}

lw_status lw__recipe_fail(lw_error *err, lw_status status, const lw__origin *origin, size_t line,
                          const char *format, ...)
{
    char message[sizeof(((lw_error *)NULL)->message)];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (origin->set_key != NULL) {
        return lw__fail(err, status, "recipe: set \"%s\": %s", origin->set_key, message);
    }
    if (origin->file != NULL && line > 0) {
        return lw__fail(err, status, "recipe: \"%s\" line %zu: %s", origin->file, line, message);
    }
    if (origin->file != NULL) {
        return lw__fail(err, status, "recipe: \"%s\": %s", origin->file, message);
    }
    if (line > 0) {
        return lw__fail(err, status, "recipe: line %zu: %s", line, message);
    }
    return lw__fail(err, status, "recipe: %s", message);
}
