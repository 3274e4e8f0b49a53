/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of a lane: rows and markers it queues, when it parks and wakes, its end, its restore. */
#include "support/engine_testing.h"

/* Rows of four: "abcd" "efgh" ... "uvwx" "yz". */
#define ALPHABET                                                                                   \
    RIG_LINE("abcde")                                                                              \
    RIG_LINE("fghij")                                                                              \
    RIG_LINE("klmno")                                                                              \
    RIG_LINE("")                                                                                   \
    RIG_LINE("pqrst")                                                                              \
    RIG_LINE("uvwxyz")

static void open_alphabet(rig *r, uint64_t lane_rows)
{
    rig_init(r);
    r->settings.global_batch = lane_rows;
    rig_source(r, "a", ALPHABET, 1, 4096);
    rig_open(r, 0, 1);
    rig_begin(r);
}

static void test_lane__all_rows_leave_and_the_last_is_what_is_left(void **state)
{
    (void)state;
    char text[RIG_TEXT] = "";
    rig r;
    open_alphabet(&r, 1);
    rig_rest(&r, r.lane, text);
    assert_string_equal(text, "abcd;efgh;ijkl;mnop;qrst;uvwx;yz;");
    assert_true(r.lane->ended);
    assert_false(r.lane->failed);
    assert_int_equal(r.lane->emitted, 7);
    assert_int_equal(r.lane->taken, 7);
    assert_int_equal(r.engine->counters.documents, 5);
    assert_int_equal(r.engine->counters.empty, 1);
    assert_true(r.changes > 1);
    rig_close(&r);
}

/* row_limit is one row; the goal step, 0, asks for one. */
static void test_lane__it_parks_when_enough_rows_are_under_way(void **state)
{
    (void)state;
    char text[RIG_TEXT] = "";
    rig r;
    open_alphabet(&r, 1);
    assert_int_equal(r.engine->row_limit, 1);
    rig_settle(&r);
    assert_int_equal(r.lane->emitted, 1);
    assert_false(r.lane->running);
    rig_wake(&r, r.lane);
    rig_settle(&r);
    assert_int_equal(r.lane->emitted, 1); /* none was taken */
    assert_int_equal(rig_take(&r, r.lane, text), 1);
    rig_wake(&r, r.lane);
    rig_settle(&r);
    assert_int_equal(r.lane->emitted, 2);
    rig_close(&r);
}

static void test_lane__rows_of_the_goal_step_are_given_beyond_the_limit(void **state)
{
    (void)state;
    rig r;
    open_alphabet(&r, 1);
    rig_settle(&r);
    r.engine->goal_step = 3;
    rig_wake(&r, r.lane);
    rig_settle(&r);
    assert_int_equal(r.lane->emitted, 4);
    assert_false(r.lane->ended);
    rig_close(&r);
}

static void test_lane__a_wake_at_work_makes_it_look_again(void **state)
{
    (void)state;
    rig r;
    open_alphabet(&r, 1);
    assert_true(r.lane->running);
    rig_wake(&r, r.lane);
    assert_true(r.lane->again);
    assert_true(rig_turn(&r, LW__DECIDE)); /* has to wait, and is queued again */
    assert_true(r.lane->running);
    assert_false(r.lane->again);
    assert_true(rig_turn(&r, LW__DECIDE));
    assert_false(r.lane->running);
    assert_false(rig_turn(&r, LW__DECIDE));
    rig_close(&r);
}

static void test_lane__a_lane_that_has_ended_is_not_woken(void **state)
{
    (void)state;
    char text[RIG_TEXT] = "";
    rig r;
    open_alphabet(&r, 1);
    rig_rest(&r, r.lane, text);
    rig_wake(&r, r.lane);
    assert_false(r.lane->running);
    assert_false(rig_turn(&r, LW__DECIDE));
    rig_close(&r);
}

