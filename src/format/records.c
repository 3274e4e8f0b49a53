/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of records. Nothing counts records until someone asks; then the blocks before the one
 * asked for are read once, and what was learned is kept. So naming every record of a source costs
 * one more reading of it, in whatever order it is done.
 */
#include "format/records.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "format/cursor.h"
#include "format/dataset.h"

void lw__tally_reset(lw__tally *tally)
{
    lw__free(tally->blocks);
    lw__free(tally->part_records);
    *tally = (lw__tally){0};
}

static lw_status reserve_block(lw__tally *tally, lw_error *err)
{
    if (tally->block_count + 1 < tally->block_capacity) {
        return LW_OK;
    }
    bool is_new = tally->block_capacity == 0;
    size_t capacity = is_new ? 4 : tally->block_capacity * 2;
    lw__tally_block *blocks = lw__resize_array(tally->blocks, capacity, sizeof *blocks);
    if (blocks == NULL) {
        return lw__fail_nomem(err, capacity * sizeof *blocks, "record numbers");
    }
    if (is_new) {
        blocks[0] = (lw__tally_block){0};
    }
    tally->blocks = blocks;
    tally->block_capacity = capacity;
    return LW_OK;
}

static lw_status put_part(lw__tally *tally, uint64_t first_record, lw_error *err)
{
    if (tally->part_count == tally->part_capacity) {
        size_t capacity = tally->part_capacity == 0 ? 4 : tally->part_capacity * 2;
        uint64_t *records = lw__resize_array(tally->part_records, capacity, sizeof *records);
        if (records == NULL) {
            return lw__fail_nomem(err, capacity * sizeof *records, "record numbers");
        }
        tally->part_records = records;
        tally->part_capacity = capacity;
    }
    tally->part_records[tally->part_count++] = first_record;
    tally->known_parts = tally->part_count;
    return LW_OK;
}

/* Counts the parts of one block; *records goes from its first record to the next block's. */
static lw_status count_parts(lw__tally *tally, lw__cursor *cursor, lw__text *text,
                             uint64_t *records, lw_error *err)
{
    bool last = false;
    while (!last) {
        LW__TRY(put_part(tally, *records, err));
        LW__TRY(lw__cursor_read(cursor, text, &last, err));
        *records += lw__jsonl_count(text->data, text->count);
    }
    return LW_OK;
}

/* Counts the first block that is not counted yet. On failure its parts before the fault are known. */
static lw_status count_block(const lw__dataset *dataset, lw__tally *tally, uint64_t block,
                             lw_error *err)
{
    LW__TRY(reserve_block(tally, err));
    lw__cursor *cursor = NULL;
    LW__TRY(lw__cursor_open(dataset, block, 0, &cursor, err));
    lw__text text = {0};
    lw__tally_block *at = &tally->blocks[tally->block_count];
    uint64_t records = at->first_record;
    lw_status status = count_parts(tally, cursor, &text, &records, err);
    if (status == LW_OK) {
        at[1] = (lw__tally_block){at->decoded_offset + lw__cursor_block_end(cursor), records,
                                  tally->part_count};
        tally->block_count++;
    } else {
        tally->part_count = at->first_part;
    }
    lw__text_reset(&text);
    lw__cursor_close(cursor);
    return status;
}

/* What is known of a part. */
typedef struct part_place {
    uint64_t first_record;
    uint64_t decoded_offset; /* of its block */
} part_place;

/* Whether a part has a number: of a block that is counted, or could be up to there. */
static bool is_known(const lw__tally *tally, size_t index, uint64_t part)
{
    return tally->block_count >= index + (part > 0) ||
           (tally->block_count == index &&
            tally->blocks[index].first_part + part < tally->known_parts);
}

/* Counts blocks until the part has a number. */
static lw_status count_up_to(const lw__dataset *dataset, lw__tally *tally, uint64_t first_block,
                             size_t index, uint64_t part, lw_error *err)
{
    while (!is_known(tally, index, part)) {
        lw_error fault = {.status = LW_OK};
        lw_status status = count_block(dataset, tally, first_block + tally->block_count, &fault);
        if (status < 0 && !is_known(tally, index, part)) {
            if (err != NULL) {
                *err = fault;
            }
            return status;
        }
    }
    return LW_OK;
}

static lw_status find_part(const lw__dataset *dataset, uint64_t block, uint64_t part,
                           part_place *out, lw_error *err)
{
    size_t shard_index = lw__dataset_shard_of(dataset, block);
    lw__tally *tally = &dataset->tallies[shard_index];
    uint64_t first_block = dataset->shards[shard_index].first_block;
    size_t index = (size_t)(block - first_block);
    LW__TRY(reserve_block(tally, err));
    LW__TRY(count_up_to(dataset, tally, first_block, index, part, err));
    const lw__tally_block *at = &tally->blocks[index];
    *out = (part_place){at->first_record, at->decoded_offset};
    if (part > 0) {
        if (index < tally->block_count && part >= at[1].first_part - at->first_part) {
            return lw__fail(err, LW_E_INVALID,
                            "format: source \"%s\" block %llu: part %llu asked for, expected one "
                            "of %zu",
                            dataset->name, (unsigned long long)block, (unsigned long long)part,
                            at[1].first_part - at->first_part);
        }
        out->first_record = tally->part_records[at->first_part + part];
    }
    return LW_OK;
}

static lw_status find_part_locked(lw__dataset *dataset, uint64_t block, uint64_t part,
                                  part_place *out, lw_error *err)
{
    pthread_mutex_lock(&dataset->lock);
    lw_status status = find_part(dataset, block, part, out, err);
    pthread_mutex_unlock(&dataset->lock);
    return status;
}

lw_status lw__dataset_record_number(lw__dataset *dataset, uint64_t block, uint64_t part,
                                    uint64_t *out, lw_error *err)
{
    part_place place = {0};
    *out = 0;
    LW__TRY(find_part_locked(dataset, block, part, &place, err));
    *out = place.first_record;
    return LW_OK;
}

lw_status lw__dataset_fail_record(lw__dataset *dataset, uint64_t block, uint64_t part, size_t index,
                                  const lw__fault *fault, lw_error *err)
{
    part_place found = {0};
    /* The bad record is what has to be told, even where the records before it cannot be read. */
    bool is_counted = find_part_locked(dataset, block, part, &found, NULL) == LW_OK;
    lw__record_place place = {
        .path = dataset->shards[lw__dataset_shard_of(dataset, block)].path,
        .is_counted = is_counted,
        .record = found.first_record + index,
        .byte = found.decoded_offset + fault->at,
        .block = block,
    };
    return lw__jsonl_fail(&dataset->jsonl, &place, fault, err);
}

void lw__dataset_name_record(lw__dataset *dataset, uint64_t block, uint64_t part, size_t index,
                             lw_error *err)
{
    part_place found = {0};
    if (err == NULL) {
        return;
    }
    lw_error said = *err;
    const char *path = dataset->shards[lw__dataset_shard_of(dataset, block)].path;
    if (find_part_locked(dataset, block, part, &found, NULL) == LW_OK) {
        lw__fail(err, said.status, "%s, at \"%s\" record %llu", said.message, path,
                 (unsigned long long)(found.first_record + index));
    } else {
        lw__fail(err, said.status, "%s, at \"%s\" block %llu part %llu record %zu of it",
                 said.message, path, (unsigned long long)block, (unsigned long long)part, index);
    }
    err->os_errno = said.os_errno;
    err->flags = said.flags;
    err->tag = said.tag;
}
