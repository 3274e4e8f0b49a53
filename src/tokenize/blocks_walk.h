/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk from block to block. Each cls_*.c includes this once, and gives before it:
 *
 *   lw__raw                        64 bytes, the way the processor holds them
 *   raw_load(p, bytes)             from p, zeros behind `bytes` of them; reads no further
 *   raw_masks(raw, masks)          the classes of ASCII bytes: letter, upper, number, symbol, space,
 *                                  newline and blank; the others are not touched
 *   raw_high(raw)                  the bytes from 0x80 on
 *   raw_equal(raw, byte)           the bytes that are `byte`
 *   raw_at_least(raw, byte)        the bytes from `byte` on, which is above 0x80
 *   raw_within(raw, first, last)   the bytes from `first` to `last`, both above 0x80
 *   find_kinds(text, raw, leads, ideographs, kinds)
 *                                  kinds[k]: those of `leads` where a character of kind k begins, or of
 *                                  KIND_IDEOGRAPH; kinds[0] is not used
 *   lw__squeezer                   which bits are kept, made by squeezer_of(keep)
 *   squeeze(bits, squeezer)        the kept bits, moved together
 *   spread(bits, squeezer)         the reverse
 *   put_ends(ends, cuts, base)     base + i for each bit i of cuts; may write 64 places
 *   pair_cuts(pairs, p)            bit i: there is a cut behind p[i]; of 65 bytes
 */
#ifndef LW__TOKENIZE_BLOCKS_WALK_H
#define LW__TOKENIZE_BLOCKS_WALK_H

#include <stdbool.h>
#include <string.h>

#include "tokenize/blocks.h"
#include "tokenize/blocks_cl100k.h"
#include "tokenize/blocks_deepseek.h"
#include "tokenize/blocks_gpt2.h"
#include "tokenize/blocks_masks.h"
#include "tokenize/blocks_o200k.h"
#include "tokenize/blocks_wide.h"
#include "tokenize/contraction.h"

#define PREFETCH_BYTES 2048 /* ahead of a block: all loops over a batch of pieces lie between */

typedef struct walk_state {
    const lw__split_rules *rules;
    const unsigned char *text;
    size_t bytes;
    uint32_t *ends;
    size_t room;
} walk_state;

/* Bit i: a piece starts at character i. Contractions that begin a piece are left out. 0 when the
 * expression can not tell. */
typedef uint64_t starts_of(const block *b, const lw__split_rules *rules);

typedef enum contractions { CONTRACTIONS_NONE, CONTRACTIONS_LOWER, CONTRACTIONS_ANY } contractions;

typedef struct family {
    starts_of *starts;
    tells tell;
    contractions contractions; /* those that begin a piece */
} family;

static ALWAYS_INLINE uint64_t starts_gpt2(const block *b, const lw__split_rules *rules)
{
    (void)rules;
    return lw__gpt2_starts(&b->masks);
}

static ALWAYS_INLINE uint64_t starts_cl100k(const block *b, const lw__split_rules *rules)
{
    lw__roles roles = lw__cl100k_roles(&b->masks, b->masks.letter);
    return lw__cl100k_starts(&b->masks, &roles, rules, b->last);
}

static ALWAYS_INLINE uint64_t starts_qwen3_6(const block *b, const lw__split_rules *rules)
{
    lw__roles roles = lw__cl100k_roles(&b->masks, b->masks.letter | b->masks.mark);
    return lw__cl100k_starts(&b->masks, &roles, rules, b->last);
}

static ALWAYS_INLINE uint64_t starts_tekken(const block *b, const lw__split_rules *rules)
{
    lw__roles roles = lw__o200k_roles(&b->masks);
    return lw__o200k_can_tell(&b->masks) ? lw__o200k_starts(&b->masks, &roles, rules, b->last) : 0;
}

static ALWAYS_INLINE uint64_t starts_deepseek(const block *b, const lw__split_rules *rules)
{
    return lw__deepseek_starts(&b->masks, rules, b->last);
}

/*
 * The characters of contractions behind words. *known loses what a contraction that the block cuts
 * off may change.
 */
