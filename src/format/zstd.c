/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zstd shards: a block is a group of whole frames, or the whole shard if it has one data frame.
 * Skippable frames hold no data and are passed over. The block's end is known when the decoder
 * stands between two frames at or past the span's encoded end. Where the frames are is found in
 * zstd_frames.c.
 */
#include <zstd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "format/decoder.h"
#include "format/input.h"
#include "format/zstd_frames.h"

/* libzstd's context, and its input and output blocks, rounded up. */
enum { CONTEXT_BYTES = 512 * 1024 };

typedef struct zstd_decoder {
    lw__decoder base;
    lw__input input;
    ZSTD_DCtx *context;
    uint64_t end; /* encoded end of the block */
    uint64_t decoded;
    uint64_t frame_start; /* encoded, for messages */
    bool in_frame;
} zstd_decoder;

static lw_status zstd_cut(const char *path, uint64_t shard_bytes, uint64_t block_bytes,
                          lw__blocks *blocks, lw_error *err)
{
    lw__object *object = NULL;
    *blocks = (lw__blocks){0};
    if (shard_bytes == 0) {
        return LW_OK;
    }
    LW__TRY(lw__storage_open(path, shard_bytes, &object, err));
    lw_status status = lw__zstd_group_frames(object, block_bytes, blocks, err);
    lw__storage_close(object);
    return status;
}

static lw_status zstd_open(const lw__span *span, lw__decoder **out, lw_error *err)
{
    zstd_decoder *decoder = lw__alloc_zero(1, sizeof *decoder);
    if (decoder == NULL) {
        return lw__fail_nomem(err, sizeof *decoder, "a decoder");
    }
    decoder->base = (lw__decoder){&lw__decoder_zstd, LW__END_UNKNOWN};
    decoder->end = span->end;
    lw_status status =
        lw__input_open(&decoder->input, span->path, span->shard_bytes, span->begin, err);
    if (status == LW_OK && (decoder->context = ZSTD_createDCtx()) == NULL) {
        lw__input_close(&decoder->input);
        status = lw__fail_nomem(err, CONTEXT_BYTES, "a zstd decoder");
    }
    if (status != LW_OK) {
        lw__free(decoder);
        return status;
    }
    ZSTD_DCtx_setParameter(decoder->context, ZSTD_d_windowLogMax, LW__ZSTD_WINDOW_LOG);
    *out = &decoder->base;
    return LW_OK;
}

static lw_status fail_frame(const zstd_decoder *decoder, const char *found, lw_error *err)
{
    return lw__fail(err, LW_E_CORRUPT,
                    "zstd: \"%s\" frame at byte %llu: %s, expected a whole frame",
                    decoder->input.object->path, (unsigned long long)decoder->frame_start, found);
}

static lw_status decode_some(zstd_decoder *decoder, ZSTD_outBuffer *out, lw_error *err)
{
    lw__input *input = &decoder->input;
    if (!decoder->in_frame) {
        decoder->frame_start = lw__input_offset(input);
    }
    ZSTD_inBuffer in = {input->data, input->count, input->at};
    size_t result = ZSTD_decompressStream(decoder->context, out, &in);
    input->at = in.pos;
    if (ZSTD_isError(result)) {
        return fail_frame(decoder, ZSTD_getErrorName(result), err);
    }
    decoder->in_frame = result != 0;
    return LW_OK;
}

/* Notes the block's end if the decoder stands on it; then the bytes given so far are all of it. */
static void note_end(zstd_decoder *decoder, size_t given)
{
    bool passed = !decoder->in_frame && lw__input_offset(&decoder->input) >= decoder->end;
    if (passed && decoder->base.block_end == LW__END_UNKNOWN) {
        decoder->base.block_end = decoder->decoded + given;
    }
}

/* Until the room is full, the shard ends, or the end of the block is found. */
static lw_status decode_all(zstd_decoder *decoder, ZSTD_outBuffer *buffer, lw_error *err)
{
    lw__decoder *base = &decoder->base;
    while (buffer->pos < buffer->size) {
        LW__TRY(lw__input_fill(&decoder->input, err));
        bool at_end = decoder->input.at == decoder->input.count;
        if (at_end && !decoder->in_frame) {
            break;
        }
        size_t before = buffer->pos;
        LW__TRY(decode_some(decoder, buffer, err));
        if (at_end && decoder->in_frame && buffer->pos == before) {
            return fail_frame(decoder, "the shard ends inside it", err);
        }
        bool was_known = base->block_end != LW__END_UNKNOWN;
        note_end(decoder, buffer->pos);
        if (!was_known && base->block_end != LW__END_UNKNOWN && buffer->pos > 0) {
            break; /* the caller may need nothing of the next block */
        }
    }
    return LW_OK;
}

static lw_status zstd_read(lw__decoder *base, unsigned char *out, size_t room, size_t *count,
                           lw_error *err)
{
    zstd_decoder *decoder = (zstd_decoder *)base;
    ZSTD_outBuffer buffer = {.size = room};
    buffer.dst = out;
    lw_status status = decode_all(decoder, &buffer, err);
    *count = buffer.pos;
    decoder->decoded += buffer.pos;
    return status;
}

static void zstd_close(lw__decoder *base)
{
    zstd_decoder *decoder = (zstd_decoder *)base;
    ZSTD_freeDCtx(decoder->context);
    lw__input_close(&decoder->input);
    lw__free(decoder);
}

const lw__decoder_type lw__decoder_zstd = {
    .suffix = ".zst",
    .working_bytes = LW__INPUT_BYTES + CONTEXT_BYTES,
    .cut = zstd_cut,
    .open = zstd_open,
    .read = zstd_read,
    .close = zstd_close,
};
