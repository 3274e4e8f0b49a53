/* SPDX-License-Identifier: Apache-2.0 */
/* What the operating system says about the machine. */
#ifndef LW__BASE_OS_H
#define LW__BASE_OS_H

#include <stddef.h>

/* Processors this process may use; at least 1. */
size_t lw__os_processors(void);

#define LW__OS_HUGE_BYTES ((size_t)2 << 20)

/* Asks for huge pages behind memory that was not touched yet and begins at a multiple of their
 * size; where there are none, nothing changes. */
void lw__os_advise_huge(void *memory, size_t bytes);

#endif
