/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recipe and the state a command works on, as its arguments name them; and the few facts the
 * command needs to know of a recipe, read from its canonical text.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static lw_status set_pair(lw_recipe *recipe, const char *pair, lw_error *err)
{
    const char *equals = strchr(pair, '=');
    char *key = strndup(pair, (size_t)(equals - pair));
    if (key == NULL) {
        return lw__cli_fail(err, LW_E_NOMEM, "arguments: no memory for \"%s\"", pair);
    }
    lw_status status = lw_recipe_set(recipe, key, equals + 1, err);
    free(key);
    return status;
}

lw_status lw__cli_recipe_open(const lw__cli_args *args, lw_recipe **out, lw_error *err)
{
    lw_recipe *recipe = NULL;
    lw_status status = lw_recipe_open(args->operands[0], &recipe, err);
    if (status == LW_OK && args->given[LW__CLI_THREADS]) {
        status = lw_recipe_set(recipe, "runtime.threads", args->text[LW__CLI_THREADS], err);
    }
    for (size_t i = 0; i < args->set_count && status == LW_OK; i++) {
        status = set_pair(recipe, args->sets[i], err);
    }
    if (status != LW_OK) {
        lw_recipe_close(recipe);
        recipe = NULL;
    }
    *out = recipe;
    return status;
}

/* Where the value of a top-level key begins, or NULL. */
static const char *find_key(const char *text, const char *key)
{
    size_t bytes = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, bytes) == 0 && line[bytes] == ':') {
            return line + bytes + 1;
        }
    }
    return NULL;
}

uint64_t lw__cli_recipe_number(const char *text, const char *key)
{
    const char *value = find_key(text, key);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

/* Past a quoted text, whose quote is at `at`. */
static const char *skip_quoted(const char *at)
{
    char quote = *at++;
    while (*at != '\0' && *at != quote) {
        at += quote == '"' && at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    }
    return *at != '\0' ? at + 1 : at;
}

/* Every source has one key "name"; the list goes on until the next line that begins with a key. */
size_t lw__cli_recipe_sources(const char *text)
{
    size_t count = 0;
    const char *at = find_key(text, "sources");
    while (at != NULL && *at != '\0') {
        if (*at == '\n' && at[1] >= 'a' && at[1] <= 'z') {
            break;
        }
        if (*at == '"' || *at == '\'') {
            at = skip_quoted(at);
            continue;
        }
        bool begins = strchr(" {,-", at[0]) != NULL;
        count += begins && strncmp(at + 1, "name:", 5) == 0 ? 1 : 0;
        at++;
    }
    return count;
}

lw_status lw__cli_state_open(const lw__cli_args *args, lw__cli_option option, lw_state **out,
                             lw_error *err)
{
    *out = NULL;
    return args->given[option] ? lw_state_open(args->text[option], out, err) : LW_OK;
}
