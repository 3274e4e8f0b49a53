/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines through the public interface: worlds, several at once, the end, polling, cancelling,
 * closing at any time, option structs, places of documents, counters.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "support/running.h"

static void test_pipeline__every_world_and_thread_count_gives_the_same_rows(void **state)
{
    (void)state;
    static run_rows whole;
    static run_rows rows;
    static const uint64_t worlds[] = {2, 3, 4, 6, 12};
    static const char *const ends[] = {"repeat", "drop", "pad"};
    for (size_t e = 0; e < 3; e++) {
        lw_recipe *recipe = run_recipe(ends[e]);
        run_world(recipe, 1, NULL, 40, &whole);
        assert_true(whole.steps > 10);
        assert_int_equal(whole.last, e == 0 ? LW_OK : LW_END);
        for (size_t w = 0; w < 5; w++) {
            run_set(recipe, "runtime.threads", w % 2 == 0 ? "1" : "3");
            run_world(recipe, worlds[w], NULL, 40, &rows);
            assert_int_equal(rows.steps, whole.steps);
            run_same(&rows, &whole);
        }
        lw_recipe_close(recipe);
    }
}

#define LINE(digit) "{\"text\": \"" #digit "\"}\n"

static const char worked_recipe[] =
    "{\"seed\": 7, \"lanes\": 2, \"global_batch\": 4, \"context\": 6,"
    " \"sources\": [{\"name\": \"tiny\", \"path\": \"docs.jsonl\", \"block\": 48}],"
    " \"tokenizer\": {\"name\": \"bytes\", \"bos\": true, \"eos\": true},"
    " \"shuffle\": {\"rows\": 2}, \"end\": \"pad\", \"runtime\": {\"digests\": true}}";

static void check_step(lw_pipeline *pipeline, const char *expected)
{
    uint8_t digest[32];
    char text[65];
    lw_batch *batch = NULL;
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_OK);
    assert_int_equal(lw_digest_merge(run_view(batch).row_digests, 4, digest, NULL), LW_OK);
    lw_batch_release(batch);
    for (size_t i = 0; i < 32; i++) {
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    }
    assert_string_equal(text, expected);
}

static void test_pipeline__the_worked_recipe_has_its_digests(void **state)
{
    (void)state;
    lw_recipe *recipe = NULL;
    lw_batch *batch = NULL;
    scratch_write_text("docs.jsonl", LINE(0) LINE(1) LINE(2) LINE(3) LINE(4) LINE(5) LINE(6) LINE(7)
                                         LINE(8) LINE(9));
    assert_int_equal(lw_recipe_parse(worked_recipe, scratch_folder(), &recipe, NULL), LW_OK);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    check_step(pipeline, "1b1b456dfd2f1bae4a4eb606359f24b654dbfec9ad658ca93b79b1075ae34cd4");
    check_step(pipeline, "a035e2f20ae63ac4393dd2e8e88af32f4c7a1b70e7cad4d5e9d6b4af4b1990b4");
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_END);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_pipeline__two_at_once_do_not_disturb_each_other(void **state)
{
    (void)state;
    static run_rows one;
    static run_rows two;
    lw_recipe *recipe = run_recipe("repeat");
    lw_recipe *other = run_recipe("repeat");
    run_set(other, "seed", "8");
    run_world(recipe, 1, NULL, 12, &one);
    run_world(other, 1, NULL, 12, &two);
    assert_memory_not_equal(one.digests[0], two.digests[0], sizeof one.digests[0]);
    lw_pipeline *a = run_open(recipe, 0, 1, NULL);
    lw_pipeline *b = run_open(other, 0, 1, NULL);
    lw_recipe_close(recipe); /* pipelines keep what they need of it */
    lw_recipe_close(other);
    for (uint64_t step = 0; step < 12; step++) {
        lw_batch *x = NULL;
        lw_batch *y = NULL;
        assert_int_equal(lw_pipeline_next(a, LW_FOREVER, &x, NULL), LW_OK);
        assert_int_equal(lw_pipeline_next(b, LW_FOREVER, &y, NULL), LW_OK);
        assert_memory_equal(run_view(x).row_digests, one.digests[step], RUN_ROWS * 32);
        assert_memory_equal(run_view(y).row_digests, two.digests[step], RUN_ROWS * 32);
        lw_batch_release(x);
        lw_batch_release(y);
    }
    lw_pipeline_close(a);
    lw_pipeline_close(b);
}

