/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a model of pieces.h, for the files that build it and encode with it. */
#ifndef LW__TOKENIZE_PIECE_MODEL_H
#define LW__TOKENIZE_PIECE_MODEL_H

#include "tokenize/charsmap.h"
#include "tokenize/piece_joins.h"
#include "tokenize/piece_trie.h"
#include "tokenize/piece_units.h"
#include "tokenize/pieces.h"

#define LW__SYMBOL_PAGE    256 /* characters that lie together in the table of symbols */
#define LW__SYMBOL_UNKNOWN (-1)

struct lw__pieces {
    /* set when built, never changed */
    const lw__vocab *vocab;
    const lw__piece_rules *rules;
    int32_t byte_ids[256];                        /* with byte fallback */
    uint16_t page_of[0x110000 / LW__SYMBOL_PAGE]; /* page 0 knows no character */
    int32_t (*pages)[LW__SYMBOL_PAGE];            /* of canonical characters */
    size_t page_count;
    lw__joins joins;
    lw__piece_units units;
    uint32_t *loose; /* characters that pieces have and that are none: symbols from the limit on */
    size_t loose_count;
    size_t loose_capacity;
    lw__trie atoms;     /* user-defined pieces, canonical */
    lw__trie raw_atoms; /* the same as they stand in a text; only when preparing needs them */
    bool atom_starts[256];
    int atom_start; /* the byte that all of them start with; -1: there are several */
    lw__trie trie;  /* unigram: all pieces, canonical */
    double *scores; /* unigram: by id */
    double unknown_score;
    lw__charsmap charsmap;
    bool
        as_is[128]; /* ASCII that preparing leaves alone, but for spaces, when ASCII is behind it */
    bool plain;     /* preparing changes spaces at most */
    bool fuses;     /* merging: a run of unknown characters is one id */
    size_t growth;  /* most ids of one byte of canonical text */
};

/* One position of a text that is split by scores: the best way to it. */
typedef struct lw__way {
    double score;
    uint32_t from;
    int32_t id; /* of the piece that ends here; LW__WAY_NONE: not reached */
} lw__way;

#define LW__WAY_NONE (-2)

struct lw__pieces_scratch {
    lw__merge_scratch joins;
    unsigned char *text; /* prepared, and not encoded yet */
    size_t text_count;
    size_t text_capacity;
    lw__way *ways;
    size_t way_capacity;
};

/* A text that is prepared part by part. */
typedef struct lw__piece_source {
    lw_str left;
    bool first;       /* the document starts with it */
    bool started;     /* what is before the first part was put */
    bool after_space; /* the spaces that come next are dropped */
    bool in_word;     /* of LW__PREFIX_WORDS: what is left may go on with one */
} lw__piece_source;

/*
 * Appends the canonical form of the next part to the text of the scratch, until that has `wanted`
 * bytes or a few more, or the source is at its end. The last character of the text may be a space
 * that is dropped then.
 */
lw_status lw__pieces_prepare(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                             lw__piece_source *source, size_t wanted, lw_error *err);

/* The ids of an unknown character, 1 to 4; `code` is canonical. */
size_t lw__pieces_unknown(const lw__pieces *pieces, uint32_t code, int32_t *ids);

/* Text that is split by scores, which may go on from some before it and be gone on with. */
typedef struct lw__summed {
    const unsigned char *text;
    size_t bytes;
    bool is_last;
    double score; /* of the best way to its start; afterwards, to what was taken */
    size_t taken; /* bytes that were split: all of the last text, else to where all ways meet */
} lw__summed;

/* The ids of a text by the best sum of scores; `ids` has room for bytes * growth. */
lw_status lw__pieces_best(const lw__pieces *pieces, lw__pieces_scratch *scratch, lw__summed *summed,
                          int32_t *ids, size_t *count, lw_error *err);

static inline int32_t lw__pieces_symbol(const lw__pieces *pieces, uint32_t code)
{
    return pieces->pages[pieces->page_of[code / LW__SYMBOL_PAGE]][code % LW__SYMBOL_PAGE];
}

#endif
