/* SPDX-License-Identifier: Apache-2.0 */
/* The byte budget: the minimum a refusal names suffices, one byte less does not. */
#include "support/running.h"

/* The minimum for a rank, as the refusal of a budget of one byte says it. */
static unsigned long long minimum_of(lw_recipe *recipe, const lw_pipeline_options *options)
{
    static const char before[] = "runtime.memory: 1 bytes, expected at least ";
    lw_pipeline *pipeline = (lw_pipeline *)1;
    lw_error err = {0};
    run_set(recipe, "runtime.memory", "1");
    assert_int_equal(lw_pipeline_open(recipe, options, NULL, &pipeline, &err), LW_E_NOMEM);
    assert_null(pipeline);
    assert_memory_equal(err.message, before, sizeof before - 1);
    return strtoull(err.message + sizeof before - 1, NULL, 10);
}

static void set_memory(lw_recipe *recipe, unsigned long long bytes)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", bytes);
    run_set(recipe, "runtime.memory", text);
}

static void check_rank(lw_recipe *recipe, uint64_t rank, uint64_t world, const run_rows *whole)
{
    lw_pipeline_options options = {sizeof options, rank, world, NULL, NULL};
    lw_pipeline *pipeline = NULL;
    lw_batch *batch = NULL;
    lw_error err = {0};
    uint64_t steps = 0;
    unsigned long long minimum = minimum_of(recipe, &options);
    set_memory(recipe, minimum - 1);
    assert_int_equal(lw_pipeline_open(recipe, &options, NULL, &pipeline, &err), LW_E_NOMEM);
    assert_null(pipeline);
    set_memory(recipe, minimum);
    assert_int_equal(lw_pipeline_open(recipe, &options, NULL, &pipeline, &err), LW_OK);
    while (lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL) == LW_OK) {
        lw_batch_view view = run_view(batch);
        assert_memory_equal(view.row_digests, whole->digests[steps][view.first_row],
                            view.rows * 32);
        lw_batch_release(batch);
        steps++;
    }
    assert_int_equal(steps, whole->steps);
    lw_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(lw_pipeline_stats(pipeline, &stats, NULL), LW_OK);
    assert_true(stats.memory_peak_bytes >= minimum);
    lw_pipeline_close(pipeline);
}

static void test_budget__the_minimum_suffices_and_a_byte_less_does_not(void **state)
{
    (void)state;
    static run_rows whole;
    static const uint64_t worlds[] = {1, 3, 4, 12};
    static const char *const threads[] = {"1", "2", "4"};
    static const char *const packs[] = {"{algorithm: wrap}", "{algorithm: best_fit, open_rows: 8}"};
    for (size_t p = 0; p < 2; p++) {
        lw_recipe *recipe = run_recipe("pad");
        run_set(recipe, "pack", packs[p]);
        run_world(recipe, 1, NULL, RUN_STEPS, &whole);
        assert_int_equal(whole.last, LW_END);
        for (size_t w = 0; w < 4; w++) {
            run_set(recipe, "runtime.threads", threads[w % 3]);
            check_rank(recipe, worlds[w] - 1, worlds[w], &whole);
            check_rank(recipe, 0, worlds[w], &whole);
        }
        lw_recipe_close(recipe);
    }
}

/* A document of many blocks between short ones passes at the minimum, whole. */
static void test_budget__a_huge_document_passes_at_the_minimum(void **state)
{
    (void)state;

    enum { LONG = 300000 };

    static char text[LONG + 200];
    int used = snprintf(text, sizeof text, "{\"text\": \"one\"}\n{\"text\": \"");
    memset(text + used, 'x', LONG);
    snprintf(text + used + LONG, 100, "\"}\n{\"text\": \"three\"}\n");
    scratch_write_text("long.jsonl", text);
    lw_recipe *recipe = run_recipe("pad");
    run_set(recipe, "sources", "[{name: long, path: long.jsonl, block: 512}]");
    lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
    set_memory(recipe, minimum_of(recipe, &options));
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    uint64_t tokens = 0;
    lw_status status;
    while ((status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL)) == LW_OK) {
        tokens += run_view(batch).valid_tokens;
        lw_batch_release(batch);
    }
    assert_int_equal(status, LW_END);
    assert_int_equal(tokens, LONG + 3 + 5 + 3 * 2);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_budget__more_threads_and_steps_in_flight_need_more(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
    unsigned long long base = minimum_of(recipe, &options);
    run_set(recipe, "runtime.threads", "3");
    unsigned long long threads = minimum_of(recipe, &options);
    run_set(recipe, "runtime.prefetch_steps", "9");
    unsigned long long steps = minimum_of(recipe, &options);
    assert_true(base < threads);
    assert_true(threads < steps);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget__the_minimum_suffices_and_a_byte_less_does_not),
        cmocka_unit_test(test_budget__a_huge_document_passes_at_the_minimum),
        cmocka_unit_test(test_budget__more_threads_and_steps_in_flight_need_more),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
