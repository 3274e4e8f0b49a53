/* SPDX-License-Identifier: Apache-2.0 */
/* What the recipe layer's tests share: small recipes, and checks of whole messages. */
#ifndef LW__TESTS_RECIPE_TESTING_H
#define LW__TESTS_RECIPE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "recipe/recipe.h"

/* All required options, one a line, and nothing else. */
#define SMALL                                                                                      \
    "lanes: 4\n"                                                                                   \
    "global_batch: 8\n"                                                                            \
    "context: 16\n"                                                                                \
    "sources: [{name: web, path: data}]\n"                                                         \
    "tokenizer: {name: bytes}\n"

static inline lw_recipe *parsed(const char *text)
{
    lw_recipe *recipe = NULL;
    lw_error err = {0};
    if (lw_recipe_parse(text, NULL, &recipe, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return recipe;
}

static inline const lw__settings *settings_of(lw_recipe *recipe)
{
    const lw__settings *settings = NULL;
    lw_error err = {0};
    if (lw__recipe_settings(recipe, &settings, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return settings;
}

static inline void set_option(lw_recipe *recipe, const char *key, const char *value)
{
    lw_error err = {0};
    if (lw_recipe_set(recipe, key, value, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
}

static inline void parse_fails(const char *text, lw_status status, const char *message)
{
    lw_recipe *recipe = NULL;
    lw_error err = {0};
    assert_int_equal(lw_recipe_parse(text, NULL, &recipe, &err), status);
    assert_null(recipe);
    assert_int_equal(err.status, status);
    assert_string_equal(err.message, message);
}

static inline void set_fails(lw_recipe *recipe, const char *key, const char *value,
                             lw_status status, const char *message)
{
    lw_error err = {0};
    assert_int_equal(lw_recipe_set(recipe, key, value, &err), status);
    assert_int_equal(err.status, status);
    assert_string_equal(err.message, message);
}

/* The text parses, but the recipe as a whole is not right. */
static inline void settings_fail(const char *text, const char *message)
{
    const lw__settings *settings = NULL;
    lw_error err = {0};
    lw_recipe *recipe = parsed(text);
    assert_int_equal(lw__recipe_settings(recipe, &settings, &err), LW_E_INVALID);
    assert_string_equal(err.message, message);
    lw_recipe_close(recipe);
}

static inline char *text_of(lw_recipe *recipe)
{
    char *text = NULL;
    lw_error err = {0};
    if (lw_recipe_text(recipe, &text, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return text;
}

#endif
