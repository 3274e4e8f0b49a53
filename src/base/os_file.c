/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a whole file, a step at a time: its size is only a first guess, so a pipe works too. */
#include "base/os_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/os.h"

#define READ_STEP ((size_t)1 << 18)

/* Room for as much as the file says that it has, so that it need not grow. */
static bool reserve_guess(FILE *file, size_t limit, lw__bytes *out)
{
    struct stat about;
    bool is_known = fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    size_t guess = is_known && (uintmax_t)about.st_size <= limit ? (size_t)about.st_size : 0;
    if (!lw__bytes_reserve(out, guess + READ_STEP)) {
        return false;
    }
    lw__os_prefer_huge(out->data + out->count, out->capacity - out->count);
    return true;
}

static lw_status read_all(FILE *file, const char *layer, const char *path, size_t limit,
                          lw__bytes *out, lw_error *err)
{
    size_t total = 0;
    size_t count = 0;
    if (!reserve_guess(file, limit, out)) {
        return lw__fail_nomem(err, out->count + READ_STEP, "a file");
    }
    do {
        if (!lw__bytes_reserve(out, READ_STEP)) {
            return lw__fail_nomem(err, out->count + READ_STEP, "a file");
        }
        count = fread(out->data + out->count, 1, READ_STEP, file);
        out->count += count;
        total += count;
        if (total > limit) {
            return lw__fail(err, LW_E_UNSUPPORTED,
                            "%s: \"%s\": a file of over %zu bytes, expected a smaller one", layer,
                            path, limit);
        }
    } while (count == READ_STEP);
    return ferror(file) ? lw__fail_os(err, LW_E_IO, errno, "%s: \"%s\"", layer, path) : LW_OK;
}

lw_status lw__os_read_file(const char *layer, const char *path, size_t limit, lw__bytes *out,
                           lw_error *err)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        lw_status status = errno == ENOENT || errno == ENOTDIR ? LW_E_NOT_FOUND : LW_E_IO;
        return lw__fail_os(err, status, errno, "%s: \"%s\"", layer, path);
    }
    lw_status status = read_all(file, layer, path, limit, out, err);
    (void)fclose(file);
    return status;
}
