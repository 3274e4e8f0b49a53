/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `laneway`: finds the command asked for in a table, reads its arguments and runs it.
 * Adding a command is one file command_<name>.c, its declaration in cli.h and one row here.
 */
#include <signal.h>
#include <string.h>

#include "cli.h"

static const lw__cli_command *const commands[] = {
    &lw__cli_command_digest,   &lw__cli_command_dump,  &lw__cli_command_run,
    &lw__cli_command_bench,    &lw__cli_command_check, &lw__cli_command_explain,
    &lw__cli_command_tokenize, &lw__cli_command_state, NULL,
};

static const lw__cli_command *find_command(const char *name)
{
    for (const lw__cli_command *const *command = commands; *command != NULL; command++) {
        if (strcmp((*command)->name, name) == 0) {
            return *command;
        }
    }
    return NULL;
}

static void put_commands(FILE *to)
{
    fputs("usage: laneway COMMAND ...\n\n", to);
    for (const lw__cli_command *const *command = commands; *command != NULL; command++) {
        fprintf(to, "  %-10s%s\n", (*command)->name, (*command)->summary);
    }
    fputs("  version   print the version\n"
          "  help      this text; \"laneway help COMMAND\" for one command\n",
          to);
}

static int print_help(const lw__cli_command *command)
{
    if (command == NULL) {
        put_commands(stdout);
    } else {
        lw__cli_usage(stdout, command);
        printf("%s\n\n", command->summary);
        lw__cli_usage_options(stdout, command);
    }
    if (fflush(stdout) != 0) {
        lw_error err;
        lw__cli_fail_os(&err, "output: write to", "standard output");
        return lw__cli_report(&err);
    }
    return LW__CLI_DONE;
}

static int unknown_command(const char *name)
{
    fprintf(stderr, "laneway: unknown command \"%s\"\n", name);
    put_commands(stderr);
    return LW__CLI_MISUSED;
}

static int run_help(int count, char **words)
{
    const lw__cli_command *command = count > 0 ? find_command(words[0]) : NULL;
    return count > 0 && command == NULL ? unknown_command(words[0]) : print_help(command);
}

static int print_version(void)
{
    char text[64];
    snprintf(text, sizeof text, "laneway %s\n", lw_version());
    return lw__cli_print(text);
}

/* What no table of options can say. */
static bool check_together(const lw__cli_command *command, const lw__cli_args *args)
{
    if (args->given[LW__CLI_SAVE_AT] && !args->given[LW__CLI_SAVE]) {
        lw__cli_misused(command, "--save-at: no --save, expected both");
        return false;
    }
    return true;
}

static int run_command(const lw__cli_command *command, int count, char **words)
{
    lw__cli_args args;
    int code = LW__CLI_MISUSED;
    if (lw__cli_args_read(command, count, words, &args) && check_together(command, &args)) {
        code = args.given[LW__CLI_HELP] ? print_help(command) : command->run(&args);
    }
    lw__cli_args_reset(&args);
    return code;
}

int main(int argc, char **argv)
{
    /* A closed pipe is a write error like any other. */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        put_commands(stderr);
        return LW__CLI_MISUSED;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return run_help(argc - 2, argv + 2);
    }
    if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
        return print_version();
    }
    const lw__cli_command *command = find_command(name);
    return command != NULL ? run_command(command, argc - 2, argv + 2) : unknown_command(name);
}
