/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source's shards and the table of their blocks. Opening lists files and, for zstd, reads frame
 * headers; it reads no data. What a block is made of is found by a binary search over the shards.
 */
#include "format/dataset.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "format/shards.h"

/* The bounds of a block size that is chosen here, and the blocks that each lane should get. */
enum { BLOCK_MIN = 2048, BLOCK_MAX = 262144, BLOCKS_A_LANE = 32 };

/* Reading ahead of a part's end: chunks, the carry, and what a shard's handle takes. */
enum { CURSOR_BYTES = 256 * 1024 };

static uint64_t choose_block_bytes(const lw__dataset_options *options, const lw__files *files)
{
    if (options->block_bytes > 0) {
        return options->block_bytes;
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < files->count; i++) {
        bytes += files->items[i].bytes;
    }
    uint64_t lanes = options->lanes > 0 ? options->lanes : 1;
    uint64_t chosen = bytes / BLOCKS_A_LANE / lanes;
    if (chosen > BLOCK_MAX) {
        return BLOCK_MAX;
    }
    return chosen > BLOCK_MIN ? chosen : BLOCK_MIN;
}

static lw_status allocate_tables(lw__dataset *dataset, lw_error *err)
{
    size_t count = dataset->files.count;
    dataset->shards = lw__alloc_zero(count, sizeof *dataset->shards);
    dataset->blocks = lw__alloc_zero(count, sizeof *dataset->blocks);
    dataset->decoders = lw__alloc_zero(count, sizeof(lw__decoder_type *));
    dataset->tallies = lw__alloc_zero(count, sizeof *dataset->tallies);
    if (dataset->shards == NULL || dataset->blocks == NULL || dataset->decoders == NULL ||
        dataset->tallies == NULL) {
        return lw__fail_nomem(err, count * sizeof *dataset->shards, "a table of shards");
    }
    dataset->shard_count = count;
    return LW_OK;
}

static lw_status cut_shard(lw__dataset *dataset, const lw__dataset_options *options, size_t index,
                           lw_error *err)
{
    const lw__file *file = &dataset->files.items[index];
    lw__blocks *blocks = &dataset->blocks[index];
    LW__TRY(lw__shards_decoder(options, file->path, &dataset->decoders[index], err));
    LW__TRY(
        dataset->decoders[index]->cut(file->path, file->bytes, dataset->block_bytes, blocks, err));
    dataset->shards[index] = (lw__shard){
        .path = file->path,
        .name = file->name,
        .bytes = file->bytes,
        .first_block = dataset->block_count,
        .block_count = blocks->count,
        .sequential = blocks->sequential,
    };
    dataset->block_count += blocks->count;
    return LW_OK;
}

/* Every lane needs a block of its own if blocks are whole shards. */
static lw_status check_blocks(const lw__dataset *dataset, const lw__dataset_options *options,
                              lw_error *err)
{
    size_t sequential = 0;
    for (size_t i = 0; i < dataset->shard_count; i++) {
        sequential += dataset->shards[i].sequential;
    }
    if (dataset->block_count == 0 && !options->may_be_empty) {
        return lw__fail(err, LW_E_INVALID,
                        "format: source \"%s\": all %zu shards are empty, expected data",
                        dataset->name, dataset->shard_count);
    }
    if (sequential > 0 && dataset->block_count < options->lanes) {
        return lw__fail(err, LW_E_INVALID,
                        "format: source \"%s\": has %zu sequential shards for %llu lanes, expected "
                        "at least %llu; \"laneway repack\" makes them seekable",
                        dataset->name, sequential, (unsigned long long)options->lanes,
                        (unsigned long long)options->lanes);
    }
    return LW_OK;
}

