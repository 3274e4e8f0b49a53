/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of this machine. Folders are searched through open descriptors, and only names that are
 * wanted are asked for their size, so a folder of many thousand files lists quickly. Links are
 * followed; a link to a folder above itself is found by device and inode and passed over. Reads are
 * preads: an object has no position.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "storage/storage.h"

typedef struct local_object {
    lw__object base;
    int fd;
} local_object;

/* The folders from the entry down to the one being read. */
typedef struct folder_chain {
    const struct folder_chain *above;
    dev_t device;
    ino_t inode;
} folder_chain;

/* One search of a folder. */
typedef struct search {
    bool (*is_wanted)(const char *name);
    lw__files *files;
    lw__bytes path; /* of the folder being read, without NUL */
    size_t name_at;
    lw_error *err;
} search;

static lw_status fail_path(lw_error *err, int os_errno, const char *path)
{
    bool absent = os_errno == ENOENT || os_errno == ENOTDIR;
    return lw__fail_os(err, absent ? LW_E_NOT_FOUND : LW_E_IO, os_errno, "storage: \"%s\"", path);
}

static bool is_above(const folder_chain *chain, const struct stat *info)
{
    for (; chain != NULL; chain = chain->above) {
        if (chain->device == info->st_dev && chain->inode == info->st_ino) {
            return true;
        }
    }
    return false;
}

/* The path of an entry of the folder being read; the caller sets path.count back afterwards. */
static const char *push_name(search *s, const char *name)
{
    if (s->path.count > 0 && s->path.data[s->path.count - 1] != '/') {
        lw__bytes_put_u8(&s->path, '/');
    }
    lw__bytes_put(&s->path, name, strlen(name) + 1);
    if (s->path.failed) {
        lw__fail_nomem(s->err, s->path.count + strlen(name), "a path");
        return NULL;
    }
    s->path.count--;
    return (const char *)s->path.data;
}

static lw_status search_folder(search *s, int fd, const folder_chain *above);

static lw_status search_entry(search *s, int folder_fd, const struct dirent *entry,
                              const folder_chain *chain)
{
    const char *path = push_name(s, entry->d_name);
    if (path == NULL) {
        return LW_E_NOMEM;
    }
    struct stat info;
    if (fstatat(folder_fd, entry->d_name, &info, 0) != 0) {
        /* A broken link only matters where it stands for a shard. */
        return s->is_wanted(entry->d_name) ? fail_path(s->err, errno, path) : LW_OK;
    }
    if (S_ISREG(info.st_mode)) {
        return s->is_wanted(entry->d_name)
                   ? lw__files_put(s->files, path, s->name_at, (uint64_t)info.st_size, s->err)
                   : LW_OK;
    }
    if (!S_ISDIR(info.st_mode) || is_above(chain, &info)) {
        return LW_OK;
    }
    int fd = openat(folder_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? fail_path(s->err, errno, path) : search_folder(s, fd, chain);
}

/* Files whose names are not wanted need no look at all, unless they may be links to folders. */
static bool is_worth_a_look(const search *s, const struct dirent *entry)
{
    if (entry->d_name[0] == '.' || entry->d_name[0] == '_') {
        return false;
    }
    return entry->d_type != DT_REG || s->is_wanted(entry->d_name);
}

static lw_status search_entries(search *s, DIR *folder, const folder_chain *chain)
{
    size_t path_count = s->path.count;
    for (;;) {
        errno = 0;
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): a DIR of its own for each search. */
        const struct dirent *entry = readdir(folder);
        if (entry == NULL) {
            return errno == 0 ? LW_OK : fail_path(s->err, errno, (const char *)s->path.data);
        }
        if (is_worth_a_look(s, entry)) {
            LW__TRY(search_entry(s, dirfd(folder), entry, chain));
            s->path.count = path_count;
            s->path.data[path_count] = '\0';
        }
    }
}

/* Takes fd over. */
static lw_status search_folder(search *s, int fd, const folder_chain *above)
{
    struct stat info;
    DIR *folder = NULL;
    if (fstat(fd, &info) != 0 || (folder = fdopendir(fd)) == NULL) {
        lw_status status = fail_path(s->err, errno, (const char *)s->path.data);
        close(fd);
        return status;
    }
    folder_chain chain = {above, info.st_dev, info.st_ino};
    lw_status status = search_entries(s, folder, &chain);
    closedir(folder);
    return status;
}

static lw_status list_folder(const char *path, size_t name_at, bool (*is_wanted)(const char *name),
                             lw__files *files, lw_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return fail_path(err, errno, path);
    }
    search s = {.is_wanted = is_wanted, .files = files, .name_at = name_at, .err = err};
    lw__bytes_init(&s.path);
    lw__bytes_put(&s.path, path, strlen(path) + 1);
    if (s.path.failed) {
        close(fd);
        return lw__fail_nomem(err, strlen(path) + 1, "a path");
    }
    s.path.count--;
    lw_status status = search_folder(&s, fd, NULL);
    lw__bytes_reset(&s.path);
    return status;
}

