/* SPDX-License-Identifier: Apache-2.0 */
/* Counter-based randomness (docs/stream.md, section 1): pure functions, no state. */
#ifndef LANEWAY_RANDOM_H
#define LANEWAY_RANDOM_H

#include <laneway/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LW_PURPOSE_BLOCKS    1u
#define LW_PURPOSE_DOCUMENTS 2u
#define LW_PURPOSE_ROWS      3u
#define LW_PURPOSE_USER      1000u /* the first one free for operators of a program's own */

/** A 64-bit value that depends on all five numbers; also the key of lw_random_permute. Since 0.1. */
LW_API uint64_t lw_random_key(uint64_t seed, uint64_t purpose, uint64_t a, uint64_t b, uint64_t c);

/** Where index goes under the key's permutation of [0, count); index < count. Since 0.1. */
LW_API uint64_t lw_random_permute(uint64_t key, uint64_t count, uint64_t index);

#ifdef __cplusplus
}
#endif

#endif
