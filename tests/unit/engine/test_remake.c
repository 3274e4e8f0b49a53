/* SPDX-License-Identifier: Apache-2.0 */
/* Restores: rows that a carry only names have their tokens again, or the data are said to differ. */
#include "support/engine_testing.h"
#include "support/holder.h"

#define LETTERS                                                                                    \
    RIG_LINE("abc")                                                                                \
    RIG_LINE("defghijklmnop")                                                                      \
    RIG_LINE("")                                                                                   \
    RIG_LINE("qr")                                                                                 \
    RIG_LINE("stuvw")                                                                              \
    RIG_LINE("x") RIG_LINE("yz") RIG_LINE("ABCDEFGHIJKLMN") RIG_LINE("OPQ") RIG_LINE("RSTU")
#define DIGITS                                                                                     \
    RIG_LINE("01234")                                                                              \
    RIG_LINE("567") RIG_LINE("89") RIG_LINE("0123456") RIG_LINE("789") RIG_LINE("01")

/* What a test varies. */
typedef struct variant {
    bool best_fit;
    bool shuffled;
    lw__shift shift;
    lw__overflow overflow;
    lw__order order;
} variant;

static void open_variant(rig *r, const variant *v, const char *letters)
{
    static const lw__op_best_fit_options rows = {.open_rows = 3};
    static const lw__op_shuffle_options window = {.rows = 4};
    rig_init(r);
    r->places = true;
    r->settings.context = 5;
    r->settings.shift = v->shift;
    r->settings.overflow = v->overflow;
    r->settings.order = v->order;
    r->settings.shuffle_rows = v->shuffled ? window.rows : 0;
    rig_source(r, "a", letters, 2, 20);
    rig_source(r, "b", DIGITS, 1, 20);
    rig_operator(r, v->best_fit ? &lw__op_best_fit : &lw__op_wrap, v->best_fit ? &rows : NULL);
    if (v->shuffled) {
        rig_operator(r, &lw__op_shuffle, &window);
    }
    rig_open(r, 0, 1);
}

/* A lane restored from the newest marker at or before a row of another's run; begun. */
static void restore_at(rig *again, const rig *r, uint64_t row)
{
    lw_error err = {0};
    const lw__marker *marker = lw__lane_marker(r->lane, row);
    rig_require(lw__lane_restore(again->lane, marker->bytes, marker->count, row, &err), &err);
    rig_begin(again);
}

static size_t text_of_row(const char *text, uint64_t row)
{
    const char *at = text;
    for (; row > 0; row--) {
        at = strchr(at, ';') + 1;
    }
    return (size_t)(at - text);
}

/* Restores after every row; how many records were made again in all. */
static size_t check_variant(const variant *v)
{
    char whole[RIG_TEXT] = "";
    rig r;
    size_t remade = 0;
    open_variant(&r, v, LETTERS);
    rig_begin(&r);
    rig_rest(&r, r.lane, whole);
    assert_true(r.lane->emitted > 4);
    for (uint64_t row = 0; row <= r.lane->emitted; row++) {
        char tail[RIG_TEXT] = "";
        rig again;
        open_variant(&again, v, LETTERS);
        restore_at(&again, &r, row);
        remade += again.lane->remake.count;
        rig_rest(&again, again.lane, tail);
        if (again.lane->failed) {
            fail_msg("row %u: %s", (unsigned)row, again.lane->failure.message);
        }
        assert_string_equal(tail, whole + text_of_row(whole, lw__lane_marker(r.lane, row)->row));
        rig_close(&again);
    }
    rig_close(&r);
    return remade;
}

static void test_remake__every_restore_gives_the_tail_of_the_whole(void **state)
{
    (void)state;
    size_t remade = 0;
    for (unsigned i = 0; i < 48; i++) {
        variant v = {.best_fit = i & 1,
                     .shuffled = i >> 1 & 1,
                     .shift = (lw__shift)(i >> 2 & 1),
                     .overflow = (lw__overflow)((i >> 3) % 3),
                     .order = (lw__order)(i / 24)};
        remade += check_variant(&v);
    }
    assert_true(remade > 48); /* some of it in most */
}

/* After row 1 it holds "abc", after row 3 the last three letters of the second document too. */
static const variant fitted = {.best_fit = true, .order = LW__ORDER_FILE};

/* Nothing is drawn before the held rows are whole. */
static void test_remake__the_lane_waits_for_it(void **state)
{
    (void)state;
    char whole[RIG_TEXT] = "";
    rig r;
    rig again;
    open_variant(&r, &fitted, LETTERS);
    rig_begin(&r);
    rig_rest(&r, r.lane, whole);
    open_variant(&again, &fitted, LETTERS);
    restore_at(&again, &r, 3);
    assert_true(again.lane->remake.count > 0);
    assert_true(again.lane->running);
    assert_false(rig_turn(&again, LW__DECIDE));
    while (again.lane->remake.count > 0) {
        assert_true(rig_turn(&again, LW__READ));
    }
    assert_true(rig_turn(&again, LW__DECIDE));
    rig_close(&r);
    rig_close(&again);
}

