/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The storage layer: ranges of bytes of files and objects, wherever they are.
 *
 *     store    a kind of place (so far local files), one row of the table in storage.c
 *     file     a path, its bytes, and the part of the path that stays when the data moves
 *     object   an opened file that still has the bytes it was listed with; Shared
 *
 * Nothing is cached here, and nothing is read but what is asked for.
 */
#ifndef LW__STORAGE_H
#define LW__STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

typedef struct lw__file {
    char *path;       /* owned by the list */
    const char *name; /* the end of path: below the folder, or the glob's fixed part */
    uint64_t bytes;
} lw__file;

typedef struct lw__files {
    lw__file *items;
    size_t count;
    size_t capacity;
} lw__files;

typedef struct lw__object lw__object;

/* A kind of place. A new one is one file and one row in storage.c. */
typedef struct lw__store {
    const char *scheme; /* of "scheme://..."; "" for local paths */
    lw_status (*list)(const char *path, bool (*is_wanted)(const char *name), lw__files *files,
                      lw_error *err);
    lw_status (*open)(const char *path, uint64_t bytes, lw__object **out, lw_error *err);
    lw_status (*read)(lw__object *object, uint64_t offset, void *out, size_t count, lw_error *err);
    void (*close)(lw__object *object);
} lw__store;

/* The head of every store's own object. */
struct lw__object {
    const lw__store *store;
    const char *path;
    uint64_t bytes;
};

extern const lw__store lw__store_local;

/*
 * Appends the files of a path entry: itself if it is a file, the wanted files of a folder at any
 * depth (names that start with '.' or '_' are passed over), or what a glob matches. In no order.
 * An entry that gives no file is an error. A relative entry starts at folder.
 */
lw_status lw__storage_list(const char *folder, const char *entry,
                           bool (*is_wanted)(const char *name), lw__files *files, lw_error *err);

/* Appends one file; for stores. name_at is the offset of the name in path. */
lw_status lw__files_put(lw__files *files, const char *path, size_t name_at, uint64_t bytes,
                        lw_error *err);
void lw__files_reset(lw__files *files);

/* Fails when the file no longer has the bytes it was listed with. path is borrowed until close. */
lw_status lw__storage_open(const char *path, uint64_t bytes, lw__object **out, lw_error *err);
/* Reads exactly count bytes. Any threads at once. */
lw_status lw__storage_read(lw__object *object, uint64_t offset, void *out, size_t count,
                           lw_error *err);
void lw__storage_close(lw__object *object);

#endif
