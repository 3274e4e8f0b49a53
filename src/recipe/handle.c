/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recipe handle: opened from a file or a text, changed by calls, copied, closed.
 *
 * The tree in it always passes the check against the option table; a change that would not is
 * refused and leaves it as it was. Settings are built from it when asked for, and kept.
 */
#include "recipe/handle.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os_file.h"

/* A recipe is written by hand; a larger file is something else, given by mistake. */
#define FILE_BYTES_MAX ((size_t)1 << 24)

void lw__recipe_close(lw_recipe *recipe)
{
    if (recipe == NULL) {
        return;
    }
    lw__built_reset(&recipe->built);
    lw__node_destroy(recipe->root);
    for (size_t i = 0; i < recipe->operator_count; i++) {
        lw__free((void *)recipe->operators[i].options);
    }
    lw__free(recipe->operators);
    lw__free(recipe->folder);
    lw__free(recipe);
}

/* A recipe still without a tree; NULL, and err filled, when memory is out. */
static lw_recipe *create(const char *folder, size_t folder_bytes, lw_error *err)
{
    lw_recipe *recipe = lw__alloc_zero(1, sizeof(*recipe));
    char *copy = lw__copy_text(folder, folder_bytes);
    if (recipe == NULL || copy == NULL) {
        lw__free(recipe);
        lw__free(copy);
        (void)lw__fail_nomem(err, sizeof(*recipe) + folder_bytes + 1, "a recipe");
        return NULL;
    }
    recipe->folder = copy;
    return recipe;
}

static bool is_empty_value(const lw__node *node)
{
    return node->kind == LW__NODE_SCALAR && node->plain && node->text[0] == '\0';
}

/* A text without a value (only comments, say) is an empty map. */
static lw_status read_root(const lw__origin *origin, const char *text, size_t count, lw__node **out,
                           lw_error *err)
{
    LW__TRY(lw__recipe_read_yaml(origin, text, count, out, err));
    if (*out != NULL && is_empty_value(*out)) {
        lw__node_destroy(*out);
        *out = NULL;
    }
    return *out != NULL ? LW_OK : lw__node_create(LW__NODE_MAP, out, err);
}

static lw_status fill(lw_recipe *recipe, const lw__origin *origin, const char *text, size_t count,
                      lw_error *err)
{
    LW__TRY(read_root(origin, text, count, &recipe->root, err));
    return lw__tree_check(recipe->root, "", "", origin, err);
}

static lw_status parse(const lw__origin *origin, lw_str folder, const char *text, size_t count,
                       lw_recipe **out, lw_error *err)
{
    lw_recipe *recipe = create(folder.data, folder.bytes, err);
    if (recipe == NULL) {
        return LW_E_NOMEM;
    }
    lw_status status = fill(recipe, origin, text, count, err);
    if (status < 0) {
        lw__recipe_close(recipe);
        return status;
    }
    *out = recipe;
    return LW_OK;
}

lw_status lw__recipe_parse(const char *text, const char *folder, lw_recipe **out, lw_error *err)
{
    static const lw__origin memory;
    const char *given = folder == NULL || folder[0] == '\0' ? "." : folder;
    *out = NULL;
    return parse(&memory, (lw_str){given, strlen(given)}, text, strlen(text), out, err);
}

/* "a/b.yaml" is in "a", "b.yaml" in ".", "/b.yaml" in "/". */
static lw_str folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return (lw_str){".", 1};
    }
    return (lw_str){path, slash == path ? 1 : (size_t)(slash - path)};
}

lw_status lw__recipe_open(const char *path, lw_recipe **out, lw_error *err)
{
    lw__origin origin = {.file = path};
    lw__bytes text;
    *out = NULL;
    lw__bytes_init(&text);
    lw_status status = lw__os_read_file("recipe", path, FILE_BYTES_MAX, &text, err);
    if (status == LW_OK) {
        status = parse(&origin, folder_of(path), (const char *)text.data, text.count, out, err);
    }
    lw__bytes_reset(&text);
    return status;
}

lw_status lw__recipe_set(lw_recipe *recipe, const char *key, const char *value, lw_error *err)
{
    LW__TRY(lw__tree_set(&recipe->root, key, value, err));
    lw__built_reset(&recipe->built);
    recipe->is_built = false;
    return LW_OK;
}

lw_status lw__recipe_settings(lw_recipe *recipe, const lw__settings **out, lw_error *err)
{
    if (!recipe->is_built) {
        LW__TRY(lw__built_init(&recipe->built, recipe->root, recipe->folder, err));
        recipe->is_built = true;
    }
    *out = &recipe->built.settings;
    return LW_OK;
}

const char *lw__recipe_folder(const lw_recipe *recipe)
{
    return recipe->folder;
}

static lw_status copy_parts(const lw_recipe *from, lw_recipe *to, lw_error *err)
{
    LW__TRY(lw__node_copy(from->root, &to->root, err));
    for (size_t i = 0; i < from->operator_count; i++) {
        const lw__recipe_operator *added = &from->operators[i];
        LW__TRY(lw__recipe_add_operator(to, added->type, added->op, added->options, err));
    }
    return LW_OK;
}

lw_status lw__recipe_copy(const lw_recipe *recipe, lw_recipe **out, lw_error *err)
{
    lw_recipe *copy = create(recipe->folder, strlen(recipe->folder), err);
    *out = copy;
    if (copy == NULL) {
        return LW_E_NOMEM;
    }
    lw_status status = copy_parts(recipe, copy, err);
    if (status < 0) {
        lw__recipe_close(copy);
        *out = NULL;
    }
    return status;
}
