/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks on any processor: a table gives the classes of an ASCII byte as bits, words of eight bytes are
 * compared at once, and a multiplication gathers a bit of each byte into eight neighbouring bits.
 */
#include <string.h>

#include "tokenize/blocks.h"
#include "tokenize/blocks_masks.h"

enum { LETTER, UPPER, NUMBER, SYMBOL, SPACE, NEWLINE, BLANK };

#define L (1 << LETTER)
#define U (1 << LETTER | 1 << UPPER)
#define N (1 << NUMBER)
#define P (1 << SYMBOL)
#define S (1 << SPACE)
#define E (1 << SPACE | 1 << NEWLINE)
#define B (1 << SPACE | 1 << BLANK)

/* clang-format off */
static const uint8_t classes[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, S, E, S, S, E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    B, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, N, N, N, N, N, N, N, N, N, N, P, P, P, P, P, P,
    P, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, P, P, P, P, P,
    P, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, P, P, P, P, 0,
};

/* clang-format on */

#undef L
#undef U
#undef N
#undef P
#undef S
#undef E
#undef B

#define WORDS (LW__BLOCK_BYTES / 8)
#define ONES  UINT64_C(0x0101010101010101) /* times a byte: that byte eight times */
#define TOPS  (ONES << 7)

typedef struct lw__raw {
    unsigned char bytes[LW__BLOCK_BYTES];
} lw__raw;

static inline lw__raw raw_load(const unsigned char *p, unsigned bytes)
{
    lw__raw raw;
    if (bytes == LW__BLOCK_BYTES) {
        memcpy(raw.bytes, p, LW__BLOCK_BYTES);
    } else {
        memset(raw.bytes, 0, LW__BLOCK_BYTES);
        memcpy(raw.bytes, p, bytes);
    }
    return raw;
}

/* Eight bytes, the first one lowest. */
static inline uint64_t word_at(const unsigned char *p)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) {
        word |= (uint64_t)p[i] << 8 * i;
    }
    return word;
}

/* Bit i of byte i of the block: its bit 7. */
static inline uint64_t gather_tops(uint64_t word)
{
    return ((word >> 7 & ONES) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline uint64_t raw_high(lw__raw raw)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        bits |= gather_tops(word_at(raw.bytes + 8 * i)) << 8 * i;
    }
    return bits;
}

static inline uint64_t raw_equal(lw__raw raw, unsigned char byte)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t differ = word_at(raw.bytes + 8 * i) ^ ONES * byte;
        uint64_t not_zero = ((differ & ~TOPS) + ~TOPS) | differ; /* its tops */
        bits |= gather_tops(~not_zero) << 8 * i;
    }
    return bits;
}

static inline uint64_t raw_at_least(lw__raw raw, unsigned byte)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t word = word_at(raw.bytes + 8 * i);
        uint64_t sum = (word & ~TOPS) + ONES * (0x100 - byte);
        bits |= gather_tops(sum & word) << 8 * i;
    }
    return bits;
}

static inline uint64_t raw_within(lw__raw raw, unsigned first, unsigned last)
{
    return raw_at_least(raw, first) & ~raw_at_least(raw, last + 1);
}

static inline uint64_t gather(const uint64_t words[static WORDS], unsigned class)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        bits |= gather_tops(words[i] << (7 - class)) << 8 * i;
    }
    return bits;
}

static inline void raw_masks(lw__raw raw, lw__masks *masks)
{
    uint64_t found[WORDS];
    for (unsigned i = 0; i < LW__BLOCK_BYTES; i++) {
        raw.bytes[i] = classes[raw.bytes[i]];
    }
    for (unsigned i = 0; i < WORDS; i++) {
        found[i] = word_at(raw.bytes + 8 * i);
    }
    masks->letter = gather(found, LETTER);
    masks->upper = gather(found, UPPER);
    masks->number = gather(found, NUMBER);
    masks->symbol = gather(found, SYMBOL);
    masks->space = gather(found, SPACE);
    masks->newline = gather(found, NEWLINE);
    masks->blank = gather(found, BLANK);
}

#include "tokenize/blocks_kinds_each.h"
#include "tokenize/blocks_pair_cuts.h"
#include "tokenize/blocks_put_ends.h"
#include "tokenize/blocks_squeeze.h"
#include "tokenize/blocks_walk.h"

size_t lw__blocks_portable(const lw__split_rules *rules, const unsigned char *text, size_t bytes,
                           uint32_t *ends, size_t room)
{
    return walk_blocks(rules, text, bytes, ends, room);
}
