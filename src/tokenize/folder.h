/* SPDX-License-Identifier: Apache-2.0 */
/* A folder that holds a tokenizer: which of its files is opened. */
#ifndef LW__TOKENIZE_FOLDER_H
#define LW__TOKENIZE_FOLDER_H

#include "base/bytes.h"

/*
 * Puts the path to open, with its NUL, into `out`: the path itself unless it is that of a folder.
 * LW_E_NOT_FOUND when a folder holds no tokenizer, LW_E_INVALID when it holds several alike.
 */
lw_status lw__folder_choose(const char *path, lw__bytes *out, lw_error *err);

#endif
