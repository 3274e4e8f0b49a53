/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators that a program adds to a recipe: checked once, here, so that the engine may call
 * whichever functions the phase promises.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "recipe/handle.h"

/* One way to push, and how many at a time. */
static lw_status check_push(const lw_op_type *type, lw_error *err)
{
    if (type->acc_push != NULL && type->acc_push_group != NULL) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator \"%s\": both acc_push and acc_push_group, expected one",
                        type->name);
    }
    bool grouped = type->acc_push_group != NULL;
    if (grouped != (type->group_count > 0) || type->group_count > LW_GROUP_MAX) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator \"%s\": group_count is %llu, expected %s", type->name,
                        (unsigned long long)type->group_count,
                        grouped ? "1 to 65536" : "0 without acc_push_group");
    }
    return LW_OK;
}

/* The functions of an accumulator that go together: all of them, or none. */
static lw_status check_accumulator(const lw_op_type *type, lw_error *err)
{
    bool has = type->acc_create != NULL;
    bool pushes = type->acc_push != NULL || type->acc_push_group != NULL;
    if (has != pushes || has != (type->acc_destroy != NULL)) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator \"%s\": some of acc_create, acc_push and acc_destroy, "
                        "expected all or none",
                        type->name);
    }
    LW__TRY(check_push(type, err));
    if ((type->acc_save != NULL) != (type->acc_load != NULL)) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator \"%s\": one of acc_save and acc_load, expected both or "
                        "neither",
                        type->name);
    }
    if (!has && (type->acc_flush != NULL || type->acc_save != NULL)) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator \"%s\": acc_flush or acc_save without acc_create, "
                        "expected an accumulator",
                        type->name);
    }
    return LW_OK;
}

static lw_status check_halves(const lw_op_type *type, lw_error *err)
{
    if (type->acc_create == NULL && type->work == NULL) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator \"%s\": no functions, expected an accumulator or work",
                        type->name);
    }
    if (type->phase != LW_PHASE_PACK) {
        return LW_OK;
    }
    if (type->acc_create == NULL || type->work != NULL) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator \"%s\": work in LW_PHASE_PACK, expected an accumulator "
                        "only",
                        type->name);
    }
    return LW_OK;
}

/* Both become part of the fingerprint's text. */
static lw_status check_texts(const lw_op_type *type, const char *options, lw_error *err)
{
    if (lw__utf8_check(type->name, strlen(type->name)) < strlen(type->name)) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator: a name that is not UTF-8, expected text");
    }
    if (options != NULL && lw__utf8_check(options, strlen(options)) < strlen(options)) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator \"%s\": options that are not UTF-8, expected text",
                        type->name);
    }
    return LW_OK;
}

static lw_status check_type(const lw_op_type *type, lw_error *err)
{
    if (type->struct_size != sizeof(*type)) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator: struct_size is %zu, expected sizeof(lw_op_type), %zu",
                        type->struct_size, sizeof(*type));
    }
    if (type->name == NULL || type->name[0] == '\0') {
        return lw__fail(err, LW_E_INVALID, "recipe: operator: no name, expected text");
    }
    if (type->phase < LW_PHASE_DOCUMENT || type->phase > LW_PHASE_ROW) {
        return lw__fail(err, LW_E_INVALID,
                        "recipe: operator \"%s\": phase is %u, expected one of LW_PHASE_*",
                        type->name, (unsigned)type->phase);
    }
    LW__TRY(check_accumulator(type, err));
    return check_halves(type, err);
}

static lw_status grow(lw_recipe *recipe, lw_error *err)
{
    size_t count = recipe->operator_count + 1;
    lw__recipe_operator *operators = lw__resize_array(recipe->operators, count, sizeof(*operators));
    if (operators == NULL) {
        return lw__fail_nomem(err, count * sizeof(*operators), "operators");
    }
    recipe->operators = operators;
    return LW_OK;
}

lw_status lw__recipe_add_operator(lw_recipe *recipe, const lw_op_type *type, const void *op,
                                  const char *options, lw_error *err)
{
    char *copy = NULL;
    LW__TRY(check_type(type, err));
    LW__TRY(check_texts(type, options, err));
    LW__TRY(grow(recipe, err));
    if (options != NULL) {
        copy = lw__copy_text(options, strlen(options));
        if (copy == NULL) {
            return lw__fail_nomem(err, strlen(options) + 1, "an operator's options");
        }
    }
    recipe->operators[recipe->operator_count++] = (lw__recipe_operator){type, op, copy};
    return LW_OK;
}

const lw__recipe_operator *lw__recipe_operators(const lw_recipe *recipe, size_t *count)
{
    *count = recipe->operator_count;
    return recipe->operators;
}
