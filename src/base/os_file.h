/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing a small file (a vocabulary, a recipe, a state) as a whole. */
#ifndef LW__BASE_OS_FILE_H
#define LW__BASE_OS_FILE_H

#include "base/bytes.h"

/*
 * Appends the file's bytes to `out`. A file of more than `limit` bytes is refused. Failures are
 * worded "<layer>: "<path>": ...": LW_E_NOT_FOUND, LW_E_IO, LW_E_UNSUPPORTED, LW_E_NOMEM.
 */
lw_status lw__os_read_file(const char *layer, const char *path, size_t limit, lw__bytes *out,
                           lw_error *err);

/*
 * Writes a file that is whole or not there: under a temporary name beside it, synced, then renamed.
 * LW_E_IO, LW_E_NOMEM; worded as above.
 */
lw_status lw__os_write_file(const char *layer, const char *path, const void *data, size_t bytes,
                            lw_error *err);

#endif
