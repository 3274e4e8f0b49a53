/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a step a rank takes, and which lanes it runs for them. */
#include "plan/topology.h"

lw__topology lw__topology_of(uint64_t global_batch, uint64_t lanes, uint64_t rank, uint64_t world)
{
    lw__topology t = {.lanes = lanes, .lane_rows = global_batch / lanes};
    t.row_count = global_batch / world;
    t.first_row = rank * t.row_count;
    t.first_lane = t.first_row / t.lane_rows;
    t.lane_count = (t.first_row + t.row_count - 1) / t.lane_rows - t.first_lane + 1;
    return t;
}