static lw_status fill_dataset(lw__dataset *dataset, const lw__dataset_options *options,
                              lw_error *err)
{
    dataset->name = lw__copy_text(options->name, strlen(options->name));
    if (dataset->name == NULL) {
        return lw__fail_nomem(err, strlen(options->name) + 1, "a source's name");
    }
    if (pthread_mutex_init(&dataset->lock, NULL) != 0) {
        return lw__fail_nomem(err, sizeof dataset->lock, "a lock");
    }
    dataset->has_lock = true;
    LW__TRY(
        lw__jsonl_init(&dataset->jsonl, options->name, options->text, options->bad_policy, err));
    LW__TRY(lw__shards_list(options, &dataset->files, err));
    LW__TRY(allocate_tables(dataset, err));
    dataset->block_bytes = choose_block_bytes(options, &dataset->files);
    for (size_t i = 0; i < dataset->shard_count; i++) {
        LW__TRY(cut_shard(dataset, options, i, err));
    }
    return check_blocks(dataset, options, err);
}

lw_status lw__dataset_open(const lw__dataset_options *options, lw__dataset **out, lw_error *err)
{
    *out = NULL;
    lw__dataset *dataset = lw__alloc_zero(1, sizeof *dataset);
    if (dataset == NULL) {
        return lw__fail_nomem(err, sizeof *dataset, "a source");
    }
    lw_status status = fill_dataset(dataset, options, err);
    if (status != LW_OK) {
        lw__dataset_close(dataset);
        return status;
    }
    *out = dataset;
    return LW_OK;
}

void lw__dataset_close(lw__dataset *dataset)
{
    if (dataset == NULL) {
        return;
    }
    for (size_t i = 0; i < dataset->shard_count; i++) {
        lw__free(dataset->blocks[i].starts);
        lw__tally_reset(&dataset->tallies[i]);
    }
    lw__free(dataset->shards);
    lw__free(dataset->blocks);
    lw__free(dataset->decoders);
    lw__free(dataset->tallies);
    lw__files_reset(&dataset->files);
    lw__jsonl_reset(&dataset->jsonl);
    if (dataset->has_lock) {
        pthread_mutex_destroy(&dataset->lock);
    }
    lw__free(dataset->name);
    lw__free(dataset);
}

const char *lw__dataset_name(const lw__dataset *dataset)
{
    return dataset->name;
}

uint64_t lw__dataset_block_count(const lw__dataset *dataset)
{
    return dataset->block_count;
}

uint64_t lw__dataset_block_bytes(const lw__dataset *dataset)
{
    return dataset->block_bytes;
}

size_t lw__dataset_shard_count(const lw__dataset *dataset)
{
    return dataset->shard_count;
}

const lw__shard *lw__dataset_shard(const lw__dataset *dataset, size_t index)
{
    return &dataset->shards[index];
}

size_t lw__dataset_shard_of(const lw__dataset *dataset, uint64_t block)
{
    size_t low = 0;
    size_t high = dataset->shard_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (dataset->shards[middle].first_block <= block) {
            low = middle;
        } else {
            high = middle;
        }
    }
    /* The last shard that begins at or before the block; an empty one is followed by its like. */
    return low;
}

lw__span lw__dataset_span(const lw__dataset *dataset, size_t shard_index, uint64_t block)
{
    const lw__shard *shard = &dataset->shards[shard_index];
    const uint64_t *starts = dataset->blocks[shard_index].starts;
    uint64_t index = block - shard->first_block;
    lw__span span = {.path = shard->path, .shard_bytes = shard->bytes, .end = shard->bytes};
    if (starts != NULL) {
        span.begin = starts[index];
        span.end = index + 1 < shard->block_count ? starts[index + 1] : shard->bytes;
    } else if (!shard->sequential) {
        span.begin = index * dataset->block_bytes;
        uint64_t rest = shard->bytes - span.begin;
        span.end = span.begin + (rest < dataset->block_bytes ? rest : dataset->block_bytes);
    }
    return span;
}

uint64_t lw__dataset_read_bytes(const lw__dataset *dataset)
{
    uint64_t most = 0;
    for (size_t i = 0; i < dataset->shard_count; i++) {
        uint64_t bytes = dataset->decoders[i]->working_bytes + dataset->blocks[i].window_bytes;
        most = bytes > most ? bytes : most;
    }
    return dataset->block_bytes + CURSOR_BYTES + most;
}

lw_status lw__dataset_parse(const lw__dataset *dataset, lw__text *text, lw__documents *documents,
                            lw_error *err)
{
    return lw__jsonl_parse(&dataset->jsonl, text, documents, err);
}
