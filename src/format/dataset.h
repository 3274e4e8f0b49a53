/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a dataset; for the files of the format layer only. */
#ifndef LW__FORMAT_DATASET_H
#define LW__FORMAT_DATASET_H

#include <pthread.h>

#include "format/decoder.h"
#include "format/format.h"
#include "format/jsonl.h"
#include "format/records.h"
#include "storage/storage.h"

struct lw__dataset {
    /* Set at open, never changed. */
    char *name;
    lw__files files; /* sorted by path; shard i is file i */
    lw__shard *shards;
    lw__blocks *blocks;                /* of each shard */
    const lw__decoder_type **decoders; /* of each shard */
    size_t shard_count;
    uint64_t block_count;
    uint64_t block_bytes;
    lw__jsonl_options jsonl;

    /* Under lock. */
    pthread_mutex_t lock;
    bool has_lock;
    lw__tally *tallies; /* of each shard */
};

/* The encoded bytes of a block. */
lw__span lw__dataset_span(const lw__dataset *dataset, size_t shard_index, uint64_t block);

#endif
