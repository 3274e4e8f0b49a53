/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of which only some bytes are learnt, in whole pipelines: labels and loss mask, on any world and
 * after a resume; and what a worker may not do with such texts.
 */
#include <stdbool.h>

#include "operator_testing.h"

/* Of every text the digits are learnt: of its number, and those that may follow. */
static lw_status learn_digits(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                              lw_error *err)
{
    (void)op;
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        lw_text_span spans[CORPUS_TEXT];
        size_t found = 0;
        lw_str text = lw_document_text(group[i]);
        for (size_t at = 0; at < text.bytes; at++) {
            if (text.data[at] >= '0' && text.data[at] <= '9') {
                spans[found++] = (lw_text_span){.first = at, .end = at + 1};
            }
        }
        status = lw_document_supervise(group[i], spans, found, err);
        status = status == LW_OK ? lw_sink_put(out, group[i], err) : status;
    }
    return status;
}

static const lw_op_type learning = {.struct_size = sizeof(lw_op_type),
                                    .name = "learn_digits",
                                    .version = 1,
                                    .phase = LW_PHASE_DOCUMENT,
                                    .work = learn_digits};

static bool is_odd(const lw_record *document)
{
    lw_str text = lw_document_text(document);
    return strtoull(text.data, NULL, 10) % 2 == 1;
}

/* The same for documents of an even number. */
static lw_status learn_even(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                            lw_error *err)
{
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        status = is_odd(group[i]) ? lw_sink_put(out, group[i], err)
                                  : learn_digits(op, group + i, 1, out, err);
    }
    return status;
}

/* Makes two of those of an odd number, and two of none that have spans. */
static lw_status double_odd(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                            lw_error *err)
{
    (void)op;
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        lw_str text = lw_document_text(group[i]);
        status =
            is_odd(group[i]) ? lw_sink_make(out, group[i], text.data, text.bytes, err) : status;
        status = status == LW_OK ? lw_sink_put(out, group[i], err) : status;
    }
    return status;
}

static lw_recipe *learning_recipe(const char *end, const char *algorithm, const char *shift)
{
    lw_recipe *recipe = recipe_with(end, &learning, NULL);
    run_set(recipe, "pack.algorithm", algorithm);
    run_set(recipe, "labels.shift", shift);
    return recipe;
}

/* Every label of the run is a digit, and every place before a digit has one. */
static void check_batch(const lw_batch_view *plain, const lw_batch_view *view)
{
    const int32_t *labels = view->labels;
    const int32_t *all = plain->labels;
    size_t cells = RUN_ROWS * RUN_CONTEXT;
    assert_memory_equal(plain->tokens, view->tokens, cells * sizeof(int32_t));
    assert_memory_equal(plain->positions, view->positions, cells * sizeof(int32_t));
    for (size_t i = 0; i < cells; i++) {
        int32_t expected = all[i] >= '0' && all[i] <= '9' ? all[i] : -100;
        assert_int_equal(labels[i], expected);
        assert_int_equal(view->loss_mask[i], expected != -100);
    }
}

static void compare_with_plain(const char *algorithm, const char *shift)
{
    lw_recipe *plain = run_recipe("pad");
    run_set(plain, "pack.algorithm", algorithm);
    run_set(plain, "labels.shift", shift);
    lw_recipe *recipe = learning_recipe("pad", algorithm, shift);
    lw_pipeline *a = run_open(plain, 0, 1, NULL);
    lw_pipeline *b = run_open(recipe, 0, 1, NULL);
    lw_batch *x = NULL;
    lw_batch *y = NULL;
    while (lw_pipeline_next(a, LW_FOREVER, &x, NULL) == LW_OK) {
        assert_int_equal(lw_pipeline_next(b, LW_FOREVER, &y, NULL), LW_OK);
        lw_batch_view p = run_view(x);
        lw_batch_view q = run_view(y);
        check_batch(&p, &q);
        lw_batch_release(x);
        lw_batch_release(y);
    }
    assert_int_equal(lw_pipeline_next(b, LW_FOREVER, &y, NULL), LW_END);
    lw_pipeline_close(a);
    lw_pipeline_close(b);
    lw_recipe_close(plain);
    lw_recipe_close(recipe);
}

