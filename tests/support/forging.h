/* SPDX-License-Identifier: Apache-2.0 */
/* States as no run would save them, with checksums that are right: they must do no harm. */
#ifndef LW__TEST_FORGING_H
#define LW__TEST_FORGING_H

#include <xxhash.h>

#include "base/alloc.h"
#include "support/running.h"

enum { FORGE_PIECES = 8, FORGE_CHECK = 8 };

/* The state with other bytes (without checksum) for one piece. */
static inline lw_state *forge_piece(const lw_state *saved, size_t piece, const void *data,
                                    size_t bytes)
{
    lw_str names[FORGE_PIECES];
    lw_str pieces[FORGE_PIECES];
    lw_state *forged = NULL;
    size_t count = lw_state_piece_count(saved);
    uint64_t check = XXH3_64bits(data, bytes);
    char *sealed = lw__alloc(bytes + FORGE_CHECK);
    assert_non_null(sealed);
    assert_true(count <= FORGE_PIECES);
    memcpy(sealed, data, bytes);
    for (size_t i = 0; i < FORGE_CHECK; i++) {
        sealed[bytes + i] = (char)(check >> 8 * i);
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = lw_state_piece_name(saved, i);
        pieces[i] = lw_state_piece_bytes(saved, i);
    }
    pieces[piece] = (lw_str){sealed, bytes + FORGE_CHECK};
    assert_int_equal(lw_state_from_pieces(names, pieces, count, &forged, NULL), LW_OK);
    lw__free(sealed);
    return forged;
}

/* Goes on from a forged state for a few steps, or fails; a failure fills its error. */
static inline void forge_run(lw_recipe *recipe, const lw_state *forged)
{
    lw_pipeline *pipeline = NULL;
    lw_batch *batch = NULL;
    lw_error err = {0};
    lw_status status = lw_pipeline_open(recipe, NULL, forged, &pipeline, &err);
    for (int i = 0; i < 3 && status == LW_OK; i++) {
        status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, &err);
        lw_batch_release(batch);
    }
    assert_true(status >= 0 || err.status == status);
    lw_pipeline_close(pipeline);
}

/* Runs from the state with each bit of a piece flipped in turn. */
static inline void forge_each_bit(lw_recipe *recipe, const lw_state *saved, size_t piece)
{
    lw_str whole = lw_state_piece_bytes(saved, piece);
    size_t bytes = whole.bytes - FORGE_CHECK;
    char *copy = lw__copy_text(whole.data, bytes);
    assert_non_null(copy);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        lw_state *forged = forge_piece(saved, piece, copy, bytes);
        forge_run(recipe, forged);
        lw_state_close(forged);
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
    }
    lw__free(copy);
}

#endif
