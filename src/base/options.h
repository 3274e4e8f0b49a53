/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size-stamped structs across the ABI: a program may know fewer fields than the library, or more.
 */
#ifndef LW__BASE_OPTIONS_H
#define LW__BASE_OPTIONS_H

#include <stddef.h>

#include <laneway/error.h>

/*
 * Copies a caller's options (NULL: all defaults) into `full`, which is zeroed: fields the caller does
 * not know stay zero; bytes only the caller knows must be zero. `init` names the macro to use.
 */
lw_status lw__options_copy(void *full, size_t full_bytes, const void *options, const char *init,
                           lw_error *err);

/* The reverse, for results: fills as much of the caller's struct as its struct_size says. */
lw_status lw__options_give(void *out, const void *full, size_t full_bytes, const char *name,
                           lw_error *err);

#endif