static void test_spans__labels_are_those_of_the_spans(void **state)
{
    (void)state;
    compare_with_plain("wrap", "stream");
    compare_with_plain("wrap", "document");
    compare_with_plain("best_fit", "stream");
    compare_with_plain("best_fit", "document");
}

/* Labels that are no digits: those that are still there, and those that were taken away. */
typedef struct label_counts {
    uint64_t kept;
    uint64_t taken;
} label_counts;

static void count_labels(const lw_batch_view *plain, const lw_batch_view *view,
                         label_counts *counts)
{
    const int32_t *labels = view->labels;
    const int32_t *all = plain->labels;
    size_t cells = RUN_ROWS * RUN_CONTEXT;
    assert_memory_equal(plain->tokens, view->tokens, cells * sizeof(int32_t));
    for (size_t i = 0; i < cells; i++) {
        bool is_digit = all[i] >= '0' && all[i] <= '9';
        assert_true(labels[i] == all[i] || (labels[i] == -100 && !is_digit));
        counts->kept += labels[i] != -100 && !is_digit;
        counts->taken += labels[i] != all[i];
    }
}

static void test_spans__texts_beside_those_with_spans_may_become_several(void **state)
{
    (void)state;
    static const lw_op_type types[] = {{.struct_size = sizeof(lw_op_type),
                                        .name = "learn_even",
                                        .version = 1,
                                        .phase = LW_PHASE_DOCUMENT,
                                        .work = learn_even},
                                       {.struct_size = sizeof(lw_op_type),
                                        .name = "double_odd",
                                        .version = 1,
                                        .phase = LW_PHASE_DOCUMENT,
                                        .work = double_odd}};
    lw_recipe *one = recipe_with("pad", &types[1], NULL);
    lw_recipe *both = recipe_with("pad", &types[0], NULL);
    assert_int_equal(lw_recipe_add_operator(both, &types[1], NULL, NULL, NULL), LW_OK);
    lw_pipeline *a = run_open(one, 0, 1, NULL);
    lw_pipeline *b = run_open(both, 0, 1, NULL);
    lw_batch *x = NULL;
    lw_batch *y = NULL;
    label_counts counts = {0};
    while (lw_pipeline_next(a, LW_FOREVER, &x, NULL) == LW_OK) {
        assert_int_equal(lw_pipeline_next(b, LW_FOREVER, &y, NULL), LW_OK);
        lw_batch_view p = run_view(x);
        lw_batch_view q = run_view(y);
        count_labels(&p, &q, &counts);
        lw_batch_release(x);
        lw_batch_release(y);
    }
    assert_true(counts.kept > 1000 && counts.taken > 1000);
    lw_pipeline_close(a);
    lw_pipeline_close(b);
    lw_recipe_close(one);
    lw_recipe_close(both);
}

static lw_state *save_after(lw_recipe *recipe, uint64_t steps)
{
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    for (uint64_t i = 0; i < steps; i++) {
        (void)run_take(pipeline);
    }
    lw_state *saved = run_save(pipeline, steps);
    lw_pipeline_close(pipeline);
    return saved;
}

