/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway explain: the plan of a recipe as a person reads it; with --state, what a resume would
 * change.
 */
#include "cli.h"

static int run(const lw__cli_args *args)
{
    uint64_t world = args->given[LW__CLI_WORLD] ? args->number[LW__CLI_WORLD] : 1;
    lw_recipe *recipe = NULL;
    lw_state *state = NULL;
    char *text = NULL;
    lw_error err;
    lw_status status = lw__cli_recipe_open(args, &recipe, &err);
    if (status == LW_OK) {
        status = lw__cli_state_open(args, LW__CLI_STATE, &state, &err);
    }
    if (status == LW_OK) {
        status = lw_explain(recipe, world, state, &text, &err);
    }
    int code = status == LW_OK ? lw__cli_print(text) : lw__cli_report(&err);
    lw_text_free(text);
    lw_state_close(state);
    lw_recipe_close(recipe);
    return code;
}

static const lw__cli_option options[] = {LW__CLI_WORLD, LW__CLI_STATE, LW__CLI_THREADS, LW__CLI_SET,
                                         LW__CLI_HELP};

const lw__cli_command lw__cli_command_explain = {
    "explain", "RECIPE", "print the plan of a recipe", options, 1, 1, run,
};
