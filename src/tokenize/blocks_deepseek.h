/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where pieces of the DeepSeek V3 pattern start. Numbers, ideographs and kana are walls, W is L and M,
 * P is punctuation and symbols, and C what is in no class.
 *
 *   walls  the first of a run; of numbers every third
 *   P      the first of a run, unless U+0020 stands before it, which then starts the piece
 *   W      the first of a run, unless white space other than CR LF or C stands before it, or a run
 *          of a single P, both ASCII, that does not itself begin with U+0020: that is then the
 *          first of the piece, which ends where the ASCII letters do
 *   C      the first of a run, and its last before W
 *   white space as in cl100k, but the last of a run starts only when what follows is no wall
 */
#ifndef LW__TOKENIZE_BLOCKS_DEEPSEEK_H
#define LW__TOKENIZE_BLOCKS_DEEPSEEK_H

#include <stdbool.h>

#include "tokenize/blocks_cl100k.h"
#include "tokenize/blocks_masks.h"

static inline uint64_t lw__deepseek_starts(const lw__masks *m, const lw__split_rules *rules,
                                           bool last)
{
    uint64_t walls = m->number | m->ideograph;
    uint64_t word = (m->letter | m->mark) & ~walls;
    uint64_t symbol = m->symbol & ~walls;
    uint64_t control = m->valid & ~(walls | word | symbol | m->space);
    uint64_t spaces = m->space & ~lw__runs_from(m->newline, m->newline & symbol << 1);

    uint64_t symbol_starts = lw__run_firsts(symbol) & ~(m->blank << 1);
    uint64_t ascii_letters = m->letter & m->ascii;
    uint64_t behind_symbol = ascii_letters & (symbol_starts & m->ascii) << 1;
    uint64_t ascii_words = lw__runs_from(ascii_letters, behind_symbol);
    uint64_t prefixes = (m->space & ~m->newline) | control;
    uint64_t word_starts = (lw__run_firsts(word) & ~(prefixes << 1) & ~behind_symbol) |
                           (word & ~ascii_words & ascii_words << 1);
    uint64_t control_starts = lw__run_firsts(control) | (control & word >> 1);

    uint64_t starts = symbol_starts | word_starts | control_starts | lw__run_firsts(m->ideograph) |
                      lw__number_starts(m, rules) |
                      lw__space_starts(m, spaces, m->valid & ~(m->space | walls));
    return lw__settled_starts(m, starts, spaces, !last);
}

#endif
