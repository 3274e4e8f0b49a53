/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of running pipelines: when one may be asked for, that each resumes exactly, and that no
 * damaged or foreign state does harm.
 */
#include "base/bytes.h"
#include "support/forging.h"

enum { STEPS = 18 };

static run_rows whole;
static run_rows rows;

static void checkpoint_fails(lw_pipeline *pipeline, uint64_t after, lw_status expected,
                             const char *message)
{
    lw_state *saved = (lw_state *)1;
    lw_error err = {0};
    assert_int_equal(lw_pipeline_checkpoint(pipeline, after, &saved, &err), expected);
    assert_null(saved);
    assert_int_equal(err.status, expected);
    assert_string_equal(err.message, message);
}

static void test_checkpoint__a_step_partly_taken_has_no_state(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    run_set(recipe, "runtime.microbatch", "5");
    run_world(recipe, 1, NULL, STEPS, &whole);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_state_close(run_save(pipeline, LW_STEP_NEWEST));
    run_take(pipeline);
    checkpoint_fails(pipeline, LW_STEP_NEWEST, LW_E_BUSY,
                     "pipeline: 5 rows of step 0 are taken, expected all of them before a state is "
                     "asked for");
    lw_state *start = run_save(pipeline, 0); /* but that before it is there */
    run_take(pipeline);
    run_take(pipeline);
    lw_state *one = run_save(pipeline, LW_STEP_NEWEST);
    assert_int_equal(lw_state_step(start), 0);
    assert_int_equal(lw_state_step(one), 1);
    lw_pipeline_close(pipeline);
    run_world(recipe, 1, start, STEPS, &rows);
    run_same(&rows, &whole);
    run_world(recipe, 1, one, STEPS, &rows);
    run_same(&rows, &whole);
    lw_state_close(start);
    lw_state_close(one);
    lw_recipe_close(recipe);
}

static void test_checkpoint__only_the_last_steps_are_kept(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    run_set(recipe, "runtime.keep_states", "2");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    for (int i = 0; i < 5; i++) {
        run_take(pipeline);
    }
    for (uint64_t after = 3; after <= 5; after++) {
        lw_state *saved = run_save(pipeline, after);
        assert_int_equal(lw_state_step(saved), after);
        lw_state_close(saved);
    }
    checkpoint_fails(pipeline, 2, LW_E_NOT_FOUND,
                     "pipeline: no state after 2 steps, expected 3 to 5 (runtime.keep_states)");
    checkpoint_fails(pipeline, 6, LW_E_NOT_FOUND,
                     "pipeline: no state after 6 steps, expected 3 to 5 (runtime.keep_states)");
    lw_state *saved = run_save(pipeline, 5);
    lw_pipeline_close(pipeline);
    pipeline = run_open(recipe, 0, 1, saved);
    run_take(pipeline);
    checkpoint_fails(pipeline, 4, LW_E_NOT_FOUND,
                     "pipeline: no state after 4 steps, expected 5 to 6 (runtime.keep_states)");
    lw_pipeline_close(pipeline);
    lw_state_close(saved);
    lw_recipe_close(recipe);
}

static void resume_everywhere(lw_recipe *recipe, const lw_state *saved)
{
    static const uint64_t worlds[] = {1, 3, 4};
    for (size_t i = 0; i < 3; i++) {
        run_world(recipe, worlds[i], saved, STEPS, &rows);
        assert_int_equal(rows.first + rows.steps, whole.steps);
        run_same(&rows, &whole);
    }
}

static void test_checkpoint__each_of_the_kept_steps_resumes_exactly(void **state)
{
    (void)state;
    static const char *const ends[] = {"repeat", "pad"};
    for (size_t e = 0; e < 2; e++) {
        lw_recipe *recipe = run_recipe(ends[e]);
        run_set(recipe, "runtime.keep_states", "9");
        run_world(recipe, 1, NULL, STEPS, &whole);
        lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
        for (int i = 0; i < 12; i++) {
            run_take(pipeline);
        }
        for (uint64_t after = 3; after <= 12; after++) {
            lw_state *saved = run_save(pipeline, after);
            resume_everywhere(recipe, saved);
            lw_state_close(saved);
        }
        lw_pipeline_close(pipeline);
        lw_recipe_close(recipe);
    }
}

