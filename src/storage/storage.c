/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door of the storage layer: picks the store by the path's scheme and hands the call on. Here
 * too lives the list of files that all stores fill.
 */
#include "storage/storage.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

static const lw__store *const stores[] = {&lw__store_local};

/* The bytes of the scheme that path starts with; 0 for a local path. */
static size_t scheme_bytes(const char *path)
{
    size_t count = strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
    return strncmp(path + count, "://", 3) == 0 ? count : 0;
}

/* NULL when no store of this build has the path's scheme. */
static const lw__store *find_store(const char *path)
{
    size_t count = scheme_bytes(path);
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        if (strlen(stores[i]->scheme) == count && memcmp(stores[i]->scheme, path, count) == 0) {
            return stores[i];
        }
    }
    return NULL;
}

static lw_status fail_store(const char *path, lw_error *err)
{
    return lw__fail(err, LW_E_UNSUPPORTED,
                    "storage: \"%s\": a store that is not in this build, expected a local path",
                    path);
}

/* The entry as it is opened: below folder if relative, without "./" and doubled slashes. */
static void put_full_path(lw__bytes *out, const char *folder, const char *entry)
{
    bool has_folder = folder != NULL && folder[0] != '\0' && strcmp(folder, ".") != 0;
    if (entry[0] != '/' && has_folder) {
        lw__bytes_put(out, folder, strlen(folder));
        if (folder[strlen(folder) - 1] != '/') {
            lw__bytes_put_u8(out, '/');
        }
    }
    size_t base = out->count;
    while (strncmp(entry, "./", 2) == 0) {
        entry += 2 + strspn(entry + 2, "/");
    }
    for (const char *c = entry[0] == '\0' ? "." : entry; *c != '\0'; c++) {
        bool doubled =
            *c == '/' && out->count > base && !out->failed && out->data[out->count - 1] == '/';
        if (!doubled) {
            lw__bytes_put_u8(out, (uint8_t)*c);
        }
    }
    if (!out->failed && out->count > 1 && out->data[out->count - 1] == '/') {
        out->count--;
    }
    lw__bytes_put_u8(out, '\0');
}

lw_status lw__storage_list(const char *folder, const char *entry,
                           bool (*is_wanted)(const char *name), lw__files *files, lw_error *err)
{
    const lw__store *store = find_store(entry);
    if (store == NULL) {
        return fail_store(entry, err);
    }
    lw__bytes path;
    lw__bytes_init(&path);
    put_full_path(&path, folder, entry);
    lw_status status = path.failed ? lw__fail_nomem(err, strlen(entry) + 1, "a path")
                                   : store->list((const char *)path.data, is_wanted, files, err);
    lw__bytes_reset(&path);
    return status;
}

lw_status lw__files_put(lw__files *files, const char *path, size_t name_at, uint64_t bytes,
                        lw_error *err)
{
    if (files->count == files->capacity) {
        size_t capacity = files->capacity == 0 ? 64 : files->capacity * 2;
        lw__file *items = lw__resize_array(files->items, capacity, sizeof *items);
        if (items == NULL) {
            return lw__fail_nomem(err, capacity * sizeof *items, "a list of files");
        }
        files->items = items;
        files->capacity = capacity;
    }
    char *copy = lw__copy_text(path, strlen(path));
    if (copy == NULL) {
        return lw__fail_nomem(err, strlen(path) + 1, "a path");
    }
    files->items[files->count++] = (lw__file){copy, copy + name_at, bytes};
    return LW_OK;
}

void lw__files_reset(lw__files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        lw__free(files->items[i].path);
    }
    lw__free(files->items);
    *files = (lw__files){0};
}

lw_status lw__storage_open(const char *path, uint64_t bytes, lw__object **out, lw_error *err)
{
    const lw__store *store = find_store(path);
    *out = NULL;
    return store != NULL ? store->open(path, bytes, out, err) : fail_store(path, err);
}

lw_status lw__storage_read(lw__object *object, uint64_t offset, void *out, size_t count,
                           lw_error *err)
{
    if (offset > object->bytes || count > object->bytes - offset) {
        return lw__fail(err, LW_E_INVALID,
                        "storage: \"%s\": %zu bytes asked for at byte %llu of %llu, expected a "
                        "range of the file",
                        object->path, count, (unsigned long long)offset,
                        (unsigned long long)object->bytes);
    }
    return object->store->read(object, offset, out, count, err);
}

void lw__storage_close(lw__object *object)
{
    if (object != NULL) {
        object->store->close(object);
    }
}
