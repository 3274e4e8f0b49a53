/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipes: what a stream is made of (docs/recipe.md lists every option).
 */
#ifndef LANEWAY_RECIPE_H
#define LANEWAY_RECIPE_H

#include <laneway/error.h>
#include <laneway/op.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Confined while it is changed; may be closed while pipelines made from it live. */
typedef struct lw_recipe lw_recipe;

/**
 * Reads a recipe file (YAML; JSON is a subset).
 *
 * Syntax, keys, types and ranges are checked; files that the recipe names are looked at only when a
 * pipeline opens. An unknown key is an error that names the nearest known one.
 *
 * @param path    of the file; relative paths in it start at its folder; not NULL
 * @param out     receives the recipe, or NULL on failure; not NULL
 * @param err     filled on failure; may be NULL
 * Returns  LW_OK
 * Errors   NOT_FOUND, IO, INVALID, UNSUPPORTED, NOMEM
 * Threads  any
 * Memory   caller owns the recipe (lw_recipe_close)
 * Since    0.1, unstable
 */
LW_API lw_status lw_recipe_open(const char *path, lw_recipe **out, lw_error *err) LW_MUST_CHECK;

/**
 * Reads a recipe from text.
 *
 * @param text    YAML, NUL-terminated; "" for a recipe to be filled by lw_recipe_set; not NULL
 * @param folder  where relative paths start; NULL for the working directory
 * @param out     receives the recipe, or NULL on failure; not NULL
 * @param err     filled on failure; may be NULL
 * Returns  LW_OK
 * Errors   INVALID, UNSUPPORTED, NOMEM
 * Threads  any
 * Memory   text and folder are copied; caller owns the recipe
 * Since    0.1, unstable
 */
LW_API lw_status lw_recipe_parse(const char *text, const char *folder, lw_recipe **out,
                                 lw_error *err) LW_MUST_CHECK;

/**
 * Sets one option.
 *
 * @param key     dotted, as "tokenizer.path" or "sources.0.weight"; "sources.1" for a new source
 *                appends when there are one; not NULL
 * @param value   YAML, as in a file: "3", "{name: bytes}", "[a, b]"; not NULL
 * @param err     filled on failure, which leaves the recipe as it was; may be NULL
 * Returns  LW_OK
 * Errors   INVALID, UNSUPPORTED, NOMEM
 * Threads  Confined
 * Since    0.1, unstable
 */
LW_API lw_status lw_recipe_set(lw_recipe *recipe, const char *key, const char *value,
                               lw_error *err) LW_MUST_CHECK;

/**
 * Adds an operator of the program's own (op.h). It takes part in the fingerprint by name, version
 * and options text.
 *
 * @param type     its functions; must outlive the recipe and its pipelines; not NULL
 * @param op       handed to every function; may be NULL; must outlive them too
 * @param options  what, beside name and version, decides its output; NULL for nothing
 * @param err      filled on failure; may be NULL
 * Returns  LW_OK
 * Errors   INVALID (struct_size, name, phase or missing functions), NOMEM
 * Threads  Confined
 * Since    0.1, unstable
 */
LW_API lw_status lw_recipe_add_operator(lw_recipe *recipe, const lw_op_type *type, const void *op,
                                        const char *options, lw_error *err) LW_MUST_CHECK;

/**
 * The canonical text: every option in a fixed order, the same however the recipe was made.
 *
 * @param out  receives a NUL-terminated text (lw_text_free); not NULL
 * Returns  LW_OK
 * Errors   INVALID when required options are missing, NOMEM
 * Threads  Confined
 * Since    0.1, unstable
 */
LW_API lw_status lw_recipe_text(lw_recipe *recipe, char **out, lw_error *err) LW_MUST_CHECK;

/**
 * Another recipe with the same options and operators, to be changed apart.
 *
 * @param out  receives the recipe, or NULL on failure; not NULL
 * Returns  LW_OK
 * Errors   INVALID (an argument is NULL), NOMEM
 * Threads  Confined
 * Memory   caller owns the copy (lw_recipe_close)
 * Since    0.1, unstable
 */
LW_API lw_status lw_recipe_copy(const lw_recipe *recipe, lw_recipe **out,
                                lw_error *err) LW_MUST_CHECK;

/** Frees a text the library handed out; NULL is fine. Since 0.1. */
LW_API void lw_text_free(char *text);

/** Closes a recipe; NULL is fine. Since 0.1. */
LW_API void lw_recipe_close(lw_recipe *recipe);

#ifdef __cplusplus
}
#endif

#endif
