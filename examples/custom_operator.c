/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator of one's own, with both halves: custom_operator [RECIPE]
 *
 * The worker drops tiny texts. The accumulator pairs short documents: it holds one back until the
 * next short one comes, so that they are packed side by side. It saves what it holds, so a resume on
 * other ranks goes on exactly; the program compares the digests. Its accumulator is one pointer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laneway/laneway.h>

enum { TINY_BYTES = 40, SHORT_TOKENS = 100, ROWS = 48, STEPS = 8, SAVED = 3 };

static lw_status work(const void *op, lw_record *const *docs, size_t n, lw_sink *out, lw_error *err)
{
    lw_status status = LW_OK;
    (void)op;
    for (size_t i = 0; i < n && status == LW_OK; i++) {
        lw_str text = lw_document_text(docs[i]);
        status = (text.bytes < TINY_BYTES ? lw_sink_drop : lw_sink_put)(out, docs[i], err);
    }
    return status;
}

static lw_status create(const void *op, const lw_op_context *context, void **acc, lw_error *err)
{
    (void)op, (void)context, (void)err;
    *acc = calloc(1, sizeof(lw_record *));
    return *acc != NULL ? LW_OK : LW_E_NOMEM;
}

static lw_status flush(void *acc, lw_sink *out, lw_error *err)
{
    lw_record **held = acc;
    lw_record *rec = *held;
    *held = NULL;
    return rec != NULL ? lw_sink_put(out, rec, err) : LW_OK;
}

static lw_status push(void *acc, lw_record *rec, lw_sink *out, lw_error *err)
{
    lw_record **held = acc;
    int is_short = lw_document_length(rec) < SHORT_TOKENS;
    if (is_short && *held == NULL) {
        *held = rec;
        return LW_OK;
    }
    lw_status status = is_short ? flush(acc, out, err) : LW_OK;
    return status == LW_OK ? lw_sink_put(out, rec, err) : status;
}

static lw_status save(const void *acc, lw_writer *carry, lw_error *err)
{
    lw_record *const *held = acc;
    (void)err;
    lw_writer_put(carry, *held != NULL);
    if (*held != NULL) {
        lw_writer_record(carry, *held);
    }
    return LW_OK;
}

static lw_status load(void *acc, lw_reader *carry, lw_error *err)
{
    return lw_reader_get(carry) != 0 ? lw_reader_record(carry, acc, err) : LW_OK;
}

static const lw_op_type type = {.struct_size = sizeof type,
                                .name = "pair_short",
                                .version = 1,
                                .phase = LW_PHASE_DOCUMENT,
                                .acc_create = create,
                                .acc_push = push,
                                .acc_flush = flush,
                                .acc_save = save,
                                .acc_load = load,
                                .acc_destroy = free,
                                .work = work};

/* Row digests of steps [first, STEPS) of a rank; *state gets its state after SAVED steps. */
static int run_rank(lw_recipe *recipe, uint64_t rank, uint64_t world, const lw_state *from,
                    uint8_t (*rows)[ROWS][32], lw_state **state, lw_error *err)
{
    lw_pipeline_options options = {sizeof options, rank, world, NULL, NULL};
    lw_pipeline *pipeline = NULL;
    int failed = lw_pipeline_open(recipe, &options, from, &pipeline, err);
    for (uint64_t step = from != NULL ? SAVED : 0; step < STEPS && !failed; step++) {
        lw_batch_view view = {.struct_size = sizeof view};
        lw_batch *batch = NULL;
        failed = lw_pipeline_next(pipeline, LW_FOREVER, &batch, err) != LW_OK ||
                 lw_batch_get(batch, &view, err) != LW_OK;
        if (!failed) {
            memcpy(rows[step][view.first_row], view.row_digests, (size_t)view.rows * 32);
        }
        lw_batch_release(batch);
        if (!failed && state != NULL && step + 1 == SAVED) {
            failed = lw_pipeline_checkpoint(pipeline, LW_STEP_NEWEST, state, err);
        }
    }
    lw_pipeline_close(pipeline);
    return failed;
}

int main(int argc, char **argv)
{
    static uint8_t runs[3][STEPS][ROWS][32]; /* 1 rank, 2 ranks, 2 ranks after a resume */
    lw_recipe *recipe = NULL;
    lw_state *state = NULL;
    lw_error err = {0};
    int failed = lw_recipe_open(argc > 1 ? argv[1] : "examples/data/recipe.yaml", &recipe, &err) ||
                 lw_recipe_set(recipe, "global_batch", "48", &err) ||
                 lw_recipe_set(recipe, "runtime.digests", "true", &err) ||
                 lw_recipe_add_operator(recipe, &type, NULL, NULL, &err) ||
                 run_rank(recipe, 0, 1, NULL, runs[0], &state, &err);
    for (uint64_t rank = 0; rank < 2 && !failed; rank++) {
        failed = run_rank(recipe, rank, 2, NULL, runs[1], NULL, &err) ||
                 run_rank(recipe, rank, 2, state, runs[2], NULL, &err);
    }
    int same = !failed && memcmp(runs[0], runs[1], sizeof runs[0]) == 0 &&
               memcmp(runs[0][SAVED], runs[2][SAVED], (STEPS - SAVED) * sizeof runs[0][0]) == 0;
    printf("1 rank, 2 ranks, 2 after a resume: %s%s\n", same ? "equal" : "DIFFERENT ", err.message);
    lw_state_close(state);
    lw_recipe_close(recipe);
    return same ? 0 : 1;
}
