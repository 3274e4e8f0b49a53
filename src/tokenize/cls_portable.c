/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks on any processor: a table gives the classes of a byte as bits, and a multiplication
 * gathers one class of eight bytes into eight neighbouring bits.
 */
#include "tokenize/blocks.h"
#include "tokenize/blocks_masks.h"

#define HAS_SQUEEZE 0

enum { LETTER = 0, NUMBER = 1, SPACE = 2, NEWLINE = 3, BLANK = 4, APOSTROPHE = 5, HIGH = 6 };

#define L (1 << LETTER)
#define N (1 << NUMBER)
#define S (1 << SPACE)
#define E (1 << SPACE | 1 << NEWLINE)
#define B (1 << SPACE | 1 << BLANK)
#define A (1 << APOSTROPHE)
#define H (1 << HIGH)

/* clang-format off */
static const uint8_t classes[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, S, E, S, S, E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    B, 0, 0, 0, 0, 0, 0, A, 0, 0, 0, 0, 0, 0, 0, 0, N, N, N, N, N, N, N, N, N, N, 0, 0, 0, 0, 0, 0,
    0, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, 0,
    0, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, 0,
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
};
/* clang-format on */

#undef L
#undef N
#undef S
#undef E
#undef B
#undef A
#undef H

typedef struct lw__raw {
    uint64_t words[LW__BLOCK_BYTES / 8]; /* the classes of eight bytes, the first one lowest */
} lw__raw;

static inline lw__raw raw_load(const unsigned char *p, unsigned bytes)
{
    lw__raw raw = {.words = {0}};
    for (unsigned i = 0; i < bytes; i++) {
        raw.words[i / 8] |= (uint64_t)classes[p[i]] << i % 8 * 8;
    }
    return raw;
}

static inline uint64_t gather(const lw__raw *raw, unsigned class)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < LW__BLOCK_BYTES / 8; i++) {
        uint64_t ones = raw->words[i] >> class & UINT64_C(0x0101010101010101);
        bits |= (ones * UINT64_C(0x0102040810204080)) >> 56 << i * 8;
    }
    return bits;
}

static inline uint64_t raw_high(lw__raw raw)
{
    return gather(&raw, HIGH);
}

/* The walk only asks for apostrophes. */
static inline uint64_t raw_equal(lw__raw raw, char byte)
{
    (void)byte;
    return gather(&raw, APOSTROPHE);
}

static inline void raw_masks(lw__raw raw, lw__masks *masks)
{
    masks->letter = gather(&raw, LETTER);
    masks->number = gather(&raw, NUMBER);
    masks->space = gather(&raw, SPACE);
    masks->newline = gather(&raw, NEWLINE);
    masks->blank = gather(&raw, BLANK);
}

#include "tokenize/blocks_pair_cuts.h"
#include "tokenize/blocks_put_ends.h"
#include "tokenize/blocks_walk.h"

size_t lw__blocks_portable(const lw__split_rules *rules, const unsigned char *text, size_t bytes,
                           uint32_t *ends, size_t room)
{
    return walk_blocks(rules, text, bytes, ends, room);
}
