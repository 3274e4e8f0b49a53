/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a run as a person reads it. */
#ifndef LW__OBSERVE_EXPLAIN_H
#define LW__OBSERVE_EXPLAIN_H

#include "base/bytes.h"
#include "engine/engine.h"

/*
 * Everything but what the recipe layer says; `options` is that of rank 0, and no rank has other
 * slots. A budget that no run could have is a line "error: " and what opening would say.
 */
void lw__explain(const lw__engine_options *options, uint64_t world, lw__bytes *out);

#endif
