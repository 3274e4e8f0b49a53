/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard's name says what it is: the format by ".jsonl" or ".ndjson", the encoding by what comes
 * after. The order of shards is that of their paths' bytes, whatever order the system lists in.
 */
#include "format/shards.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* By suffix; a name that ends in none of them is plain. */
static const lw__decoder_type *const decoders[] = {&lw__decoder_gzip, &lw__decoder_zstd};

static bool ends_in(const char *name, size_t count, const char *suffix)
{
    size_t suffix_count = strlen(suffix);
    return count >= suffix_count && memcmp(name + count - suffix_count, suffix, suffix_count) == 0;
}

static const lw__decoder_type *decoder_of(const char *name)
{
    for (size_t i = 0; i < sizeof decoders / sizeof decoders[0]; i++) {
        if (ends_in(name, strlen(name), decoders[i]->suffix)) {
            return decoders[i];
        }
    }
    return &lw__decoder_plain;
}

static bool is_jsonl(const char *name)
{
    size_t count = strlen(name) - strlen(decoder_of(name)->suffix);
    return ends_in(name, count, ".jsonl") || ends_in(name, count, ".ndjson");
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const lw__file *)a)->path, ((const lw__file *)b)->path);
}

lw_status lw__shards_list(const lw__dataset_options *options, lw__files *files, lw_error *err)
{
    for (size_t i = 0; i < options->path_count; i++) {
        LW__TRY(lw__storage_list(options->folder, options->paths[i], is_jsonl, files, err));
    }
    if (files->count == 0) {
        return lw__fail(err, LW_E_INVALID, "format: source \"%s\": no path, expected at least one",
                        options->name);
    }
    qsort(files->items, files->count, sizeof *files->items, compare_paths);
    for (size_t i = 1; i < files->count; i++) {
        if (strcmp(files->items[i - 1].path, files->items[i].path) == 0) {
            return lw__fail(err, LW_E_INVALID,
                            "format: source \"%s\": \"%s\" is named twice, expected once",
                            options->name, files->items[i].path);
        }
    }
    return LW_OK;
}

lw_status lw__shards_decoder(const lw__dataset_options *options, const char *path,
                             const lw__decoder_type **out, lw_error *err)
{
    *out = decoder_of(path);
    if (options->format == NULL && !is_jsonl(path)) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "format: source \"%s\": \"%s\" has no known ending, expected .jsonl or "
                        ".ndjson (alone or with .gz or .zst), or the option \"format\"",
                        options->name, path);
    }
    if (options->format != NULL && strcmp(options->format, "jsonl") != 0) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "format: source \"%s\": format \"%s\", expected \"jsonl\"", options->name,
                        options->format);
    }
    return LW_OK;
}
