/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: a few integers that say where a stream stands (docs/checkpoints.md).
 *
 * A state is a set of named pieces: "global" and one per lane, "lane_00000" and so on. It can be
 * kept as one blob, or piece by piece (as a distributed checkpoint does), and put together again in
 * any grouping.
 */
#ifndef LANEWAY_STATE_H
#define LANEWAY_STATE_H

#include <laneway/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Shared: immutable once made. */
typedef struct lw_state lw_state;

/**
 * Reads a state from a blob.
 *
 * Returns  LW_OK
 * Errors   CORRUPT (cut short, changed, or no state at all), UNSUPPORTED (a newer format), NOMEM
 * Threads  any
 * Memory   data is copied; caller owns the state (lw_state_close)
 * Since    0.1, unstable
 */
LW_API lw_status lw_state_parse(const void *data, size_t bytes, lw_state **out,
                                lw_error *err) LW_MUST_CHECK;

/** Reads a state from a file. Errors as lw_state_parse, and NOT_FOUND, IO. Since 0.1. */
LW_API lw_status lw_state_open(const char *path, lw_state **out, lw_error *err) LW_MUST_CHECK;

/**
 * Writes the blob to a file: to a temporary name beside it, synced, then renamed, so that the file
 * is whole or not there. Errors IO. Since 0.1.
 */
LW_API lw_status lw_state_write(const lw_state *state, const char *path,
                                lw_error *err) LW_MUST_CHECK;

/** The blob; borrowed until the state is closed. Since 0.1. */
LW_API lw_str lw_state_bytes(const lw_state *state);

LW_API size_t lw_state_piece_count(const lw_state *state);
/** Name and bytes of a piece, in order ("global" first); borrowed. Since 0.1. */
LW_API lw_str lw_state_piece_name(const lw_state *state, size_t index);
LW_API lw_str lw_state_piece_bytes(const lw_state *state, size_t index);

/** A state from pieces in any order; each is copied. Errors CORRUPT, INVALID (a name twice). */
LW_API lw_status lw_state_from_pieces(const lw_str *names, const lw_str *pieces, size_t count,
                                      lw_state **out, lw_error *err) LW_MUST_CHECK;

/**
 * One state from the states of several ranks. A lane that several hold must be the same in all.
 * Errors MISMATCH (other run, other step, lanes that differ), NOMEM. Since 0.1.
 */
LW_API lw_status lw_state_merge(const lw_state *const *states, size_t count, lw_state **out,
                                lw_error *err) LW_MUST_CHECK;

/** Steps taken before this state: the next one has this number. Since 0.1. */
LW_API uint64_t lw_state_step(const lw_state *state);

/**
 * What a person wants to see of a state, as text or (json != 0) as one JSON object.
 * The text belongs to the caller (lw_text_free). Errors NOMEM. Since 0.1.
 */
LW_API lw_status lw_state_describe(const lw_state *state, int32_t json, char **out,
                                   lw_error *err) LW_MUST_CHECK;

/** NULL is fine. Since 0.1. */
LW_API void lw_state_close(lw_state *state);

#ifdef __cplusplus
}
#endif

#endif
