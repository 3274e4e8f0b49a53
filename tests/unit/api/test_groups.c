/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents in groups: workers that make several documents of one, and accumulators that take many
 * at a time. Both come to what single documents would.
 */
#include "operator_testing.h"

enum { JOINED = 90, STEPS = 12, GROUP = 7 };

static run_rows rows;

/* ---- several documents of one --------------------------------------------------------------- */

/* Record i is i % 4 pieces with bars between; `split.jsonl` has the pieces as records. */
static int write_joined(void **state)
{
    char path[512];
    run_data(state);
    snprintf(path, sizeof path, "%s/joined.jsonl", scratch_folder());
    FILE *joined = fopen(path, "w");
    snprintf(path, sizeof path, "%s/split.jsonl", scratch_folder());
    FILE *split = fopen(path, "w");
    assert_non_null(joined);
    assert_non_null(split);
    for (int i = 0; i < JOINED; i++) {
        fprintf(joined, "{\"text\": \"");
        for (int k = 0; k < i % 4; k++) {
            fprintf(joined, "%s%d.%d%.*s", k > 0 ? "|" : "", i, k, i % 23,
                    "abcdefghijklmnopqrstuvw");
            fprintf(split, "{\"text\": \"%d.%d%.*s\"}\n", i, k, i % 23, "abcdefghijklmnopqrstuvw");
        }
        fprintf(joined, "\"}\n");
    }
    fclose(joined);
    fclose(split);
    return 0;
}

/* The pieces of a document as documents: all but the last are made, and the last is what stays. */
static lw_status cut_at_bars(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                             lw_error *err)
{
    (void)op;
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        lw_str left = lw_document_text(group[i]);
        const char *bar;
        while (status == LW_OK && (bar = memchr(left.data, '|', left.bytes)) != NULL) {
            size_t piece = (size_t)(bar - left.data);
            status = lw_sink_make(out, group[i], left.data, piece, err);
            left = (lw_str){bar + 1, left.bytes - piece - 1};
        }
        if (status == LW_OK && left.bytes == 0) {
            status = lw_sink_drop(out, group[i], err);
        } else if (status == LW_OK) {
            char text[CORPUS_TEXT];
            memcpy(text, left.data, left.bytes);
            status = lw_document_set_text(group[i], text, left.bytes, err);
            status = status == LW_OK ? lw_sink_put(out, group[i], err) : status;
        }
    }
    return status;
}

/* The same with every piece made and the document dropped. */
static lw_status cut_and_drop(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                              lw_error *err)
{
    (void)op;
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        lw_str left = lw_document_text(group[i]);
        while (status == LW_OK && left.bytes > 0) {
            const char *bar = memchr(left.data, '|', left.bytes);
            size_t piece = bar != NULL ? (size_t)(bar - left.data) : left.bytes;
            size_t passed = piece + (bar != NULL);
            status = lw_sink_make(out, group[i], left.data, piece, err);
            left = (lw_str){left.data + passed, left.bytes - passed};
        }
        status = status == LW_OK ? lw_sink_drop(out, group[i], err) : status;
    }
    return status;
}

/* Takes and gives back what it is given; after a worker that makes, and before. */
static lw_status pass_on(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                         lw_error *err)
{
    (void)op;
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        status = lw_sink_put(out, group[i], err);
    }
    return status;
}

static lw_op_type worker(const char *name, lw_status (*work)(const void *, lw_record *const *,
                                                             size_t, lw_sink *, lw_error *))
{
    return (lw_op_type){.struct_size = sizeof(lw_op_type),
                        .name = name,
                        .version = 1,
                        .phase = LW_PHASE_DOCUMENT,
                        .work = work};
}

static lw_recipe *recipe_over(const char *file, const char *order)
{
    char sources[128];
    lw_recipe *recipe = run_recipe("pad");
    snprintf(sources, sizeof sources, "[{name: a, path: %s, block: 512}]", file);
    run_set(recipe, "sources", sources);
    run_set(recipe, "order", order);
    return recipe;
}

static void add(lw_recipe *recipe, const lw_op_type *type, const void *op)
{
    assert_int_equal(lw_recipe_add_operator(recipe, type, op, NULL, NULL), LW_OK);
}