static void resume_everywhere(const char *algorithm)
{
    run_rows part;
    lw_recipe *recipe = learning_recipe("drop", algorithm, "stream");
    run_world(recipe, 1, NULL, RUN_STEPS, &whole);
    assert_int_equal(whole.last, LW_END);
    for (uint64_t world = 2; world <= 4; world++) {
        run_world(recipe, world, NULL, RUN_STEPS, &part);
        assert_int_equal(part.steps, whole.steps);
        run_same(&part, &whole);
    }
    for (uint64_t cut = 1; cut < whole.steps; cut++) {
        lw_state *saved = save_after(recipe, cut);
        run_world(recipe, 1 + cut % 3, saved, RUN_STEPS, &part);
        assert_int_equal(part.steps, whole.steps - cut);
        run_same(&part, &whole);
        lw_state_close(saved);
    }
    lw_recipe_close(recipe);
}

static void test_spans__worlds_and_resumes_give_the_same_masks(void **state)
{
    (void)state;
    resume_everywhere("wrap");
    resume_everywhere("best_fit");
}

/* An accumulator that holds every second document over the next. */
typedef struct holder {
    lw_record *held;
} holder;

static lw_status hold_create(const void *op, const lw_op_context *context, void **acc,
                             lw_error *err)
{
    (void)op;
    (void)context;
    *acc = lw__alloc_zero(1, sizeof(holder));
    return *acc != NULL ? LW_OK : fail_with(err, LW_E_NOMEM, "hold: no memory");
}

static lw_status hold_flush(void *acc, lw_sink *out, lw_error *err)
{
    holder *h = acc;
    lw_record *held = h->held;
    h->held = NULL;
    return held != NULL ? lw_sink_put(out, held, err) : LW_OK;
}

/* Whether a document's digits are learnt, and nothing else is. */
static bool is_as_said(const lw_record *rec)
{
    size_t count = 0;
    const int32_t *tokens = lw_document_tokens(rec, &count);
    for (size_t i = 0; i < count; i++) {
        int32_t id = LW_TOKEN_ID(tokens[i]);
        bool is_learnt = (tokens[i] & LW_TOKEN_UNSUPERVISED) == 0;
        if (id < 0 || id > 257 || is_learnt != (id >= '0' && id <= '9')) {
            return false;
        }
    }
    return true;
}

static lw_status hold_push(void *acc, lw_record *rec, lw_sink *out, lw_error *err)
{
    holder *h = acc;
    if (!is_as_said(rec)) {
        return fail_with(err, LW_E_OPERATOR, "hold: other marks than those of the digits");
    }
    if (h->held == NULL) {
        h->held = rec;
        return LW_OK;
    }
    lw_status status = lw_sink_put(out, rec, err);
    return status == LW_OK ? hold_flush(acc, out, err) : status;
}

static lw_status hold_save(const void *acc, lw_writer *carry, lw_error *err)
{
    const holder *h = acc;
    (void)err;
    lw_writer_put(carry, h->held != NULL);
    if (h->held != NULL) {
        lw_writer_record(carry, h->held);
    }
    return LW_OK;
}

static lw_status hold_load(void *acc, lw_reader *carry, lw_error *err)
{
    holder *h = acc;
    return lw_reader_get(carry) != 0 ? lw_reader_record(carry, &h->held, err) : LW_OK;
}

static void hold_destroy(void *acc)
{
    lw__free(acc);
}

static const lw_op_type holding = {.struct_size = sizeof(lw_op_type),
                                   .name = "hold",
                                   .version = 1,
                                   .phase = LW_PHASE_DOCUMENT,
                                   .acc_create = hold_create,
                                   .acc_push = hold_push,
                                   .acc_flush = hold_flush,
                                   .acc_save = hold_save,
                                   .acc_load = hold_load,
                                   .acc_destroy = hold_destroy};

static void test_spans__held_documents_keep_their_marks(void **state)
{
    (void)state;
    run_rows part;
    lw_error err = {0};
    lw_recipe *recipe = learning_recipe("drop", "wrap", "document");
    assert_int_equal(lw_recipe_add_operator(recipe, &holding, NULL, NULL, &err), LW_OK);
    run_world(recipe, 1, NULL, RUN_STEPS, &whole);
    assert_int_equal(whole.last, LW_END);
    for (uint64_t cut = 1; cut < whole.steps; cut++) {
        lw_state *saved = save_after(recipe, cut);
        run_world(recipe, 2, saved, RUN_STEPS, &part);
        assert_int_equal(part.steps, whole.steps - cut);
        run_same(&part, &whole);
        lw_state_close(saved);
    }
    lw_recipe_close(recipe);
}

