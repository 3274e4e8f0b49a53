/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that a program adds: which are refused, and how they are kept. */
#include "recipe_testing.h"

static lw_status create(const void *op, const lw_op_context *context, void **acc, lw_error *err)
{
    (void)op;
    (void)context;
    (void)acc;
    (void)err;
    return LW_OK;
}

static lw_status push(void *acc, lw_record *rec, lw_sink *out, lw_error *err)
{
    (void)acc;
    (void)rec;
    (void)out;
    (void)err;
    return LW_OK;
}

static lw_status push_group(void *acc, lw_record *const *group, size_t count, size_t *done,
                            lw_sink *out, lw_error *err)
{
    (void)acc;
    (void)group;
    (void)out;
    (void)err;
    *done = count;
    return LW_OK;
}

static lw_status flush(void *acc, lw_sink *out, lw_error *err)
{
    (void)acc;
    (void)out;
    (void)err;
    return LW_OK;
}

static lw_status save(const void *acc, lw_writer *carry, lw_error *err)
{
    (void)acc;
    (void)carry;
    (void)err;
    return LW_OK;
}

static lw_status load(void *acc, lw_reader *carry, lw_error *err)
{
    (void)acc;
    (void)carry;
    (void)err;
    return LW_OK;
}

static void destroy(void *acc)
{
    (void)acc;
}

static lw_status work(const void *op, lw_record *const *group, size_t group_count, lw_sink *out,
                      lw_error *err)
{
    (void)op;
    (void)group;
    (void)group_count;
    (void)out;
    (void)err;
    return LW_OK;
}

static lw_op_type accumulator(void)
{
    return (lw_op_type){.struct_size = sizeof(lw_op_type),
                        .name = "own",
                        .version = 1,
                        .phase = LW_PHASE_ROW,
                        .acc_create = create,
                        .acc_push = push,
                        .acc_flush = flush,
                        .acc_save = save,
                        .acc_load = load,
                        .acc_destroy = destroy};
}

static void refused(const lw_op_type *type, const char *options, const char *message)
{
    size_t count = 1;
    lw_error err = {0};
    lw_recipe *recipe = parsed("");
    assert_int_equal(lw_recipe_add_operator(recipe, type, NULL, options, &err), LW_E_INVALID);
    assert_string_equal(err.message, message);
    (void)lw__recipe_operators(recipe, &count);
    assert_int_equal(count, 0);
    lw_recipe_close(recipe);
}

static void test_operators__a_wrong_type_is_refused(void **state)
{
    (void)state;
    char message[160];
    lw_op_type type = accumulator();
    type.struct_size = 8;
    snprintf(message, sizeof(message),
             "recipe: operator: struct_size is 8, expected sizeof(lw_op_type), %zu",
             sizeof(lw_op_type));
    refused(&type, NULL, message);
    type = accumulator();
    type.name = NULL;
    refused(&type, NULL, "recipe: operator: no name, expected text");
    type.name = "";
    refused(&type, NULL, "recipe: operator: no name, expected text");
    type.name = "\xFF";
    refused(&type, NULL, "recipe: operator: a name that is not UTF-8, expected text");
    type = accumulator();
    refused(&type, "\xE3", "recipe: operator \"own\": options that are not UTF-8, expected text");
    type.phase = 0;
    refused(&type, NULL, "recipe: operator \"own\": phase is 0, expected one of LW_PHASE_*");
    type.phase = 4;
    refused(&type, NULL, "recipe: operator \"own\": phase is 4, expected one of LW_PHASE_*");
}

static void test_operators__functions_that_go_together_are_all_there(void **state)
{
    (void)state;
    const char *all = "recipe: operator \"own\": some of acc_create, acc_push and acc_destroy, "
                      "expected all or none";
    lw_op_type type = accumulator();
    type.acc_create = NULL;
    refused(&type, NULL, all);
    type = accumulator();
    type.acc_push = NULL;
    refused(&type, NULL, all);
    type = accumulator();
    type.acc_destroy = NULL;
    refused(&type, NULL, all);
    type = accumulator();
    type.acc_load = NULL;
    refused(&type, NULL,
            "recipe: operator \"own\": one of acc_save and acc_load, expected both or neither");
    type = accumulator();
    type.acc_create = NULL;
    type.acc_push = NULL;
    type.acc_destroy = NULL;
    refused(&type, NULL,
            "recipe: operator \"own\": acc_flush or acc_save without acc_create, expected an "
            "accumulator");
}

static void test_operators__there_is_one_way_to_push_with_its_count(void **state)
{
    (void)state;
    lw_op_type type = accumulator();
    type.acc_push_group = push_group;
    type.group_count = 8;
    refused(&type, NULL,
            "recipe: operator \"own\": both acc_push and acc_push_group, expected one");
    type.acc_push = NULL;
    type.group_count = 0;
    refused(&type, NULL, "recipe: operator \"own\": group_count is 0, expected 1 to 65536");
    type.group_count = LW_GROUP_MAX + 1;
    refused(&type, NULL, "recipe: operator \"own\": group_count is 65537, expected 1 to 65536");
    type = accumulator();
    type.group_count = 8;
    refused(&type, NULL,
            "recipe: operator \"own\": group_count is 8, expected 0 without acc_push_group");
}

static void test_operators__the_phase_decides_which_halves_there_are(void **state)
{
    (void)state;
    lw_op_type type = {.struct_size = sizeof(type), .name = "own", .phase = LW_PHASE_DOCUMENT};
    refused(&type, NULL, "recipe: operator \"own\": no functions, expected an accumulator or work");
    type.phase = LW_PHASE_PACK;
    type.work = work;
    refused(&type, NULL,
            "recipe: operator \"own\": work in LW_PHASE_PACK, expected an accumulator only");
    type = accumulator();
    type.phase = LW_PHASE_PACK;
    type.work = work;
    refused(&type, NULL,
            "recipe: operator \"own\": work in LW_PHASE_PACK, expected an accumulator only");
}

static void test_operators__they_are_kept_in_the_order_added(void **state)
{
    (void)state;
    size_t count = 0;
    int op = 0;
    char options[] = "x";
    lw_op_type packer = accumulator();
    lw_op_type worker = {.struct_size = sizeof(worker), .name = "w", .phase = LW_PHASE_ROW};
    packer.phase = LW_PHASE_PACK;
    worker.work = work;
    lw_recipe *recipe = parsed("");
    assert_int_equal(lw_recipe_add_operator(recipe, &packer, &op, options, NULL), LW_OK);
    assert_int_equal(lw_recipe_add_operator(recipe, &worker, NULL, NULL, NULL), LW_OK);
    options[0] = 'y';
    const lw__recipe_operator *added = lw__recipe_operators(recipe, &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(added[0].type, &packer);
    assert_ptr_equal(added[0].op, &op);
    assert_string_equal(added[0].options, "x");
    assert_ptr_equal(added[1].type, &worker);
    assert_null(added[1].options);
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators__a_wrong_type_is_refused),
        cmocka_unit_test(test_operators__functions_that_go_together_are_all_there),
        cmocka_unit_test(test_operators__there_is_one_way_to_push_with_its_count),
        cmocka_unit_test(test_operators__the_phase_decides_which_halves_there_are),
        cmocka_unit_test(test_operators__they_are_kept_in_the_order_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