static void test_groups__made_documents_come_as_if_they_were_records(void **state)
{
    (void)state;
    const lw_op_type types[] = {worker("cut", cut_at_bars), worker("cut", cut_and_drop),
                                worker("pass", pass_on)};
    lw_recipe *split = recipe_over("split.jsonl", "file");
    run_set(split, "lanes", "1");
    run_world(split, 1, NULL, RUN_STEPS, &whole);
    lw_recipe_close(split);
    assert_true(whole.steps > 3);
    for (size_t i = 0; i < 2; i++) {
        lw_recipe *joined = recipe_over("joined.jsonl", "file");
        run_set(joined, "lanes", "1");
        add(joined, &types[2], NULL);
        add(joined, &types[i], NULL);
        add(joined, &types[2], NULL);
        run_world(joined, 1, NULL, RUN_STEPS, &rows);
        lw_recipe_close(joined);
        assert_int_equal(rows.steps, whole.steps);
        run_same(&rows, &whole);
    }
}

static void test_groups__a_dropped_parent_counts_only_where_nothing_was_made(void **state)
{
    (void)state;
    const lw_op_type type = worker("cut", cut_and_drop);
    lw_recipe *recipe = recipe_over("joined.jsonl", "permuted");
    add(recipe, &type, NULL);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    while (lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL) == LW_OK) {
        lw_batch_release(batch);
    }
    lw_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(lw_pipeline_stats(pipeline, &stats, NULL), LW_OK);
    assert_int_equal(stats.dropped, (JOINED + 3) / 4);
    assert_int_equal(stats.documents, JOINED / 4 * 6 + 1);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_groups__a_segment_names_record_and_child(void **state)
{
    (void)state;
    const lw_op_type type = worker("cut", cut_at_bars);
    lw_recipe *recipe = recipe_over("joined.jsonl", "permuted");
    add(recipe, &type, NULL);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    assert_int_equal(lw_pipeline_next(pipeline, LW_FOREVER, &batch, NULL), LW_OK);
    lw_batch_view view = run_view(batch);
    const lw_segment *segments = NULL;
    size_t count = 0;
    assert_int_equal(lw_batch_segments(batch, 0, &segments, &count, NULL), LW_OK);
    const int32_t *tokens = view.tokens;
    for (size_t i = 0, at = 0; i < count; at += segments[i++].count) {
        char start[32];
        char found[32] = {0};
        uint64_t record = 0;
        assert_int_equal(lw_pipeline_locate(pipeline, &segments[i], NULL, NULL, &record, NULL),
                         LW_OK);
        snprintf(start, sizeof start, "%llu.%llu", (unsigned long long)record,
                 (unsigned long long)(segments[i].document >> LW_CHILD_SHIFT));
        if (segments[i].first > 0 || segments[i].count <= strlen(start)) {
            continue;
        }
        for (size_t k = 0; k < strlen(start); k++) {
            found[k] = (char)tokens[at + 1 + k];
        }
        assert_string_equal(found, start);
    }
    lw_batch_release(batch);
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static lw_status make_of_another(const void *op, lw_record *const *group, size_t count,
                                 lw_sink *out, lw_error *err)
{
    (void)op;
    (void)count;
    return lw_sink_make(out, group[1], "x", 1, err);
}

static lw_status make_no_text(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                              lw_error *err)
{
    (void)op;
    (void)count;
    lw_status status = lw_sink_put(out, group[0], err);
    return status == LW_OK ? lw_sink_make(out, group[1], "\xff", 1, err) : status;
}

static void test_groups__a_worker_that_fails_names_its_document(void **state)
{
    (void)state;
    const lw_op_type types[] = {worker("odd", make_of_another), worker("odd", make_no_text)};
    const char *const words[] = {"odd: makes a document of one that is not next",
                                 "odd: lw_sink_make: the new text is not UTF-8"};
    for (size_t i = 0; i < 2; i++) {
        uint64_t steps;
        char end[64];
        lw_error err;
        lw_recipe *recipe = recipe_over("joined.jsonl", "file");
        add(recipe, &types[i], NULL);
        assert_int_equal(run_to_failure(recipe, &steps, &err), LW_E_OPERATOR);
        assert_memory_equal(err.message, words[i], strlen(words[i]));
        snprintf(end, sizeof end, "/joined.jsonl\" record %zu", i);
        assert_string_equal(err.message + strlen(err.message) - strlen(end), end);
        lw_recipe_close(recipe);
    }
}

/* ---- many at a time ------------------------------------------------------------------------- */

/* Drops every third document and puts the one before it after the next: two are held at most. */
typedef struct weaver {
    uint64_t count;
    uint64_t fuse; /* fails at this one; 0: never */
    lw_record *held;
} weaver;

static lw_status weave_create(const void *op, const lw_op_context *context, void **acc,
                              lw_error *err)
{
    (void)context;
    weaver *w = calloc(1, sizeof *w);
    *acc = w;
    if (w == NULL) {
        return fail_with(err, LW_E_NOMEM, "weave: no memory");
    }
    w->fuse = op != NULL ? *(const uint64_t *)op : 0;
    return LW_OK;
}

static lw_status weave_flush(void *acc, lw_sink *out, lw_error *err)
{
    weaver *w = acc;
    lw_record *rec = w->held;
    w->held = NULL;
    return rec != NULL ? lw_sink_put(out, rec, err) : LW_OK;
}

static lw_status weave_push(void *acc, lw_record *rec, lw_sink *out, lw_error *err)
{
    weaver *w = acc;
    if (++w->count == w->fuse) {
        err->tag = 77;
        return fail_with(err, LW_E_OPERATOR, "weave: burnt");
    }
    if (w->count % 3 == 0) {
        return lw_sink_drop(out, rec, err);
    }
    if (w->count % 3 == 1 && w->held == NULL) {
        w->held = rec;
        return LW_OK;
    }
    lw_status status = lw_sink_put(out, rec, err);
    return status == LW_OK ? weave_flush(acc, out, err) : status;
}

static lw_status weave_push_group(void *acc, lw_record *const *group, size_t count, size_t *done,
                                  lw_sink *out, lw_error *err)
{
    lw_status status = LW_OK;
    assert_true(count > 0 && count <= GROUP);
    for (; *done < count && status == LW_OK; *done += status == LW_OK) {
        status = weave_push(acc, group[*done], out, err);
    }
    return status;
}

static lw_status weave_save(const void *acc, lw_writer *carry, lw_error *err)
{
    const weaver *w = acc;
    (void)err;
    lw_writer_bytes(carry, &w->count, sizeof w->count);
    lw_writer_put(carry, w->held != NULL);
    if (w->held != NULL) {
        lw_writer_record(carry, w->held);
    }
    return LW_OK;
}

static lw_status weave_load(void *acc, lw_reader *carry, lw_error *err)
{
    weaver *w = acc;
    lw_str count = lw_reader_bytes(carry);
    if (count.bytes != sizeof w->count) {
        return fail_with(err, LW_E_CORRUPT, "weave: no count");
    }
    memcpy(&w->count, count.data, sizeof w->count);
    return lw_reader_get(carry) != 0 ? lw_reader_record(carry, &w->held, err) : LW_OK;
}

static const lw_op_type weave_type = {.struct_size = sizeof(lw_op_type),
                                      .name = "weave",
                                      .version = 1,
                                      .phase = LW_PHASE_DOCUMENT,
                                      .acc_create = weave_create,
                                      .acc_push = weave_push,
                                      .acc_flush = weave_flush,
                                      .acc_save = weave_save,
                                      .acc_load = weave_load,
                                      .acc_destroy = free};

static lw_op_type grouped(void)
{
    lw_op_type type = weave_type;
    type.acc_push = NULL;
    type.acc_push_group = weave_push_group;
    type.group_count = GROUP;
    return type;
}

static void test_groups__pushing_in_groups_gives_the_same_rows_to_the_end(void **state)
{
    (void)state;
    const lw_op_type type = grouped();
    lw_recipe *one = recipe_with("pad", &weave_type, NULL);
    lw_recipe *many = recipe_with("pad", &type, NULL);
    run_world(one, 1, NULL, RUN_STEPS, &whole);
    run_world(many, 1, NULL, RUN_STEPS, &rows);
    assert_int_equal(whole.last, LW_END);
    assert_int_equal(rows.steps, whole.steps);
    run_same(&rows, &whole);
    lw_recipe_close(one);
    lw_recipe_close(many);
}

static void test_groups__groups_and_made_documents_survive_a_change_of_world(void **state)
{
    (void)state;
    const lw_op_type cut = worker("cut", cut_at_bars);
    const lw_op_type type = grouped();
    lw_recipe *recipe = recipe_over("joined.jsonl", "permuted");
    run_set(recipe, "end", "repeat");
    add(recipe, &cut, NULL);
    add(recipe, &type, NULL);
    run_world(recipe, 1, NULL, STEPS, &whole);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    for (uint64_t after = 1; after < 8; after++) {
        run_take(pipeline);
        lw_state *saved = run_save(pipeline, after);
        run_world(recipe, 2, saved, STEPS, &rows);
        run_same(&rows, &whole);
        lw_state_close(saved);
    }
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

/* The line and tag with which a run over one lane in file order fails at its n-th document. */
static lw_error failure_at(const lw_op_type *type, uint64_t n)
{
    lw_error err = {0};
    lw_recipe *recipe = recipe_over("split.jsonl", "file");
    run_set(recipe, "lanes", "1");
    add(recipe, type, &n);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    lw_batch *batch = NULL;
    while (lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err) == LW_OK) {
        lw_batch_release(batch);
    }
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
    return err;
}

static void test_groups__a_group_that_fails_names_the_document_it_failed_at(void **state)
{
    (void)state;
    const lw_op_type type = grouped();
    for (uint64_t n = 1; n <= 3 * GROUP; n++) {
        char end[64];
        lw_error one = failure_at(&weave_type, n);
        lw_error many = failure_at(&type, n);
        snprintf(end, sizeof end, "/split.jsonl\" record %llu", (unsigned long long)n - 1);
        assert_memory_equal(one.message, "weave: burnt, at \"", 18);
        assert_string_equal(one.message + strlen(one.message) - strlen(end), end);
        assert_string_equal(many.message, one.message);
        assert_int_equal(many.tag, 77);
    }
}

static void test_groups__no_flipped_bit_of_a_waiting_group_does_harm(void **state)
{
    (void)state;
    const lw_op_type type = grouped();
    lw_recipe *recipe = recipe_with("drop", &type, NULL);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    run_take(pipeline);
    lw_state *saved = run_save(pipeline, LW_STEP_NEWEST);
    lw_pipeline_close(pipeline);
    forge_each_bit(recipe, saved, 1);
    lw_state_close(saved);
    lw_recipe_close(recipe);
}

/* Opens, takes three steps and closes, with allocations that fail from the n-th on. */
static lw_status run_short_of_memory(lw_recipe *recipe, unsigned long n, lw_error *err)
{
    lw_pipeline *pipeline = NULL;
    lw__alloc_fail_after(n);
    lw_status status = lw_pipeline_open(recipe, NULL, NULL, &pipeline, err);
    for (int i = 0; i < 3 && status == LW_OK; i++) {
        lw_batch *batch = NULL;
        status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, err);
        lw_batch_release(batch);
    }
    lw__alloc_fail_after(0);
    lw_pipeline_close(pipeline);
    return status;
}