static void test_pipeline__after_the_end_comes_the_end(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("pad");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    lw_error err = {.status = 99};
    lw_status status = LW_OK;
    while ((status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err)) == LW_OK) {
        lw_batch_release(batch);
    }
    assert_int_equal(status, LW_END);
    for (int i = 0; i < 3; i++) {
        batch = (lw_batch *)1;
        assert_int_equal(lw_pipeline_next(pipeline, i, &batch, &err), LW_END);
        assert_null(batch);
    }
    assert_int_equal(err.status, 99); /* an end is no failure */
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

/* ---- a gate before tokenizing, so that a test decides when data come ------------------------- */

static sem_t arrived; /* posted by every worker call */
static sem_t gate;    /* one call passes for each post */

static lw_status wait_at_gate(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                              lw_error *err)
{
    (void)op;
    lw_status status = LW_OK;
    sem_post(&arrived);
    sem_wait(&gate);
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        status = lw_sink_put(out, group[i], err);
    }
    return status;
}

static const lw_op_type gate_type = {.struct_size = sizeof(lw_op_type),
                                     .name = "gate",
                                     .version = 1,
                                     .phase = LW_PHASE_DOCUMENT,
                                     .work = wait_at_gate};

static lw_pipeline *open_gated(void)
{
    lw_recipe *recipe = run_recipe("repeat");
    assert_int_equal(lw_recipe_add_operator(recipe, &gate_type, NULL, NULL, NULL), LW_OK);
    sem_init(&arrived, 0, 0);
    sem_init(&gate, 0, 0);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_recipe_close(recipe);
    return pipeline;
}

static void open_gate(void)
{
    for (int i = 0; i < 1000000; i++) {
        sem_post(&gate);
    }
}

static void close_gated(lw_pipeline *pipeline)
{
    lw_pipeline_close(pipeline);
    sem_destroy(&arrived);
    sem_destroy(&gate);
}

static void test_pipeline__polling_says_again_until_a_batch_is_there(void **state)
{
    (void)state;
    lw_pipeline *pipeline = open_gated();
    lw_batch *batch = NULL;
    lw_error err = {.status = 99};
    lw_status status = LW_AGAIN;
    sem_wait(&arrived);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(lw_pipeline_next(pipeline, 0, &batch, &err), LW_AGAIN);
        assert_null(batch);
    }
    assert_int_equal(lw_pipeline_next(pipeline, 1000, &batch, &err), LW_AGAIN);
    assert_int_equal(err.status, 99);
    open_gate();
    while ((status = lw_pipeline_next(pipeline, 0, &batch, &err)) == LW_AGAIN) {
        sched_yield();
    }
    assert_int_equal(status, LW_OK);
    assert_int_equal(run_view(batch).step, 0);
    lw_batch_release(batch);
    close_gated(pipeline);
}

static void *cancel(void *pipeline)
{
    sem_wait(&arrived);
    lw_pipeline_cancel(pipeline);
    return NULL;
}

static void test_pipeline__a_cancel_ends_a_wait_for_good(void **state)
{
    (void)state;
    pthread_t thread;
    lw_pipeline *pipeline = open_gated();
    lw_batch *batch = NULL;
    lw_error err = {0};
    assert_int_equal(pthread_create(&thread, NULL, cancel, pipeline), 0);
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err), LW_E_CANCELLED);
    pthread_join(thread, NULL);
    assert_string_equal(err.message, "pipeline: cancelled");
    open_gate();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err), LW_E_CANCELLED);
        assert_null(batch);
    }
    lw_state_close(run_save(pipeline, LW_STEP_NEWEST)); /* a checkpoint works all the same */
    close_gated(pipeline);
}

/* Reads the counters until the run has ended; they never fall. */
static void *watch(void *pipeline)
{
    uint64_t steps = 0;
    lw_stats stats = {.struct_size = sizeof stats};
    while (lw_pipeline_stats(pipeline, &stats, NULL) == LW_OK && stats.steps >= steps &&
           stats.steps < 10) {
        steps = stats.steps;
        sched_yield();
    }
    return stats.steps == 10 ? pipeline : NULL;
}

