/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing a tokenizer's file in a folder. The first kind of the list that is there counts: models
 * are published with several, of which tokenizer.json says most.
 */
#include "tokenize/folder.h"

#include <string.h>

#include "base/error.h"
#include "base/os_folder.h"

#define LISTED "tokenizer.json, tekken.json, *.tiktoken, tokenizer.model, vocab.bpe or merges.txt"

/* A name, or "." and what a name ends in. */
static const char *const kinds[] = {"tokenizer.json",  "tekken.json", ".tiktoken",
                                    "tokenizer.model", "vocab.bpe",   "merges.txt"};

static bool is_of_kind(const char *name, const char *kind)
{
    size_t bytes = strlen(name);
    size_t end = strlen(kind);
    if (kind[0] != '.') {
        return strcmp(name, kind) == 0;
    }
    return bytes > end && strcmp(name + bytes - end, kind) == 0;
}

/* The first name of the kind, and how many there are. */
static const char *find(const lw__bytes *names, const char *kind, size_t *count)
{
    const char *found = NULL;
    const char *name = (const char *)names->data;
    const char *end = name + names->count;
    for (*count = 0; name < end; name += strlen(name) + 1) {
        if (is_of_kind(name, kind)) {
            found = name;
            (*count)++;
        }
    }
    return found;
}

static lw_status choose(const char *path, const lw__bytes *names, lw__bytes *out, lw_error *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t count = 0;
        const char *name = find(names, kinds[i], &count);
        if (count > 1) {
            return lw__fail(err, LW_E_INVALID,
                            "tokenizer: \"%s\": %zu files *%s, expected one; name the file", path,
                            count, kinds[i]);
        }
        if (name != NULL) {
            bool ends_in_slash = path[strlen(path) - 1] == '/';
            lw__bytes_put(out, path, strlen(path));
            lw__bytes_put(out, "/", ends_in_slash ? 0 : 1);
            lw__bytes_put(out, name, strlen(name) + 1);
            return LW_OK;
        }
    }
    return lw__fail(err, LW_E_NOT_FOUND,
                    "tokenizer: \"%s\": a folder without a tokenizer, expected " LISTED, path);
}

lw_status lw__folder_choose(const char *path, lw__bytes *out, lw_error *err)
{
    bool is_folder = false;
    lw__bytes names;
    lw__bytes_init(&names);
    lw_status status = lw__os_list_folder("tokenizer", path, &names, &is_folder, err);
    if (status == LW_OK && is_folder) {
        status = choose(path, &names, out, err);
    } else if (status == LW_OK) {
        lw__bytes_put(out, path, strlen(path) + 1);
    }
    lw__bytes_reset(&names);
    if (status == LW_OK && out->failed) {
        return lw__fail_nomem(err, strlen(path), "a path");
    }
    return status;
}
