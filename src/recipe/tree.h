/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recipe's tree against the option table: checking it, changing it, and what follows from it.
 */
#ifndef LW__RECIPE_TREE_H
#define LW__RECIPE_TREE_H

#include "plan/settings.h"
#include "recipe/node.h"
#include "recipe/options.h"

/* Names of options in messages, as "sources.12.weight", are cut to this. */
#define LW__NAME_BYTES 128

/* Checks a node and all below it against what `pattern` stands for; `name` is it in messages. */
lw_status lw__tree_check(const lw__node *node, const char *pattern, const char *name,
                         const lw__origin *origin, lw_error *err);
/* The failure for a key that the map `pattern` does not take; names the nearest that it does. */
lw_status lw__tree_fail_unknown(const lw__origin *origin, size_t line, const char *pattern,
                                const char *key, size_t key_bytes, lw_error *err);

/* Sets a dotted key to the YAML text `value`. A failure leaves *root as it was. */
lw_status lw__tree_set(lw__node **root, const char *key, const char *value, lw_error *err);

/* The node of an option; `index` is the source of a per-source one. NULL: not given. */
const lw__node *lw__tree_find(const lw__node *root, const lw__option *option, size_t index);
/* The list of sources; NULL when none is given. */
const lw__node *lw__tree_sources(const lw__node *root);

/* Settings with the memory that they point to, beside the tree's. */
typedef struct lw__built {
    lw__settings settings;
    lw__source_settings *sources;
    char *tokenizer_path; /* joined with the folder */
} lw__built;

/* Fills settings from a checked tree (whose texts they borrow), and checks them as a whole. */
lw_status lw__built_init(lw__built *built, const lw__node *root, const char *folder, lw_error *err);
void lw__built_reset(lw__built *built);

#endif
