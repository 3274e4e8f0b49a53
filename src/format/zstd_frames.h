/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the frames of a zstd shard without decoding them, and groups them into blocks. */
#ifndef LW__FORMAT_ZSTD_FRAMES_H
#define LW__FORMAT_ZSTD_FRAMES_H

#include "format/decoder.h"
#include "storage/storage.h"

/* Frames may ask for a window of up to 128 MiB (zstd's long mode with its default). */
enum { LW__ZSTD_WINDOW_LOG = 27 };

/*
 * Groups the data frames of a shard, as docs/stream.md says. Uses the seek table at the shard's end
 * if there is a consistent one, else walks from header to header.
 */
lw_status lw__zstd_group_frames(lw__object *object, uint64_t block_bytes, lw__blocks *blocks,
                                lw_error *err);

#endif
