/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regexes that no splitter of ours knows, run by PCRE2.
 *
 * The sets of a pattern part all characters into classes that it treats alike, seldom more than a
 * dozen. A text becomes a byte for each character, that of its class, and the pattern one of such
 * bytes: so PCRE2 sees neither UTF-8 nor Unicode, of which every version would cut differently.
 *
 * A regex is immutable once compiled and shared by all threads; a scratch belongs to one.
 */
#ifndef LW__TOKENIZE_REGEX_H
#define LW__TOKENIZE_REGEX_H

#include "base/bytes.h"
#include "tokenize/regex_parse.h"

typedef struct lw__regex lw__regex;
typedef struct lw__regex_scratch lw__regex_scratch;

typedef enum lw__regex_result {
    LW__REGEX_FOUND,
    LW__REGEX_NONE,
    LW__REGEX_LIMIT /* it would take more steps, or more memory, than is allowed */
} lw__regex_result;

/*
 * LW_OK with *out NULL: the pattern can not be honoured, and *wrong says what was expected. Behind
 * ByteLevel (mapped) a text is bytes, each standing for one character of that alphabet.
 */
lw_status lw__regex_compile(lw_str pattern, lw__regex_syntax syntax, bool mapped, lw__regex **out,
                            const char **wrong, lw_error *err);
void lw__regex_destroy(lw__regex *regex);
bool lw__regex_is_mapped(const lw__regex *regex);

lw_status lw__regex_scratch_create(lw__regex_scratch **out, lw_error *err);
void lw__regex_scratch_destroy(lw__regex_scratch *scratch);

/* Appends the classes of a text, one byte a character (mapped: a byte). */
void lw__regex_classify(const lw__regex *regex, const unsigned char *text, size_t bytes,
                        lw__bytes *out);
/* The first match from `at` on; the text and all places are in classes. */
lw__regex_result lw__regex_find(const lw__regex *regex, lw__regex_scratch *scratch,
                                const unsigned char *classes, size_t count, size_t at,
                                size_t *start, size_t *end);

/* Where a search for all matches of a text stands. All zeros is its start. */
typedef struct lw__regex_search {
    size_t from;
    size_t done; /* the end of the last match */
    bool has_match;
} lw__regex_search;

/*
 * The next of all matches, in the way of the reference: a match of nothing counts, unless it stands
 * where the match before ends, from where the search goes on at the next character.
 */
lw__regex_result lw__regex_next(const lw__regex *regex, lw__regex_scratch *scratch,
                                const lw__bytes *classes, lw__regex_search *search, size_t *start,
                                size_t *end);
/* Where `count` classes behind `at` are in a text. */
const unsigned char *lw__regex_forward(const lw__regex *regex, const unsigned char *at,
                                       const unsigned char *end, size_t count);
/* The error for LW__REGEX_LIMIT. */
lw_status lw__regex_too_hard(size_t bytes, lw_error *err);

#endif
