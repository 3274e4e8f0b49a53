/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks by Unicode 9.0, and small letters by 17.0: what normalizers beside the forms need to know.
 *
 * Written by tools/unicode-tables; docs/tokenizers.md says why the versions differ.
 */
#ifndef LW__TOKENIZE_UNICODE_NORMAL_H
#define LW__TOKENIZE_UNICODE_NORMAL_H

#include "tokenize/unicode.h"

#define LW__MARK_RUNS  0xFA
#define LW__LOWER_RUNS 0xBA

typedef struct lw__code_run {
    uint32_t first;
    uint32_t last;
} lw__code_run;

/* Capitals at each `step` code points, and what to add for their small letters (modulo 2^32). */
typedef struct lw__lower_run {
    uint32_t first;
    uint32_t last;
    uint32_t step;
    uint32_t delta;
} lw__lower_run;

extern const lw__code_run lw__mark_runs[LW__MARK_RUNS];
extern const lw__lower_run lw__lower_runs[LW__LOWER_RUNS];

#endif
