/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rendering: one packed row into the arrays a training loop takes, and its digest
 * (docs/stream.md, sections 6 and 9). Stateless; a thread's renderer is its scratch.
 */
#ifndef LW__DELIVER_RENDER_H
#define LW__DELIVER_RENDER_H

#include "base/sha256.h"
#include "deliver/slot.h"
#include "engine/chain.h"

typedef struct lw__renderer {
    int32_t *tokens; /* [context], and so the others */
    int32_t *positions;
    int32_t *labels;
    int32_t *starts;
    lw__sha256 *hasher;
} lw__renderer;

/* What rows are rendered by; fixed for a run. */
typedef struct lw__render_rules {
    uint64_t context;
    lw__shift shift;
    int32_t pad;
    int32_t masked_token; /* inputs without a label: the EOS with mask_eos, else LW__NO_TOKEN */
    bool supervised;      /* tokens may be marked LW_TOKEN_UNSUPERVISED */
    const lw__operator *operators;
    size_t operator_count;
} lw__render_rules;

lw_status lw__renderer_init(lw__renderer *renderer, uint64_t context, lw_error *err);
void lw__renderer_reset(lw__renderer *renderer);

/*
 * Writes a row (NULL: padding) to row `index` of a slot. *digest_ns grows by the time spent on the
 * digest. Fails when a ROW worker does.
 */
lw_status lw__render(lw__renderer *renderer, const lw__render_rules *rules, lw_record *row,
                     lw__slot *slot, uint64_t index, uint64_t *digest_ns, lw_error *err);

#endif
