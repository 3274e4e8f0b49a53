/* SPDX-License-Identifier: Apache-2.0 */
/* Markers: what a lane saves comes back, is the same whenever it is saved, and bad ones are refused. */
#include "support/engine_testing.h"

#define LETTERS                                                                                    \
    RIG_LINE("abc")                                                                                \
    RIG_LINE("defgh") "none\n" RIG_LINE("ijkl") RIG_LINE("mn") RIG_LINE("opqrstu")
#define DIGITS RIG_LINE("01234") RIG_LINE("567") RIG_LINE("89")

/* Two sources; the second ends long before the first. Rows are held by packer and shuffle. */
static void open_two(rig *r, size_t source_count)
{
    static const lw__op_best_fit_options rows = {.open_rows = 3};
    static const lw__op_shuffle_options window = {.rows = 3};
    rig_init(r);
    r->settings.policy = LW__POLICY_SKIP;
    rig_source(r, "a", LETTERS, 2, 20);
    if (source_count == 2) {
        rig_source(r, "b", DIGITS, 1, 20);
    }
    rig_operator(r, &lw__op_best_fit, &rows);
    rig_operator(r, &lw__op_shuffle, &window);
    rig_open(r, 0, 1);
    for (size_t i = 0; i < source_count; i++) {
        lw__stream_want(&r->lane->streams[i]);
    }
}

/* The next draw, reading whenever it has to wait. */
static lw__outcome draw_one(rig *r)
{
    lw_error err = {0};
    lw__outcome drawn = lw__lane_draw(r->lane, &err);
    while (drawn == LW__MUST_WAIT && rig_turn(r, LW__READ)) {
        drawn = lw__lane_draw(r->lane, &err);
    }
    return drawn;
}

/* Draws `count` documents; if `ahead`, all that may be read is read before. */
static void draw(rig *r, size_t count, bool ahead)
{
    while (ahead && rig_turn(r, LW__READ)) {
    }
    for (; count > 0; count--) {
        assert_int_equal(draw_one(r), LW__DRAWN);
    }
}

static lw__marker *save(const lw__lane *lane, uint64_t row)
{
    lw__marker *marker = NULL;
    lw_error err = {0};
    rig_require(lw__marker_save(lane, row, &marker, &err), &err);
    assert_int_equal(marker->row, row);
    return marker;
}

static void check_same(const lw__marker *a, const lw__marker *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->bytes, b->bytes, a->count);
}

static void test_marker__a_lane_comes_back_as_it_was(void **state)
{
    (void)state;
    for (size_t count = 0; count <= 8; count++) {
        lw_error err = {0};
        rig r;
        rig again;
        open_two(&r, 2);
        draw(&r, count, false);
        lw__marker *marker = save(r.lane, 5);
        open_two(&again, 2);
        rig_require(lw__marker_load(again.lane, marker->bytes, marker->count, &err), &err);
        assert_int_equal(again.lane->emitted, 5);
        assert_int_equal(again.lane->mixture.total, r.lane->mixture.total);
        assert_int_equal(again.lane->mixture.live_weight, r.lane->mixture.live_weight);
        for (size_t i = 0; i < 2; i++) {
            const lw__position *was = &r.lane->streams[i].position;
            const lw__position *is = &again.lane->streams[i].position;
            assert_int_equal(again.lane->mixture.sources[i].drawn,
                             r.lane->mixture.sources[i].drawn);
            assert_int_equal(is->j, was->j);
            assert_int_equal(is->part, was->part);
            assert_int_equal(is->index, was->index);
            assert_int_equal(is->skipped, was->skipped);
            assert_true(is->check == was->check);
            assert_int_equal(again.lane->streams[i].next_j, was->j);
        }
        assert_int_equal(lw__chain_held_rows(&again.lane->chain),
                         lw__chain_held_rows(&r.lane->chain));
        lw__marker *second = save(again.lane, 5);
        check_same(second, marker);
        lw__free(second);
        lw__free(marker);
        rig_close(&r);
        rig_close(&again);
    }
}

