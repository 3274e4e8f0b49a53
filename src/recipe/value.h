/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of one option: from a node of the tree, into the settings, and as canonical text.
 *
 * These three know the types of options; the rest of the layer does not. Texts stay borrowed from
 * the node (or from the option table, for a default).
 */
#ifndef LW__RECIPE_VALUE_H
#define LW__RECIPE_VALUE_H

#include "base/bytes.h"
#include "recipe/node.h"
#include "recipe/options.h"

typedef struct lw__value {
    uint64_t number;      /* whole numbers, bytes, weights, ids; an index; 0 or 1 */
    bool is_null;         /* of an id */
    const char *text;     /* NULL for null or false, "" for true */
    const lw__node *list; /* texts: a list, or the one text */
} lw__value;

/*
 * Reads and checks an option's value; a NULL node stands for the default. `name` is the option's
 * in messages: "sources.0.weight". INVALID, or UNSUPPORTED for what a later release may take.
 */
lw_status lw__value_read(const lw__option *option, const lw__node *node, const char *name,
                         const lw__origin *origin, lw__value *out, lw_error *err);

/* Fills err with "<name> is <what the node holds>, expected <expected>" and returns status. */
lw_status lw__recipe_fail_found(lw_error *err, lw_status status, const lw__origin *origin,
                                const lw__node *node, const char *name, const char *expected);

/* Writes the value to its place in `base` (lw__settings or lw__source_settings); not texts. */
void lw__value_store(const lw__option *option, const lw__value *value, void *base);

/* Appends the value as YAML that reads back as the same value, and is the same for equal ones. */
void lw__value_put(const lw__option *option, const lw__value *value, lw__bytes *out);

/* Appends a text in double quotes, with escapes, as YAML and JSON read it. */
void lw__value_put_quoted(const char *text, lw__bytes *out);

#endif
