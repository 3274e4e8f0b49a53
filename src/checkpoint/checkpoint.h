/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: states as named pieces, the blob they travel in, and what they are compared with.
 *
 * docs/checkpoints.md describes the bytes. Every format that was released stays readable.
 */
#ifndef LW__CHECKPOINT_H
#define LW__CHECKPOINT_H

#include <laneway/state.h>

#include "base/bytes.h"
#include "format/format.h"

#define LW__STATE_FORMAT   1u
#define LW__STREAM_VERSION 1u

/* A piece as it travels: its bytes end with a checksum, so that each can be kept alone. */
typedef struct lw__state_piece {
    char *name;
    size_t name_bytes;
    char *data;
    size_t bytes; /* with the checksum */
} lw__state_piece;

/* Bytes of a piece's checksum (XXH3-64 of the rest, little-endian). */
#define LW__PIECE_CHECK 8u

struct lw_state {
    lw__state_piece *pieces; /* sorted by name: "global", then the lanes */
    size_t count;
    uint64_t step;
    lw__bytes blob;
};

/* One STREAM option and its canonical value. */
typedef struct lw__field {
    char *key;
    char *value;
} lw__field;

/* What a stream is made of: compared field by field and file by file. */
typedef struct lw__identity {
    lw__field *fields;
    size_t field_count;
    size_t field_capacity;
    lw__dataset *const *datasets;
    size_t dataset_count;
    char *recipe_text;
    uint32_t *samples; /* of all shards of all sources, in order; NULL: not taken yet */
} lw__identity;

/* Samples every shard, unless that was done. The first save or compare does it, not the open. */
lw_status lw__identity_sample(lw__identity *identity, lw_error *err);
lw_status lw__identity_add(lw__identity *identity, const char *key, const char *value,
                           lw_error *err);
void lw__identity_reset(lw__identity *identity);

/* ---- state.c: pieces and blobs -------------------------------------------------------------- */

/* A state under construction: add pieces, then finish (which sorts them and makes the blob). */
lw_status lw__state_create(lw_state **out, lw_error *err);
/* Adds a piece from what it is to hold; appends the checksum to `data`. */
lw_status lw__state_add(lw_state *state, const char *name, lw__bytes *data, lw_error *err);
lw_status lw__state_finish(lw_state *state, lw_error *err);
const lw__state_piece *lw__state_find(const lw_state *state, const char *name);

/* ---- global.c: the piece "global" ----------------------------------------------------------- */

lw_status lw__global_save(const lw__identity *identity, uint64_t step, lw__bytes *out,
                          lw_error *err);
/* LW_E_MISMATCH naming the first field or file that differs. Takes the samples. */
lw_status lw__global_compare(const lw_state *state, lw__identity *identity, lw_error *err);

/* A parsed global piece; texts are borrowed from it. */
typedef struct lw__global {
    uint64_t stream_version;
    uint64_t step;
    lw_str recipe;
    uint64_t field_count;
    lw__reader fields; /* field_count times key, value */
    uint64_t source_count;
    lw__reader sources; /* source_count times name, shard count, shards */
} lw__global;

lw_status lw__global_parse(const lw__state_piece *piece, lw__global *out, lw_error *err);
/* Two "global" pieces of one run at one step; their recipes' SPEED options and paths may differ. */
bool lw__global_is_same(const lw__state_piece *a, const lw__state_piece *b);
/* Reads a shard's front-coded name into `name` (grown), its bytes and its sample. */
void lw__global_next_shard(lw__reader *from, lw__bytes *name, uint64_t *bytes, uint32_t *sample);

/* ---- lane.c: the pieces "lane_00000" ... ---------------------------------------------------- */

typedef struct lw__lane_piece {
    uint64_t lane;
    uint64_t taken; /* rows delivered in all */
    lw_str marker;
} lw__lane_piece;

void lw__lane_piece_name(uint64_t lane, char out[32]);
lw_status lw__lane_piece_save(lw_state *state, const lw__lane_piece *piece, lw_error *err);
lw_status lw__lane_piece_parse(const lw__state_piece *piece, lw__lane_piece *out, lw_error *err);
/* The piece of a lane; LW_E_NOT_FOUND names it when the state lacks it. */
lw_status lw__lane_piece_find(const lw_state *state, uint64_t lane, lw__lane_piece *out,
                              lw_error *err);

#endif
