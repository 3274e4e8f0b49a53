/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state as a folder of pieces, <name>.piece each, as a distributed checkpoint would keep them.
 */
#include "pieces.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".piece";

static lw_status write_file(const char *path, lw_str bytes, lw_error *err)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
        return lw__cli_fail(err, LW_E_NOMEM, "state: no memory for the name of \"%s\"", path);
    }
    FILE *file = fopen(temporary, "wbe");
    bool done = file != NULL && fwrite(bytes.data, 1, bytes.bytes, file) == bytes.bytes;
    if (file != NULL && fclose(file) != 0) {
        done = false;
    }
    lw_status status = LW_OK;
    if (!done || rename(temporary, path) != 0) {
        status = lw__cli_fail_os(err, "state: write", path);
        unlink(temporary);
    }
    free(temporary);
    return status;
}

static lw_status write_piece(const lw_state *state, size_t index, const char *folder, lw_error *err)
{
    lw_str name = lw_state_piece_name(state, index);
    char *path = NULL;
    if (asprintf(&path, "%s/%.*s%s", folder, (int)name.bytes, name.data, suffix) < 0) {
        return lw__cli_fail(err, LW_E_NOMEM, "state: no memory for the name of a piece");
    }
    lw_status status = write_file(path, lw_state_piece_bytes(state, index), err);
    free(path);
    return status;
}

lw_status lw__cli_pieces_write(const lw_state *state, const char *folder, lw_error *err)
{
    lw_status status = LW_OK;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return lw__cli_fail_os(err, "state: create folder", folder);
    }
    for (size_t i = 0; i < lw_state_piece_count(state) && status == LW_OK; i++) {
        status = write_piece(state, i, folder, err);
    }
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct piece_file {
    char *name;
    char *data;
    size_t bytes; /* of data */
} piece_file;

typedef struct piece_list {
    piece_file *items;
    size_t count;
    size_t capacity;
} piece_list;

/* An empty item at the end of the list, or NULL. */
static piece_file *add_item(piece_list *list)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 16;
        piece_file *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            return NULL;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count] = (piece_file){NULL, NULL, 0};
    return &list->items[list->count++];
}

static void free_list(piece_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        free(list->items[i].data);
    }
    free(list->items);
}

/* The whole of an open file. */
static lw_status read_stream(FILE *file, const char *path, piece_file *out, lw_error *err)
{
    struct stat info;
    if (fstat(fileno(file), &info) != 0) {
        return lw__cli_fail_os(err, "state: read", path);
    }
    out->bytes = (size_t)info.st_size;
    out->data = malloc(out->bytes + 1);
    if (out->data == NULL) {
        return lw__cli_fail(err, LW_E_NOMEM, "state: no memory for \"%s\"", path);
    }
    if (fread(out->data, 1, out->bytes, file) != out->bytes) {
        return lw__cli_fail(err, LW_E_IO, "state: read \"%s\": ended early", path);
    }
    return LW_OK;
}

static lw_status read_file(const char *path, piece_file *out, lw_error *err)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return lw__cli_fail_os(err, "state: open", path);
    }
    lw_status status = read_stream(file, path, out, err);
    fclose(file);
    return status;
}

static lw_status add_piece(piece_list *list, const char *folder, const char *file, lw_error *err)
{
    char *path = NULL;
    piece_file *item = add_item(list);
    if (item != NULL) {
        item->name = strndup(file, strlen(file) - (sizeof suffix - 1));
    }
    if (item == NULL || item->name == NULL || asprintf(&path, "%s/%s", folder, file) < 0) {
        return lw__cli_fail(err, LW_E_NOMEM, "state: no memory for piece \"%s\"", file);
    }
    lw_status status = read_file(path, item, err);
    free(path);
    return status;
}

static bool is_piece(const char *file)
{
    size_t bytes = strlen(file);
    return bytes >= sizeof suffix && strcmp(file + bytes - (sizeof suffix - 1), suffix) == 0;
}

static lw_status add_pieces(piece_list *list, const char *folder, lw_error *err)
{
    DIR *listing = opendir(folder);
    lw_status status = LW_OK;
    if (listing == NULL) {
        return lw__cli_fail_os(err, "state: open folder", folder);
    }
    for (;;) {
        errno = 0;
        /* Each listing has one reader, for which readdir is safe. */
        const struct dirent *entry = readdir(listing); /* NOLINT(concurrency-mt-unsafe) */
        if (entry == NULL && errno != 0) {
            status = lw__cli_fail_os(err, "state: list", folder);
        }
        if (entry == NULL || status != LW_OK) {
            break;
        }
        if (is_piece(entry->d_name)) {
            status = add_piece(list, folder, entry->d_name, err);
        }
        if (status != LW_OK) {
            break;
        }
    }
    closedir(listing);
    return status;
}

static lw_status join_pieces(const piece_list *list, lw_state **out, lw_error *err)
{
    lw_str *names = calloc(list->count + 1, sizeof *names);
    lw_str *pieces = calloc(list->count + 1, sizeof *pieces);
    lw_status status = LW_OK;
    for (size_t i = 0; i < list->count && names != NULL && pieces != NULL; i++) {
        names[i] = (lw_str){list->items[i].name, strlen(list->items[i].name)};
        pieces[i] = (lw_str){list->items[i].data, list->items[i].bytes};
    }
    if (names != NULL && pieces != NULL) {
        status = lw_state_from_pieces(names, pieces, list->count, out, err);
    } else {
        status = lw__cli_fail(err, LW_E_NOMEM, "state: no memory for %zu pieces", list->count);
    }
    free(names);
    free(pieces);
    return status;
}

lw_status lw__cli_pieces_read(const char *folder, lw_state **out, lw_error *err)
{
    piece_list list = {NULL, 0, 0};
    *out = NULL;
    lw_status status = add_pieces(&list, folder, err);
    if (status == LW_OK && list.count == 0) {
        status = lw__cli_fail(err, LW_E_NOT_FOUND, "state: \"%s\": no file *%s, expected pieces",
                              folder, suffix);
    }
    if (status == LW_OK) {
        status = join_pieces(&list, out, err);
    }
    free_list(&list);
    return status;
}