static void test_lane__rows_given_back_are_used_again(void **state)
{
    (void)state;
    rig r;
    open_alphabet(&r, 1);
    rig_settle(&r);
    lw_record *row = lw__lane_take(r.lane);
    assert_non_null(row);
    assert_null(lw__lane_take(r.lane));
    lw__lane_return(r.lane, row);
    rig_wake(&r, r.lane);
    rig_settle(&r);
    lw_record *second = lw__lane_take(r.lane);
    lw__lane_return(r.lane, second);
    rig_wake(&r, r.lane);
    rig_settle(&r);
    assert_ptr_equal(lw__lane_take(r.lane), row); /* the packer held another open meanwhile */
    rig_close(&r);
}

/* One about every lane_rows rows, and the first before any. */
static void test_lane__markers_lie_a_step_apart(void **state)
{
    (void)state;
    static const uint64_t rows[] = {0, 2, 4, 6};
    char text[RIG_TEXT] = "";
    rig r;
    open_alphabet(&r, 2);
    rig_rest(&r, r.lane, text);
    const lw__marker *marker = r.lane->first_marker;
    for (size_t i = 0; i < 4; i++, marker = marker->next) {
        assert_non_null(marker);
        assert_int_equal(marker->row, rows[i]);
    }
    assert_null(marker);
    rig_close(&r);
}

static void test_lane__the_newest_marker_at_or_before_a_row_is_found(void **state)
{
    (void)state;
    char text[RIG_TEXT] = "";
    rig r;
    open_alphabet(&r, 2);
    rig_rest(&r, r.lane, text);
    assert_int_equal(lw__lane_marker(r.lane, 0)->row, 0);
    assert_int_equal(lw__lane_marker(r.lane, 1)->row, 0);
    assert_int_equal(lw__lane_marker(r.lane, 2)->row, 2);
    assert_int_equal(lw__lane_marker(r.lane, 5)->row, 4);
    assert_int_equal(lw__lane_marker(r.lane, 1000)->row, 6);
    rig_close(&r);
}

static void test_lane__what_only_older_rows_need_is_forgotten(void **state)
{
    (void)state;
    char text[RIG_TEXT] = "";
    rig r;
    open_alphabet(&r, 2);
    rig_rest(&r, r.lane, text);
    lw__lane_forget(r.lane, 3);
    assert_int_equal(r.lane->first_marker->row, 2); /* row 3 goes on from it */
    assert_int_equal(lw__lane_marker(r.lane, 3)->row, 2);
    lw__lane_forget(r.lane, 4);
    assert_int_equal(r.lane->first_marker->row, 4);
    lw__lane_forget(r.lane, 1000);
    assert_int_equal(r.lane->first_marker->row, 6);
    assert_ptr_equal(r.lane->first_marker, r.lane->last_marker);
    rig_close(&r);
}

static void test_lane__a_failure_leaves_the_rows_before_it(void **state)
{
    (void)state;
    char text[RIG_TEXT] = "";
    rig r;
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("abcde") RIG_LINE("fghij") "none\n", 1, 4096);
    rig_open(&r, 0, 1);
    rig_begin(&r);
    rig_rest(&r, r.lane, text);
    assert_string_equal(text, "abcd;efgh;"); /* what the packer held is lost */
    assert_true(r.lane->failed);
    assert_false(r.lane->ended);
    assert_int_equal(r.lane->failure.status, LW_E_CORRUPT);
    assert_non_null(strstr(r.lane->failure.message, "record 2 "));
    rig_close(&r);
}

/* Four lanes of three rows: of world 3, rank 1 takes rows 4 to 7 of the step's twelve. */
static void test_lane__a_rank_takes_its_part_of_shared_lanes(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    r.settings.lanes = 4;
    r.settings.global_batch = 12;
    r.settings.end = LW__END_REPEAT;
    rig_source(&r, "a", ALPHABET, 1, 15);
    rig_open(&r, 1, 3);
    assert_int_equal(r.engine->lane_count, 2);
    assert_int_equal(lw__lane_number(&r.engine->lanes[0]), 1);
    assert_int_equal(r.engine->lanes[0].first_row, 1);
    assert_int_equal(r.engine->lanes[0].end_row, 3);
    assert_int_equal(r.engine->lanes[1].first_row, 0);
    assert_int_equal(r.engine->lanes[1].end_row, 2);
    rig_close(&r);
}

