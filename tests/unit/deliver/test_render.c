/* SPDX-License-Identifier: Apache-2.0 */
/* One row at a time: every array, the padding, both shifts, and the digests of the worked recipe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "deliver/render.h"

enum { ROWS = 4, CONTEXT = 6, EOS = 257 };

/* A slot, a renderer and a store of rows. */
typedef struct desk {
    lw__store store;
    lw__renderer renderer;
    lw__render_rules rules;
    lw__shelf *shelf;
    lw__slot *slot;
    uint64_t digest_ns;
} desk;

static void desk_open(desk *d, uint32_t token_bytes, lw__shift shift)
{
    lw__slot_shape shape = {
        .rows = ROWS, .context = CONTEXT, .token_bytes = token_bytes, .digests = true};
    *d = (desk){
        .store = {.context = CONTEXT, .shift = (uint32_t)shift},
        .rules = {.context = CONTEXT, .shift = shift, .pad = EOS, .masked_token = LW__NO_TOKEN}};
    assert_int_equal(lw__shelf_create(&shape, 1, &d->shelf, NULL), LW_OK);
    assert_int_equal(lw__renderer_init(&d->renderer, CONTEXT, NULL), LW_OK);
    d->slot = &d->shelf->slots[0];
}

static void desk_close(desk *d)
{
    lw__renderer_reset(&d->renderer);
    lw__shelf_release(d->shelf);
    lw__store_reset(&d->store);
}

static lw_record *new_row(desk *d)
{
    lw_record *row = NULL;
    assert_int_equal(lw__store_row(&d->store, &row, NULL), LW_OK);
    return row;
}

/* Appends input tokens [first, first + count) of a document of `total` tokens. */
static void append(desk *d, lw_record *row, const int32_t *tokens, size_t total, uint64_t first,
                   uint64_t count)
{
    lw_record *document = NULL;
    uint64_t lost = d->store.shift == LW_SHIFT_DOCUMENT ? 1 : 0;
    assert_int_equal(lw__store_doc(&d->store, &document, NULL), LW_OK);
    document->u.doc = (lw__doc){.tokens = tokens, .token_count = total, .length = total - lost};
    document->u.doc.place.document = (uint64_t)tokens[0];
    row->holder = document->holder = 0; /* as in a stage */
    assert_int_equal(lw_row_append(row, document, first, count, NULL), LW_OK);
    row->holder = LW__NO_HOLDER;
    document->holder = LW__NO_HOLDER;
    lw__store_put(&d->store, document);
}

/* A digit between BOS and EOS, as in the worked recipe. */
static void append_digit(desk *d, lw_record *row, int digit)
{
    const int32_t tokens[] = {256, '0' + digit, EOS};
    append(d, row, tokens, 3, 0, 3);
}

