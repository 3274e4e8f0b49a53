/* SPDX-License-Identifier: Apache-2.0 */
/* What explain says: shape, sources, ranks and lanes run twice, memory, and a state that fits. */
#include "support/running.h"

static char *explain(lw_recipe *recipe, uint64_t world, const lw_state *saved)
{
    char *text = NULL;
    lw_error err = {0};
    if (lw_explain(recipe, world, saved, &text, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return text;
}

static void expect(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no \"%s\" in:\n%s", part, text);
    }
}

static void test_explain__it_shows_shape_sources_and_memory(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    char *text = explain(recipe, 0, NULL);
    expect(text, "step     12 rows of 32 tokens, from 4 lanes of 3 rows each\n");
    expect(text, "world    1 ranks of 12 rows a step\n");
    expect(text, "\na                         0.6");
    expect(text, "\nb                         0.4");
    expect(text, "one part for each of 8\n");
    expect(text, "minimum");
    expect(text, "on resume world, rank and everything under runtime and cache may change");
    assert_null(strstr(text, "note: "));
    lw_text_free(text);
    lw_recipe_close(recipe);
}

static void test_explain__lanes_run_twice_are_said(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    char *text = explain(recipe, 3, NULL);
    expect(text, "note: 4 lanes are run 6 times in all: ranks that share a lane each compute it\n");
    expect(text, "\n1              4-7              1-2");
    lw_text_free(text);
    text = explain(recipe, 4, NULL);
    assert_null(strstr(text, "times in all"));
    lw_text_free(text);
    lw_recipe_close(recipe);
}

static void test_explain__a_finite_run_says_that_every_rank_follows_all_lanes(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("pad");
    char *text = explain(recipe, 2, NULL);
    expect(text, "note: with this end every rank follows all 4 lanes");
    lw_text_free(text);
    text = explain(recipe, 1, NULL);
    assert_null(strstr(text, "follows all"));
    lw_text_free(text);
    lw_recipe_close(recipe);
}

static void test_explain__fewer_blocks_than_lanes_are_said(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    run_set(recipe, "sources.1.block", "4096");
    char *text = explain(recipe, 1, NULL);
    expect(text, "note: source \"b\" has 2 blocks for 4 lanes: lanes start in different epochs\n");
    lw_text_free(text);
    run_set(recipe, "end", "drop");
    text = explain(recipe, 1, NULL);
    expect(text, "note: source \"b\" has 2 blocks for 4 lanes: some lanes get none of it\n");
    lw_text_free(text);
    lw_recipe_close(recipe);
}

static void test_explain__a_state_is_compared(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    run_take(pipeline);
    run_take(pipeline);
    lw_state *saved = run_save(pipeline, LW_STEP_NEWEST);
    lw_pipeline_close(pipeline);
    char *text = explain(recipe, 2, saved);
    expect(text, "state    fits; the next step is 2\n");
    lw_text_free(text);
    lw_error err = {0};
    run_set(recipe, "seed", "9");
    assert_int_equal(lw_explain(recipe, 2, saved, &text, &err), LW_E_MISMATCH);
    assert_null(text);
    assert_string_equal(err.message, "state: seed is 9 in the recipe, expected 7 as in the state");
    lw_state_close(saved);
    lw_recipe_close(recipe);
}

static unsigned long long minimum_of(lw_recipe *recipe, uint64_t world)
{
    static const char before[] = "\nminimum";
    char *text = NULL;
    assert_int_equal(lw_explain(recipe, world, NULL, &text, NULL), LW_OK);
    const char *line = strstr(text, before);
    assert_non_null(line);
    unsigned long long minimum = strtoull(line + sizeof before - 1, NULL, 10);
    lw_text_free(text);
    return minimum;
}

/* What the first rank to be refused is told; empty when all can open. */
static void try_ranks(lw_recipe *recipe, uint64_t world, lw_error *err)
{
    *err = (lw_error){0};
    lw_status status = LW_OK;
    for (uint64_t rank = 0; rank < world && status == LW_OK; rank++) {
        lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
        lw_pipeline *pipeline = NULL;
        options.rank = rank;
        options.world = world;
        status = lw_pipeline_open(recipe, &options, NULL, &pipeline, err);
        lw_pipeline_close(pipeline);
    }
}

static void set_memory(lw_recipe *recipe, unsigned long long bytes)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", bytes);
    run_set(recipe, "runtime.memory", text);
}

/* In a world of six, ranks 1 and 4 of four lanes run two lanes, the others one. */
static void test_explain__the_minimum_is_that_of_the_rank_that_needs_the_most(void **state)
{
    (void)state;
    static const uint64_t worlds[] = {1, 3, 4, 6, 12};
    lw_recipe *recipe = run_recipe("repeat");
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        char expected[sizeof((lw_error *)0)->message + 16];
        lw_error err;
        unsigned long long minimum = minimum_of(recipe, worlds[i]);
        set_memory(recipe, minimum);
        try_ranks(recipe, worlds[i], &err);
        assert_string_equal(err.message, "");
        char *text = explain(recipe, worlds[i], NULL);
        assert_null(strstr(text, "error: "));
        lw_text_free(text);
        set_memory(recipe, minimum - 1);
        try_ranks(recipe, worlds[i], &err);
        assert_int_equal(err.status, LW_E_NOMEM);
        text = explain(recipe, worlds[i], NULL);
        snprintf(expected, sizeof expected, "\nerror: %s\n", err.message);
        expect(text, expected);
        lw_text_free(text);
        assert_true(minimum_of(recipe, worlds[i]) == minimum); /* it is still shown */
    }
    char *text = explain(recipe, 6, NULL);
    expect(text, "\nmemory of rank 1 ");
    lw_text_free(text);
    lw_recipe_close(recipe);
}

static void test_explain__digests_need_no_other_minimum(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    unsigned long long with = minimum_of(recipe, 1);
    run_set(recipe, "runtime.digests", "false");
    assert_true(minimum_of(recipe, 1) == with);
    lw_recipe_close(recipe);
}

static void test_explain__what_no_pipeline_could_do_is_refused(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    char *text = (char *)1;
    lw_error err = {0};
    assert_int_equal(lw_explain(recipe, 5, NULL, &text, &err), LW_E_INVALID);
    assert_null(text);
    assert_int_equal(lw_explain(NULL, 1, NULL, &text, &err), LW_E_INVALID);
    assert_int_equal(lw_explain(recipe, 1, NULL, NULL, &err), LW_E_INVALID);
    run_set(recipe, "sources.0.path", "absent.jsonl");
    assert_int_equal(lw_explain(recipe, 1, NULL, &text, &err), LW_E_NOT_FOUND);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain__it_shows_shape_sources_and_memory),
        cmocka_unit_test(test_explain__lanes_run_twice_are_said),
        cmocka_unit_test(test_explain__a_finite_run_says_that_every_rank_follows_all_lanes),
        cmocka_unit_test(test_explain__fewer_blocks_than_lanes_are_said),
        cmocka_unit_test(test_explain__a_state_is_compared),
        cmocka_unit_test(test_explain__the_minimum_is_that_of_the_rank_that_needs_the_most),
        cmocka_unit_test(test_explain__digests_need_no_other_minimum),
        cmocka_unit_test(test_explain__what_no_pipeline_could_do_is_refused),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