static void test_marker__a_source_that_has_ended_stays_ended(void **state)
{
    (void)state;
    lw_error err = {0};
    rig r;
    rig again;
    open_two(&r, 2);
    draw(&r, 8, false);
    assert_int_equal(draw_one(&r), LW__HAS_ENDED);
    lw__marker *marker = save(r.lane, 0);
    open_two(&again, 2);
    rig_require(lw__marker_load(again.lane, marker->bytes, marker->count, &err), &err);
    assert_true(again.lane->mixture.sources[0].ended);
    assert_true(again.lane->mixture.sources[1].ended);
    assert_int_equal(again.lane->streams[0].position.skipped, 1);
    assert_int_equal(lw__lane_draw(again.lane, &err), LW__HAS_ENDED);
    lw__free(marker);
    rig_close(&r);
    rig_close(&again);
}

static void test_marker__the_bytes_do_not_depend_on_what_was_read_when(void **state)
{
    (void)state;
    for (size_t count = 0; count <= 8; count++) {
        rig lazy;
        rig eager;
        open_two(&lazy, 2);
        draw(&lazy, count, false);
        open_two(&eager, 2);
        draw(&eager, count, true);
        lw__marker *one = save(lazy.lane, count);
        lw__marker *other = save(eager.lane, count);
        check_same(one, other);
        lw__free(one);
        lw__free(other);
        rig_close(&lazy);
        rig_close(&eager);
    }
}

static lw_status load(const unsigned char *bytes, size_t count, size_t sources, lw_error *err)
{
    rig r;
    unsigned char *copy = lw__alloc(count + 1); /* no more than that can be read */
    assert_non_null(copy);
    memcpy(copy, bytes, count);
    *err = (lw_error){0};
    open_two(&r, sources);
    lw_status status = lw__marker_load(r.lane, copy, count, err);
    assert_int_equal(err->status, status);
    rig_close(&r);
    lw__free(copy);
    return status;
}

static void test_marker__one_that_is_cut_or_too_long_is_refused(void **state)
{
    (void)state;
    lw_error err;
    rig r;
    open_two(&r, 2);
    draw(&r, 5, false);
    lw__marker *marker = save(r.lane, 3);
    for (size_t count = 0; count < marker->count; count++) {
        assert_int_equal(load(marker->bytes, count, 2, &err), LW_E_CORRUPT);
        assert_memory_equal(err.message, "state: ", 7);
    }
    unsigned char *longer = lw__alloc_zero(marker->count + 2, 1);
    assert_non_null(longer);
    memcpy(longer, marker->bytes, marker->count);
    assert_int_equal(load(longer, marker->count, 2, &err), LW_OK);
    assert_int_equal(load(longer, marker->count + 2, 2, &err), LW_E_CORRUPT);
    assert_string_equal(err.message, "state: lane 0 has 2 bytes after its carry, expected none");
    lw__free(longer);
    lw__free(marker);
    rig_close(&r);
}

static void test_marker__one_of_other_sources_is_refused(void **state)
{
    (void)state;
    lw_error err;
    rig r;
    open_two(&r, 2);
    lw__marker *marker = save(r.lane, 0);
    assert_int_equal(load(marker->bytes, marker->count, 1, &err), LW_E_CORRUPT);
    assert_string_equal(err.message, "state: lane 0 has 2 sources, expected 1");
    lw__free(marker);
    rig_close(&r);
}

/* So that sums over the sources cannot wrap. */
static void test_marker__more_drawn_than_can_be_is_refused(void **state)
{
    (void)state;
    lw_error err;
    rig r;
    open_two(&r, 2);
    r.lane->mixture.sources[1].drawn = UINT64_MAX / 4;
    lw__marker *most = save(r.lane, 0);
    assert_int_equal(load(most->bytes, most->count, 2, &err), LW_OK);
    r.lane->mixture.sources[1].drawn = UINT64_MAX / 4 + 1;
    lw__marker *more = save(r.lane, 0);
    assert_int_equal(load(more->bytes, more->count, 2, &err), LW_E_CORRUPT);
    assert_string_equal(err.message,
                        "state: lane 0 has drawn 4611686018427387904 tokens of a source");
    lw__free(most);
    lw__free(more);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marker__a_lane_comes_back_as_it_was),
        cmocka_unit_test(test_marker__a_source_that_has_ended_stays_ended),
        cmocka_unit_test(test_marker__the_bytes_do_not_depend_on_what_was_read_when),
        cmocka_unit_test(test_marker__one_that_is_cut_or_too_long_is_refused),
        cmocka_unit_test(test_marker__one_of_other_sources_is_refused),
        cmocka_unit_test(test_marker__more_drawn_than_can_be_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
