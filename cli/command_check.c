/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway check: opens everything a recipe names, for every rank in turn, takes nothing, and says in
 * one line that it is right, or what is not. The records of the data are not looked at. Notes of the
 * plan (a source with fewer blocks than lanes, lanes that are run twice) follow.
 */
#include <inttypes.h>
#include <string.h>

#include "cli.h"

/* A run of the world would open: the data, the tokenizer, the division of rows, the budget. */
static lw_status open_ranks(lw_recipe *recipe, uint64_t world, lw_error *err)
{
    lw_status status = LW_OK;
    for (uint64_t rank = 0; rank < world && status == LW_OK; rank++) {
        lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
        lw_pipeline *pipeline = NULL;
        options.rank = rank;
        options.world = world;
        status = lw_pipeline_open(recipe, &options, NULL, &pipeline, err);
        lw_pipeline_close(pipeline);
    }
    return status;
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

/* The lines of the plan that are notes. */
static int print_notes(char *plan)
{
    int code = 0;
    char *rest = NULL;
    for (char *line = strtok_r(plan, "\n", &rest); line != NULL && code == 0;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "note: ", 6) == 0) {
            code = lw__cli_print(line);
        }
    }
    return code;
}

static int run(const lw__cli_args *args)
{
    uint64_t world = args->given[LW__CLI_WORLD] ? args->number[LW__CLI_WORLD] : 1;
    lw_recipe *recipe = NULL;
    char *text = NULL;
    char *plan = NULL;
    lw_error err;
    lw_status status = lw__cli_recipe_open(args, &recipe, &err);
    if (status == LW_OK) {
        status = open_ranks(recipe, world, &err);
    }
    if (status == LW_OK) {
        status = lw_recipe_text(recipe, &text, &err);
    }
    if (status == LW_OK) {
        status = lw_explain(recipe, world, NULL, &plan, &err);
    }
    int code = status == LW_OK ? print_summary(text) : lw__cli_report(&err);
    if (status == LW_OK && code == 0) {
        code = print_notes(plan);
    }
    lw_text_free(plan);
    lw_text_free(text);
    lw_recipe_close(recipe);
    return code;
}

static const lw__cli_option accepted[] = {LW__CLI_WORLD, LW__CLI_THREADS, LW__CLI_SET,
                                          LW__CLI_HELP};

const lw__cli_command lw__cli_command_check = {
    "check", "RECIPE", "check a recipe and its data", accepted, 1, 1, run,
};
