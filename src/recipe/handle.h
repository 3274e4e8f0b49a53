/* SPDX-License-Identifier: Apache-2.0 */
/* What a recipe handle holds. */
#ifndef LW__RECIPE_HANDLE_H
#define LW__RECIPE_HANDLE_H

#include "recipe/recipe.h"
#include "recipe/tree.h"

struct lw_recipe {
    char *folder;
    lw__node *root; /* checked against the option table */
    lw__recipe_operator *operators;
    size_t operator_count;
    lw__built built; /* from root, while is_built; borrows its texts */
    bool is_built;
};

#endif
