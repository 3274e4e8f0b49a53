/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in operators, all on the public interface (laneway/op.h). */
#ifndef LW__OP_BUILTIN_H
#define LW__OP_BUILTIN_H

#include <laneway/op.h>

/* Concatenates documents into full rows. No options. */
extern const lw_op_type lw__op_wrap;

/* Places whole documents where they fit best. */
typedef struct lw__op_best_fit_options {
    uint64_t open_rows; /* at least 1 */
} lw__op_best_fit_options;

extern const lw_op_type lw__op_best_fit;

/* Permutes the rows of each window. */
typedef struct lw__op_shuffle_options {
    uint64_t rows; /* of a window; at least 2 */
} lw__op_shuffle_options;

extern const lw_op_type lw__op_shuffle;

#endif
