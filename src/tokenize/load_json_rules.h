/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pre_tokenizer of a tokenizer.json as it is read: parts in order. Which family they are is told in
 * load_json_rules.c; what is none becomes steps in load_json_steps.c.
 */
#ifndef LW__TOKENIZE_LOAD_JSON_RULES_H
#define LW__TOKENIZE_LOAD_JSON_RULES_H

#include "tokenize/load_json.h"

enum { LW__UNSET = -1 };

/* One pre-tokenizer as it stands in the file; absent fields are LW__UNSET or empty. */
typedef struct lw__json_part {
    lw_str type;
    lw_str behavior;
    lw_str regex;
    lw_str string;      /* a pattern of plain text */
    lw_str replacement; /* of Metaspace: what spaces become */
    lw_str scheme;      /* of Metaspace: when a space is put before a text */
    lw_str unknown;     /* the first field that no supported part has */
    int add_prefix_space;
    int use_regex;
    int invert;
    int individual_digits;
    int split; /* of Metaspace */
} lw__json_part;

typedef struct lw__json_parts {
    lw__json_part items[LW__STEPS + 1];
    size_t count; /* of the file; no more than that are kept */
} lw__json_parts;

/* Reads a pre_tokenizer, which is an object, and the members of a Sequence. */
void lw__load_json_parts(lw__json *json, lw__json_part *outer, lw__json_parts *inner);
/* The rules of a regex that is known by its exact text. */
bool lw__load_json_known_regex(lw_str regex, lw__split_rules *rules);
/* Whether a known regex, which leaves no gaps, cuts as this Split wants it: it keeps the matches. */
bool lw__load_json_keeps_matches(const lw__json_part *split);
/* Makes steps of parts that are no family. */
lw_status lw__load_json_steps(lw__vocab *vocab, const lw__json_parts *parts, lw_error *err);
/* Makes steps of the parts of a SentencePiece vocabulary, but the last, which is Metaspace. */
lw_status lw__load_json_piece_steps(lw__vocab *vocab, const lw__json_parts *parts, lw_error *err);

#endif
