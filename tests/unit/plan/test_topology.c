/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and lanes of every rank of every world that divides the global batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/topology.h"

#define BATCH 48u
#define LANES 8u

static void check_rank(uint64_t rank, uint64_t world, unsigned *taken)
{
    lw__topology t = lw__topology_of(BATCH, LANES, rank, world);
    assert_int_equal(t.lanes, LANES);
    assert_int_equal(t.lane_rows, BATCH / LANES);
    assert_int_equal(t.row_count, BATCH / world);
    for (uint64_t row = t.first_row; row < t.first_row + t.row_count; row++) {
        taken[row]++;
    }
    for (uint64_t lane = 0; lane < LANES; lane++) {
        uint64_t first = lane * t.lane_rows;
        int overlaps = first < t.first_row + t.row_count && first + t.lane_rows > t.first_row;
        int run = lane >= t.first_lane && lane < t.first_lane + t.lane_count;
        assert_int_equal(run, overlaps);
    }
}

static void test_topology__every_world_takes_each_row_once_and_runs_the_lanes_it_needs(void **state)
{
    (void)state;
    unsigned worlds = 0;
    for (uint64_t world = 1; world <= BATCH; world++) {
        unsigned taken[BATCH] = {0};
        if (BATCH % world != 0) {
            continue;
        }
        worlds++;
        for (uint64_t rank = 0; rank < world; rank++) {
            check_rank(rank, world, taken);
        }
        for (uint64_t row = 0; row < BATCH; row++) {
            assert_int_equal(taken[row], 1);
        }
    }
    assert_int_equal(worlds, 10);
}

static void test_topology__a_world_of_three_shares_two_lanes(void **state)
{
    (void)state;
    lw__topology t = lw__topology_of(BATCH, LANES, 1, 3);
    assert_int_equal(t.first_row, 16);
    assert_int_equal(t.row_count, 16);
    assert_int_equal(t.first_lane, 2);
    assert_int_equal(t.lane_count, 4);
    assert_int_equal(lw__topology_of(BATCH, LANES, 0, 3).lane_count, 3);
    assert_int_equal(lw__topology_of(BATCH, LANES, 2, 3).first_lane, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_topology__every_world_takes_each_row_once_and_runs_the_lanes_it_needs),
        cmocka_unit_test(test_topology__a_world_of_three_shares_two_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
