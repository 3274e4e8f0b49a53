/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mixer's arithmetic (docs/stream.md, section 5; docs/mixing.md for why). Pure: the caller
 * shows the next document of each eligible source and is told which one to draw.
 */
#ifndef LW__PLAN_MIXTURE_H
#define LW__PLAN_MIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lw__mixture_source {
    uint64_t weight;
    uint64_t drawn; /* c: cost since the last time a source ended */
    bool ended;
} lw__mixture_source;

typedef struct lw__mixture {
    lw__mixture_source *sources; /* the caller's */
    size_t source_count;
    uint64_t total;       /* T */
    uint64_t live_weight; /* W; at most 2^16 sources of 10^18, see lw__mixture_restart */
} lw__mixture;

/* Sets live_weight and total from the sources. Weights are below 10^18 in sum. */
void lw__mixture_restart(lw__mixture *mixture);
/* A source has ended: the counts begin anew for those left. */
void lw__mixture_end(lw__mixture *mixture, size_t source);
bool lw__mixture_is_live(const lw__mixture *mixture);
/* May this source be drawn from now? */
bool lw__mixture_is_eligible(const lw__mixture *mixture, size_t source);
/* Whether drawing a_cost from a finishes its share earlier than drawing b_cost from b. */
bool lw__mixture_is_before(const lw__mixture *mixture, size_t a, uint64_t a_cost, size_t b,
                           uint64_t b_cost);
void lw__mixture_draw(lw__mixture *mixture, size_t source, uint64_t cost);

#endif