static ALWAYS_INLINE uint64_t suffixes(const block *b, uint64_t word, uint64_t *known)
{
    uint64_t found = 0;
    uint64_t left = b->masks.apostrophe & word << 1;
    uint64_t places = b->squeezed ? spread(left, &b->squeezer) : left;
    for (; left != 0; left &= left - 1, places &= places - 1) {
        unsigned i = lw__lowest_bit(left);
        unsigned place = lw__lowest_bit(places);
        if ((found << 1 >> i & 1) != 0) {
            continue; /* A word that has its suffix has no other. */
        }
        if (!b->last && place + LW__CONTRACTION_BYTES > b->bytes) {
            *known = bits_below(i);
            break;
        }
        const unsigned char *p = b->text + place;
        const unsigned char *end = lw__contraction_any_case(p, b->text + b->bytes);
        if (end != NULL) {
            unsigned characters = p[1] < 0x80 ? (unsigned)(end - p) : 2;
            found |= bits_below(characters) << i;
        }
    }
    return found;
}

/* A suffix is out of all roles, so what stands behind it starts. */
static ALWAYS_INLINE uint64_t starts_o200k(const block *b, const lw__split_rules *rules)
{
    lw__roles roles = lw__o200k_roles(&b->masks);
    if (!lw__o200k_can_tell(&b->masks)) {
        return 0;
    }
    uint64_t known = UINT64_MAX;
    uint64_t suffix = suffixes(b, roles.word, &known);
    roles.word &= ~suffix;
    roles.other &= ~suffix;
    return lw__o200k_starts(&b->masks, &roles, rules, b->last) & known;
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
static ALWAYS_INLINE uint64_t block_starts(block *b, const lw__split_rules *rules, family of)
{
    lw__raw raw = raw_load(b->text, b->bytes);
    uint64_t high = raw_high(raw);
    uint64_t apostrophes = raw_equal(raw, '\'');
    b->masks = (lw__masks){.valid = bits_below(b->bytes),
                           .ascii = ~high,
                           .slash = raw_equal(raw, '/'),
                           .apostrophe = apostrophes};
    raw_masks(raw, &b->masks);
    uint64_t starts = 0;
    if (__builtin_expect(high == 0, 1)) {
        starts = of.starts(b, rules);
    } else if (widen(b, raw, high, of.tell)) {
        starts = spread(of.starts(b, rules), &b->squeezer);
    }
    return of.contractions == CONTRACTIONS_NONE
               ? starts
               : cut_contractions(b, starts, apostrophes, of.contractions == CONTRACTIONS_ANY);
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

static ALWAYS_INLINE size_t walk_family(const walk_state *w, family of)
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
        uint64_t starts = block_starts(&b, w->rules, of);
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
    if (rules->family == LW__SPLIT_PAIRS) {
        return walk_pairs(&w);
    }
    if (rules->family != LW__SPLIT_GPT2 && rules->digits != 1 && rules->digits != 3) {
        size_t at = 0;
        return take_pieces(&w, bytes, &at, 0);
    }
    static const tells plain = {.case_of_letters = false};
    static const tells cased = {.case_of_letters = true};
    switch (rules->family) {
    case LW__SPLIT_GPT2:
        return walk_family(&w, (family){starts_gpt2, plain, CONTRACTIONS_LOWER});
    case LW__SPLIT_CL100K:
        return walk_family(&w, (family){starts_cl100k, plain, CONTRACTIONS_ANY});
    case LW__SPLIT_O200K:
        return walk_family(&w, (family){starts_o200k, cased, CONTRACTIONS_NONE});
    case LW__SPLIT_TEKKEN:
        return walk_family(&w, (family){starts_tekken, cased, CONTRACTIONS_NONE});
    case LW__SPLIT_QWEN3_6:
        return walk_family(&w, (family){starts_qwen3_6, plain, CONTRACTIONS_ANY});
    default: {
        static const tells walls = {.ideographs = true};
        return walk_family(&w, (family){starts_deepseek, walls, CONTRACTIONS_NONE});
    }
    }
}

#endif
