/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one option parser: a table of all options, and each command's list of those it takes.
 *
 * "--name value", "--name=value", flags; "--" ends the options. After --set come one or more words
 * of the form key=value; a word that is not one ends the list and is an operand.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef enum option_kind { FLAG, TEXT, NUMBER, PAIRS } option_kind;

typedef struct option_row {
    const char *name;
    option_kind kind;
    const char *value; /* as the usage shows it */
    uint64_t least;    /* of a number */
    const char *help;
} option_row;

static const option_row option_rows[LW__CLI_OPTION_COUNT] = {
    [LW__CLI_WORLD] = {"world", NUMBER, "W", 1, "ranks; all run in this process (1)"},
    [LW__CLI_RANK] = {"rank", NUMBER, "R", 0, "run only this rank of the world"},
    [LW__CLI_STEPS] = {"steps", NUMBER, "N", 0, "how many steps to take (10; bench: 100)"},
    [LW__CLI_SAVE] = {"save", TEXT, "FILE", 0, "write the state after the last step taken"},
    [LW__CLI_SAVE_AT] = {"save-at", NUMBER, "S", 0, "write the state as after step S instead"},
    [LW__CLI_SAVE_EVERY] = {"save-every", NUMBER, "K", 1,
                            "make a state in memory after every K steps"},
    [LW__CLI_RESUME] = {"resume", TEXT, "FILE", 0, "go on from a saved state"},
    [LW__CLI_STATE] = {"state", TEXT, "FILE", 0, "compare the recipe with this state"},
    [LW__CLI_THREADS] = {"threads", NUMBER, "T", 0, "threads (a recipe: runtime.threads)"},
    [LW__CLI_OUT] = {"out", TEXT, "PATH", 0, "where the results go (run, split: a folder)"},
    [LW__CLI_JSON] = {"json", FLAG, NULL, 0, "print one JSON object"},
    [LW__CLI_TOKENIZER] = {"tokenizer", TEXT, "PATH", 0, "a tokenizer's file, or \"bytes\""},
    [LW__CLI_PATTERN] = {"pattern", TEXT, "NAME", 0,
                         "how text is split, for ranks in .tiktoken form"},
    [LW__CLI_BOS] = {"bos", FLAG, NULL, 0, "begin each document with the vocabulary's BOS"},
    [LW__CLI_EOS] = {"eos", FLAG, NULL, 0, "end each document with the vocabulary's EOS"},
    [LW__CLI_SPECIAL_TEXT] = {"special-text", FLAG, NULL, 0,
                              "text of a special token becomes that token"},
    [LW__CLI_FIELD] = {"field", TEXT, "PATH", 0, "dotted path of the text field (text)"},
    [LW__CLI_COUNT] = {"count", FLAG, NULL, 0, "print counts as one JSON object, no ids"},
    [LW__CLI_SET] = {"set", PAIRS, "key=value ...", 0, "set options of the recipe"},
    [LW__CLI_HELP] = {"help", FLAG, NULL, 0, "this text"},
};

static void put_option(FILE *to, const option_row *row)
{
    fprintf(to, "--%s%s%s", row->name, row->value != NULL ? " " : "",
            row->value != NULL ? row->value : "");
}

void lw__cli_usage(FILE *to, const lw__cli_command *command)
{
    fprintf(to, "usage: laneway %s %s", command->name, command->operands);
    for (const lw__cli_option *option = command->options; *option != LW__CLI_HELP; option++) {
        fputs(" [", to);
        put_option(to, &option_rows[*option]);
        fputc(']', to);
    }
    fputc('\n', to);
}

void lw__cli_usage_options(FILE *to, const lw__cli_command *command)
{
    for (const lw__cli_option *option = command->options; *option != LW__CLI_HELP; option++) {
        const option_row *row = &option_rows[*option];
        int used = (int)(strlen(row->name) + (row->value != NULL ? strlen(row->value) + 1 : 0));
        fputs("  ", to);
        put_option(to, row);
        fprintf(to, "%*s  %s\n", used < 20 ? 20 - used : 0, "", row->help);
    }
}

