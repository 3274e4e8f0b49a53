/* SPDX-License-Identifier: Apache-2.0 */
/* A window that moves over a shard's encoded bytes; for the decoders of compressed shards. */
#ifndef LW__FORMAT_INPUT_H
#define LW__FORMAT_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#include "storage/storage.h"

enum { LW__INPUT_BYTES = 128 * 1024 };

typedef struct lw__input {
    lw__object *object;
    uint64_t offset; /* of data[0] in the shard */
    size_t at;       /* the next byte to take */
    size_t count;
    unsigned char *data; /* LW__INPUT_BYTES */
} lw__input;

lw_status lw__input_open(lw__input *input, const char *path, uint64_t shard_bytes, uint64_t begin,
                         lw_error *err);
/* Loads more when all is taken; at the shard's end count stays equal to at. */
lw_status lw__input_fill(lw__input *input, lw_error *err);
/* The offset in the shard of the next byte to take. */
uint64_t lw__input_offset(const lw__input *input);
void lw__input_close(lw__input *input);

#endif
