/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: the documents and rows that pass down a lane.
 *
 * A token that is not learnt has LW_TOKEN_UNSUPERVISED set from the tokenizer to the rendered row,
 * so that it needs no care on the way: copies, carries and tokens that are read again have it too.
 *
 * A document's tokens lie in its block's arena, and only while the chain pushes it; an accumulator
 * that holds a document makes the chain copy them. A row has its tokens in a buffer of its own, copied
 * once, when a segment is added; so a block can go as soon as its documents are drawn.
 *
 * Records are owned by their lane and come from its store; all but the spare rows are touched by the
 * lane's thread only.
 */
#ifndef LW__ENGINE_RECORD_H
#define LW__ENGINE_RECORD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/op.h>

#define LW__NO_TOKEN  (-1)
#define LW__NO_HOLDER SIZE_MAX

typedef enum lw__kind { LW__DOCUMENT, LW__ROW, LW__TEXT } lw__kind;

/* A segment of a row, with what a save needs beside the public form. */
typedef struct lw__piece {
    lw_segment segment;
    uint64_t j;   /* of the lane's block; names it together with lane and source */
    int32_t tail; /* the token after it in its document, or LW__NO_TOKEN */
    bool whole;   /* all of the document */
} lw__piece;

/* A document as the decide half sees it. */
typedef struct lw__doc {
    lw_segment place; /* first and count unused */
    uint64_t j;
    const int32_t *tokens;
    size_t token_count;
    uint64_t length; /* input tokens */
    uint64_t used;   /* of them, appended to rows */
    int32_t *own;    /* tokens, when it is held; NULL before */
} lw__doc;

typedef struct lw__row {
    int32_t *tokens; /* NULL in a lane that only counts */
    uint64_t fill;
    lw__piece *pieces;
    size_t piece_count;
    size_t piece_capacity;
    int32_t follower; /* with `followed`: the token after the row, or LW__NO_TOKEN */
    bool followed;
} lw__row;

/* A document before it is tokenized; see engine/texts.c. */
typedef struct lw__raw {
    const char *text;
    size_t bytes;
    char *own;           /* the text, when a worker replaced or made it */
    lw_text_span *spans; /* of it, those that are learnt; NULL: all of it */
    size_t span_count;
    size_t record; /* of the part, that it is or was made of */
    size_t parent; /* of one that was made: which of the group it was made of */
    bool dropped;
} lw__raw;

struct lw_record {
    lw__kind kind;
    uint32_t shift;        /* LW_SHIFT_* */
    uint64_t context;      /* rows: capacity in tokens */
    size_t holder;         /* stage that holds it, or LW__NO_HOLDER */
    lw_record *next;       /* in a list of the store or of finished rows */
    lw_record *all;        /* chain of all records of a store */
    lw_row_arrays *arrays; /* rows under a worker */

    union {
        lw__doc doc;
        lw__row row;
        lw__raw raw;
    } u;
};

/* A lane's records. */
typedef struct lw__store {
    uint64_t context;
    uint32_t shift;
    bool counts_only; /* rows without tokens */
    lw_record *spare_docs;
    lw_record *spare_rows; /* with their buffers, spare_limit at most */
    lw_record *bare_rows;  /* without */
    lw_record *all;
    uint64_t spare_limit;
    uint64_t spare_count;
} lw__store;

lw_status lw__store_doc(lw__store *store, lw_record **out, lw_error *err);
lw_status lw__store_row(lw__store *store, lw_record **out, lw_error *err);
/* Back to the store, emptied. */
void lw__store_put(lw__store *store, lw_record *rec);
void lw__store_reset(lw__store *store);

/* Bytes of a row with its buffer and a few segments; for the budget. */
uint64_t lw__row_bytes(uint64_t context);
/* Copies the document's tokens, so that it can outlive its block. */
lw_status lw__doc_detach(lw_record *rec, lw_error *err);
/* Makes room for one more segment. */
lw_status lw__row_reserve(lw__row *row, lw_error *err);
/* The label of the row's last input token; LW__NO_TOKEN for none. */
int32_t lw__row_last_label(const lw__row *row);

#endif
