/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about the records of one shard; grows front to back. Format layer only. */
#ifndef LW__FORMAT_RECORDS_H
#define LW__FORMAT_RECORDS_H

#include <stddef.h>
#include <stdint.h>

typedef struct lw__tally_block {
    uint64_t decoded_offset; /* of the block in the decoded shard */
    uint64_t first_record;
    size_t first_part; /* index in part_records */
} lw__tally_block;

typedef struct lw__tally {
    lw__tally_block *blocks; /* known ones, and a last one that only says where the next begins */
    size_t block_count;      /* without that last one */
    size_t block_capacity;
    uint64_t *part_records; /* the number of the first record of each part */
    size_t part_count;
    size_t part_capacity;
    size_t known_parts; /* part_count, and parts of the next block that come before damage */
} lw__tally;

void lw__tally_reset(lw__tally *tally);

#endif