/* Resume after resume: the state of a restored run is that of the run that was not stopped. */
static void test_checkpoint__a_resumed_run_saves_what_the_whole_run_would(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline *straight = run_open(recipe, 0, 1, NULL);
    lw_state *saved = run_save(straight, LW_STEP_NEWEST);
    run_world(recipe, 1, NULL, STEPS, &whole);
    for (int i = 0; i < 10; i++) {
        lw_pipeline *resumed = run_open(recipe, 0, 1, saved);
        run_take(straight);
        run_take(resumed);
        lw_state_close(saved);
        saved = run_save(resumed, LW_STEP_NEWEST);
        lw_state *expected = run_save(straight, LW_STEP_NEWEST);
        assert_int_equal(lw_state_bytes(saved).bytes, lw_state_bytes(expected).bytes);
        assert_memory_equal(lw_state_bytes(saved).data, lw_state_bytes(expected).data,
                            lw_state_bytes(expected).bytes);
        lw_state_close(expected);
        lw_pipeline_close(resumed);
    }
    run_world(recipe, 1, saved, STEPS, &rows);
    run_same(&rows, &whole);
    lw_state_close(saved);
    lw_pipeline_close(straight);
    lw_recipe_close(recipe);
}

static lw_state *save_after(lw_recipe *recipe, uint64_t rank, uint64_t world, int steps)
{
    lw_pipeline *pipeline = run_open(recipe, rank, world, NULL);
    for (int i = 0; i < steps; i++) {
        run_take(pipeline);
    }
    lw_state *saved = run_save(pipeline, LW_STEP_NEWEST);
    lw_pipeline_close(pipeline);
    return saved;
}

static void test_checkpoint__states_of_all_ranks_merge_to_that_of_one(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_state *one = save_after(recipe, 0, 1, 7);
    lw_state *parts[3];
    lw_state *merged = NULL;
    lw_pipeline *pipeline = NULL;
    lw_error err = {0};
    for (uint64_t rank = 0; rank < 3; rank++) {
        parts[rank] = save_after(recipe, rank, 3, 7);
    }
    assert_int_equal(lw_pipeline_open(recipe, NULL, parts[0], &pipeline, &err), LW_E_NOT_FOUND);
    assert_null(pipeline);
    assert_non_null(strstr(err.message, "lane_00002"));
    const lw_state *given[] = {parts[2], parts[0], parts[1]};
    assert_int_equal(lw_state_merge(given, 3, &merged, NULL), LW_OK);
    assert_int_equal(lw_state_bytes(merged).bytes, lw_state_bytes(one).bytes);
    assert_memory_equal(lw_state_bytes(merged).data, lw_state_bytes(one).data,
                        lw_state_bytes(one).bytes);
    for (uint64_t rank = 0; rank < 3; rank++) {
        lw_state_close(parts[rank]);
    }
    lw_state_close(merged);
    lw_state_close(one);
    lw_recipe_close(recipe);
}

/* What a fresh rank is asked for before it is given a state: its own lanes, and no thread started. */
static void test_checkpoint__the_start_state_is_that_of_a_fresh_pipeline(void **state)
{
    (void)state;
    static const char *const ends[] = {"repeat", "pad"};
    for (size_t i = 0; i < 6; i++) {
        lw_recipe *recipe = run_recipe(ends[i % 2]);
        lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
        lw_state *start = NULL;
        options.rank = i / 2;
        options.world = 3;
        assert_int_equal(lw_pipeline_start_state(recipe, &options, &start, NULL), LW_OK);
        lw_state *expected = save_after(recipe, i / 2, 3, 0);
        assert_int_equal(lw_state_bytes(start).bytes, lw_state_bytes(expected).bytes);
        assert_memory_equal(lw_state_bytes(start).data, lw_state_bytes(expected).data,
                            lw_state_bytes(expected).bytes);
        lw_state_close(start);
        lw_state_close(expected);
        lw_recipe_close(recipe);
    }
}

static void test_checkpoint__a_start_state_that_cannot_be_had_is_an_error(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
    lw_state *start = (lw_state *)1;
    lw_error err = {0};
    assert_int_equal(lw_pipeline_start_state(recipe, NULL, NULL, &err), LW_E_INVALID);
    assert_int_equal(lw_pipeline_start_state(NULL, NULL, &start, &err), LW_E_INVALID);
    assert_null(start);
    options.world = 5; /* does not divide the rows of a step */
    assert_int_equal(lw_pipeline_start_state(recipe, &options, &start, &err), LW_E_INVALID);
    assert_null(start);
    lw_recipe_close(recipe);
}

