/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes: checks arguments and calls the recipe layer. */
#include "recipe/recipe.h"

#include <laneway/recipe.h>

#include "base/alloc.h"
#include "base/error.h"

static lw_status fail_null(const char *function, lw_error *err)
{
    return lw__fail(err, LW_E_INVALID, "recipe: %s: an argument is NULL, expected a pointer",
                    function);
}

lw_status lw_recipe_open(const char *path, lw_recipe **out, lw_error *err)
{
    if (out != NULL) {
        *out = NULL;
    }
    if (path == NULL || out == NULL) {
        return fail_null("lw_recipe_open", err);
    }
    return lw__recipe_open(path, out, err);
}

lw_status lw_recipe_parse(const char *text, const char *folder, lw_recipe **out, lw_error *err)
{
    if (out != NULL) {
        *out = NULL;
    }
    if (text == NULL || out == NULL) {
        return fail_null("lw_recipe_parse", err);
    }
    return lw__recipe_parse(text, folder, out, err);
}

lw_status lw_recipe_set(lw_recipe *recipe, const char *key, const char *value, lw_error *err)
{
    if (recipe == NULL || key == NULL || value == NULL) {
        return fail_null("lw_recipe_set", err);
    }
    return lw__recipe_set(recipe, key, value, err);
}

lw_status lw_recipe_add_operator(lw_recipe *recipe, const lw_op_type *type, const void *op,
                                 const char *options, lw_error *err)
{
    if (recipe == NULL || type == NULL) {
        return fail_null("lw_recipe_add_operator", err);
    }
    return lw__recipe_add_operator(recipe, type, op, options, err);
}

lw_status lw_recipe_text(lw_recipe *recipe, char **out, lw_error *err)
{
    if (out != NULL) {
        *out = NULL;
    }
    if (recipe == NULL || out == NULL) {
        return fail_null("lw_recipe_text", err);
    }
    lw__bytes text;
    lw__bytes_init(&text);
    lw_status status = lw__recipe_text(recipe, &text, err);
    lw__bytes_put_u8(&text, '\0');
    if (status == LW_OK && text.failed) {
        status = lw__fail_nomem(err, text.count + 1, "a recipe's text");
    }
    if (status < 0) {
        lw__bytes_reset(&text);
        return status;
    }
    *out = (char *)text.data;
    return LW_OK;
}

lw_status lw_recipe_copy(const lw_recipe *recipe, lw_recipe **out, lw_error *err)
{
    if (out != NULL) {
        *out = NULL;
    }
    if (recipe == NULL || out == NULL) {
        return fail_null("lw_recipe_copy", err);
    }
    return lw__recipe_copy(recipe, out, err);
}

void lw_text_free(char *text)
{
    lw__free(text);
}

void lw_recipe_close(lw_recipe *recipe)
{
    lw__recipe_close(recipe);
}
