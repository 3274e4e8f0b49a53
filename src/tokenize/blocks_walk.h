/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk from block to block. Each cls_*.c includes this once, and gives before it:
 *
 *   lw__raw                        64 bytes, the way the processor holds them
 *   raw_load(p, bytes)             from p, zeros behind `bytes` of them; reads no further
 *   raw_masks(raw, masks)          the classes of ASCII bytes; `valid` is not touched
 *   raw_high(raw)                  the bytes from 0x80 on
 *   raw_equal(raw, byte)           the bytes that are `byte`
 *   raw_at_least(raw, byte)        the bytes from `byte` on, which is above 0x80
 *   raw_letter_leads(raw)          bytes that begin letters and nothing else (others may too)
 *   squeeze(bits, keep)            the bits at `keep`, moved together
 *   spread(bits, keep)             the reverse
 *   put_ends(ends, cuts, base)     base + i for each bit i of cuts; may write 64 places
 *   pair_cuts(pairs, p)            bit i: there is a cut behind p[i]; of 65 bytes
 *   HAS_SQUEEZE                    0: there is no squeeze; only ASCII goes by blocks
 */
#ifndef LW__TOKENIZE_BLOCKS_WALK_H
#define LW__TOKENIZE_BLOCKS_WALK_H

#include <stdbool.h>
#include <string.h>

#include "tokenize/blocks.h"
#include "tokenize/blocks_cl100k.h"
#include "tokenize/blocks_gpt2.h"
#include "tokenize/blocks_masks.h"
#include "tokenize/contraction.h"
#include "tokenize/unicode.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define PREFETCH_BYTES 2048 /* ahead of a block: all loops over a batch of pieces lie between */

/* A block on its way to its cuts. */
typedef struct block {
    const unsigned char *text;
    unsigned bytes; /* of whole characters */
    bool last;      /* the text ends with it */
    lw__masks masks;
    uint64_t characters; /* the first bytes of characters */
} block;

typedef struct walk_state {
    const lw__split_rules *rules;
    const unsigned char *text;
    size_t bytes;
    uint32_t *ends;
    size_t room;
} walk_state;

