/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splitters of split.h, 64 bytes at a time.
 *
 * A block begins where a piece begins, so nothing is carried from one block to the next. Each
 * byte class becomes a mask of 64 bits, the starts of pieces are an expression of these masks,
 * and the last start of a block is where the next one begins. In text that is not ASCII the masks
 * are squeezed to one bit a character first, so one expression serves all text. What the
 * expression does not cover (a piece longer than a block, text that is not UTF-8) goes to
 * lw__split, and so the pieces are always those of lw__split.
 *
 *   blocks_gpt2.h, blocks_cl100k.h, blocks_o200k.h, blocks_deepseek.h   the expressions
 *   blocks_walk.h, blocks_wide.h     the walk from block to block; characters that are not ASCII
 *   blocks_kinds*.h                  kinds of characters that are not ASCII
 *   cls_*.c                          masks of a block, and the walk, for one kind of processor
 */
#ifndef LW__TOKENIZE_BLOCKS_H
#define LW__TOKENIZE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "tokenize/bpe_short.h"
#include "tokenize/piece_keys.h"
#include "tokenize/split.h"

#define LW__BLOCK_BYTES 64
#define LW__BLOCK_ROOM  (LW__BLOCK_BYTES + 16) /* least room for ends that a walk may be given */

/*
 * Writes the end offsets of the pieces that `text` begins with and returns their number, which is
 * 0 only when bytes is 0 or the first piece does not end below 4 GiB. Stops when less room is
 * left than a block may need. What lies behind the last end in `ends` may be overwritten.
 */
typedef size_t lw__blocks_walk(const lw__split_rules *rules, const unsigned char *text,
                               size_t bytes, uint32_t *ends, size_t room);

/* One for every processor; the others only where lw__blocks_forms says so. */
lw__blocks_walk lw__blocks_portable;
lw__blocks_walk lw__blocks_neon;
lw__blocks_walk lw__blocks_avx2;
lw__blocks_walk lw__blocks_avx512;

typedef struct lw__blocks_form {
    const char *name;
    lw__blocks_walk *walk;
    lw__bpe_do_jobs *do_jobs;
    lw__piece_keys *put_keys;
} lw__blocks_form;

/* The forms that this processor can run, the fastest first; the number of them is at least 1. */
size_t lw__blocks_forms(lw__blocks_form forms[static 3]);

#endif
