/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a shard's bytes, as evidence that a file is still the one a state was saved with.
 *
 * A whole hash would read terabytes, and times of modification change when data is copied to another
 * machine. So equal pieces, spread from the first byte to the last, are hashed instead.
 */
#include <xxhash.h>

#include "base/alloc.h"
#include "base/error.h"
#include "format/format.h"
#include "storage/storage.h"

/* Of a source; shared out over its shards. Read in some milliseconds from a local disk's cache. */
#define SOURCE_BYTES (UINT64_C(16) << 20)
#define PIECE_BYTES  UINT64_C(4096)
#define LEAST_PIECES UINT64_C(2)

/* How many pieces a shard gives, and how they lie. */
typedef struct layout {
    uint64_t count;
    uint64_t bytes; /* of a piece; the last one may be shorter */
    uint64_t step;  /* from the start of one to the start of the next */
} layout;

static layout layout_of(uint64_t shard_bytes, uint64_t shard_count)
{
    uint64_t pieces = SOURCE_BYTES / PIECE_BYTES / shard_count;
    pieces = pieces < LEAST_PIECES ? LEAST_PIECES : pieces;
    if (shard_bytes <= pieces * PIECE_BYTES) {
        return (layout){(shard_bytes + PIECE_BYTES - 1) / PIECE_BYTES, PIECE_BYTES, PIECE_BYTES};
    }
    return (layout){pieces, PIECE_BYTES, (shard_bytes - PIECE_BYTES) / (pieces - 1)};
}

static lw_status hash_pieces(lw__object *object, const layout *lie, XXH3_state_t *hash,
                             unsigned char *piece, lw_error *err)
{
    for (uint64_t i = 0; i < lie->count; i++) {
        uint64_t at = i * lie->step;
        uint64_t left = object->bytes - at;
        size_t count = (size_t)(left < lie->bytes ? left : lie->bytes);
        LW__TRY(lw__storage_read(object, at, piece, count, err));
        XXH3_64bits_update(hash, piece, count);
    }
    return LW_OK;
}

static lw_status hash_object(lw__object *object, const layout *lie, uint32_t *out, lw_error *err)
{
    unsigned char *piece = lw__alloc(PIECE_BYTES);
    XXH3_state_t *hash = XXH3_createState();
    lw_status status = LW_OK;
    if (piece == NULL || hash == NULL) {
        status = lw__fail_nomem(err, PIECE_BYTES, "a sample");
    } else {
        XXH3_64bits_reset(hash);
        XXH3_64bits_update(hash, &object->bytes, sizeof object->bytes);
        status = hash_pieces(object, lie, hash, piece, err);
        *out = (uint32_t)(XXH3_64bits_digest(hash) >> 32);
    }
    XXH3_freeState(hash);
    lw__free(piece);
    return status;
}

lw_status lw__dataset_sample(const lw__dataset *dataset, size_t shard, uint32_t *out, lw_error *err)
{
    const lw__shard *file = lw__dataset_shard(dataset, shard);
    layout lie = layout_of(file->bytes, lw__dataset_shard_count(dataset));
    lw__object *object = NULL;
    *out = 0;
    if (file->bytes == 0) {
        return LW_OK;
    }
    LW__TRY(lw__storage_open(file->path, file->bytes, &object, err));
    lw_status status = hash_object(object, &lie, out, err);
    lw__storage_close(object);
    return status;
}
