/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of a test's own, with files in it; it is removed at the end. */
#ifndef LW__TEST_SCRATCH_H
#define LW__TEST_SCRATCH_H

#include <stddef.h>

/* Group set-up and tear-down of cmocka. */
int scratch_open(void **state);
int scratch_close(void **state);

/* The folder's path. */
const char *scratch_folder(void);
/* The path of a name in the folder; valid until the next call but three. */
const char *scratch_path(const char *name);
/* Writes a file, and the folders that its name asks for. */
void scratch_write(const char *name, const void *data, size_t count);
void scratch_write_text(const char *name, const char *text);
/* Removes all that is in the folder. */
void scratch_clear(void);

#endif