static ALWAYS_INLINE uint64_t bits_below(unsigned count)
{
    return count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

#if HAS_SQUEEZE

/* The class of the character of two to four bytes at p. */
static ALWAYS_INLINE unsigned class_of_wide(const unsigned char *p)
{
    uint32_t code = 0;
    if (*p < 0xE0) {
        code = (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    } else if (*p < 0xF0) {
        code = (p[0] & 0xFu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    } else {
        code = (p[0] & 0x7u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    }
    return lw__unicode_class(code);
}

static ALWAYS_INLINE void classify_wide(block *b, uint64_t leads, uint64_t letters)
{
    b->masks.letter |= letters;
    for (uint64_t left = leads & ~letters; left != 0; left &= left - 1) {
        unsigned i = lw__lowest_bit(left);
        unsigned class = class_of_wide(b->text + i);
        b->masks.letter |= (uint64_t)(class == LW__CLASS_LETTER) << i;
        b->masks.number |= (uint64_t)(class == LW__CLASS_NUMBER) << i;
        b->masks.space |= (uint64_t)(class == LW__CLASS_SPACE) << i;
    }
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
    uint64_t keep = b->characters;
    m->valid = squeeze(keep, keep);
    m->letter = squeeze(m->letter, keep);
    m->number = squeeze(m->number, keep);
    m->space = squeeze(m->space, keep);
    m->newline = squeeze(m->newline, keep);
    m->blank = squeeze(m->blank, keep);
}

/*
 * Classifies the characters that are not ASCII and squeezes all masks. False when bytes are not
 * in the order of UTF-8: only when they are does no character reach past the block.
 */
static ALWAYS_INLINE bool widen(block *b, lw__raw raw, uint64_t high)
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
    classify_wide(b, leads, raw_letter_leads(raw) & leads);
    b->characters = valid & ~following;
    squeeze_masks(b);
    return true;
}

#endif

/* Bit i: a piece starts at character i. Contractions are left out. */
typedef uint64_t starts_of(const block *b, const lw__split_rules *rules);

static ALWAYS_INLINE uint64_t starts_gpt2(const block *b, const lw__split_rules *rules)
{
    (void)rules;
    return lw__gpt2_starts(&b->masks);
}

static ALWAYS_INLINE uint64_t starts_cl100k(const block *b, const lw__split_rules *rules)
{
    return lw__cl100k_starts(&b->masks, rules, b->last);
}

/* Each apostrophe that starts a piece may begin a contraction: that piece is then cut behind it. */
static ALWAYS_INLINE uint64_t cut_contractions(const block *b, uint64_t starts,
                                               uint64_t apostrophes, bool any_case)
{
    for (uint64_t left = starts & apostrophes; left != 0; left &= left - 1) {
        unsigned i = lw__lowest_bit(left);
        if (!b->last && i + LW__CONTRACTION_BYTES > b->bytes) {
            return starts & lw__bits_through(i); /* The next block begins here and sees it whole. */
        }
        const unsigned char *p = b->text + i;
        const unsigned char *end = any_case ? lw__contraction_any_case(p, b->text + b->bytes)
                                            : lw__contraction(p, b->text + b->bytes, 0);
        if (end != NULL) {
            unsigned next = i + (unsigned)(end - p);
            starts &= ~(bits_below(next) ^ lw__bits_through(i));
            starts |= next < b->bytes ? (uint64_t)1 << next : 0;
        }
    }
    return starts;
}

/* The first bytes of pieces in a block; 0 when the block is not for the expressions. */
static ALWAYS_INLINE uint64_t block_starts(block *b, const lw__split_rules *rules,
                                           starts_of *starts_of_family, bool any_case)
{
    lw__raw raw = raw_load(b->text, b->bytes);
    b->masks.valid = bits_below(b->bytes);
    raw_masks(raw, &b->masks);
    uint64_t high = raw_high(raw);
    uint64_t starts = 0;
    if (__builtin_expect(high == 0, 1)) {
        starts = starts_of_family(b, rules);
    } else {
#if HAS_SQUEEZE
        if (!widen(b, raw, high)) {
            return 0;
        }
        starts = spread(starts_of_family(b, rules), b->characters);
#else
        return 0;
#endif
    }
    return cut_contractions(b, starts, raw_equal(raw, '\''), any_case);
}

/*
 * Takes pieces one at a time until `wanted` bytes are behind. Returns the new count, and sets *at
 * to the bytes of the text when the walk has to stop.
 */
static __attribute__((noinline)) size_t take_pieces(const walk_state *w, size_t wanted, size_t *at,
                                                    size_t count)
{
    size_t from = *at;
    for (size_t stop = from + wanted; from < stop && from < w->bytes;) {
        size_t end = 0;
        if (count == w->room) {
            *at = w->bytes;
            return count;
        }
        (void)lw__split(w->rules, w->text, w->bytes, from, &end, 1);
        if (end > UINT32_MAX) {
            *at = w->bytes;
            return count;
        }
        w->ends[count++] = (uint32_t)end;
        from = end;
    }
    *at = from;
    return count;
}

static ALWAYS_INLINE size_t walk_family(const walk_state *w, starts_of *starts_of_family,
                                        bool any_case)
{
    size_t at = 0;
    size_t count = 0;
    while (at < w->bytes && at < UINT32_MAX - LW__BLOCK_BYTES &&
           w->room - count > LW__BLOCK_BYTES) {
        size_t left = w->bytes - at;
        block b = {.text = w->text + at,
                   .bytes = left < LW__BLOCK_BYTES ? (unsigned)left : LW__BLOCK_BYTES,
                   .last = left <= LW__BLOCK_BYTES};
        __builtin_prefetch(b.text + PREFETCH_BYTES);
        uint64_t starts = block_starts(&b, w->rules, starts_of_family, any_case);
        uint64_t cuts = starts & ~(uint64_t)1;
        if (__builtin_expect(starts == 0 || (!b.last && cuts == 0), 0)) {
            size_t resumed = at;
            count = take_pieces(w, starts == 0 ? LW__BLOCK_BYTES : 1, &resumed, count);
            at = resumed;
            continue;
        }
        put_ends(w->ends + count, cuts, (uint32_t)at);
        count += (size_t)__builtin_popcountll(cuts);
        if (b.last) {
            w->ends[count++] = (uint32_t)w->bytes;
            break;
        }
        at += lw__highest_bit(cuts);
    }
    return count;
}

/*
 * Pieces that end between two bytes, whatever else is in the text: a block is any 64 bytes, and
 * those that begin in one may end in another.
 */
static ALWAYS_INLINE size_t walk_pairs(const walk_state *w)
{
    const lw__pair_classes *pairs = w->rules->pairs;
    size_t at = 0;
    size_t count = 0;
    while (at < w->bytes && at < UINT32_MAX - LW__BLOCK_BYTES &&
           w->room - count > LW__BLOCK_BYTES) {
        unsigned char copy[LW__BLOCK_BYTES + 1] = {0};
        const unsigned char *p = w->text + at;
        size_t left = w->bytes - at;
        bool is_last = left <= LW__BLOCK_BYTES;
        __builtin_prefetch(p + PREFETCH_BYTES);
        if (__builtin_expect(is_last, 0)) {
            memcpy(copy, p, left);
            p = copy;
        }
        uint64_t cuts = pair_cuts(pairs, p);
        cuts &= is_last ? bits_below((unsigned)left - 1) : UINT64_MAX;
        put_ends(w->ends + count, cuts, (uint32_t)at + 1);
        count += (size_t)__builtin_popcountll(cuts);
        if (is_last) {
            w->ends[count++] = (uint32_t)w->bytes;
            break;
        }
        at += LW__BLOCK_BYTES;
    }
    return count;
}

/* The function of type lw__blocks_walk, for this processor. */
static ALWAYS_INLINE size_t walk_blocks(const lw__split_rules *rules, const unsigned char *text,
                                        size_t bytes, uint32_t *ends, size_t room)
{
    walk_state w = {.rules = rules, .text = text, .bytes = bytes, .ends = ends, .room = room};
    if (rules->family == LW__SPLIT_GPT2) {
        return walk_family(&w, starts_gpt2, false);
    }
    if (rules->family == LW__SPLIT_CL100K && (rules->digits == 1 || rules->digits == 3)) {
        return walk_family(&w, starts_cl100k, true);
    }
    if (rules->family == LW__SPLIT_PAIRS) {
        return walk_pairs(&w);
    }
    size_t at = 0;
    return take_pieces(&w, bytes, &at, 0);
}

#endif
