/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a regex as the engine of a reference reads it, into the syntax of PCRE2.
 *
 * Only what means one thing for sure is taken; all else is refused. Whatever matches a character
 * becomes a set of code points, of our own Unicode tables, so nothing depends on those of PCRE2.
 *
 *   regex_parse.c   groups, branches, repeats, anchors
 *   regex_class.c   characters, escapes, bracket expressions
 */
#ifndef LW__TOKENIZE_REGEX_PARSE_H
#define LW__TOKENIZE_REGEX_PARSE_H

#include "base/bytes.h"
#include "tokenize/code_set.h"

typedef enum lw__regex_syntax {
    LW__REGEX_ONIGURUMA, /* of a tokenizer.json */
    LW__REGEX_FANCY      /* fancy-regex, of tiktoken */
} lw__regex_syntax;

/* In the text a set is this byte, which it has nowhere else, and four of the set's number. */
#define LW__REGEX_SET_MARK  1
#define LW__REGEX_SETS      256
#define LW__REGEX_MAX_BYTES 16384

typedef struct lw__regex_parts {
    lw__bytes text;
    lw__code_set *sets; /* in order, no two alike */
    size_t set_count;
} lw__regex_parts;

typedef struct lw__regex_parser {
    const unsigned char *at;
    const unsigned char *end;
    lw__regex_syntax syntax;
    bool fold;            /* case does not count */
    unsigned char folded; /* the ASCII letter just read while it does not; else 0 */
    int depth;            /* of groups and brackets */
    const char *wrong;    /* what would have been taken, once something is not */
    lw__regex_parts *parts;
} lw__regex_parser;

/* What stands at a place of a pattern. */
typedef enum lw__regex_unit {
    LW__REGEX_NOTHING, /* it is wrong */
    LW__REGEX_CODE,    /* one character */
    LW__REGEX_SOME     /* a set of them */
} lw__regex_unit;

void lw__regex_parts_reset(lw__regex_parts *parts);

/*
 * False when the pattern can not be honoured: *wrong is then what was expected, or NULL when
 * memory ran out. The pattern is valid UTF-8.
 */
bool lw__regex_parse(lw_str pattern, lw__regex_syntax syntax, lw__regex_parts *out,
                     const char **wrong);

/* ---- of regex_class.c ---- */

#define LW__REGEX_DEPTH 32

/* Notes what was expected, unless something was wrong before; always false. */
static inline bool lw__regex_expected(lw__regex_parser *parser, const char *what)
{
    parser->wrong = parser->wrong == NULL ? what : parser->wrong;
    return false;
}

static inline bool lw__regex_is_at(const lw__regex_parser *parser, char byte)
{
    return parser->at < parser->end && *parser->at == (unsigned char)byte;
}

/* The character at the place, which is not the end. */
uint32_t lw__regex_next_code(lw__regex_parser *parser);
/* Behind a backslash: *code, or put into the set. */
lw__regex_unit lw__regex_escape(lw__regex_parser *parser, uint32_t *code, lw__code_set *set);
/* Behind an opening bracket, up to and with its closing one. */
bool lw__regex_bracket(lw__regex_parser *parser, lw__code_set *set);
/* Puts a character, in both cases when case does not count. */
bool lw__regex_put_code(lw__regex_parser *parser, uint32_t code, lw__code_set *set);
void lw__regex_put_words(const lw__regex_parser *parser, lw__code_set *set);

#endif