static void test_lane__a_lane_that_is_followed_gives_rows_without_tokens(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    r.settings.lanes = 2;
    r.settings.global_batch = 2;
    r.all_lanes = true;
    rig_source(&r, "a", ALPHABET, 1, 40);
    rig_open(&r, 0, 2);
    rig_begin(&r);
    rig_settle(&r);
    assert_int_equal(r.engine->lane_count, 2);
    lw__lane *followed = &r.engine->lanes[1];
    assert_int_equal(followed->first_row, followed->end_row);
    const lw_record *own = lw__lane_take(r.lane);
    const lw_record *other = lw__lane_take(followed);
    assert_non_null(own->u.row.tokens);
    assert_null(other->u.row.tokens);
    assert_int_equal(other->u.row.fill, 4);
    rig_close(&r);
}

static void test_lane__a_restored_lane_goes_on_at_its_marker(void **state)
{
    (void)state;
    char whole[RIG_TEXT] = "";
    char tail[RIG_TEXT] = "";
    lw_error err = {0};
    rig r;
    rig again;
    open_alphabet(&r, 2);
    rig_rest(&r, r.lane, whole);
    const lw__marker *marker = lw__lane_marker(r.lane, 2);
    rig_init(&again);
    again.settings.global_batch = 2;
    rig_source(&again, "a", ALPHABET, 1, 4096);
    rig_open(&again, 0, 1);
    rig_require(lw__lane_restore(again.lane, marker->bytes, marker->count, 3, &err), &err);
    assert_int_equal(again.lane->emitted, 2);
    assert_int_equal(again.lane->taken, 2);
    assert_int_equal(again.lane->start_row, 3);
    assert_int_equal(lw__lane_marker(again.lane, 3)->row, 2); /* it can be asked for again */
    assert_memory_equal(lw__lane_marker(again.lane, 3)->bytes, marker->bytes, marker->count);
    rig_begin(&again);
    rig_rest(&again, again.lane, tail);
    assert_string_equal(tail, strstr(whole, "ijkl;"));
    assert_int_equal(again.lane->first_marker->row, 2);
    assert_int_equal(again.lane->first_marker->next->row, 4); /* still a step apart */
    rig_close(&r);
    rig_close(&again);
}

static void test_lane__a_marker_beyond_the_rows_taken_is_refused(void **state)
{
    (void)state;
    char text[RIG_TEXT] = "";
    lw_error err = {0};
    rig r;
    open_alphabet(&r, 2);
    rig_rest(&r, r.lane, text);
    const lw__marker *marker = lw__lane_marker(r.lane, 4);
    rig again;
    rig_init(&again);
    rig_source(&again, "a", ALPHABET, 1, 4096);
    rig_open(&again, 0, 1);
    assert_int_equal(lw__lane_restore(again.lane, marker->bytes, marker->count, 3, &err),
                     LW_E_CORRUPT);
    assert_string_equal(err.message, "state: lane 0 has a marker at row 4, expected at most 3");
    rig_close(&r);
    rig_close(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lane__all_rows_leave_and_the_last_is_what_is_left),
        cmocka_unit_test(test_lane__it_parks_when_enough_rows_are_under_way),
        cmocka_unit_test(test_lane__rows_of_the_goal_step_are_given_beyond_the_limit),
        cmocka_unit_test(test_lane__a_wake_at_work_makes_it_look_again),
        cmocka_unit_test(test_lane__a_lane_that_has_ended_is_not_woken),
        cmocka_unit_test(test_lane__rows_given_back_are_used_again),
        cmocka_unit_test(test_lane__markers_lie_a_step_apart),
        cmocka_unit_test(test_lane__the_newest_marker_at_or_before_a_row_is_found),
        cmocka_unit_test(test_lane__what_only_older_rows_need_is_forgotten),
        cmocka_unit_test(test_lane__a_failure_leaves_the_rows_before_it),
        cmocka_unit_test(test_lane__a_rank_takes_its_part_of_shared_lanes),
        cmocka_unit_test(test_lane__a_lane_that_is_followed_gives_rows_without_tokens),
        cmocka_unit_test(test_lane__a_restored_lane_goes_on_at_its_marker),
        cmocka_unit_test(test_lane__a_marker_beyond_the_rows_taken_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