static void render(desk *d, lw_record *row, uint64_t index)
{
    lw_error err = {0};
    if (lw__render(&d->renderer, &d->rules, row, d->slot, index, &d->digest_ns, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
}

/* The row of two digits; `follower` is the token after it, or LW__NO_TOKEN. */
static void render_digits(desk *d, uint64_t index, int one, int two, int32_t follower)
{
    lw_record *row = new_row(d);
    append_digit(d, row, one);
    append_digit(d, row, two);
    if (follower != LW__NO_TOKEN) {
        row->u.row.followed = true;
        row->u.row.follower = follower;
    }
    render(d, row, index);
}

static void check_array(const unsigned char *array, uint64_t row, const int32_t *expected)
{
    assert_memory_equal(array + row * CONTEXT * sizeof(int32_t), expected,
                        CONTEXT * sizeof(int32_t));
}

static void check_bytes(const uint8_t *array, uint64_t row, const uint8_t *expected)
{
    assert_memory_equal(array + row * CONTEXT, expected, CONTEXT);
}

static void check_hex(const uint8_t *digest, const char *expected)
{
    char text[65];
    for (size_t i = 0; i < 32; i++) {
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    }
    assert_string_equal(text, expected);
}

static void test_render__the_worked_row_has_its_values(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, 4, LW__SHIFT_STREAM);
    render_digits(&d, 0, 6, 9, 256);
    render_digits(&d, 3, 1, 0, LW__NO_TOKEN);
    check_array(d.slot->tokens, 0, (const int32_t[]){256, 54, 257, 256, 57, 257});
    check_array(d.slot->labels, 0, (const int32_t[]){54, 257, 256, 57, 257, 256});
    check_array(d.slot->positions, 0, (const int32_t[]){0, 1, 2, 0, 1, 2});
    check_bytes(d.slot->document_starts, 0, (const uint8_t[]){1, 0, 0, 1, 0, 0});
    check_bytes(d.slot->loss_mask, 0, (const uint8_t[]){1, 1, 1, 1, 1, 1});
    check_array(d.slot->labels, 3, (const int32_t[]){49, 257, 256, 48, 257, -100});
    check_bytes(d.slot->loss_mask, 3, (const uint8_t[]){1, 1, 1, 1, 1, 0});
    assert_int_equal(d.slot->valid_tokens[0], 6);
    assert_int_equal(d.slot->segments[0].count, 2);
    assert_int_equal(d.slot->segments[0].items[1].count, 3);
    desk_close(&d);
}

static void test_render__digests_of_the_worked_steps_are_those_of_the_page(void **state)
{
    (void)state;
    uint8_t step[32];
    desk d;
    desk_open(&d, 4, LW__SHIFT_STREAM);
    render_digits(&d, 0, 6, 9, 256);
    render_digits(&d, 1, 5, 4, 256);
    render_digits(&d, 2, 2, 3, 256);
    render_digits(&d, 3, 1, 0, LW__NO_TOKEN);
    check_hex(d.slot->row_digests,
              "9be30d2c6baeb05b862be5d2eaaf33ee97cac7be7ff891778a1d6906ae45b778");
    check_hex(d.slot->row_digests + 96,
              "7db96396547921e4fcb03c5755e3feb308ebd57d6c0996b407ca6a883053a5d8");
    assert_int_equal(lw_digest_merge(d.slot->row_digests, 4, step, NULL), LW_OK);
    check_hex(step, "1b1b456dfd2f1bae4a4eb606359f24b654dbfec9ad658ca93b79b1075ae34cd4");
    render_digits(&d, 0, 7, 8, LW__NO_TOKEN);
    for (uint64_t i = 1; i < 4; i++) {
        render(&d, NULL, i);
    }
    check_hex(d.slot->row_digests + 32,
              "245e2676ca93772211f4657e50d7a259d3de0270d6289e2f8193f08d9135d8a2");
    assert_int_equal(lw_digest_merge(d.slot->row_digests, 4, step, NULL), LW_OK);
    check_hex(step, "a035e2f20ae63ac4393dd2e8e88af32f4c7a1b70e7cad4d5e9d6b4af4b1990b4");
    desk_close(&d);
}

static void test_render__a_row_of_padding_holds_nothing(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, 4, LW__SHIFT_STREAM);
    render_digits(&d, 1, 1, 2, 256); /* what was there must go */
    render(&d, NULL, 1);
    check_array(d.slot->tokens, 1, (const int32_t[]){257, 257, 257, 257, 257, 257});
    check_array(d.slot->labels, 1, (const int32_t[]){-100, -100, -100, -100, -100, -100});
    check_array(d.slot->positions, 1, (const int32_t[]){0, 1, 2, 3, 4, 5});
    check_bytes(d.slot->document_starts, 1, (const uint8_t[]){1, 0, 0, 0, 0, 0});
    check_bytes(d.slot->loss_mask, 1, (const uint8_t[]){0, 0, 0, 0, 0, 0});
    assert_int_equal(d.slot->valid_tokens[1], 0);
    assert_int_equal(d.slot->segments[1].count, 0);
    desk_close(&d);
}

