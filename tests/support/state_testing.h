/* SPDX-License-Identifier: Apache-2.0 */
/* States made by hand: an identity, and pieces that need no pipeline. */
#ifndef LW__TEST_STATE_TESTING_H
#define LW__TEST_STATE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <laneway/laneway.h>

#include "base/alloc.h"
#include "checkpoint/checkpoint.h"
#include "support/scratch.h"

/* An identity with two fields and no sources; `value` is that of the second. */
static inline void made_identity(lw__identity *identity, const char *value)
{
    *identity = (lw__identity){.recipe_text = lw__copy_text("seed: 1\n", 8)};
    assert_non_null(identity->recipe_text);
    assert_int_equal(lw__identity_add(identity, "seed", "1", NULL), LW_OK);
    assert_int_equal(lw__identity_add(identity, "context", value, NULL), LW_OK);
}

/* Adds a piece that holds these bytes. */
static inline void made_add(lw_state *state, const char *name, const void *data, size_t count)
{
    lw__bytes bytes;
    lw__bytes_init(&bytes);
    lw__bytes_put(&bytes, data, count);
    assert_int_equal(lw__state_add(state, name, &bytes, NULL), LW_OK);
    lw__bytes_reset(&bytes);
}

static inline void made_add_global(lw_state *state, lw__identity *identity, uint64_t step)
{
    lw__bytes bytes;
    lw__bytes_init(&bytes);
    assert_int_equal(lw__identity_sample(identity, NULL), LW_OK);
    assert_int_equal(lw__global_save(identity, step, &bytes, NULL), LW_OK);
    made_add(state, "global", bytes.data, bytes.count);
    lw__bytes_reset(&bytes);
}

static inline void made_add_lane(lw_state *state, uint64_t lane, uint64_t taken, const char *marker)
{
    lw__lane_piece piece = {.lane = lane, .taken = taken, .marker = {marker, strlen(marker)}};
    assert_int_equal(lw__lane_piece_save(state, &piece, NULL), LW_OK);
}

static inline lw_state *made_finish(lw_state *state)
{
    lw_error err = {0};
    if (lw__state_finish(state, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return state;
}

/* A state after `step` steps with the lanes [first, end). */
static inline lw_state *made_state(uint64_t step, uint64_t first, uint64_t end)
{
    lw_state *state = NULL;
    lw__identity identity;
    made_identity(&identity, "32");
    assert_int_equal(lw__state_create(&state, NULL), LW_OK);
    for (uint64_t lane = end; lane-- > first;) {
        char marker[32];
        snprintf(marker, sizeof marker, "%cmarker of %u", 9, (unsigned)lane);
        made_add_lane(state, lane, 3 * step, marker);
    }
    made_add_global(state, &identity, step);
    lw__identity_reset(&identity);
    return made_finish(state);
}

static inline lw_state *made_parse(const void *data, size_t bytes)
{
    lw_state *state = NULL;
    lw_error err = {0};
    if (lw_state_parse(data, bytes, &state, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return state;
}

static inline void made_same(const lw_state *a, const lw_state *b)
{
    assert_int_equal(lw_state_step(a), lw_state_step(b));
    assert_int_equal(lw_state_bytes(a).bytes, lw_state_bytes(b).bytes);
    assert_memory_equal(lw_state_bytes(a).data, lw_state_bytes(b).data, lw_state_bytes(a).bytes);
}

#endif
