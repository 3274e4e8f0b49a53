/* SPDX-License-Identifier: Apache-2.0 */
/* Merging of symbols that are mostly rows of equal ones: lines of dashes, indents. */
#ifndef LW__TOKENIZE_PIECE_ROWS_H
#define LW__TOKENIZE_PIECE_ROWS_H

#include <stdbool.h>

#include "tokenize/piece_joins.h"

/*
 * What lw__joins_merge does, in a number of steps that hardly depends on how long the rows are.
 * False, and nothing changed, when there are many rows or merging makes them many.
 */
bool lw__rows_merge(const lw__joins *joins, int32_t *symbols, size_t *count);

#endif
