/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 validation and repair (Unicode 16, table 3-7). */
#ifndef LW__BASE_UTF8_H
#define LW__BASE_UTF8_H

#include <stddef.h>

/* The offset of the first byte that is not part of a well-formed character; count when all are. */
size_t lw__utf8_check(const void *bytes, size_t count);

/*
 * Copies, with one U+FFFD for each maximal ill-formed part (as Python's errors="replace"). `out`
 * has room for 3 * count bytes; returns the bytes written.
 */
size_t lw__utf8_repair(const void *bytes, size_t count, void *out);

#endif
