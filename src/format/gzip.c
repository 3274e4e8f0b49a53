/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gzip shards: one block, read from the front. A shard may have several members; their texts follow
 * each other. Anything else after a member, or an end inside one, is an error.
 */
#include <zlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "format/decoder.h"
#include "format/input.h"

/* zlib's own state and its 32 KiB window, rounded up. */
enum { INFLATE_BYTES = 48 * 1024, WINDOW_BITS = 15, GZIP_ONLY = 16 };

typedef struct gzip_decoder {
    lw__decoder base;
    lw__input input;
    z_stream stream;
    uint64_t decoded;
    bool in_member;
} gzip_decoder;

static lw_status gzip_cut(const char *path, uint64_t shard_bytes, uint64_t block_bytes,
                          lw__blocks *blocks, lw_error *err)
{
    (void)path;
    (void)block_bytes;
    (void)err;
    *blocks = (lw__blocks){.count = shard_bytes > 0, .sequential = shard_bytes > 0};
    return LW_OK;
}

static lw_status gzip_open(const lw__span *span, lw__decoder **out, lw_error *err)
{
    gzip_decoder *decoder = lw__alloc_zero(1, sizeof *decoder);
    if (decoder == NULL) {
        return lw__fail_nomem(err, sizeof *decoder, "a decoder");
    }
    decoder->base = (lw__decoder){&lw__decoder_gzip, LW__END_UNKNOWN};
    lw_status status =
        lw__input_open(&decoder->input, span->path, span->shard_bytes, span->begin, err);
    if (status == LW_OK && inflateInit2(&decoder->stream, WINDOW_BITS + GZIP_ONLY) != Z_OK) {
        lw__input_close(&decoder->input);
        status = lw__fail_nomem(err, INFLATE_BYTES, "a gzip decoder");
    }
    if (status != LW_OK) {
        lw__free(decoder);
        return status;
    }
    decoder->in_member = true;
    *out = &decoder->base;
    return LW_OK;
}

static lw_status fail_gzip(const gzip_decoder *decoder, const char *found, const char *expected,
                           lw_error *err)
{
    return lw__fail(err, LW_E_CORRUPT, "gzip: \"%s\" at byte %llu: %s, expected %s",
                    decoder->input.object->path,
                    (unsigned long long)lw__input_offset(&decoder->input), found, expected);
}

/* Starts the next member, whose first byte is there. */
static lw_status begin_member(gzip_decoder *decoder, lw_error *err)
{
    if (decoder->input.data[decoder->input.at] != 0x1F) {
        return fail_gzip(decoder, "bytes after the last member", "a gzip member or the end", err);
    }
    inflateReset(&decoder->stream);
    decoder->in_member = true;
    return LW_OK;
}

/* Decodes from the bytes that are there into what is left of the caller's room. */
static lw_status inflate_some(gzip_decoder *decoder, lw_error *err)
{
    lw__input *input = &decoder->input;
    z_stream *stream = &decoder->stream;
    stream->next_in = input->data + input->at;
    stream->avail_in = (uInt)(input->count - input->at);
    int result = inflate(stream, Z_NO_FLUSH);
    input->at = input->count - stream->avail_in;
    if (result == Z_STREAM_END) {
        decoder->in_member = false;
    } else if (result == Z_MEM_ERROR) {
        return lw__fail_nomem(err, INFLATE_BYTES, "a gzip decoder");
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return fail_gzip(decoder, stream->msg != NULL ? stream->msg : "damaged bytes",
                         "a whole gzip member", err);
    }
    return LW_OK;
}

/* Until the room is full or the shard ends. */
static lw_status inflate_all(gzip_decoder *decoder, lw_error *err)
{
    while (decoder->stream.avail_out > 0) {
        LW__TRY(lw__input_fill(&decoder->input, err));
        bool at_end = decoder->input.at == decoder->input.count;
        if (at_end && decoder->in_member) {
            return fail_gzip(decoder, "the shard ends inside a member", "the member's end", err);
        }
        if (at_end) {
            break;
        }
        if (!decoder->in_member) {
            LW__TRY(begin_member(decoder, err));
        }
        LW__TRY(inflate_some(decoder, err));
    }
    return LW_OK;
}

static lw_status gzip_read(lw__decoder *base, unsigned char *out, size_t room, size_t *count,
                           lw_error *err)
{
    gzip_decoder *decoder = (gzip_decoder *)base;
    z_stream *stream = &decoder->stream;
    uInt wanted = room < UINT32_MAX ? (uInt)room : UINT32_MAX;
    stream->next_out = out;
    stream->avail_out = wanted;
    lw_status status = inflate_all(decoder, err);
    *count = wanted - stream->avail_out;
    decoder->decoded += *count;
    if (status == LW_OK && *count == 0) {
        base->block_end = decoder->decoded;
    }
    return status;
}

static void gzip_close(lw__decoder *base)
{
    gzip_decoder *decoder = (gzip_decoder *)base;
    inflateEnd(&decoder->stream);
    lw__input_close(&decoder->input);
    lw__free(decoder);
}

const lw__decoder_type lw__decoder_gzip = {
    .suffix = ".gz",
    .working_bytes = LW__INPUT_BYTES + INFLATE_BYTES,
    .cut = gzip_cut,
    .open = gzip_open,
    .read = gzip_read,
    .close = gzip_close,
};