int lw__cli_misused(const lw__cli_command *command, const char *format, ...)
{
    va_list list;
    fputs("laneway: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    lw__cli_usage(stderr, command);
    return LW__CLI_MISUSED;
}

/* The option of the command called so, LW__CLI_OPTION_COUNT for none. */
static lw__cli_option find_option(const lw__cli_command *command, const char *name, size_t bytes)
{
    for (const lw__cli_option *option = command->options;; option++) {
        const char *known = option_rows[*option].name;
        if (strlen(known) == bytes && memcmp(known, name, bytes) == 0) {
            return *option;
        }
        if (*option == LW__CLI_HELP) {
            return LW__CLI_OPTION_COUNT;
        }
    }
}

static bool read_number(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    for (const char *at = text; *at != '\0'; at++) {
        uint64_t digit = (uint64_t)((unsigned char)*at - (unsigned char)'0');
        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return *text != '\0';
}

/* "key=value", the key being made of what keys of recipes are made of. */
static bool is_pair(const char *word)
{
    size_t key = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_.-");
    return key > 0 && word[0] != '-' && word[key] == '=';
}

static bool take_value(const lw__cli_command *command, lw__cli_args *args, lw__cli_option option,
                       const char *value)
{
    const option_row *row = &option_rows[option];
    args->given[option] = true;
    args->text[option] = value;
    if (row->kind != NUMBER) {
        return true;
    }
    if (!read_number(value, &args->number[option]) || args->number[option] < row->least) {
        lw__cli_misused(command, "--%s: \"%s\", expected an integer from %d on", row->name, value,
                        (int)row->least);
        return false;
    }
    return true;
}

/* The words of an argv that is being read. */
typedef struct word_list {
    char **words;
    int count;
    int next;
} word_list;

/* The pairs after --set; the first is value, or else the next word. */
static bool take_pairs(const lw__cli_command *command, lw__cli_args *args, word_list *list,
                       const char *value)
{
    if (value == NULL && list->next < list->count) {
        value = list->words[list->next++];
    }
    if (value == NULL || !is_pair(value)) {
        lw__cli_misused(command, "--set: \"%s\", expected key=value", value != NULL ? value : "");
        return false;
    }
    args->sets[args->set_count++] = value;
    while (list->next < list->count && is_pair(list->words[list->next])) {
        args->sets[args->set_count++] = list->words[list->next++];
    }
    return true;
}

static bool take_option(const lw__cli_command *command, lw__cli_args *args, word_list *list,
                        const char *word)
{
    const char *equals = strchr(word, '=');
    const char *value = equals != NULL ? equals + 1 : NULL;
    size_t bytes = equals != NULL ? (size_t)(equals - word) : strlen(word);
    lw__cli_option option = find_option(command, word + 2, bytes - 2);
    if (option == LW__CLI_OPTION_COUNT) {
        lw__cli_misused(command, "%s: unknown option \"%.*s\"", command->name, (int)bytes, word);
        return false;
    }
    const option_row *row = &option_rows[option];
    if (row->kind == PAIRS) {
        return take_pairs(command, args, list, value);
    }
    if (row->kind == FLAG) {
        args->given[option] = true;
        if (value != NULL) {
            lw__cli_misused(command, "--%s: \"%s\", expected no value", row->name, value);
        }
        return value == NULL;
    }
    if (value == NULL && list->next < list->count) {
        value = list->words[list->next++];
    }
    if (value == NULL || *value == '\0') {
        lw__cli_misused(command, "--%s: no value, expected %s", row->name, row->value);
        return false;
    }
    return take_value(command, args, option, value);
}

static bool check_operands(const lw__cli_command *command, const lw__cli_args *args)
{
    if (args->given[LW__CLI_HELP]) {
        return true;
    }
    if (args->operand_count < command->least) {
        lw__cli_misused(command, "%s: %zu operands, expected %s", command->name,
                        args->operand_count, command->operands);
        return false;
    }
    if (args->operand_count > command->most) {
        lw__cli_misused(command, "%s: unexpected \"%s\"", command->name,
                        args->operands[command->most]);
        return false;
    }
    return true;
}

bool lw__cli_args_read(const lw__cli_command *command, int count, char **words, lw__cli_args *args)
{
    word_list list = {words, count, 0};
    bool options_ended = false;
    memset(args, 0, sizeof *args);
    args->operands = calloc((size_t)count + 1, sizeof *args->operands);
    args->sets = calloc((size_t)count + 1, sizeof *args->sets);
    if (args->operands == NULL || args->sets == NULL) {
        fputs("laneway: no memory for the arguments\n", stderr);
        return false;
    }
    while (list.next < count) {
        const char *word = words[list.next++];
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            args->operands[args->operand_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            options_ended = true;
        } else if (word[1] != '-') {
            lw__cli_misused(command, "%s: unknown option \"%s\"", command->name, word);
            return false;
        } else if (!take_option(command, args, &list, word)) {
            return false;
        }
    }
    return check_operands(command, args);
}

void lw__cli_args_reset(lw__cli_args *args)
{
    free(args->operands);
    free(args->sets);
    memset(args, 0, sizeof *args);
}