static void test_groups__running_out_of_memory_anywhere_ends_cleanly(void **state)
{
    (void)state;
    const lw_op_type cuts[] = {worker("cut", cut_at_bars), worker("cut", cut_and_drop)};
    const lw_op_type type = grouped();
    lw_recipe *recipe = recipe_over("joined.jsonl", "permuted");
    lw_status status = LW_E_NOMEM;
    unsigned long n = 1;
    run_set(recipe, "end", "repeat");
    add(recipe, &cuts[0], NULL);
    add(recipe, &cuts[1], NULL);
    add(recipe, &type, NULL);
    for (; status == LW_E_NOMEM; n += 1 + n / 100) {
        lw_error err = {0};
        status = run_short_of_memory(recipe, n, &err);
        assert_true(status == LW_OK || (status == LW_E_NOMEM && err.status == LW_E_NOMEM));
    }
    assert_true(n > 200);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups__made_documents_come_as_if_they_were_records),
        cmocka_unit_test(test_groups__a_dropped_parent_counts_only_where_nothing_was_made),
        cmocka_unit_test(test_groups__a_segment_names_record_and_child),
        cmocka_unit_test(test_groups__a_worker_that_fails_names_its_document),
        cmocka_unit_test(test_groups__pushing_in_groups_gives_the_same_rows_to_the_end),
        cmocka_unit_test(test_groups__groups_and_made_documents_survive_a_change_of_world),
        cmocka_unit_test(test_groups__a_group_that_fails_names_the_document_it_failed_at),
        cmocka_unit_test(test_groups__running_out_of_memory_anywhere_ends_cleanly),
        cmocka_unit_test(test_groups__no_flipped_bit_of_a_waiting_group_does_harm),
    };
    return cmocka_run_group_tests(tests, write_joined, scratch_close);
}
