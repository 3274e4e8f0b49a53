/* SPDX-License-Identifier: Apache-2.0 */
/* What the operating system says about the machine. */
#ifndef LW__BASE_OS_H
#define LW__BASE_OS_H

#include <stddef.h>

/* Processors this process may use; at least 1. */
size_t lw__os_processors(void);

#endif
