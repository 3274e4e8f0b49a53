/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: everything a recipe names, opened; shared by pipelines and explain.
 */
#ifndef LW__API_RUN_H
#define LW__API_RUN_H

#include <laneway/pipeline.h>

#include "checkpoint/checkpoint.h"
#include "deliver/delivery.h"
#include "engine/engine.h"
#include "op/builtin.h"
#include "recipe/recipe.h"

typedef struct lw__run {
    lw_recipe *recipe; /* a copy */
    const lw__settings *settings;
    lw__dataset **datasets;
    size_t dataset_count;
    lw__tokenizer *tokenizer;
    lw__operator *operators;
    size_t operator_count;
    lw__op_best_fit_options best_fit;
    lw__op_shuffle_options shuffle;
    lw__identity identity;
} lw__run;

/* Opens data and tokenizer; starts nothing. */
lw_status lw__run_open(lw__run *run, lw_recipe *recipe, lw_error *err);
void lw__run_close(lw__run *run);
/* Checks the world against the recipe. */
lw_status lw__run_topology(const lw__run *run, uint64_t rank, uint64_t world, lw__topology *out,
                           lw_error *err);
/* The engine's options, outlet left out. */
lw__engine_options lw__run_engine_options(const lw__run *run, const lw__topology *topology,
                                          bool agreed);
lw__render_rules lw__run_render_rules(const lw__run *run);

#endif
