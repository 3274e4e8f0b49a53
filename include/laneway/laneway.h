/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laneway: training data online, byte-identical for any number of ranks, threads, stops and resumes.
 *
 *     lw_recipe_open("train.yaml", &recipe, &err);
 *     lw_pipeline_open(recipe, NULL, NULL, &pipeline, &err);
 *     while (lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err) == LW_OK) {
 *         ...
 *         lw_batch_release(batch);
 *     }
 *
 * What is not declared in these headers is not part of the library's interface.
 */
#ifndef LANEWAY_H
#define LANEWAY_H

#include <laneway/error.h>
#include <laneway/op.h>
#include <laneway/pipeline.h>
#include <laneway/random.h>
#include <laneway/recipe.h>
#include <laneway/state.h>
#include <laneway/tokenizer.h>
#include <laneway/version.h>

#endif
