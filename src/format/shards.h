/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and orders a source's shards, and picks their decoders. Inside the format layer only. */
#ifndef LW__FORMAT_SHARDS_H
#define LW__FORMAT_SHARDS_H

#include "format/decoder.h"
#include "format/format.h"
#include "storage/storage.h"

/* Lists all path entries, sorted by path bytes; a path that comes twice is an error. */
lw_status lw__shards_list(const lw__dataset_options *options, lw__files *files, lw_error *err);

/* The decoder for a shard's name; fails if the name says no format and the options neither. */
lw_status lw__shards_decoder(const lw__dataset_options *options, const char *path,
                             const lw__decoder_type **out, lw_error *err);

#endif
