/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway state: a checkpoint for people and scripts.
 *
 *   state show FILE [--json]        what it holds
 *   state merge FILE... --out FILE  the states of several ranks, or folders of pieces, as one
 *   state split FILE --out FOLDER   one file for each piece
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pieces.h"

/* A state file, or a folder of pieces. */
static lw_status open_either(const char *path, lw_state **out, lw_error *err)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return lw__cli_pieces_read(path, out, err);
    }
    return lw_state_open(path, out, err);
}

static int show_state(const lw__cli_args *args)
{
    lw_state *state = NULL;
    char *text = NULL;
    lw_error err;
    lw_status status = open_either(args->operands[1], &state, &err);
    if (status == LW_OK) {
        status = lw_state_describe(state, args->given[LW__CLI_JSON] ? 1 : 0, &text, &err);
    }
    int code = status == LW_OK ? lw__cli_print(text) : lw__cli_report(&err);
    lw_text_free(text);
    lw_state_close(state);
    return code;
}

static lw_status write_merged(const lw__cli_args *args, lw_state **states, lw_error *err)
{
    size_t count = args->operand_count - 1;
    lw_state *merged = NULL;
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        status = open_either(args->operands[i + 1], &states[i], err);
    }
    if (status == LW_OK) {
        status = lw_state_merge((const lw_state *const *)states, count, &merged, err);
    }
    if (status == LW_OK) {
        status = lw_state_write(merged, args->text[LW__CLI_OUT], err);
    }
    lw_state_close(merged);
    return status;
}

static int merge_states(const lw__cli_args *args)
{
    size_t count = args->operand_count - 1;
    lw_error err;
    lw_status status = LW_OK;
    lw_state **states = calloc(count, sizeof(lw_state *));
    if (states == NULL) {
        status = lw__cli_fail(&err, LW_E_NOMEM, "state: no memory for %zu states", count);
    } else {
        status = write_merged(args, states, &err);
    }
    for (size_t i = 0; states != NULL && i < count; i++) {
        lw_state_close(states[i]);
    }
    free(states);
    return status == LW_OK ? LW__CLI_DONE : lw__cli_report(&err);
}

static int split_state(const lw__cli_args *args)
{
    lw_state *state = NULL;
    lw_error err;
    lw_status status = lw_state_open(args->operands[1], &state, &err);
    if (status == LW_OK) {
        status = lw__cli_pieces_write(state, args->text[LW__CLI_OUT], &err);
    }
    lw_state_close(state);
    return status == LW_OK ? LW__CLI_DONE : lw__cli_report(&err);
}

typedef struct state_action {
    const char *name;
    bool with_out;
    bool with_many; /* files */
    int (*run)(const lw__cli_args *args);
} state_action;

static const state_action actions[] = {
    {"show", false, false, show_state},
    {"merge", true, true, merge_states},
    {"split", true, false, split_state},
};

static int run(const lw__cli_args *args)
{
    const lw__cli_command *command = &lw__cli_command_state;
    const char *name = args->operands[0];
    const state_action *action = NULL;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, name) == 0) {
            action = &actions[i];
        }
    }
    if (action == NULL) {
        return lw__cli_misused(command, "state: \"%s\", expected show, merge or split", name);
    }
    if (args->given[LW__CLI_OUT] != action->with_out) {
        return lw__cli_misused(command, "state %s: %s", name,
                               action->with_out ? "no --out, expected one" : "unexpected --out");
    }
    if (!action->with_many && args->operand_count > 2) {
        return lw__cli_misused(command, "state %s: unexpected \"%s\"", name, args->operands[2]);
    }
    return action->run(args);
}

static const lw__cli_option options[] = {LW__CLI_OUT, LW__CLI_JSON, LW__CLI_HELP};

const lw__cli_command lw__cli_command_state = {
    "state", "show|merge|split FILE...", "show, merge or split saved states", options, 2, SIZE_MAX,
    run,
};