/* The row's documents are looked for in other data than those of the state. */
static void check_changed(uint64_t row, const char *letters, const char *message)
{
    char text[RIG_TEXT] = "";
    rig r;
    rig again;
    open_variant(&r, &fitted, LETTERS);
    rig_begin(&r);
    rig_rest(&r, r.lane, text);
    text[0] = 0;
    open_variant(&again, &fitted, letters);
    restore_at(&again, &r, row);
    rig_rest(&again, again.lane, text);
    assert_string_equal(text, "");
    assert_true(again.lane->failed);
    assert_int_equal(again.lane->failure.status, LW_E_MISMATCH);
    if (strstr(again.lane->failure.message, message) == NULL) {
        fail_msg("%s", again.lane->failure.message);
    }
    rig_close(&r);
    rig_close(&again);
}

static void test_remake__a_document_that_is_gone_is_said(void **state)
{
    (void)state;
    const char *message = "a.jsonl\" block 0 has no such document 0 as when the state was saved";
    check_changed(1, "\n\n", message);
    check_changed(1, "none\n" RIG_LINE("defghijklmnop"), message);
    check_changed(1, RIG_LINE("") RIG_LINE("defghijklmnop"), message);
}

static void test_remake__a_document_that_ends_before_its_segment_is_said(void **state)
{
    (void)state;
    check_changed(3, RIG_LINE("abc") RIG_LINE("defghijklmno"),
                  "a.jsonl\" block 0 has no such document 1 as when the state was saved");
}

static void test_remake__a_whole_document_of_another_length_is_said(void **state)
{
    (void)state;
    check_changed(1, RIG_LINE("abcd") RIG_LINE("defghijklm"),
                  "state: a row of 3 tokens whose documents now give another number");
}

static void open_holding(rig *r, const char *letters)
{
    rig_init(r);
    r->settings.shift = LW__SHIFT_DOCUMENT;
    r->settings.overflow = LW__OVERFLOW_TRUNCATE;
    rig_source(r, "a", letters, 1, 20);
    rig_operator(r, &hold_type, NULL);
    rig_operator(r, &lw__op_wrap, NULL);
    rig_open(r, 0, 1);
}

/* Draws documents, all of which are held, and restores another lane, on some data, from there. */
static void restore_held(rig *r, rig *again, size_t count, const char *letters)
{
    lw__marker *marker = NULL;
    lw_error err = {0};
    open_holding(r, LETTERS);
    lw__stream_want(&r->lane->streams[0]);
    while (count > 0) {
        lw__outcome drawn = lw__lane_draw(r->lane, &err);
        assert_true(drawn == LW__DRAWN || (drawn == LW__MUST_WAIT && rig_turn(r, LW__READ)));
        count -= drawn == LW__DRAWN;
    }
    rig_require(lw__marker_save(r->lane, 0, &marker, &err), &err);
    open_holding(again, letters);
    rig_require(lw__lane_restore(again->lane, marker->bytes, marker->count, 0, &err), &err);
    lw__free(marker);
    rig_begin(again);
}

static void test_remake__held_documents_have_their_tokens_again(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 8; count++) {
        char whole[RIG_TEXT] = "";
        char text[RIG_TEXT] = "";
        rig r;
        rig again;
        restore_held(&r, &again, count, LETTERS);
        assert_int_equal(again.lane->remake.count, count);
        rig_wake(&r, r.lane);
        rig_rest(&r, r.lane, whole);
        rig_rest(&again, again.lane, text);
        assert_false(again.lane->failed);
        assert_true(strlen(whole) > 20);
        assert_string_equal(text, whole);
        rig_close(&r);
        rig_close(&again);
    }
}

static void test_remake__a_held_document_of_another_length_is_said(void **state)
{
    (void)state;
    char text[RIG_TEXT] = "";
    rig r;
    rig again;
    restore_held(&r, &again, 1, RIG_LINE("abcd"));
    rig_rest(&again, again.lane, text);
    assert_true(again.lane->failed);
    assert_int_equal(again.lane->failure.status, LW_E_MISMATCH);
    assert_non_null(strstr(again.lane->failure.message, "has no such document 0 as"));
    rig_close(&r);
    rig_close(&again);
}

static void test_remake__a_source_that_is_none_is_refused(void **state)
{
    (void)state;
    char text[RIG_TEXT] = "";
    rig r;
    rig again;
    open_variant(&r, &fitted, LETTERS);
    rig_begin(&r);
    rig_rest(&r, r.lane, text);
    text[0] = 0;
    open_variant(&again, &fitted, LETTERS);
    restore_at(&again, &r, 3);
    again.lane->remake.items[0]->u.row.pieces[0].segment.source = 2;
    rig_rest(&again, again.lane, text);
    assert_true(again.lane->failed);
    assert_string_equal(again.lane->failure.message,
                        "state: a segment of source 2, expected one of 2");
    rig_close(&r);
    rig_close(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remake__every_restore_gives_the_tail_of_the_whole),
        cmocka_unit_test(test_remake__the_lane_waits_for_it),
        cmocka_unit_test(test_remake__a_document_that_is_gone_is_said),
        cmocka_unit_test(test_remake__a_document_that_ends_before_its_segment_is_said),
        cmocka_unit_test(test_remake__a_whole_document_of_another_length_is_said),
        cmocka_unit_test(test_remake__held_documents_have_their_tokens_again),
        cmocka_unit_test(test_remake__a_held_document_of_another_length_is_said),
        cmocka_unit_test(test_remake__a_source_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
