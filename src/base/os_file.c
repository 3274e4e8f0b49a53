/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a whole file, a step at a time: its size is not asked, so a pipe works too. */
#include "base/os_file.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"

#define READ_STEP ((size_t)1 << 18)

static lw_status read_all(FILE *file, const char *layer, const char *path, size_t limit,
                          lw__bytes *out, lw_error *err)
{
    size_t total = 0;
    size_t count = 0;
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
