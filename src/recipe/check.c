/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a tree, or a part of one, against the option table: keys, types and ranges. Options that
 * are missing or do not go together are found later (build.c), since calls may still set them.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "recipe/tree.h"
#include "recipe/value.h"

lw_status lw__tree_fail_unknown(const lw__origin *origin, size_t line, const char *pattern,
                                const char *key, size_t key_bytes, lw_error *err)
{
    lw_str nearest = lw__options_nearest(pattern, key, key_bytes);
    int shown = key_bytes < LW__NAME_BYTES ? (int)key_bytes : LW__NAME_BYTES;
    return lw__recipe_fail(err, LW_E_INVALID, origin, line,
                           "unknown key \"%.*s\", expected one of this level's; the nearest is "
                           "\"%.*s\"",
                           shown, key, (int)nearest.bytes, nearest.data);
}

static lw_status check_map(const lw__node *map, const char *pattern, const char *name,
                           const lw__origin *origin, lw_error *err)
{
    for (size_t i = 0; i < map->count; i++) {
        const lw__node *child = map->children[i];
        const lw__option *option = NULL;
        char child_pattern[LW__PATTERN_BYTES];
        char child_name[LW__NAME_BYTES];
        size_t bytes = strlen(child->key);
        if (lw__options_member(pattern, child->key, bytes, child_pattern, &option) ==
            LW__SHAPE_NONE) {
            return lw__tree_fail_unknown(origin, child->line, pattern, child->key, bytes, err);
        }
        snprintf(child_name, sizeof(child_name), "%s%s%s", name, name[0] == '\0' ? "" : ".",
                 child->key);
        LW__TRY(lw__tree_check(child, child_pattern, child_name, origin, err));
    }
    return LW_OK;
}

static lw_status check_list(const lw__node *list, const char *pattern, const char *name,
                            const lw__origin *origin, lw_error *err)
{
    char child_pattern[LW__PATTERN_BYTES];
    (void)lw__options_item(pattern, child_pattern);
    for (size_t i = 0; i < list->count; i++) {
        char child_name[LW__NAME_BYTES];
        snprintf(child_name, sizeof(child_name), "%s.%zu", name, i);
        LW__TRY(lw__tree_check(list->children[i], child_pattern, child_name, origin, err));
    }
    return LW_OK;
}

lw_status lw__tree_check(const lw__node *node, const char *pattern, const char *name,
                         const lw__origin *origin, lw_error *err)
{
    const lw__option *option = NULL;
    lw__shape_kind shape = lw__options_shape(pattern, &option);
    if (shape == LW__SHAPE_OPTION) {
        lw__value ignored;
        return lw__value_read(option, node, name, origin, &ignored, err);
    }
    const char *shown = name[0] == '\0' ? "the recipe" : name;
    if (shape == LW__SHAPE_LIST) {
        return node->kind == LW__NODE_LIST ? check_list(node, pattern, name, origin, err)
                                           : lw__recipe_fail_found(err, LW_E_INVALID, origin, node,
                                                                   shown, "a list of maps");
    }
    return node->kind == LW__NODE_MAP
               ? check_map(node, pattern, name, origin, err)
               : lw__recipe_fail_found(err, LW_E_INVALID, origin, node, shown, "a map");
}
