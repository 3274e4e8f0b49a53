/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays as NumPy's .npy files, version 1.0: ten bytes, a header padded so that the data starts at a
 * multiple of 64, and the data. A file gets its own name only when it is complete.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define ALIGNMENT 64

static size_t make_header(char *out, size_t room, const char *type, uint64_t rows, uint64_t columns)
{
    static const char magic[] = "\x93NUMPY\x01";
    int text =
        snprintf(out + 10, room - 10,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu64 "), }",
                 type, rows, columns);
    size_t bytes = (10 + (size_t)text + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(out + 10 + text, ' ', bytes - 10 - (size_t)text);
    out[bytes - 1] = '\n';
    memcpy(out, magic, sizeof magic);
    out[8] = (char)((bytes - 10) & 255);
    out[9] = (char)((bytes - 10) >> 8);
    return bytes;
}

lw_status lw__cli_npy_begin(lw__cli_npy *npy, const char *path, const char *type, uint64_t rows,
                            uint64_t columns, lw_error *err)
{
    char header[4 * ALIGNMENT];
    memset(npy, 0, sizeof *npy);
    npy->path = strdup(path);
    if (npy->path == NULL || asprintf(&npy->temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
        npy->temporary = NULL;
        return lw__cli_fail(err, LW_E_NOMEM, "npy: no memory for the name of \"%s\"", path);
    }
    npy->file = fopen(npy->temporary, "wbe");
    if (npy->file == NULL) {
        return lw__cli_fail_os(err, "npy: create", npy->temporary);
    }
    return lw__cli_npy_write(npy, header, make_header(header, sizeof header, type, rows, columns),
                             err);
}

lw_status lw__cli_npy_write(lw__cli_npy *npy, const void *data, size_t bytes, lw_error *err)
{
    if (fwrite(data, 1, bytes, npy->file) != bytes) {
        return lw__cli_fail_os(err, "npy: write to", npy->temporary);
    }
    return LW_OK;
}

lw_status lw__cli_npy_finish(lw__cli_npy *npy, lw_error *err)
{
    FILE *file = npy->file;
    npy->file = NULL;
    return fclose(file) == 0 ? LW_OK : lw__cli_fail_os(err, "npy: write to", npy->temporary);
}

lw_status lw__cli_npy_put(lw__cli_npy *npy, lw_error *err)
{
    if (rename(npy->temporary, npy->path) != 0) {
        return lw__cli_fail_os(err, "npy: rename to", npy->path);
    }
    free(npy->temporary);
    npy->temporary = NULL;
    lw__cli_npy_reset(npy);
    return LW_OK;
}

void lw__cli_npy_reset(lw__cli_npy *npy)
{
    if (npy->file != NULL) {
        fclose(npy->file);
    }
    if (npy->temporary != NULL) {
        unlink(npy->temporary);
    }
    free(npy->temporary);
    free(npy->path);
    memset(npy, 0, sizeof *npy);
}