static void test_pipeline__counters_are_read_from_another_thread(void **state)
{
    (void)state;
    pthread_t thread;
    void *result = NULL;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    assert_int_equal(pthread_create(&thread, NULL, watch, pipeline), 0);
    for (uint64_t step = 0; step < 10; step++) {
        assert_int_equal(run_take(pipeline).step, step);
    }
    pthread_join(thread, &result);
    assert_ptr_equal(result, pipeline);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_pipeline__a_negative_time_out_is_refused(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = (lw_batch *)1;
    lw_error err = {0};
    assert_int_equal(lw_pipeline_next(pipeline, -1, &batch, &err), LW_E_INVALID);
    assert_null(batch);
    assert_int_equal(run_take(pipeline).step, 0);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_pipeline__it_may_be_closed_at_any_time(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("pad");
    run_set(recipe, "runtime.microbatch", "5");
    for (int taken = 0; taken < 8; taken++) {
        lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
        lw_batch *held[8] = {NULL};
        for (int i = 0; i < taken; i++) {
            assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &held[i], NULL), LW_OK);
        }
        lw_pipeline_close(pipeline);
        for (int i = 0; i < taken; i++) {
            assert_int_equal(run_view(held[i]).first_row, i % 3 * 5);
            lw_batch_release(held[i]);
        }
    }
    lw_pipeline_close(NULL);
    lw_recipe_close(recipe);
}

/* ---- structs of other sizes ------------------------------------------------------------------ */

/* The struct of a program built against a later header. */
typedef struct later_options {
    lw_pipeline_options known;
    uint64_t later;
} later_options;

static lw_status open_with(lw_recipe *recipe, const void *options, lw_error *err)
{
    lw_pipeline *pipeline = NULL;
    *err = (lw_error){0};
    lw_status status = lw_pipeline_open(recipe, options, NULL, &pipeline, err);
    assert_true((pipeline != NULL) == (status == LW_OK));
    assert_int_equal(err->status, status);
    lw_pipeline_close(pipeline);
    return status;
}

static void test_pipeline__options_of_other_versions_are_understood_or_refused(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
    lw_error err;
    options.struct_size = sizeof(size_t) - 1;
    assert_int_equal(open_with(recipe, &options, &err), LW_E_INVALID);
    options.struct_size = 0;
    assert_int_equal(open_with(recipe, &options, &err), LW_E_INVALID);
    options.struct_size = offsetof(lw_pipeline_options, world); /* older: beyond it is garbage */
    options.world = 77;
    assert_int_equal(open_with(recipe, &options, &err), LW_OK);

    later_options later = {.known = LW_PIPELINE_OPTIONS_INIT};
    later.known.struct_size = sizeof later;
    assert_int_equal(open_with(recipe, &later, &err), LW_OK);
    later.later = 1;
    assert_int_equal(open_with(recipe, &later, &err), LW_E_UNSUPPORTED);
    lw_recipe_close(recipe);
}

