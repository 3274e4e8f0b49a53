/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitters: where a text is cut into pieces before merging.
 *
 * Each family is a hand-written form of one published pattern. The state at the start of a piece
 * is empty, so a text can be cut in several calls: each goes on where the one before stopped.
 */
#ifndef LW__TOKENIZE_SPLIT_H
#define LW__TOKENIZE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokenize/pair_classes.h"

typedef enum lw__split_family {
    LW__SPLIT_GPT2,
    LW__SPLIT_CL100K, /* Llama 3 and Qwen 1 to 3 too */
    LW__SPLIT_O200K,  /* Llama 4 too */
    LW__SPLIT_TEKKEN,
    LW__SPLIT_QWEN3_6,  /* Qwen 3.5 too */
    LW__SPLIT_DEEPSEEK, /* V3 and R1 */
    LW__SPLIT_PAIRS,    /* between two bytes, whatever stands around them */
    LW__SPLIT_STEPS     /* none of these: see split_steps.h */
} lw__split_family;

typedef struct lw__split_rules {
    lw__split_family family;
    uint32_t digits;     /* most characters of a number piece, 1 or 3; GPT-2: 0, no limit */
    bool trailing_whole; /* cl100k: white space that ends the text is one piece (tiktoken) */
    const lw__pair_classes *pairs; /* of LW__SPLIT_PAIRS, else NULL; borrowed */
} lw__split_rules;

/* The names of the patterns, for messages. */
#define LW__SPLIT_NAMES "gpt2, cl100k, o200k, llama3, llama4, qwen or qwen3_6"

/* The rules of a pattern by one of those names; false for any other name. */
bool lw__split_rules_named(const char *name, lw__split_rules *rules);

/*
 * Writes the end offsets of the pieces that follow offset `at`, at most `room` of them (room is
 * not 0), and returns their number; 0 when `at` is `bytes`. The text is valid UTF-8; other bytes
 * give some pieces that cover them, and never a read outside the text.
 */
size_t lw__split(const lw__split_rules *rules, const unsigned char *text, size_t bytes, size_t at,
                 size_t *ends, size_t room);

#endif