static void test_render__a_short_row_is_padded(void **state)
{
    (void)state;
    static const int32_t tokens[] = {1, 2, 3, 4};
    desk d;
    desk_open(&d, 4, LW__SHIFT_STREAM);
    lw_record *row = new_row(&d);
    append(&d, row, tokens, 4, 0, 1);
    append(&d, row, tokens, 4, 1, 3);
    render(&d, row, 2);
    check_array(d.slot->tokens, 2, (const int32_t[]){1, 2, 3, 4, 257, 257});
    check_array(d.slot->labels, 2, (const int32_t[]){2, 3, 4, -100, -100, -100});
    check_array(d.slot->positions, 2, (const int32_t[]){0, 0, 1, 2, 0, 1});
    check_bytes(d.slot->document_starts, 2, (const uint8_t[]){1, 1, 0, 0, 1, 0});
    check_bytes(d.slot->loss_mask, 2, (const uint8_t[]){1, 1, 1, 0, 0, 0});
    assert_int_equal(d.slot->valid_tokens[2], 4);
    desk_close(&d);
}

static void test_render__with_the_document_shift_labels_stay_in_their_document(void **state)
{
    (void)state;
    static const int32_t p[] = {1, 2, 3, 4};
    static const int32_t q[] = {11, 12, 13, 14, 15};
    desk d;
    desk_open(&d, 4, LW__SHIFT_DOCUMENT);
    lw_record *row = new_row(&d);
    append(&d, row, p, 4, 0, 3);
    append(&d, row, q, 5, 1, 2);
    render(&d, row, 0);
    check_array(d.slot->tokens, 0, (const int32_t[]){1, 2, 3, 12, 13, 257});
    check_array(d.slot->labels, 0, (const int32_t[]){2, 3, 4, 13, 14, -100});
    check_bytes(d.slot->loss_mask, 0, (const uint8_t[]){1, 1, 1, 1, 1, 0});
    desk_close(&d);
}

static void test_render__masked_tokens_have_no_label(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, 4, LW__SHIFT_STREAM);
    d.rules.masked_token = EOS;
    render_digits(&d, 0, 6, 9, 256);
    check_array(d.slot->labels, 0, (const int32_t[]){54, 257, -100, 57, 257, -100});
    check_bytes(d.slot->loss_mask, 0, (const uint8_t[]){1, 1, 0, 1, 1, 0});
    desk_close(&d);
}

static void test_render__tokens_that_are_not_learnt_have_no_label(void **state)
{
    (void)state;
    static const int32_t p[] = {1 | LW_TOKEN_UNSUPERVISED, 2, 3 | LW_TOKEN_UNSUPERVISED, 4};
    static const int32_t q[] = {5 | LW_TOKEN_UNSUPERVISED, 6};
    const lw__shift shifts[] = {LW__SHIFT_STREAM, LW__SHIFT_DOCUMENT};
    for (size_t i = 0; i < 2; i++) {
        desk d;
        desk_open(&d, 4, shifts[i]);
        d.rules.supervised = true;
        lw_record *row = new_row(&d);
        append(&d, row, p, 4, 0, 3); /* in the one shift 5 follows the 3, in the other 4 */
        append(&d, row, q, 2, 0, 1);
        render(&d, row, 0);
        check_array(d.slot->tokens, 0, (const int32_t[]){1, 2, 3, 5, 257, 257});
        check_array(d.slot->labels, 0,
                    (const int32_t[]){2, -100, i == 0 ? -100 : 4, 6, -100, -100});
        check_bytes(d.slot->loss_mask, 0, (const uint8_t[]){1, 0, (uint8_t)i, 1, 0, 0});
        desk_close(&d);
    }
}

static void test_render__a_follower_that_is_not_learnt_is_no_label(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, 4, LW__SHIFT_STREAM);
    d.rules.supervised = true;
    render_digits(&d, 0, 6, 9, 256 | LW_TOKEN_UNSUPERVISED);
    check_array(d.slot->labels, 0, (const int32_t[]){54, 257, 256, 57, 257, -100});
    desk_close(&d);
}

