/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an encoding of lines (plain, gzip, zstd) has to do: say where a shard's blocks are, and give
 * the decoded bytes of a block and of all that follows it. Inside the format layer only. A new
 * encoding is one file and one row of the table in shards.c.
 */
#ifndef LW__FORMAT_DECODER_H
#define LW__FORMAT_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

/* The end of a block that has not been reached yet. */
#define LW__END_UNKNOWN UINT64_MAX

/* The blocks of one shard. */
typedef struct lw__blocks {
    uint64_t count;
    uint64_t *starts;      /* encoded offset of each; NULL: multiples of block_bytes */
    uint64_t window_bytes; /* what decoding has to keep of the text before */
    bool sequential;       /* one block that can only be read from the front */
} lw__blocks;

/* The encoded bytes of one block. path is borrowed as long as the decoder is open. */
typedef struct lw__span {
    const char *path;
    uint64_t shard_bytes;
    uint64_t begin;
    uint64_t end;
} lw__span;

typedef struct lw__decoder lw__decoder; /* Confined */

typedef struct lw__decoder_type {
    const char *suffix;     /* of the shard's name; "" for plain */
    uint64_t working_bytes; /* of an open decoder, the window left out */
    /* Finds the blocks; reads at most headers. */
    lw_status (*cut)(const char *path, uint64_t shard_bytes, uint64_t block_bytes,
                     lw__blocks *blocks, lw_error *err);
    lw_status (*open)(const lw__span *span, lw__decoder **out, lw_error *err);
    /*
     * Gives the next bytes, past the block's end too. *count is 0 only at the shard's end. After a
     * failure *count tells the bytes before it, and the decoder can only be closed.
     */
    lw_status (*read)(lw__decoder *decoder, unsigned char *out, size_t room, size_t *count,
                      lw_error *err);
    void (*close)(lw__decoder *decoder);
} lw__decoder_type;

/* The head of every decoder. */
struct lw__decoder {
    const lw__decoder_type *type;
    /*
     * Decoded bytes of the block. While it is LW__END_UNKNOWN, all bytes given so far are the
     * block's; no read goes over the end before setting it; at the shard's end it is known.
     */
    uint64_t block_end;
};

extern const lw__decoder_type lw__decoder_plain;
extern const lw__decoder_type lw__decoder_gzip;
extern const lw__decoder_type lw__decoder_zstd;

#endif
