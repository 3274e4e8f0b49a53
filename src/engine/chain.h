/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane's chain of accumulators: documents in at the top, rows out at the bottom.
 *
 * The chain is synchronous: a push returns when everything it set off has left the chain or is held.
 * So between two pushes the accumulators agree with each other, and a marker is simply what they
 * save at such a moment. It also keeps the books: every record a stage was given or made is handed
 * on, dropped, used up or held (laneway/op.h, "Conservation").
 *
 * Lane thread only.
 */
#ifndef LW__ENGINE_CHAIN_H
#define LW__ENGINE_CHAIN_H

#include <laneway/op.h>

#include "base/bytes.h"
#include "engine/record.h"

typedef struct lw__chain lw__chain;

/* An operator of a run, in its place. */
typedef struct lw__operator {
    const lw_op_type *type;
    const void *op;
} lw__operator;

/* The texts of a part while a DOCUMENT worker passes over them. */
typedef struct lw__text_pass {
    lw_record *const *group;
    size_t count;
    size_t next; /* the first one not accounted for */
    struct lw__text_list *made;
} lw__text_pass;

struct lw_sink {
    const lw_op_type *type;
    lw__chain *chain; /* of an accumulator; NULL in a worker */
    size_t stage;
    lw__text_pass *texts; /* of a DOCUMENT worker; NULL elsewhere */
};

typedef struct lw__stage {
    lw__operator oper;
    void *acc;
    uint64_t held;
    lw_record **waiting; /* of `held`: for the rest of their group; NULL without acc_push_group */
    size_t waiting_count;
    lw_sink sink;
} lw__stage;

/* Records loaded from a carry whose tokens have to be read again. */
typedef struct lw__remake_list {
    lw_record **items;
    size_t count;
    size_t capacity;
} lw__remake_list;

struct lw__chain {
    lw_op_context context;
    lw__store *store;
    lw__stage *stages;
    size_t stage_count;
    lw_record *out_head; /* rows that have left, in order; taken by the lane */
    lw_record *out_tail;
    uint64_t out_count;
    uint64_t packed;    /* rows that left the packer, ever */
    uint64_t lost_rows; /* of them, dropped by ROW operators */
    uint64_t dropped;   /* documents dropped by operators */
    uint64_t dropped_tokens;
    bool has_culprit;   /* an operator failed at a document, */
    lw_segment culprit; /* this one */
};

/* Whether one of the operators has a worker of that phase. */
bool lw__operators_have_work(const lw__operator *operators, size_t count, uint32_t phase);
/* The result of an operator's function; a failure it left without words gets some. */
lw_status lw__operator_status(const lw_op_type *type, lw_status status, lw_error *err);

lw_status lw__chain_open(lw__chain *chain, const lw__operator *operators, size_t operator_count,
                         const lw_op_context *context, lw__store *store, lw_error *err);
void lw__chain_close(lw__chain *chain);
/* Takes one document record of the store; its tokens need not outlive the call. */
lw_status lw__chain_push(lw__chain *chain, lw_record *document, lw_error *err);
/* The lane's data has ended: nothing is held afterwards. */
lw_status lw__chain_flush(lw__chain *chain, lw_error *err);
/* Rows held between the packer and the end of the chain. */
uint64_t lw__chain_held_rows(const lw__chain *chain);
/* Appends what the accumulators hold. */
lw_status lw__chain_save(const lw__chain *chain, lw__bytes *out, lw_error *err);
/* Loads it into the accumulators of a fresh chain; records without tokens go to `remake`. */
lw_status lw__chain_load(lw__chain *chain, lw__reader *from, lw__remake_list *remake,
                         lw_error *err);

#endif
