/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accumulators of a program's own in whole pipelines: failing, not to be made, and holding documents
 * over checkpoints, sound and forged ones.
 */
#include "operator_testing.h"

enum { STEPS = 12 };

static run_rows rows;

/* Fails at its n-th document. */
typedef struct fuse {
    uint64_t length;
    int silent;
} fuse;

typedef struct burning {
    const fuse *fuse;
    uint64_t count;
} burning;

static lw_status fuse_create(const void *op, const lw_op_context *context, void **acc,
                             lw_error *err)
{
    (void)context;
    burning *b = calloc(1, sizeof *b);
    *acc = b;
    if (b == NULL) {
        return fail_with(err, LW_E_NOMEM, "fuse: no memory");
    }
    b->fuse = op;
    return LW_OK;
}

static lw_status fuse_push(void *acc, lw_record *rec, lw_sink *out, lw_error *err)
{
    burning *b = acc;
    if (++b->count > b->fuse->length) {
        return b->fuse->silent ? LW_E_OPERATOR : fail_with(err, LW_E_OPERATOR, "fuse: burnt");
    }
    return lw_sink_put(out, rec, err);
}

static const lw_op_type fuse_type = {.struct_size = sizeof(lw_op_type),
                                     .name = "fuse",
                                     .version = 1,
                                     .phase = LW_PHASE_DOCUMENT,
                                     .acc_create = fuse_create,
                                     .acc_push = fuse_push,
                                     .acc_destroy = free};

static void test_accumulators__an_accumulator_that_fails_stops_the_run_after_what_it_gave(
    void **state)
{
    (void)state;
    static const fuse f = {.length = 30};
    uint64_t before = UINT64_MAX;
    run_plain();
    for (int threads = 1; threads <= 3; threads++) {
        char text[4] = {(char)('0' + threads), 0};
        uint64_t steps;
        lw_error err;
        lw_recipe *recipe = recipe_with("repeat", &fuse_type, &f);
        run_set(recipe, "runtime.threads", text);
        assert_int_equal(run_to_failure(recipe, &steps, &err), LW_E_OPERATOR);
        assert_memory_equal(err.message, "fuse: burnt, at \"", 17);
        assert_non_null(strstr(err.message, ".jsonl\" record "));
        assert_true(steps > 0);
        assert_true(before == UINT64_MAX || steps == before);
        before = steps;
        lw_recipe_close(recipe);
    }
}

static void test_accumulators__an_accumulator_that_says_nothing_still_fails(void **state)
{
    (void)state;
    static const fuse f = {.length = 30, .silent = 1};
    run_plain();
    check_silent(recipe_with("repeat", &fuse_type, &f));
}

static lw_status create_nothing(const void *op, const lw_op_context *context, void **acc,
                                lw_error *err)
{
    (void)op;
    (void)context;
    (void)acc;
    (void)err;
    return LW_E_OPERATOR;
}

static void test_accumulators__an_accumulator_that_cannot_be_made_fails_the_open(void **state)
{
    (void)state;
    lw_op_type type = fuse_type;
    lw_pipeline *pipeline = (lw_pipeline *)1;
    lw_error err = {0};
    type.acc_create = create_nothing;
    lw_recipe *recipe = recipe_with("repeat", &type, NULL);
    assert_int_equal(lw_pipeline_open(recipe, NULL, NULL, &pipeline, &err), LW_E_OPERATOR);
    assert_null(pipeline);
    lw_recipe_close(recipe);
    assert_int_equal(err.status, LW_E_OPERATOR);
    assert_true(strlen(err.message) > 0);
}

/* A long hold: the accumulator keeps documents over many steps, in its carry when it is saved. */
typedef struct keeper {
    size_t count;
    lw_record *kept[8];
} keeper;

