/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recipe layer: YAML in, checked settings and a fingerprint out.
 *
 * One table (options.c) has a row for every option: key, type, range, default, text, and whether it
 * may change the stream (STREAM) or not (SPEED). Checking, canonical text, fingerprint, explain and
 * docs/recipe.md all come from it.
 */
#ifndef LW__RECIPE_H
#define LW__RECIPE_H

#include <laneway/error.h>
#include <laneway/recipe.h>

#include "base/bytes.h"
#include "plan/settings.h"

/* What lw_recipe_open, lw_recipe_parse, lw_recipe_set and so on promise; arguments are not NULL. */
lw_status lw__recipe_open(const char *path, lw_recipe **out, lw_error *err);
lw_status lw__recipe_parse(const char *text, const char *folder, lw_recipe **out, lw_error *err);
lw_status lw__recipe_set(lw_recipe *recipe, const char *key, const char *value, lw_error *err);
lw_status lw__recipe_add_operator(lw_recipe *recipe, const lw_op_type *type, const void *op,
                                  const char *options, lw_error *err);
void lw__recipe_close(lw_recipe *recipe);
/* A recipe of its own with the same options and operators, as a pipeline keeps one. */
lw_status lw__recipe_copy(const lw_recipe *recipe, lw_recipe **out, lw_error *err);

/*
 * Checks the whole recipe and gives its settings; cheap when nothing changed since. Borrowed until
 * the recipe changes or is closed.
 */
lw_status lw__recipe_settings(lw_recipe *recipe, const lw__settings **out, lw_error *err);
/* The folder relative paths start at; "." for a recipe made in memory. Borrowed. */
const char *lw__recipe_folder(const lw_recipe *recipe);
/* Appends canonical YAML of the whole recipe: every option, in table order. */
lw_status lw__recipe_text(lw_recipe *recipe, lw__bytes *out, lw_error *err);

/* Calls visit for each STREAM option and its canonical value, in table order. */
typedef void lw__recipe_visit(void *ctx, const char *key, const char *value);
lw_status lw__recipe_stream_fields(lw_recipe *recipe, lw__recipe_visit *visit, void *ctx,
                                   lw_error *err);

/* An operator added by the program; borrowed types and options. In the order added. */
typedef struct lw__recipe_operator {
    const struct lw_op_type *type;
    const void *op;
    const char *options; /* text of its options, for the fingerprint */
} lw__recipe_operator;

const lw__recipe_operator *lw__recipe_operators(const lw_recipe *recipe, size_t *count);

/* The table as a Markdown document (docs/recipe.md). */
lw_status lw__recipe_document(lw__bytes *out, lw_error *err);

#endif
