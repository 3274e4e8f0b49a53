/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway explain: the plan of a recipe as a person reads it; with --state, what a resume would
 * change.
 */
#include <string.h>

#include "cli.h"

/* Prints the plan; if no run could have it, that is reported too, in the words of the plan. */
static int print_plan(const char *plan)
{
    static const char before[] = "\nerror: ";
    lw_error err;
    int code = lw__cli_print(plan);
    const char *refusal = strstr(plan, before);
    if (code != 0 || refusal == NULL) {
        return code;
    }
    refusal += sizeof before - 1;
    lw__cli_fail(&err, LW_E_NOMEM, "%.*s", (int)strcspn(refusal, "\n"), refusal);
    return lw__cli_report(&err);
}

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
    int code = status == LW_OK ? print_plan(text) : lw__cli_report(&err);
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
