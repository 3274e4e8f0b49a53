/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stop on one number of ranks, go on with another: the batches do not change.
 *
 *     elastic_resume [RECIPE]
 *
 * One rank takes all steps; its state after some of them resumes worlds of 2, 3 and 4 ranks, whose
 * row digests, put together in row order, must give the digests of the steps that are left. The
 * ranks run one after the other in this process; in a training job each is a process of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laneway/laneway.h>

#define ROWS       48
#define STEPS      12
#define SAVED      5 /* steps taken before the state is saved */
#define MOST_RANKS 4

typedef uint8_t digest[32];

/* One rank's batch of a step: its row digests go to their places among those of the step. */
static lw_status take_rows(lw_pipeline *pipeline, digest *rows, lw_error *err)
{
    lw_batch *batch = NULL;
    lw_batch_view view = {.struct_size = sizeof view};
    lw_status status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, err);
    if (status == LW_OK) {
        status = lw_batch_get(batch, &view, err);
    }
    if (status == LW_OK) {
        memcpy(rows[view.first_row], view.row_digests, (size_t)view.rows * sizeof(digest));
    }
    lw_batch_release(batch);
    return status;
}

static lw_status open_world(lw_recipe *recipe, uint64_t world, const lw_state *state,
                            lw_pipeline **ranks, lw_error *err)
{
    lw_status status = LW_OK;
    for (uint64_t rank = 0; rank < world && status == LW_OK; rank++) {
        lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
        options.rank = rank;
        options.world = world;
        status = lw_pipeline_open(recipe, &options, state, &ranks[rank], err);
    }
    return status;
}

/* Steps [first, STEPS) of a world; *save receives the state after step SAVED - 1, unless NULL. */
static lw_status run_world(lw_recipe *recipe, uint64_t world, const lw_state *state, int first,
                           digest *steps, lw_state **save, lw_error *err)
{
    lw_pipeline *ranks[MOST_RANKS] = {NULL};
    lw_status status = open_world(recipe, world, state, ranks, err);
    for (int step = first; step < STEPS && status == LW_OK; step++) {
        digest rows[ROWS];
        for (uint64_t rank = 0; rank < world && status == LW_OK; rank++) {
            status = take_rows(ranks[rank], rows, err);
        }
        if (status == LW_OK) {
            status = lw_digest_merge(rows[0], ROWS, steps[step], err);
        }
        if (save != NULL && step == SAVED - 1 && status == LW_OK) {
            status = lw_pipeline_checkpoint(ranks[0], LW_STEP_NEWEST, save, err);
        }
    }
    for (uint64_t rank = 0; rank < world; rank++) {
        lw_pipeline_close(ranks[rank]);
    }
    return status;
}

static lw_status open_recipe(const char *path, lw_recipe **recipe, lw_error *err)
{
    lw_status status = lw_recipe_open(path, recipe, err);
    if (status == LW_OK) {
        status = lw_recipe_set(*recipe, "lanes", "8", err);
    }
    if (status == LW_OK) {
        status = lw_recipe_set(*recipe, "global_batch", "48", err);
    }
    return status == LW_OK ? lw_recipe_set(*recipe, "runtime.digests", "true", err) : status;
}

int main(int argc, char **argv)
{
    static digest whole[STEPS];
    static digest tail[STEPS];
    lw_recipe *recipe = NULL;
    lw_state *state = NULL;
    lw_error err = {0};
    int different = 0;
    lw_status status = open_recipe(argc > 1 ? argv[1] : "examples/data/recipe.yaml", &recipe, &err);
    if (status == LW_OK) {
        status = run_world(recipe, 1, NULL, 0, whole, &state, &err);
    }
    for (uint64_t world = 2; world <= MOST_RANKS && status == LW_OK; world++) {
        status = run_world(recipe, world, state, SAVED, tail, NULL, &err);
        int same = memcmp(whole[SAVED], tail[SAVED], (STEPS - SAVED) * sizeof(digest)) == 0;
        different += !same;
        printf("saved at 1 rank, resumed at %d: steps %d to %d %s\n", (int)world, SAVED, STEPS - 1,
               status != LW_OK ? "failed"
               : same          ? "equal"
                               : "DIFFERENT");
    }
    lw_state_close(state);
    lw_recipe_close(recipe);
    if (status != LW_OK) {
        fprintf(stderr, "elastic_resume: %s\n", status == LW_END ? "no more data" : err.message);
    }
    return status == LW_OK && different == 0 ? 0 : 1;
}
