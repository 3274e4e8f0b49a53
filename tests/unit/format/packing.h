/* SPDX-License-Identifier: Apache-2.0 */
/* Makes gzip and zstd shards in memory; a test includes this once. */
#ifndef LW__TEST_PACKING_H
#define LW__TEST_PACKING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/bytes.h"

/* Appends one gzip member. */
static inline void put_gzip(lw__bytes *out, const void *data, size_t count)
{
    z_stream stream = {0};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    size_t bound = deflateBound(&stream, count) + 64;
    lw__bytes_reserve(out, bound);
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)count;
    stream.next_out = out->data + out->count;
    stream.avail_out = (uInt)bound;
    deflate(&stream, Z_FINISH);
    out->count += bound - stream.avail_out;
    deflateEnd(&stream);
}

/* Appends one zstd frame with a checksum; returns its bytes. */
static inline size_t put_zstd(lw__bytes *out, const void *data, size_t count, int level)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    size_t bound = ZSTD_compressBound(count);
    lw__bytes_reserve(out, bound);
    size_t bytes = ZSTD_compress2(context, out->data + out->count, bound, data, count);
    out->count += bytes;
    ZSTD_freeCCtx(context);
    return bytes;
}

static inline void put_u32(lw__bytes *out, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        lw__bytes_put_u8(out, (uint8_t)(value >> (8 * i)));
    }
}

/* Appends a skippable frame. */
static inline void put_skippable(lw__bytes *out, const void *data, size_t count)
{
    put_u32(out, UINT32_C(0x184D2A53));
    put_u32(out, (uint32_t)count);
    lw__bytes_put(out, data, count);
}

/* Appends a seek table of (encoded bytes, decoded bytes) pairs. */
static inline void put_seek_table(lw__bytes *out, const uint32_t *pairs, uint32_t frames)
{
    put_u32(out, UINT32_C(0x184D2A5E));
    put_u32(out, frames * 8 + 9);
    for (uint32_t i = 0; i < 2 * frames; i++) {
        put_u32(out, pairs[i]);
    }
    put_u32(out, frames);
    lw__bytes_put_u8(out, 0);
    put_u32(out, UINT32_C(0x8F92EAB1));
}

/* A small generator of numbers, the same everywhere. */
static inline uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % below);
}

#endif
