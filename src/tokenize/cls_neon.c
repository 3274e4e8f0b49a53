/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks on 64-bit ARM: comparisons classify four quarters of 16 bytes, and pairwise sums of a
 * bit for each byte make masks of them.
 */
#include "tokenize/blocks.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>

#include "tokenize/blocks_masks.h"

typedef struct lw__raw {
    uint8x16_t quarters[4];
} lw__raw;

static inline lw__raw raw_load(const unsigned char *p, unsigned bytes)
{
    unsigned char copy[LW__BLOCK_BYTES];
    if (bytes < LW__BLOCK_BYTES) {
        memset(copy, 0, sizeof copy);
        memcpy(copy, p, bytes);
        p = copy;
    }
    return (lw__raw){{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
}

/* Bit i: byte i is not 0 (it is 0 or 0xFF). */
static inline uint64_t join(lw__raw found)
{
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t *q = found.quarters;
    uint8x16_t low = vpaddq_u8(vandq_u8(q[0], bits), vandq_u8(q[1], bits));
    uint8x16_t high = vpaddq_u8(vandq_u8(q[2], bits), vandq_u8(q[3], bits));
    uint8x16_t sums = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

static inline uint64_t raw_equal(lw__raw raw, unsigned char byte)
{
    for (unsigned i = 0; i < 4; i++) {
        raw.quarters[i] = vceqq_u8(raw.quarters[i], vdupq_n_u8(byte));
    }
    return join(raw);
}

static inline uint64_t raw_at_least(lw__raw raw, unsigned char byte)
{
    for (unsigned i = 0; i < 4; i++) {
        raw.quarters[i] = vcgeq_u8(raw.quarters[i], vdupq_n_u8(byte));
    }
    return join(raw);
}

static inline uint64_t raw_within(lw__raw raw, unsigned char first, unsigned char last)
{
    uint8x16_t most = vdupq_n_u8((unsigned char)(last - first));
    for (unsigned i = 0; i < 4; i++) {
        raw.quarters[i] = vcleq_u8(vsubq_u8(raw.quarters[i], vdupq_n_u8(first)), most);
    }
    return join(raw);
}

static inline uint64_t raw_high(lw__raw raw)
{
    return raw_at_least(raw, 0x80);
}

static inline void raw_masks(lw__raw raw, lw__masks *masks)
{
    masks->upper = raw_within(raw, 'A', 'Z');
    masks->letter = masks->upper | raw_within(raw, 'a', 'z');
    masks->number = raw_within(raw, '0', '9');
    masks->symbol = raw_within(raw, '!', '~') & ~(masks->letter | masks->number);
    masks->blank = raw_equal(raw, ' ');
    masks->space = masks->blank | raw_within(raw, '\t', '\r');
    masks->newline = raw_equal(raw, '\n') | raw_equal(raw, '\r');
}

#include "tokenize/blocks_kinds_each.h"
#include "tokenize/blocks_pair_cuts.h"
#include "tokenize/blocks_put_ends.h"
#include "tokenize/blocks_squeeze.h"
#include "tokenize/blocks_walk.h"

size_t lw__blocks_neon(const lw__split_rules *rules, const unsigned char *text, size_t bytes,
                       uint32_t *ends, size_t room)
{
    return walk_blocks(rules, text, bytes, ends, room);
}

#endif
