/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree a recipe's YAML becomes: maps, lists and scalars, each with its line.
 *
 * A node owns its key, its text and its children. Scalars keep whether they were written without
 * quotes, since only such a scalar can be a number, a boolean or null.
 */
#ifndef LW__RECIPE_NODE_H
#define LW__RECIPE_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include <laneway/error.h>

typedef enum lw__node_kind { LW__NODE_SCALAR, LW__NODE_LIST, LW__NODE_MAP } lw__node_kind;

typedef struct lw__node {
    lw__node_kind kind;
    bool plain;  /* a scalar without quotes */
    char *key;   /* a member's name in its map; NULL in a list */
    size_t line; /* counted from 1: of the key in a map, else of the value */
    char *text;  /* a scalar's; no NUL inside */
    struct lw__node **children;
    size_t count;
    size_t capacity;
} lw__node;

/* Where a tree comes from, for messages. Both NULL: a text in memory. */
typedef struct lw__origin {
    const char *file;
    const char *set_key; /* the key of a call to set */
} lw__origin;

lw_status lw__node_create(lw__node_kind kind, lw__node **out, lw_error *err);
void lw__node_destroy(lw__node *node); /* NULL is fine */
lw_status lw__node_copy(const lw__node *node, lw__node **out, lw_error *err);
/* Takes child on success. */
lw_status lw__node_append(lw__node *parent, lw__node *child, lw_error *err);
lw_status lw__node_set_key(lw__node *node, const char *key, size_t bytes, lw_error *err);
/* The index of the member whose name is the `bytes` bytes at key; count when there is none. */
size_t lw__node_find(const lw__node *map, const char *key, size_t bytes);
/* The member as above, or NULL; a NULL map has none. */
const lw__node *lw__node_get(const lw__node *map, const char *key, size_t bytes);

/* Fills err with "recipe: <origin and line>: <message>" (line 0: none) and returns status. */
lw_status lw__recipe_fail(lw_error *err, lw_status status, const lw__origin *origin, size_t line,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Parses `count` bytes of YAML; *out is NULL when the text holds no value. */
lw_status lw__recipe_read_yaml(const lw__origin *origin, const char *text, size_t count,
                               lw__node **out, lw_error *err);

#endif
