/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole of a training loop: a bigram language model learns from a recipe's batches.
 *
 *     quickstart [RECIPE]
 *
 * The model is a table: logit(next | previous) = bias[next] + weight[previous][next], trained by
 * plain gradient descent, one token after the other. The exit code is 0 only if the loss fell.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <laneway/laneway.h>

#define VOCABULARY 2048
#define STEPS      40
#define RATE       0.3f

typedef struct model {
    float bias[VOCABULARY];
    float weight[VOCABULARY][VOCABULARY];
    float chance[VOCABULARY]; /* scratch: the softmax of the logits */
} model;

/* One step of gradient descent on one token; returns its loss before the step. */
static double learn(model *m, int32_t previous, int32_t next)
{
    float *weight = m->weight[previous];
    float sum = 0;
    for (int i = 0; i < VOCABULARY; i++) {
        m->chance[i] = expf(m->bias[i] + weight[i]);
        sum += m->chance[i];
    }
    for (int i = 0; i < VOCABULARY; i++) {
        float gradient = m->chance[i] / sum - (i == next ? 1.0f : 0.0f);
        m->bias[i] -= 0.1f * RATE * gradient;
        weight[i] -= RATE * gradient;
    }
    return -log((double)(m->chance[next] / sum) + 1e-30);
}

/* Learns from every token that has a label; returns the mean loss, or -1 for an unknown token. */
static double learn_batch(model *m, const lw_batch_view *view)
{
    const int32_t *tokens = view->tokens;
    const int32_t *labels = view->labels;
    double loss = 0;
    uint64_t count = 0;
    for (uint64_t i = 0; i < view->rows * view->context; i++) {
        if (view->loss_mask[i] == 0) {
            continue;
        }
        if (tokens[i] >= VOCABULARY || labels[i] >= VOCABULARY) {
            return -1;
        }
        loss += learn(m, tokens[i], labels[i]);
        count++;
    }
    return count > 0 ? loss / (double)count : 0;
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
