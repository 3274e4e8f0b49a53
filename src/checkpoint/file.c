/* SPDX-License-Identifier: Apache-2.0 */
/* States in files. */
#include <string.h>

#include "base/error.h"
#include "base/os_file.h"
#include "checkpoint/checkpoint.h"

/* A state is some kilobytes; this only keeps a wrong path from being read for ever. */
#define FILE_LIMIT ((size_t)1 << 32)

/* Puts the path into the line of a state that could not be parsed. */
static void name_file(lw_error *err, const char *path)
{
    if (err != NULL && strncmp(err->message, "state: ", 7) == 0) {
        lw_error before = *err;
        (void)lw__fail(err, before.status, "state: \"%s\": %s", path, before.message + 7);
    }
}

lw_status lw_state_open(const char *path, lw_state **out, lw_error *err)
{
    lw__bytes bytes;
    if (path == NULL || out == NULL) {
        return lw__fail(err, LW_E_INVALID, "state: lw_state_open: an argument is NULL");
    }
    *out = NULL;
    lw__bytes_init(&bytes);
    lw_status status = lw__os_read_file("state", path, FILE_LIMIT, &bytes, err);
    if (status == LW_OK) {
        status = lw_state_parse(bytes.data, bytes.count, out, err);
        if (status < 0) {
            name_file(err, path);
        }
    }
    lw__bytes_reset(&bytes);
    return status;
}

lw_status lw_state_write(const lw_state *state, const char *path, lw_error *err)
{
    if (state == NULL || path == NULL) {
        return lw__fail(err, LW_E_INVALID, "state: lw_state_write: an argument is NULL");
    }
    return lw__os_write_file("state", path, state->blob.data, state->blob.count, err);
}
