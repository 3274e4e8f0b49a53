/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a checked tree to settings: every option's value or default in its place, then the rules
 * that hold between options. Messages name options, not lines: what is missing stands nowhere, and
 * what does not go together may come from two places.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "recipe/tree.h"
#include "recipe/value.h"

static const lw__origin no_origin;

const lw__node *lw__tree_sources(const lw__node *root)
{
    return lw__node_get(root, "sources", sizeof("sources") - 1);
}

const lw__node *lw__tree_find(const lw__node *root, const lw__option *option, size_t index)
{
    const char *leaf = lw__option_leaf(option);
    if (lw__option_is_per_source(option)) {
        return lw__node_get(lw__tree_sources(root)->children[index], leaf, strlen(leaf));
    }
    if (leaf > option->key) {
        root = lw__node_get(root, option->key, (size_t)(leaf - option->key) - 1);
    }
    return lw__node_get(root, leaf, strlen(leaf));
}

static lw_status fill_paths(lw__source_settings *source, const lw__node *list, lw_error *err)
{
    size_t count = list->kind == LW__NODE_LIST ? list->count : 1;
    const char **paths = lw__alloc_array(count, sizeof(*paths));
    if (paths == NULL) {
        return lw__fail_nomem(err, count * sizeof(*paths), "paths");
    }
    for (size_t i = 0; i < count; i++) {
        paths[i] = list->kind == LW__NODE_LIST ? list->children[i]->text : list->text;
    }
    source->paths = paths;
    source->path_count = count;
    return LW_OK;
}

static lw_status fill_source(lw__source_settings *source, const lw__node *root,
                             const lw__option *option, size_t index, lw_error *err)
{
    char name[LW__NAME_BYTES];
    lw__value value;
    snprintf(name, sizeof(name), "sources.%zu.%s", index, lw__option_leaf(option));
    LW__TRY(
        lw__value_read(option, lw__tree_find(root, option, index), name, &no_origin, &value, err));
    if (option->type == LW__OPTION_TEXTS) {
        return fill_paths(source, value.list, err);
    }
    lw__value_store(option, &value, source);
    return LW_OK;
}

static lw_status fill_option(lw__built *built, const lw__node *root, const lw__option *option,
                             lw_error *err)
{
    lw__value value;
    if (!lw__option_is_per_source(option)) {
        LW__TRY(lw__value_read(option, lw__tree_find(root, option, 0), option->key, &no_origin,
                               &value, err));
        if (option->stored) {
            lw__value_store(option, &value, &built->settings);
        }
        return LW_OK;
    }
    for (size_t i = 0; i < built->settings.source_count; i++) {
        LW__TRY(fill_source(&built->sources[i], root, option, i, err));
    }
    return LW_OK;
}

static lw_status make_sources(lw__built *built, const lw__node *root, lw_error *err)
{
    const lw__node *list = lw__tree_sources(root);
    if (list == NULL || list->count == 0) {
        return lw__recipe_fail(err, LW_E_INVALID, &no_origin, 0,
                               "sources is %s, expected a list of at least one map",
                               list == NULL ? "missing" : "an empty list");
    }
    built->sources = lw__alloc_zero(list->count, sizeof(*built->sources));
    if (built->sources == NULL) {
        return lw__fail_nomem(err, list->count * sizeof(*built->sources), "sources");
    }
    built->settings.sources = built->sources;
    built->settings.source_count = list->count;
    return LW_OK;
}

static lw_status fill_options(lw__built *built, const lw__node *root, lw_error *err)
{
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    for (size_t i = 0; i < count; i++) {
        if (lw__option_is_per_source(&options[i]) && built->sources == NULL) {
            LW__TRY(make_sources(built, root, err));
        }
        LW__TRY(fill_option(built, root, &options[i], err));
    }
    return LW_OK;
}

static lw_status check_names(const lw__settings *settings, lw_error *err)
{
    for (size_t i = 0; i < settings->source_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(settings->sources[i].name, settings->sources[j].name) == 0) {
                return lw__recipe_fail(err, LW_E_INVALID, &no_origin, 0,
                                       "sources.%zu.name is \"%s\" as sources.%zu.name, expected "
                                       "a name of its own",
                                       i, settings->sources[i].name, j);
            }
        }
    }
    return LW_OK;
}

static lw_status check_tokenizer(const lw__settings *settings, lw_error *err)
{
    const char *path = settings->tokenizer_path;
    const char *name = settings->tokenizer_name;
    if ((path == NULL) == (name == NULL)) {
        return lw__recipe_fail(err, LW_E_INVALID, &no_origin, 0,
                               "tokenizer.path and tokenizer.name are %s, expected one of them",
                               path == NULL ? "missing" : "both set");
    }
    if (settings->tokenizer_pattern != NULL && path == NULL) {
        return lw__recipe_fail(err, LW_E_INVALID, &no_origin, 0,
                               "tokenizer.pattern is %s, expected null without tokenizer.path",
                               settings->tokenizer_pattern);
    }
    return LW_OK;
}

static lw_status check_together(const lw__settings *settings, lw_error *err)
{
    if (settings->global_batch % settings->lanes != 0) {
        return lw__recipe_fail(err, LW_E_INVALID, &no_origin, 0,
                               "global_batch is %" PRIu64 ", expected a multiple of lanes (%" PRIu64
                               ")",
                               settings->global_batch, settings->lanes);
    }
    LW__TRY(check_names(settings, err));
    LW__TRY(check_tokenizer(settings, err));
    if (settings->mask_eos && settings->tokenizer_eos == NULL) {
        return lw__recipe_fail(err, LW_E_INVALID, &no_origin, 0,
                               "labels.mask_eos is true, expected false without tokenizer.eos");
    }
    return LW_OK;
}

/* A relative tokenizer.path starts at the recipe's folder. */
static lw_status join_tokenizer_path(lw__built *built, const char *folder, lw_error *err)
{
    const char *path = built->settings.tokenizer_path;
    if (path == NULL || path[0] == '/' || strcmp(folder, ".") == 0) {
        return LW_OK;
    }
    size_t folder_bytes = strlen(folder);
    bool ends_in_slash = folder_bytes > 0 && folder[folder_bytes - 1] == '/';
    size_t bytes = folder_bytes + strlen(path) + 2;
    built->tokenizer_path = lw__alloc(bytes);
    if (built->tokenizer_path == NULL) {
        return lw__fail_nomem(err, bytes, "a path");
    }
    snprintf(built->tokenizer_path, bytes, "%s%s%s", folder, ends_in_slash ? "" : "/", path);
    built->settings.tokenizer_path = built->tokenizer_path;
    return LW_OK;
}

lw_status lw__built_init(lw__built *built, const lw__node *root, const char *folder, lw_error *err)
{
    *built = (lw__built){0};
    lw_status status = fill_options(built, root, err);
    if (status == LW_OK) {
        status = check_together(&built->settings, err);
    }
    if (status == LW_OK) {
        status = join_tokenizer_path(built, folder, err);
    }
    if (status < 0) {
        lw__built_reset(built);
    }
    return status;
}

void lw__built_reset(lw__built *built)
{
    for (size_t i = 0; i < built->settings.source_count; i++) {
        lw__free((void *)built->sources[i].paths);
    }
    lw__free(built->sources);
    lw__free(built->tokenizer_path);
    *built = (lw__built){0};
}
