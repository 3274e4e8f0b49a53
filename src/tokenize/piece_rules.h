/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a SentencePiece vocabulary says beside its texts: the kind and the score of each piece, and
 * how a text is prepared. Part of a vocabulary; loaders fill it, and it never changes after that.
 *
 * Canonical text has 0x20 wherever pieces have U+2581. When spaces are escaped the two are one
 * character, and one byte for it keeps texts as they are and lets more units into the cache.
 */
#ifndef LW__TOKENIZE_PIECE_RULES_H
#define LW__TOKENIZE_PIECE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#include "base/bytes.h"

#define LW__ESCAPED_SPACE      "\xE2\x96\x81" /* U+2581 */
#define LW__ESCAPED_SPACE_CODE 0x2581

/* The numbers are those of the files. */
typedef enum lw__piece_kind {
    LW__PIECE_NONE = 0, /* no piece has this id */
    LW__PIECE_NORMAL = 1,
    LW__PIECE_UNKNOWN = 2,
    LW__PIECE_CONTROL = 3,
    LW__PIECE_USER_DEFINED = 4, /* found first in a text, and whole */
    LW__PIECE_UNUSED = 5,
    LW__PIECE_BYTE = 6
} lw__piece_kind;

/* When a space is put before a text. */
typedef enum lw__prefix {
    LW__PREFIX_NEVER,
    LW__PREFIX_ALWAYS,
    LW__PREFIX_MISSING, /* unless one is there */
    LW__PREFIX_FIRST,   /* unless one is there, and only where the document starts */
    LW__PREFIX_WORDS    /* unless one is there, before each word; white space between is dropped */
} lw__prefix;

typedef struct lw__piece {
    double score;
    uint32_t kind; /* lw__piece_kind */
} lw__piece;

typedef struct lw__piece_rules {
    bool used;          /* the vocabulary is of this kind; all below counts only then */
    bool unigram;       /* best sum of scores; else merging */
    bool scored;        /* from a .model: pieces merge by score, sums are rounded to float */
    bool byte_fallback; /* an unknown character is its bytes */
    bool fused;         /* neighbours that are unknown are one id */
    bool escaped;       /* 0x20 and U+2581 are the same character */
    bool collapsed;     /* spaces at the ends are dropped, and runs of them are one */
    bool split;         /* nothing goes on over the start of a space */
    lw__prefix prefix;
    int32_t unknown; /* -1: none */
    int32_t bos;     /* the file's own; -1: none named */
    int32_t eos;
    lw__piece *items; /* by id */
    size_t count;
    size_t capacity;
    lw__bytes charsmap; /* as in the file; empty: characters stay as they are */
} lw__piece_rules;

void lw__piece_rules_reset(lw__piece_rules *rules);
/* Sets the piece of an id that the vocabulary has accepted. */
lw_status lw__piece_rules_put(lw__piece_rules *rules, int32_t id, lw__piece piece, lw_error *err);
lw__piece_kind lw__piece_rules_kind(const lw__piece_rules *rules, int32_t id);
/* All that encoding depends on, for a fingerprint. */
void lw__piece_rules_write(const lw__piece_rules *rules, lw__bytes *out);

/* The byte that "<0xHH>" names; -1 for any other text. */
int lw__piece_byte(lw_str text);

/* The character at p, whose text is whole UTF-8. */
static inline uint32_t lw__piece_char(const unsigned char *p, size_t *bytes)
{
    uint32_t lead = *p;
    if (lead < 0x80) {
        *bytes = 1;
        return lead;
    }
    if (lead < 0xE0) {
        *bytes = 2;
        return (lead & 0x1F) << 6 | (p[1] & 0x3Fu);
    }
    uint32_t code = (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    if (lead < 0xF0) {
        *bytes = 3;
        return (lead & 0xF) << 12 | code;
    }
    *bytes = 4;
    return (lead & 7) << 18 | code << 6 | (p[3] & 0x3Fu);
}

/*
 * Writes the canonical form of a text, which is never longer, to `out` and returns its byte count;
 * false when no prepared text can hold it: it has a plain space while spaces are escaped.
 */
bool lw__piece_canonical(const lw__piece_rules *rules, lw_str text, unsigned char *out,
                         size_t *bytes);

#endif