/* ---- what is refused ------------------------------------------------------------------------- */

typedef enum fault { OVERLAP, BACKWARDS, OUTSIDE, CUT, TWICE, CHANGED_AFTER, MADE_AFTER } fault;

static lw_status misbehave(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                           lw_error *err)
{
    (void)count;
    static const lw_text_span overlapping[] = {{0, 2}, {1, 3}};
    static const lw_text_span backwards[] = {{2, 1}};
    const lw_text_span outside[] = {{0, lw_document_text(group[0]).bytes + 1}};
    static const lw_text_span cut[] = {{0, 1}};
    fault what = *(const fault *)op;
    if (what == CUT) {
        lw_status replaced = lw_document_set_text(group[0], "\xC3\xA9", 2, err);
        return replaced == LW_OK ? lw_document_supervise(group[0], cut, 1, err) : LW_OK;
    }
    if (what == OVERLAP) {
        return lw_document_supervise(group[0], overlapping, 2, err);
    }
    if (what == BACKWARDS || what == OUTSIDE) {
        return lw_document_supervise(group[0], what == OUTSIDE ? outside : backwards, 1, err);
    }
    lw_status status = lw_document_supervise(group[0], NULL, 0, err);
    if (status != LW_OK || what == TWICE) {
        return status == LW_OK ? lw_document_supervise(group[0], NULL, 0, err) : LW_OK;
    }
    return what == CHANGED_AFTER ? lw_document_set_text(group[0], "x", 1, err)
                                 : lw_sink_make(out, group[0], "x", 1, err);
}

static const lw_op_type misbehaving = {.struct_size = sizeof(lw_op_type),
                                       .name = "odd",
                                       .version = 1,
                                       .phase = LW_PHASE_DOCUMENT,
                                       .work = misbehave};

static void test_spans__spans_that_are_none_and_texts_that_change_after_them(void **state)
{
    (void)state;
    static const fault faults[] = {OVERLAP, BACKWARDS,     OUTSIDE,   CUT,
                                   TWICE,   CHANGED_AFTER, MADE_AFTER};
    static const char *const words[] = {
        "odd: lw_document_supervise: spans that overlap, cut a character or leave the ",
        "odd: lw_document_supervise: spans that overlap, cut a character or leave the ",
        "odd: lw_document_supervise: spans that overlap, cut a character or leave the ",
        "odd: lw_document_supervise: spans that overlap, cut a character or leave the ",
        "odd: lw_document_supervise: a text whose spans are known, expected one without",
        "odd: lw_document_set_text: a text whose spans are known, expected one without",
        "odd: lw_sink_make: a text whose spans are known, expected one without"};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        uint64_t steps;
        lw_error err;
        lw_recipe *recipe = recipe_with("repeat", &misbehaving, &faults[i]);
        assert_int_equal(run_to_failure(recipe, &steps, &err), LW_E_OPERATOR);
        assert_int_equal(steps, 0);
        if (strncmp(err.message, words[i], strlen(words[i])) != 0) {
            fail_msg("\"%s\", expected \"%s\"", err.message, words[i]);
        }
        lw_recipe_close(recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans__labels_are_those_of_the_spans),
        cmocka_unit_test(test_spans__texts_beside_those_with_spans_may_become_several),
        cmocka_unit_test(test_spans__worlds_and_resumes_give_the_same_masks),
        cmocka_unit_test(test_spans__held_documents_keep_their_marks),
        cmocka_unit_test(test_spans__spans_that_are_none_and_texts_that_change_after_them),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