static lw_status keep_create(const void *op, const lw_op_context *context, void **acc,
                             lw_error *err)
{
    (void)op;
    (void)context;
    *acc = calloc(1, sizeof(keeper));
    return *acc != NULL ? LW_OK : fail_with(err, LW_E_NOMEM, "keep: no memory");
}

static lw_status keep_flush(void *acc, lw_sink *out, lw_error *err)
{
    keeper *k = acc;
    lw_status status = LW_OK;
    while (k->count > 0 && status == LW_OK) {
        status = lw_sink_put(out, k->kept[--k->count], err);
    }
    return status;
}

static lw_status keep_push(void *acc, lw_record *rec, lw_sink *out, lw_error *err)
{
    keeper *k = acc;
    if (k->count == 8) {
        lw_status status = keep_flush(acc, out, err);
        if (status != LW_OK) {
            return status;
        }
    }
    k->kept[k->count++] = rec;
    return LW_OK;
}

static lw_status keep_save(const void *acc, lw_writer *carry, lw_error *err)
{
    const keeper *k = acc;
    (void)err;
    lw_writer_put(carry, k->count);
    for (size_t i = 0; i < k->count; i++) {
        lw_writer_record(carry, k->kept[i]);
    }
    return LW_OK;
}

static lw_status keep_load(void *acc, lw_reader *carry, lw_error *err)
{
    keeper *k = acc;
    uint64_t count = lw_reader_get(carry);
    lw_status status = LW_OK;
    for (; k->count < count && k->count < 8 && status == LW_OK; k->count += status == LW_OK) {
        status = lw_reader_record(carry, &k->kept[k->count], err);
    }
    return status;
}

static const lw_op_type keep_type = {.struct_size = sizeof(lw_op_type),
                                     .name = "keep",
                                     .version = 1,
                                     .phase = LW_PHASE_DOCUMENT,
                                     .acc_create = keep_create,
                                     .acc_push = keep_push,
                                     .acc_flush = keep_flush,
                                     .acc_save = keep_save,
                                     .acc_load = keep_load,
                                     .acc_destroy = free};

static void test_accumulators__documents_held_over_a_checkpoint_come_back(void **state)
{
    (void)state;
    lw_recipe *recipe = recipe_with("repeat", &keep_type, NULL);
    run_set(recipe, "labels", "{shift: document}");
    run_set(recipe, "pack", "{overflow: truncate}");
    run_world(recipe, 1, NULL, STEPS, &whole);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    for (uint64_t after = 1; after < 9; after++) {
        run_take(pipeline);
        lw_state *saved = run_save(pipeline, after);
        run_world(recipe, 2, saved, STEPS, &rows);
        run_same(&rows, &whole);
        lw_state_close(saved);
    }
    lw_pipeline_close(pipeline);
    lw_recipe_close(recipe);
}

static void test_accumulators__no_flipped_bit_of_held_documents_does_harm(void **state)
{
    (void)state;
    lw_recipe *recipe = recipe_with("drop", &keep_type, NULL);
    lw_pipeline *pipeline = run_open(recipe, 0, 1, NULL);
    run_take(pipeline);
    run_take(pipeline);
    lw_state *saved = run_save(pipeline, LW_STEP_NEWEST);
    lw_pipeline_close(pipeline);
    for (size_t piece = 1; piece < lw_state_piece_count(saved); piece++) {
        forge_each_bit(recipe, saved, piece);
    }
    lw_state_close(saved);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_accumulators__an_accumulator_that_fails_stops_the_run_after_what_it_gave),
        cmocka_unit_test(test_accumulators__an_accumulator_that_says_nothing_still_fails),
        cmocka_unit_test(test_accumulators__an_accumulator_that_cannot_be_made_fails_the_open),
        cmocka_unit_test(test_accumulators__documents_held_over_a_checkpoint_come_back),
        cmocka_unit_test(test_accumulators__no_flipped_bit_of_held_documents_does_harm),
    };
    return cmocka_run_group_tests(tests, run_data, scratch_close);
}
