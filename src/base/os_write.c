/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a whole file, so that a crash at any moment leaves the old one or the new one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os_file.h"

static int write_all(int file, const unsigned char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t count = write(file, data, bytes);
        if (count < 0 && errno != EINTR) {
            return errno;
        }
        data += count > 0 ? count : 0;
        bytes -= count > 0 ? (size_t)count : 0;
    }
    return 0;
}

/* Returns 0 or an errno; the temporary file is gone unless it took its name. */
static int write_renamed(const char *path, const char *temporary, const void *data, size_t bytes)
{
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        return errno;
    }
    int failure = write_all(file, data, bytes);
    if (failure == 0 && fsync(file) != 0) {
        failure = errno;
    }
    if (close(file) != 0 && failure == 0) {
        failure = errno;
    }
    if (failure == 0 && rename(temporary, path) != 0) {
        failure = errno;
    }
    if (failure != 0) {
        (void)unlink(temporary);
    }
    return failure;
}

/* Makes the rename itself survive a crash; some file systems refuse, which loses nothing. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash != NULL ? lw__copy_text(path, (size_t)(slash - path) + 1) : lw__copy_text(".", 1);
    int file = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        (void)fsync(file);
        (void)close(file);
    }
    lw__free(folder);
}

lw_status lw__os_write_file(const char *layer, const char *path, const void *data, size_t bytes,
                            lw_error *err)
{
    size_t room = strlen(path) + 40;
    char *temporary = lw__alloc(room);
    if (temporary == NULL) {
        return lw__fail_nomem(err, room, "a file name");
    }
    snprintf(temporary, room, "%s.%ld.tmp", path, (long)getpid());
    int failure = write_renamed(path, temporary, data, bytes);
    lw__free(temporary);
    if (failure != 0) {
        return lw__fail_os(err, LW_E_IO, failure, "%s: \"%s\"", layer, path);
    }
    sync_folder(path);
    return LW_OK;
}
