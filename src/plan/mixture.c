/* SPDX-License-Identifier: Apache-2.0 */
/* Token-exact mixing in integers: eligibility by deficit, choice by the earliest fluid finish. */
#include "plan/mixture.h"

/* Products of a weight sum (below 2^60) and a token count do not fit in 64 bits. */
__extension__ typedef unsigned __int128 wide;

static void count_live(lw__mixture *mixture)
{
    mixture->live_weight = 0;
    for (size_t i = 0; i < mixture->source_count; i++) {
        mixture->live_weight += mixture->sources[i].ended ? 0 : mixture->sources[i].weight;
    }
}

void lw__mixture_restart(lw__mixture *mixture)
{
    count_live(mixture);
    mixture->total = 0;
    for (size_t i = 0; i < mixture->source_count; i++) {
        mixture->total += mixture->sources[i].drawn;
    }
}

void lw__mixture_end(lw__mixture *mixture, size_t source)
{
    mixture->sources[source].ended = true;
    for (size_t i = 0; i < mixture->source_count; i++) {
        mixture->sources[i].drawn = 0;
    }
    lw__mixture_restart(mixture);
}

bool lw__mixture_is_live(const lw__mixture *mixture)
{
    return mixture->live_weight > 0;
}

bool lw__mixture_is_eligible(const lw__mixture *mixture, size_t source)
{
    const lw__mixture_source *s = &mixture->sources[source];
    return !s->ended && (wide)s->weight * mixture->total >= (wide)mixture->live_weight * s->drawn;
}

bool lw__mixture_is_before(const lw__mixture *mixture, size_t a, uint64_t a_cost, size_t b,
                           uint64_t b_cost)
{
    const lw__mixture_source *first = &mixture->sources[a];
    const lw__mixture_source *second = &mixture->sources[b];
    return (wide)(first->drawn + a_cost) * second->weight <
           (wide)(second->drawn + b_cost) * first->weight;
}

void lw__mixture_draw(lw__mixture *mixture, size_t source, uint64_t cost)
{
    mixture->sources[source].drawn += cost;
    mixture->total += cost;
}