/* Lists a path that exists; name_at: where the name starts, if path is not a folder of its own. */
static lw_status list_path(const char *path, const struct stat *info, size_t name_at,
                           bool (*is_wanted)(const char *name), lw__files *files, lw_error *err)
{
    if (S_ISREG(info->st_mode)) {
        return lw__files_put(files, path, name_at, (uint64_t)info->st_size, err);
    }
    if (S_ISDIR(info->st_mode)) {
        return list_folder(path, name_at, is_wanted, files, err);
    }
    return lw__fail(err, LW_E_INVALID,
                    "storage: \"%s\": neither a file nor a folder, expected one of them", path);
}

/* Where the names of a glob's matches start: after the last slash before the first wildcard. */
static size_t fixed_bytes(const char *pattern)
{
    size_t count = strcspn(pattern, "*?[\\");
    while (count > 0 && pattern[count - 1] != '/') {
        count--;
    }
    return count;
}

static lw_status list_glob(const char *pattern, bool (*is_wanted)(const char *name),
                           lw__files *files, lw_error *err)
{
    glob_t matches = {0};
    lw_status status = LW_OK;
    errno = 0;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): so only where it expands "~", never here. */
    int result = glob(pattern, GLOB_ERR | GLOB_NOSORT, NULL, &matches);
    if (result == GLOB_NOSPACE) {
        status = lw__fail_nomem(err, strlen(pattern), "the matches of a glob");
    } else if (result == GLOB_ABORTED && errno != ENOENT) {
        status = fail_path(err, errno, pattern);
    }
    for (size_t i = 0; status == LW_OK && result == 0 && i < matches.gl_pathc; i++) {
        const char *path = matches.gl_pathv[i];
        struct stat info;
        status = stat(path, &info) != 0
                     ? fail_path(err, errno, path)
                     : list_path(path, &info, fixed_bytes(pattern), is_wanted, files, err);
    }
    globfree(&matches);
    return status;
}

static size_t name_offset(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* The name of a file below a folder starts after the folder and its slash. */
static size_t below_offset(const char *path)
{
    size_t count = strlen(path);
    return path[count - 1] == '/' ? count : count + 1;
}

static lw_status local_list(const char *path, bool (*is_wanted)(const char *name), lw__files *files,
                            lw_error *err)
{
    struct stat info;
    size_t before = files->count;
    if (stat(path, &info) == 0) {
        size_t name_at = S_ISDIR(info.st_mode) ? below_offset(path) : name_offset(path);
        LW__TRY(list_path(path, &info, name_at, is_wanted, files, err));
    } else if (strpbrk(path, "*?[") != NULL) {
        LW__TRY(list_glob(path, is_wanted, files, err));
    } else {
        return fail_path(err, errno, path);
    }
    if (files->count == before) {
        return lw__fail(err, LW_E_NOT_FOUND, "storage: \"%s\": no shard, expected at least one",
                        path);
    }
    return LW_OK;
}

static lw_status check_bytes(int fd, const char *path, uint64_t bytes, lw_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return fail_path(err, errno, path);
    }
    if ((uint64_t)info.st_size != bytes) {
        return lw__fail(err, LW_E_MISMATCH,
                        "storage: \"%s\": the file changed during the run: %llu bytes, expected "
                        "%llu",
                        path, (unsigned long long)info.st_size, (unsigned long long)bytes);
    }
    return LW_OK;
}

static lw_status local_open(const char *path, uint64_t bytes, lw__object **out, lw_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail_path(err, errno, path);
    }
    local_object *object = NULL;
    lw_status status = check_bytes(fd, path, bytes, err);
    if (status == LW_OK) {
        object = lw__alloc_zero(1, sizeof *object);
        status = object != NULL ? LW_OK : lw__fail_nomem(err, sizeof *object, "an open file");
    }
    if (object == NULL) {
        close(fd);
        return status;
    }
    *object = (local_object){{&lw__store_local, path, bytes}, fd};
    *out = &object->base;
    return LW_OK;
}

static lw_status local_read(lw__object *base, uint64_t offset, void *out, size_t count,
                            lw_error *err)
{
    const local_object *object = (const local_object *)base;
    size_t done = 0;
    while (done < count) {
        uint64_t at = offset + done;
        ssize_t got = pread(object->fd, (char *)out + done, count - done, (off_t)at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return lw__fail_os(err, LW_E_IO, errno, "storage: \"%s\": read at byte %llu",
                               base->path, (unsigned long long)at);
        }
        if (got == 0) {
            return lw__fail(err, LW_E_IO,
                            "storage: \"%s\": %zu bytes at byte %llu, expected %zu (the file "
                            "became shorter)",
                            base->path, done, (unsigned long long)offset, count);
        }
        done += (size_t)got;
    }
    return LW_OK;
}

static void local_close(lw__object *base)
{
    local_object *object = (local_object *)base;
    close(object->fd);
    lw__free(object);
}

const lw__store lw__store_local = {"", local_list, local_open, local_read, local_close};
