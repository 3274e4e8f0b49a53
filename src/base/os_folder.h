/* SPDX-License-Identifier: Apache-2.0 */
/* The names in a folder. */
#ifndef LW__BASE_OS_FOLDER_H
#define LW__BASE_OS_FOLDER_H

#include "base/bytes.h"

/*
 * Appends the names in a folder to `out`, each with a NUL behind it, in no order. *is_folder is
 * false, and nothing appended, when the path is not that of a folder. LW_E_IO, LW_E_NOMEM; worded
 * "<layer>: "<path>": ...".
 */
lw_status lw__os_list_folder(const char *layer, const char *path, lw__bytes *out, bool *is_folder,
                             lw_error *err);

#endif
