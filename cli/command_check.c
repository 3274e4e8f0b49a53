/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway check: opens everything a recipe names without starting it, and says in one line that it
 * is right, or what is not.
 */
#include <inttypes.h>

#include "cli.h"

static lw_status check_recipe(const lw__cli_args *args, lw_recipe *recipe, char **text,
                              lw_error *err)
{
    char *plan = NULL;
    uint64_t world = args->given[LW__CLI_WORLD] ? args->number[LW__CLI_WORLD] : 1;
    lw_status status = lw_explain(recipe, world, NULL, &plan, err);
    lw_text_free(plan);
    return status == LW_OK ? lw_recipe_text(recipe, text, err) : status;
}

static int print_summary(const char *text)
{
    char line[256];
    size_t sources = lw__cli_recipe_sources(text);
    snprintf(line, sizeof line,
             "ok: %zu source%s, %" PRIu64 " lanes, global batch %" PRIu64 ", context %" PRIu64 "\n",
             sources, sources == 1 ? "" : "s", lw__cli_recipe_number(text, "lanes"),
             lw__cli_recipe_number(text, "global_batch"), lw__cli_recipe_number(text, "context"));
    return lw__cli_print(line);
}

static int run(const lw__cli_args *args)
{
    lw_recipe *recipe = NULL;
    char *text = NULL;
    lw_error err;
    lw_status status = lw__cli_recipe_open(args, &recipe, &err);
    if (status == LW_OK) {
        status = check_recipe(args, recipe, &text, &err);
    }
    int code = status == LW_OK ? print_summary(text) : lw__cli_report(&err);
    lw_text_free(text);
    lw_recipe_close(recipe);
    return code;
}

static const lw__cli_option options[] = {LW__CLI_WORLD, LW__CLI_SET, LW__CLI_HELP};

const lw__cli_command lw__cli_command_check = {
    "check", "RECIPE", "check a recipe and its data", options, 1, 1, run,
};
