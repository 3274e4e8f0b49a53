/* SPDX-License-Identifier: Apache-2.0 */
/* What the operating system says about the machine. */
#ifndef LW__BASE_OS_H
#define LW__BASE_OS_H

#include <stddef.h>

/* Processors this process may use; at least 1. */
size_t lw__os_processors(void);

/* Size of a page of memory. */
size_t lw__os_page_bytes(void);

#define LW__OS_HUGE_BYTES ((size_t)2 << 20)

/* Asks for huge pages where a block of the heap is not in use yet: for large ones that will be. */
void lw__os_prefer_huge(void *memory, size_t bytes);

/* Makes zeros of a part of the heap, on huge pages where there are any. It begins at a multiple of
 * their size, and so does what follows it. */
void lw__os_zero_huge(void *memory, size_t bytes);

#endif
