/* SPDX-License-Identifier: Apache-2.0 */
/* A stream's window: order, depth, charges to the budget, ends, and which stream reads next. */
#include "../format/packing.h"
#include "support/engine_testing.h"

/* Seven lines of 15 bytes: blocks of 15 hold two lines, five times one, and none. */
#define SEVEN                                                                                      \
    RIG_LINE("a0")                                                                                 \
    RIG_LINE("a1")                                                                                 \
    RIG_LINE("a2")                                                                                 \
    RIG_LINE("a3")                                                                                 \
    RIG_LINE("a4")                                                                                 \
    RIG_LINE("a5")                                                                                 \
    RIG_LINE("a6")

enum { SEVEN_BLOCK = 15, SEVEN_BLOCKS = 7 };

static lw__stream *open_seven(rig *r)
{
    rig_init(r);
    rig_source(r, "a", SEVEN, 1, SEVEN_BLOCK);
    rig_open(r, 0, 1);
    return &r->lane->streams[0];
}

/* The part at the front, which must be there. */
static const lw__part *front(lw__stream *stream)
{
    bool ended;
    const lw__part *part = lw__stream_front(stream, &ended);
    assert_non_null(part);
    assert_false(ended);
    return part;
}

static void test_stream__parts_come_in_order_up_to_the_end(void **state)
{
    (void)state;
    rig r;
    bool ended;
    lw__stream *stream = open_seven(&r);
    assert_null(lw__stream_front(stream, &ended));
    assert_false(ended);
    assert_true(stream->waited);
    lw__stream_want(stream);
    for (uint64_t j = 0; j < SEVEN_BLOCKS; j++) {
        while (rig_turn(&r, LW__READ)) {
        }
        assert_int_equal(front(stream)->j, j);
        assert_false(stream->waited);
        lw__stream_pop(stream);
    }
    assert_null(lw__stream_front(stream, &ended));
    assert_true(ended);
    assert_false(stream->waited);
    rig_close(&r);
}

static void test_stream__parts_finished_out_of_order_are_handed_on_in_theirs(void **state)
{
    (void)state;
    rig r;
    bool ended;
    lw_error err = {0};
    lw__stream *stream = open_seven(&r);
    lw__stream_want(stream);
    lw__part *first = (lw__part *)rig_pop(&r, LW__READ);
    assert_non_null(first);
    assert_null(rig_pop(&r, LW__READ)); /* fetching is serial */
    rig_require(lw__part_read_alone(first, 0, &err), &err);
    lw__stream_fetched(stream, first);
    assert_true(rig_turn(&r, LW__READ)); /* the second, whole */
    assert_null(lw__stream_front(stream, &ended));
    assert_false(ended);
    lw__stream_finished(stream, first);
    assert_ptr_equal(front(stream), first);
    assert_int_equal(r.lane->running, true); /* it was waited for */
    lw__stream_pop(stream);
    assert_int_equal(front(stream)->j, 1);
    rig_close(&r);
}

static void test_stream__the_window_is_as_deep_as_the_engine_says(void **state)
{
    (void)state;
    rig r;
    lw__stream *stream = open_seven(&r);
    lw__stream_want(stream);
    while (rig_turn(&r, LW__READ)) {
    }
    assert_int_equal(r.engine->depth, 4); /* 2 + 2 * threads / streams */
    assert_int_equal(stream->count, 4);
    lw__stream_pop(stream);
    assert_int_equal(stream->count, 4); /* the place is taken at once */
    assert_false(stream->window[(stream->head + 3) % 4].ready);
    rig_close(&r);
}

static void test_stream__without_bytes_only_the_front_is_read(void **state)
{
    (void)state;
    rig r;
    lw__stream *stream = open_seven(&r);
    r.engine->budget.limit = r.engine->budget.used;
    lw__stream_want(stream);
    for (uint64_t j = 0; j < SEVEN_BLOCKS; j++) {
        while (rig_turn(&r, LW__READ)) {
        }
        assert_int_equal(front(stream)->j, j);
        assert_int_equal(stream->count, 1);
        assert_int_equal(r.engine->budget.used, r.engine->budget.limit);
        lw__stream_pop(stream);
    }
    assert_true(stream->exhausted);
    assert_int_equal(r.engine->budget.peak, r.engine->budget.limit);
    rig_close(&r);
}

static void test_stream__parts_behind_the_front_are_charged_with_their_size(void **state)
{
    (void)state;
    rig r;
    lw__stream *stream = open_seven(&r);
    uint64_t minimum = r.engine->budget.used;
    lw__stream_want(stream);
    while (rig_turn(&r, LW__READ)) {
    }
    uint64_t behind = 0;
    for (size_t i = 1; i < stream->count; i++) {
        const lw__part *part = &stream->window[(stream->head + i) % r.engine->depth];
        assert_int_equal(part->charge, part->bytes);
        behind += part->bytes;
    }
    assert_true(behind > 0);
    assert_int_equal(front(stream)->charge, 0);
    assert_int_equal(r.engine->budget.used, minimum + behind);
    while (stream->count > 0) {
        lw__stream_pop(stream);
        while (rig_turn(&r, LW__READ)) {
        }
    }
    assert_int_equal(r.engine->budget.used, minimum);
    rig_close(&r);
}

