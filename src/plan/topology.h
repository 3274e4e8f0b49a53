/* SPDX-License-Identifier: Apache-2.0 */
/* Rows, lanes and ranks (docs/stream.md, section 8). Pure arithmetic. */
#ifndef LW__PLAN_TOPOLOGY_H
#define LW__PLAN_TOPOLOGY_H

#include <stdint.h>

typedef struct lw__topology {
    uint64_t lanes;
    uint64_t lane_rows;  /* q: rows a lane gives to each step */
    uint64_t first_row;  /* of the rank, in a step */
    uint64_t row_count;  /* of the rank, in a step */
    uint64_t first_lane; /* lanes that overlap the rank's rows */
    uint64_t lane_count;
} lw__topology;

/* lanes and world divide global_batch; rank < world. */
lw__topology lw__topology_of(uint64_t global_batch, uint64_t lanes, uint64_t rank, uint64_t world);

#endif