static void test_checkpoint__a_state_of_another_recipe_is_refused(void **state)
{
    (void)state;
    static const char *const changes[][3] = {{"seed", "8", "seed"},
                                             {"context", "16", "context"},
                                             {"lanes", "2", "lanes"},
                                             {"tokenizer.eos", "false", "tokenizer"},
                                             {"sources.0.weight", "0.5", "weight"},
                                             {"shuffle.rows", "4", "shuffle.rows"}};
    lw_recipe *recipe = run_recipe("repeat");
    lw_state *saved = save_after(recipe, 0, 1, 2);
    lw_recipe_close(recipe);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        lw_pipeline *pipeline = NULL;
        lw_error err = {0};
        recipe = run_recipe("repeat");
        run_set(recipe, changes[i][0], changes[i][1]);
        assert_int_equal(lw_pipeline_open(recipe, NULL, saved, &pipeline, &err), LW_E_MISMATCH);
        assert_null(pipeline);
        if (strstr(err.message, changes[i][2]) == NULL) {
            fail_msg("\"%s\", expected \"%s\" in it", err.message, changes[i][2]);
        }
        lw_recipe_close(recipe);
    }
    lw_state_close(saved);
}

static void test_checkpoint__what_only_changes_speed_may_change(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    run_world(recipe, 1, NULL, STEPS, &whole);
    lw_state *saved = save_after(recipe, 0, 1, 5);
    run_set(recipe, "runtime.threads", "1");
    run_set(recipe, "runtime.memory", "200MB");
    run_set(recipe, "runtime.prefetch_steps", "5");
    run_set(recipe, "runtime.microbatch", "7");
    run_world(recipe, 2, saved, STEPS, &rows);
    run_same(&rows, &whole);
    lw_state_close(saved);
    lw_recipe_close(recipe);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Whatever a lane's piece says, the run goes on or fails; nothing is read beyond its bounds. */
static void test_checkpoint__no_flipped_bit_of_a_lane_does_harm(void **state)
{
    (void)state;
    static const char *const packs[] = {"{algorithm: wrap}", "{algorithm: best_fit, open_rows: 3}"};
    for (size_t p = 0; p < 2; p++) {
        lw_recipe *recipe = run_recipe("drop");
        run_set(recipe, "pack", packs[p]);
        lw_state *saved = save_after(recipe, 0, 1, 4);
        forge_each_bit(recipe, saved, 2);
        lw_state_close(saved);
        lw_recipe_close(recipe);
    }
}

/* Counts of the mixer whose sum does not fit would leave no source to draw from. */
static void test_checkpoint__counts_beyond_64_bits_do_no_harm(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_state *saved = save_after(recipe, 0, 1, 0);
    lw__bytes piece;
    lw__bytes marker;
    lw__bytes_init(&piece);
    lw__bytes_init(&marker);
    lw__bytes_put_varint(&marker, 0); /* row */
    lw__bytes_put_varint(&marker, 2); /* sources */
    for (int i = 0; i < 2; i++) {
        lw__bytes_put_u8(&marker, 0);
        for (int k = 0; k < 3; k++) {
            lw__bytes_put_varint(&marker, 0); /* j, part, index */
        }
        lw__bytes_put_varint(&marker, UINT64_C(1) << 63); /* drawn */
        lw__bytes_put_varint(&marker, 0);
    }
    lw__bytes_put(&marker, "\0\0\0", 3); /* wrap: no row; shuffle: window 0, no rows */
    lw__bytes_put_varint(&piece, 0);     /* lane */
    lw__bytes_put_varint(&piece, 0);     /* rows taken */
    lw__bytes_put_text(&piece, (const char *)marker.data, marker.count);
    lw_state *forged = forge_piece(saved, 1, piece.data, piece.count);
    forge_run(recipe, forged);
    lw_state_close(forged);
    lw__bytes_reset(&piece);
    lw__bytes_reset(&marker);
    lw_state_close(saved);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoint__a_step_partly_taken_has_no_state),
        cmocka_unit_test(test_checkpoint__only_the_last_steps_are_kept),
        cmocka_unit_test(test_checkpoint__each_of_the_kept_steps_resumes_exactly),
        cmocka_unit_test(test_checkpoint__a_resumed_run_saves_what_the_whole_run_would),
        cmocka_unit_test(test_checkpoint__states_of_all_ranks_merge_to_that_of_one),
        cmocka_unit_test(test_checkpoint__the_start_state_is_that_of_a_fresh_pipeline),
        cmocka_unit_test(test_checkpoint__a_start_state_that_cannot_be_had_is_an_error),
        cmocka_unit_test(test_checkpoint__a_state_of_another_recipe_is_refused),
        cmocka_unit_test(test_checkpoint__what_only_changes_speed_may_change),
        cmocka_unit_test(test_checkpoint__no_flipped_bit_of_a_lane_does_harm),
        cmocka_unit_test(test_checkpoint__counts_beyond_64_bits_do_no_harm),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
