/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of memory at the n-th allocation and at all after it, n = 1, 2, 3 ... until a run of open, next,
 * checkpoint, restore and close passes; counted from each of these calls on. Threads allocate too, so
 * which call meets the failure differs from run to run: each must end cleanly, with LW_E_NOMEM or
 * done. The sanitizer sees the leaks.
 */
#include "base/alloc.h"
#include "support/running.h"

enum { STEPS = 3, DENSE = 300 };

/* From where on allocations are counted. */
typedef enum stage { PARSE, OPEN, NEXT, SAVE, RESTORE, STAGES } stage;

typedef struct plan {
    const char *pack;
    stage from;
    unsigned long calls;
} plan;

static void reach(const plan *p, stage now)
{
    if (p->from == now) {
        lw__alloc_fail_after(p->calls);
    }
}

static lw_status take(lw_pipeline *pipeline, int steps, lw_error *err)
{
    lw_status status = LW_OK;
    for (int i = 0; i < steps && status == LW_OK; i++) {
        lw_batch *batch = NULL;
        status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, err);
        assert_true((batch != NULL) == (status == LW_OK));
        lw_batch_release(batch);
    }
    return status;
}

/* A blob out and in again, and a run that goes on from it. */
static lw_status resume(lw_recipe *recipe, const lw_state *saved, lw_error *err)
{
    lw_state *again = NULL;
    lw_pipeline *pipeline = NULL;
    lw_str blob = lw_state_bytes(saved);
    lw_status status = lw_state_parse(blob.data, blob.bytes, &again, err);
    if (status == LW_OK) {
        status = lw_pipeline_open(recipe, NULL, again, &pipeline, err);
    }
    if (status == LW_OK) {
        status = take(pipeline, STEPS, err);
    }
    lw_pipeline_close(pipeline);
    lw_state_close(again);
    return status;
}

static lw_status run_on(lw_recipe *recipe, const plan *p, lw_error *err)
{
    lw_pipeline *pipeline = NULL;
    lw_state *saved = NULL;
    reach(p, OPEN);
    lw_status status = lw_pipeline_open(recipe, NULL, NULL, &pipeline, err);
    reach(p, NEXT);
    if (status == LW_OK) {
        status = take(pipeline, STEPS, err);
    }
    reach(p, SAVE);
    if (status == LW_OK) {
        status = lw_pipeline_checkpoint(pipeline, LW_STEP_NEWEST, &saved, err);
    }
    reach(p, RESTORE);
    if (status == LW_OK) {
        status = resume(recipe, saved, err);
    }
    lw_state_close(saved);
    lw_pipeline_close(pipeline);
    return status;
}

static lw_status run_all(const plan *p, lw_error *err)
{
    lw_recipe *recipe = NULL;
    char *text = NULL;
    reach(p, PARSE);
    lw_status status = lw_recipe_parse(RUN_RECIPE, scratch_folder(), &recipe, err);
    if (status == LW_OK) {
        status = lw_recipe_set(recipe, "pack", p->pack, err);
    }
    if (status == LW_OK) {
        status = lw_explain(recipe, 3, NULL, &text, err);
    }
    if (status == LW_OK) {
        status = run_on(recipe, p, err);
    }
    lw_text_free(text);
    lw_recipe_close(recipe);
    return status;
}

static void fail_each(plan p, unsigned long least)
{
    lw_status status = LW_E_NOMEM;
    for (p.calls = 1; status == LW_E_NOMEM; p.calls += p.calls < DENSE ? 1 : 1 + p.calls / 40) {
        lw_error err = {0};
        status = run_all(&p, &err);
        lw__alloc_fail_after(0);
        if (status != LW_OK &&
            (status != LW_E_NOMEM || err.status != LW_E_NOMEM || err.message[0] == '\0')) {
            fail_msg("stage %d, allocation %lu: %d (%d), \"%s\"", (int)p.from, p.calls, status,
                     err.status, err.message);
        }
    }
    assert_true(p.calls > least);
}

static void test_faults__every_allocation_may_fail(void **state)
{
    (void)state;
    static const unsigned long least[STAGES] = {500, 200, 5, 10, 100};
    for (int from = PARSE; from < STAGES; from++) {
        fail_each((plan){.pack = "{algorithm: wrap}", .from = (stage)from}, least[from]);
        fail_each((plan){.pack = "{algorithm: best_fit, open_rows: 4}", .from = (stage)from},
                  least[from]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