static void test_pipeline__views_and_counters_fill_what_the_caller_knows(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    lw_error err = {0};
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_OK);
    lw_batch_view view = {.struct_size = offsetof(lw_batch_view, context), .context = 5};
    assert_int_equal(lw_batch_get(batch, &view, NULL), LW_OK);
    assert_int_equal(view.rows, RUN_ROWS);
    assert_int_equal(view.context, 5);
    assert_int_equal(view.struct_size, offsetof(lw_batch_view, context));
    view.struct_size = 0;
    assert_int_equal(lw_batch_get(batch, &view, &err), LW_E_INVALID);
    lw_stats stats = {.struct_size = offsetof(lw_stats, tokens), .tokens = 5};
    assert_int_equal(lw_pipeline_stats(pipeline, &stats, NULL), LW_OK);
    assert_int_equal(stats.rows, RUN_ROWS);
    assert_int_equal(stats.tokens, 5);
    stats.struct_size = 0;
    assert_int_equal(lw_pipeline_stats(pipeline, &stats, &err), LW_E_INVALID);
    lw_batch_release(batch);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_pipeline__null_arguments_are_invalid(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_pipeline *none = (lw_pipeline *)1;
    lw_batch *batch = NULL;
    lw_state *saved = NULL;
    lw_segment segment = {.source = 9};
    assert_int_equal(lw_pipeline_open(NULL, NULL, NULL, &none, NULL), LW_E_INVALID);
    assert_null(none);
    assert_int_equal(lw_pipeline_open(recipe, NULL, NULL, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_pipeline_next(NULL, 0, &batch, NULL), LW_E_INVALID);
    assert_int_equal(lw_pipeline_next(pipeline, 0, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_pipeline_checkpoint(NULL, 0, &saved, NULL), LW_E_INVALID);
    assert_int_equal(lw_pipeline_checkpoint(pipeline, 0, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_pipeline_stats(pipeline, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_pipeline_locate(pipeline, NULL, NULL, NULL, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_pipeline_locate(pipeline, &segment, NULL, NULL, NULL, NULL), LW_E_INVALID);
    lw_pipeline_cancel(NULL);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_pipeline__a_world_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("repeat");
    lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
    lw_error err;
    options.world = 5;
    assert_int_equal(open_with(recipe, &options, &err), LW_E_INVALID);
    assert_string_equal(err.message,
                        "pipeline: world is 5, expected a divisor of global_batch (12)");
    options.world = 4;
    options.rank = 4;
    assert_int_equal(open_with(recipe, &options, &err), LW_E_INVALID);
    assert_string_equal(err.message, "pipeline: rank is 4, expected less than world (4)");
    lw_recipe_close(recipe);
}

/* ---- where documents lie, and counters ------------------------------------------------------- */

/* The tokens of a segment are those of the document at the place that locate names. */
static void check_segment(lw_pipeline *pipeline, const lw_segment *segment, const int32_t *tokens)
{
    const char *source;
    const char *shard;
    char text[CORPUS_TEXT];
    uint64_t record;
    assert_int_equal(lw_pipeline_locate(pipeline, segment, &source, &shard, &record, NULL), LW_OK);
    int is_a = strcmp(source, "a") == 0;
    assert_string_equal(shard, scratch_path(is_a ? "a.jsonl" : "b.jsonl"));
    corpus_text(is_a ? RUN_SEED_A : RUN_SEED_B, record, is_a ? RUN_MOST_A : RUN_MOST_B, text);
    for (uint64_t i = 0; i < segment->count; i++) {
        uint64_t at = segment->first + i;
        int32_t expected = at == 0                  ? 256
                           : at == strlen(text) + 1 ? 257
                                                    : (unsigned char)text[at - 1];
        assert_int_equal(tokens[i], expected);
    }
}

static void test_pipeline__segments_lead_back_to_their_records(void **state)
{
    (void)state;
    lw_recipe *recipe = run_recipe("pad");
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    uint64_t tokens = 0;
    while (lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL) == LW_OK) {
        lw_batch_view view = run_view(batch);
        for (uint64_t row = 0; row < view.rows; row++) {
            const lw_segment *segments;
            const int32_t *at = (const int32_t *)view.tokens + row * RUN_CONTEXT;
            size_t count;
            assert_int_equal(lw_batch_segments(batch, row, &segments, &count, NULL), LW_OK);
            for (size_t i = 0; i < count; at += segments[i++].count) {
                check_segment(pipeline, &segments[i], at);
                tokens += segments[i].count;
            }
        }
        lw_batch_release(batch);
    }
    uint64_t expected = 0;
    for (uint64_t i = 0; i < RUN_COUNT_A + RUN_COUNT_B; i++) {
        char text[CORPUS_TEXT];
        int is_a = i < RUN_COUNT_A;
        corpus_text(is_a ? RUN_SEED_A : RUN_SEED_B, is_a ? i : i - RUN_COUNT_A,
                    is_a ? RUN_MOST_A : RUN_MOST_B, text);
        expected += strlen(text) + 2;
    }
    assert_int_equal(tokens, expected);

    lw_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(lw_pipeline_stats(pipeline, &stats, NULL), LW_OK);
    assert_int_equal(stats.documents, RUN_COUNT_A + RUN_COUNT_B);
    assert_int_equal(stats.tokens, expected);
    assert_int_equal(stats.rows, stats.steps * RUN_ROWS);
    assert_int_equal(stats.tokens + stats.padding, stats.rows * RUN_CONTEXT);
    assert_int_equal(stats.empty + stats.skipped + stats.dropped + stats.dropped_tokens, 0);
    assert_true(stats.read_bytes > 0);
    assert_true(stats.memory_peak_bytes >= stats.memory_bytes);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipeline__every_world_and_thread_count_gives_the_same_rows),
        cmocka_unit_test(test_pipeline__the_worked_recipe_has_its_digests),
        cmocka_unit_test(test_pipeline__two_at_once_do_not_disturb_each_other),
        cmocka_unit_test(test_pipeline__after_the_end_comes_the_end),
        cmocka_unit_test(test_pipeline__polling_says_again_until_a_batch_is_there),
        cmocka_unit_test(test_pipeline__a_cancel_ends_a_wait_for_good),
        cmocka_unit_test(test_pipeline__counters_are_read_from_another_thread),
        cmocka_unit_test(test_pipeline__a_negative_time_out_is_refused),
        cmocka_unit_test(test_pipeline__it_may_be_closed_at_any_time),
        cmocka_unit_test(test_pipeline__options_of_other_versions_are_understood_or_refused),
        cmocka_unit_test(test_pipeline__views_and_counters_fill_what_the_caller_knows),
        cmocka_unit_test(test_pipeline__null_arguments_are_invalid),
        cmocka_unit_test(test_pipeline__a_world_that_does_not_fit_is_refused),
        cmocka_unit_test(test_pipeline__segments_lead_back_to_their_records),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
