/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole of a training loop: a bigram language model learns from a recipe's batches.
 *
 *     quickstart [RECIPE]
 *
 * The model is a table of logits, weight[previous][next], trained by plain gradient descent: one step
 * for each batch. The exit code is 0 only if the loss fell.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <laneway/laneway.h>

#define VOCABULARY 2048 /* of examples/data/tokenizer.json */
#define STEPS      40
#define RATE       3.0f

typedef struct model {
    float weight[VOCABULARY][VOCABULARY];
    uint32_t count[VOCABULARY][VOCABULARY]; /* scratch: how often the batch has each pair */
} model;

/* Moves one row of the table down its mean gradient; returns the sum of the losses before. */
static double learn_row(float *weight, uint32_t *count)
{
    float chance[VOCABULARY]; /* of each next token, times total */
    float total = 0;
    float seen = 0;
    double loss = 0;
    for (int i = 0; i < VOCABULARY; i++) {
        seen += (float)count[i];
    }
    for (int i = 0; i < VOCABULARY && seen > 0; i++) {
        chance[i] = expf(weight[i]);
        total += chance[i];
    }
    for (int i = 0; i < VOCABULARY && seen > 0; i++) {
        loss -= count[i] > 0 ? count[i] * log((double)(chance[i] / total)) : 0;
        weight[i] += RATE * ((float)count[i] / seen - chance[i] / total);
        count[i] = 0;
    }
    return loss;
}

/* One step on a batch; returns the mean loss of its tokens. */
static double learn_batch(model *m, const lw_batch_view *view)
{
    const int32_t *tokens = view->tokens;
    const int32_t *labels = view->labels;
    double loss = 0;
    double labelled = 0;
    for (uint64_t i = 0; i < view->rows * view->context; i++) {
        if (view->loss_mask[i] != 0 && tokens[i] < VOCABULARY && labels[i] < VOCABULARY) {
            m->count[tokens[i]][labels[i]]++;
            labelled++;
        }
    }
    for (int i = 0; i < VOCABULARY; i++) {
        loss += learn_row(m->weight[i], m->count[i]);
    }
    return labelled > 0 ? loss / labelled : 0;
}

/* The loop itself: fills losses with one value a step and returns how many there are. */
static int train(lw_pipeline *pipeline, model *m, double *losses, lw_error *err)
{
    int steps = 0;
    lw_batch *batch = NULL;
    while (steps < STEPS && lw_pipeline_next(pipeline, LW_FOREVER, &batch, err) == LW_OK) {
        lw_batch_view view = {.struct_size = sizeof view};
        if (lw_batch_get(batch, &view, err) == LW_OK) {
            losses[steps] = learn_batch(m, &view);
            if (steps % 5 == 0 || steps == STEPS - 1) {
                printf("step %3d  loss %.3f\n", (int)view.step, losses[steps]);
            }
            steps++;
        }
        lw_batch_release(batch);
    }
    return steps;
}

static double mean(const double *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / count;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "examples/data/recipe.yaml";
    double losses[STEPS] = {0};
    lw_recipe *recipe = NULL;
    lw_pipeline *pipeline = NULL;
    lw_error err = {0};
    int steps = 0;
    model *m = calloc(1, sizeof *m);
    if (m != NULL && lw_recipe_open(path, &recipe, &err) == LW_OK &&
        lw_pipeline_open(recipe, NULL, NULL, &pipeline, &err) == LW_OK) {
        steps = train(pipeline, m, losses, &err);
    }
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
    free(m);
    if (steps < STEPS) {
        fprintf(stderr, "quickstart: %d of %d steps: %s\n", steps, STEPS, err.message);
        return 1;
    }
    double first = mean(losses, 10);
    double last = mean(losses + STEPS - 10, 10);
    printf("mean loss of the first ten steps %.3f, of the last ten %.3f\n", first, last);
    return last >= 0 && last < 0.9 * first ? 0 : 1;
}