static void test_stream__a_part_under_way_is_charged_with_the_mean_of_those_before(void **state)
{
    (void)state;
    rig r;
    lw__stream *stream = open_seven(&r);
    uint64_t estimate = lw__part_limit(SEVEN_BLOCK);
    assert_int_equal(r.engine->estimates[0], estimate);
    lw__stream_want(stream);
    assert_true(rig_turn(&r, LW__READ));
    const lw__part *second = &stream->window[1];
    assert_int_equal(second->charge, estimate); /* it began before the first was done */
    estimate = (3 * estimate + front(stream)->bytes) / 4;
    assert_int_equal(r.engine->estimates[0], estimate);
    assert_true(rig_turn(&r, LW__READ));
    assert_int_equal(stream->window[2].charge, estimate);
    rig_close(&r);
}

static void test_stream__a_seek_begins_there(void **state)
{
    (void)state;
    rig r;
    lw__stream *stream = open_seven(&r);
    lw__position position = {.j = 3, .index = 1, .skipped = 2};
    lw__stream_seek(stream, &position);
    lw__stream_want(stream);
    assert_true(rig_turn(&r, LW__READ));
    assert_int_equal(front(stream)->j, 3);
    assert_int_equal(front(stream)->place.block, 3);
    assert_int_equal(stream->position.index, 1);
    assert_int_equal(stream->position.skipped, 2);
    rig_close(&r);
}

/* A gzip shard is one block in parts: they follow each other, and a seek may begin within it. */
static void test_stream__a_block_in_parts_is_read_from_any_of_them(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 3; first++) {
        rig r;
        lw__bytes bytes;
        lw__bytes_init(&bytes);
        rig_init(&r);
        rig_source(&r, "a", "", 1, 35);
        put_gzip(&bytes, SEVEN, strlen(SEVEN));
        scratch_write("a.jsonl.gz", bytes.data, bytes.count);
        lw__bytes_reset(&bytes);
        r.paths[0] = "a.jsonl.gz";
        rig_open(&r, 0, 1);
        lw__stream *stream = &r.lane->streams[0];
        lw__stream_seek(stream, &(lw__position){.part = first});
        lw__stream_want(stream);
        for (uint32_t number = first; number < 3; number++) {
            while (rig_turn(&r, LW__READ)) {
            }
            const lw__part *part = front(stream);
            assert_int_equal(part->number, number);
            assert_int_equal(part->last, number == 2);
            assert_int_equal(part->entry_count, number == 0 ? 3 : 2);
            lw__stream_pop(stream);
        }
        assert_true(stream->exhausted);
        rig_close(&r);
    }
}

/* The source of the READ task that is run next. */
static uint32_t turn(rig *r)
{
    const lw__part *part = (const lw__part *)r->engine->pool.queues[LW__READ].head;
    assert_non_null(part);
    uint32_t source = part->stream->source;
    rig_turn(r, LW__READ);
    return source;
}

static void test_stream__what_a_lane_lacks_is_read_before_what_it_has(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_source(&r, "a", SEVEN, 1, SEVEN_BLOCK);
    rig_source(&r, "b", SEVEN, 1, SEVEN_BLOCK);
    rig_source(&r, "c", SEVEN, 1, SEVEN_BLOCK);
    rig_open(&r, 0, 1);
    for (size_t i = 0; i < 3; i++) {
        lw__stream_want(&r.lane->streams[i]);
    }
    assert_int_equal(r.engine->reads, 2); /* two for a thread; c waits, and a will have a part */
    assert_int_equal(turn(&r), 0);
    assert_int_equal(turn(&r), 1);
    assert_int_equal(turn(&r), 2);
    assert_int_equal(turn(&r), 0);
    lw__stream_pop(&r.lane->streams[2]); /* empty again, and so before a and b */
    assert_int_equal(turn(&r), 1);
    assert_int_equal(turn(&r), 2);
    rig_close(&r);
}

/* A lane that stands still for an end is told of it, though no part of it ever comes. */
static void test_stream__an_end_that_is_waited_for_wakes_the_lane(void **state)
{
    (void)state;
    rig r;
    bool ended;
    rig_init(&r);
    r.settings.lanes = 2;
    r.settings.global_batch = 2;
    rig_source(&r, "a", RIG_LINE("ab"), 1, 4096);
    rig_open(&r, 0, 1);
    lw__lane *second = &r.engine->lanes[1]; /* one block: it gets none */
    assert_null(lw__stream_front(&second->streams[0], &ended));
    assert_false(ended);
    lw__stream_want(&second->streams[0]);
    assert_true(second->running);
    assert_null(lw__stream_front(&second->streams[0], &ended));
    assert_true(ended);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream__parts_come_in_order_up_to_the_end),
        cmocka_unit_test(test_stream__parts_finished_out_of_order_are_handed_on_in_theirs),
        cmocka_unit_test(test_stream__the_window_is_as_deep_as_the_engine_says),
        cmocka_unit_test(test_stream__without_bytes_only_the_front_is_read),
        cmocka_unit_test(test_stream__parts_behind_the_front_are_charged_with_their_size),
        cmocka_unit_test(test_stream__a_part_under_way_is_charged_with_the_mean_of_those_before),
        cmocka_unit_test(test_stream__a_seek_begins_there),
        cmocka_unit_test(test_stream__a_block_in_parts_is_read_from_any_of_them),
        cmocka_unit_test(test_stream__what_a_lane_lacks_is_read_before_what_it_has),
        cmocka_unit_test(test_stream__an_end_that_is_waited_for_wakes_the_lane),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
