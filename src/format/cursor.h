/* SPDX-License-Identifier: Apache-2.0 */
/* What only the format layer may ask of a cursor. */
#ifndef LW__FORMAT_CURSOR_H
#define LW__FORMAT_CURSOR_H

#include "format/format.h"

/* The decoded bytes of the block; known once the last part has been read. */
uint64_t lw__cursor_block_end(const lw__cursor *cursor);

#endif
