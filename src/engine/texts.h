/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOCUMENT workers: what they make of the texts of a part, before it is tokenized.
 *
 * Stateless, like all of reading: the result depends on the part alone, on whatever thread.
 */
#ifndef LW__ENGINE_TEXTS_H
#define LW__ENGINE_TEXTS_H

#include "engine/stream.h"

/*
 * Runs the workers over the documents of a part, which stand in the scratch. Without workers
 * texts.now stays empty; with them it has at least one text for every document.
 */
lw_status lw__texts_work(const lw__part *part, lw__scratch *scratch, lw_error *err);
/* Frees the texts that workers replaced or made; texts.now keeps its order and its marks. */
void lw__texts_release(lw__texts *texts);
void lw__texts_reset(lw__texts *texts);

#endif