static void check_wide(const unsigned char *array, uint64_t row, const int32_t *expected)
{
    for (size_t i = 0; i < CONTEXT; i++) {
        int64_t value;
        memcpy(&value, array + (row * CONTEXT + i) * sizeof value, sizeof value);
        assert_int_equal(value, expected[i]);
    }
}

static void test_render__wide_values_are_the_same_and_so_is_the_digest(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, 8, LW__SHIFT_STREAM);
    render_digits(&d, 3, 1, 0, LW__NO_TOKEN);
    check_wide(d.slot->tokens, 3, (const int32_t[]){256, 49, 257, 256, 48, 257});
    check_wide(d.slot->labels, 3, (const int32_t[]){49, 257, 256, 48, 257, -100});
    check_wide(d.slot->positions, 3, (const int32_t[]){0, 1, 2, 0, 1, 2});
    check_hex(d.slot->row_digests + 96,
              "7db96396547921e4fcb03c5755e3feb308ebd57d6c0996b407ca6a883053a5d8");
    desk_close(&d);
}

static lw_status mask_first(const void *op, lw_record *const *group, size_t group_count,
                            lw_sink *out, lw_error *err)
{
    (void)op;
    (void)out;
    lw_row_arrays arrays = {.struct_size = sizeof arrays};
    lw_status status = lw_row_get(group[0], &arrays, err);
    if (status == LW_OK) {
        assert_int_equal(group_count, 1);
        arrays.loss_mask[0] = 0;
        arrays.labels[0] = -100;
    }
    return status;
}

static void test_render__a_row_worker_changes_what_is_delivered(void **state)
{
    (void)state;
    lw_op_type type = {.struct_size = sizeof type,
                       .name = "mask_first",
                       .phase = LW_PHASE_ROW,
                       .work = mask_first};
    lw__operator worker = {&type, NULL};
    desk d;
    desk_open(&d, 4, LW__SHIFT_STREAM);
    d.rules.operators = &worker;
    d.rules.operator_count = 1;
    render_digits(&d, 0, 6, 9, 256);
    check_array(d.slot->labels, 0, (const int32_t[]){-100, 257, 256, 57, 257, 256});
    check_bytes(d.slot->loss_mask, 0, (const uint8_t[]){0, 1, 1, 1, 1, 1});
    render(&d, NULL, 1); /* padding passes no worker */
    desk_close(&d);
}

static void test_render__row_arrays_are_for_workers_only(void **state)
{
    (void)state;
    lw_row_arrays arrays = {.struct_size = sizeof arrays};
    lw_error err = {0};
    desk d;
    desk_open(&d, 4, LW__SHIFT_STREAM);
    assert_int_equal(lw_row_get(new_row(&d), &arrays, &err), LW_E_INVALID);
    assert_string_equal(err.message, "lw_row_get: not in a ROW worker");
    desk_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_render__the_worked_row_has_its_values),
        cmocka_unit_test(test_render__digests_of_the_worked_steps_are_those_of_the_page),
        cmocka_unit_test(test_render__a_row_of_padding_holds_nothing),
        cmocka_unit_test(test_render__a_short_row_is_padded),
        cmocka_unit_test(test_render__with_the_document_shift_labels_stay_in_their_document),
        cmocka_unit_test(test_render__masked_tokens_have_no_label),
        cmocka_unit_test(test_render__tokens_that_are_not_learnt_have_no_label),
        cmocka_unit_test(test_render__a_follower_that_is_not_learnt_is_no_label),
        cmocka_unit_test(test_render__wide_values_are_the_same_and_so_is_the_digest),
        cmocka_unit_test(test_render__a_row_worker_changes_what_is_delivered),
        cmocka_unit_test(test_render__row_arrays_are_for_workers_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
