/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain shards: a block is a byte range, so its place and its end are known without reading.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "format/decoder.h"
#include "storage/storage.h"

typedef struct plain_decoder {
    lw__decoder base;
    lw__object *object;
    uint64_t at;
} plain_decoder;

static lw_status plain_cut(const char *path, uint64_t shard_bytes, uint64_t block_bytes,
                           lw__blocks *blocks, lw_error *err)
{
    (void)path;
    (void)err;
    *blocks = (lw__blocks){.count = shard_bytes / block_bytes + (shard_bytes % block_bytes != 0)};
    return LW_OK;
}

static lw_status plain_open(const lw__span *span, lw__decoder **out, lw_error *err)
{
    plain_decoder *decoder = lw__alloc_zero(1, sizeof *decoder);
    if (decoder == NULL) {
        return lw__fail_nomem(err, sizeof *decoder, "a decoder");
    }
    decoder->base = (lw__decoder){&lw__decoder_plain, span->end - span->begin};
    decoder->at = span->begin;
    lw_status status = lw__storage_open(span->path, span->shard_bytes, &decoder->object, err);
    if (status != LW_OK) {
        lw__free(decoder);
        return status;
    }
    *out = &decoder->base;
    return LW_OK;
}

static lw_status plain_read(lw__decoder *base, unsigned char *out, size_t room, size_t *count,
                            lw_error *err)
{
    plain_decoder *decoder = (plain_decoder *)base;
    uint64_t left = decoder->object->bytes - decoder->at;
    *count = left < room ? (size_t)left : room;
    LW__TRY(lw__storage_read(decoder->object, decoder->at, out, *count, err));
    decoder->at += *count;
    return LW_OK;
}

static void plain_close(lw__decoder *base)
{
    plain_decoder *decoder = (plain_decoder *)base;
    lw__storage_close(decoder->object);
    lw__free(decoder);
}

const lw__decoder_type lw__decoder_plain = {
    .suffix = "",
    .working_bytes = 0,
    .cut = plain_cut,
    .open = plain_open,
    .read = plain_read,
    .close = plain_close,
};
