/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The masks of a block with characters that are not ASCII: they are classified, and all masks are
 * squeezed to one bit a character. For blocks_walk.h, which says what comes before.
 */
#ifndef LW__TOKENIZE_BLOCKS_WIDE_H
#define LW__TOKENIZE_BLOCKS_WIDE_H

#include <stdbool.h>

#include "tokenize/blocks.h"
#include "tokenize/blocks_kinds.h"
#include "tokenize/blocks_masks.h"

/* A block on its way to its cuts. */
typedef struct block {
    const unsigned char *text;
    unsigned bytes; /* of whole characters */
    bool last;      /* the text ends with it */
    bool squeezed;
    lw__masks masks;
    lw__squeezer squeezer; /* to the first bytes of characters */
} block;

/* What a family tells apart; a constant wherever it is used. */
typedef struct tells {
    bool case_of_letters;
    bool ideographs;
} tells;

static ALWAYS_INLINE uint64_t bits_below(unsigned count)
{
    return count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

/* Where a first byte tells the class, there is no need to look further. */
static ALWAYS_INLINE void classify_wide(block *b, lw__raw raw, uint64_t leads, tells tell)
{
    lw__masks *m = &b->masks;
    uint64_t han = raw_within(raw, 0xE5, 0xE9 - (tell.ideographs ? 1 : 0)) & leads;
    uint64_t hangul = raw_within(raw, 0xEB, 0xEC) & leads;
    uint64_t cased = (raw_within(raw, 0xC4, 0xC9) | raw_within(raw, 0xD0, 0xD1)) & leads;
    uint64_t told = han | hangul | (tell.case_of_letters ? 0 : cased);
    uint64_t kinds[KINDS] = {0};
    find_kinds(b->text, raw, leads & ~told, tell.ideographs, kinds);
    uint64_t upper = kinds[LW__KIND_UPPER];
    uint64_t caseless = kinds[LW__KIND_CASELESS];
    m->upper |= upper;
    m->caseless = caseless | han | hangul;
    m->letter |= upper | caseless | told | kinds[LW__KIND_LOWER];
    m->mark = kinds[LW__KIND_MARK];
    m->number |= kinds[LW__KIND_NUMBER];
    m->space |= kinds[LW__KIND_SPACE];
    m->symbol |= kinds[LW__KIND_PUNCTUATION] | kinds[LW__KIND_SYMBOL];
    m->ideograph = han | kinds[KIND_IDEOGRAPH];
}

/* The number of bytes of the block without a character that its end cuts off. */
static ALWAYS_INLINE unsigned whole_bytes(uint64_t leads, uint64_t leads3, uint64_t leads4)
{
    if (leads == 0) {
        return LW__BLOCK_BYTES;
    }
    unsigned i = lw__highest_bit(leads);
    unsigned end = i + 2 + (unsigned)(leads3 >> i & 1) + (unsigned)(leads4 >> i & 1);
    return end > LW__BLOCK_BYTES ? i : LW__BLOCK_BYTES;
}

static ALWAYS_INLINE void squeeze_masks(block *b)
{
    lw__masks *m = &b->masks;
    const lw__squeezer *s = &b->squeezer;
    m->valid = squeeze(m->valid, s);
    m->ascii = squeeze(m->ascii, s);
    m->letter = squeeze(m->letter, s);
    m->upper = squeeze(m->upper, s);
    m->caseless = squeeze(m->caseless, s);
    m->mark = squeeze(m->mark, s);
    m->number = squeeze(m->number, s);
    m->symbol = squeeze(m->symbol, s);
    m->ideograph = squeeze(m->ideograph, s);
    m->space = squeeze(m->space, s);
    m->newline = squeeze(m->newline, s);
    m->blank = squeeze(m->blank, s);
    m->slash = squeeze(m->slash, s);
    m->apostrophe = squeeze(m->apostrophe, s);
    b->squeezed = true;
}

/*
 * Classifies the characters that are not ASCII and squeezes all masks. False when bytes are not
 * in the order of UTF-8: only when they are does no character reach past the block.
 */
static ALWAYS_INLINE bool widen(block *b, lw__raw raw, uint64_t high, tells tell)
{
    uint64_t leads = raw_at_least(raw, 0xC2);
    uint64_t leads3 = raw_at_least(raw, 0xE0);
    uint64_t leads4 = raw_at_least(raw, 0xF0);
    if (!b->last) {
        b->bytes = whole_bytes(leads, leads3, leads4);
        b->masks.valid = bits_below(b->bytes);
    }
    uint64_t valid = b->masks.valid;
    uint64_t following = high & ~leads & valid;
    leads &= valid;
    leads3 &= valid;
    leads4 &= valid;
    uint64_t due = leads << 1 | leads3 << 2 | leads4 << 3;
    uint64_t past = leads >> 63 | leads3 >> 62 | leads4 >> 61 | (raw_at_least(raw, 0xF5) & valid);
    if ((due ^ following) != 0 || past != 0) {
        return false;
    }
    classify_wide(b, raw, leads, tell);
    b->squeezer = squeezer_of(valid & ~following);
    squeeze_masks(b);
    return true;
}

#endif
