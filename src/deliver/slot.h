/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: the memory of a step's rows, and batches, which are views of it.
 *
 * A shelf holds the slots of one pipeline. It outlives the pipeline while a batch is held: its own
 * lock guards the references, and is taken before the pool's.
 */
#ifndef LW__DELIVER_SLOT_H
#define LW__DELIVER_SLOT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <laneway/pipeline.h>

#include "plan/settings.h"

/* The segments of one row. */
typedef struct lw__row_segments {
    lw_segment *items;
    size_t count;
    size_t capacity;
} lw__row_segments;

typedef struct lw__shelf lw__shelf;

typedef struct lw__slot {
    lw__shelf *shelf;
    /* under the pool's lock while it is filled, the consumer's afterwards */
    uint64_t step;
    uint64_t written; /* rows */
    lw_status status; /* of the ROW workers */
    uint64_t failed_row;
    lw_error failure;
    /* under the shelf's lock */
    uint64_t references; /* batches, and one while the step is not fully taken */
    /* set at creation; the arrays from tokens to row_digests lie in memory */
    void *block;           /* what to free */
    unsigned char *memory; /* pages of its own, so that a program may pin them */
    size_t memory_bytes;   /* whole pages */
    /* [rows] or [rows][context] */
    unsigned char *tokens;
    unsigned char *positions;
    unsigned char *labels;
    uint8_t *loss_mask;
    uint8_t *document_starts;
    uint8_t *row_digests; /* NULL without digests */
    uint64_t *valid_tokens;
    lw__row_segments *segments;
} lw__slot;

/* Shape of all slots of a shelf. */
typedef struct lw__slot_shape {
    uint64_t rows;
    uint64_t context;
    uint32_t token_bytes;
    bool digests;
} lw__slot_shape;

struct lw__shelf {
    lw__slot_shape shape;
    size_t slot_count;
    lw__slot *slots;
    pid_t owner; /* after a fork the lock may be held for ever: there nothing is given back */
    pthread_mutex_t lock;
    /* under lock */
    uint64_t references;                      /* the pipeline and every batch */
    void (*freed)(void *ctx, lw__slot *slot); /* a slot can be used again; NULL after the close */
    void *ctx;
};

struct lw_batch {
    lw__slot *slot;
    uint64_t references; /* under the shelf's lock */
    uint64_t first;      /* row in the slot */
    uint64_t rows;
    uint64_t first_row; /* number of row 0 of the slot in its step */
};

/* For the budget. Row digests count even when off: the minimum then holds for who turns them on. */
uint64_t lw__slot_bytes(const lw__slot_shape *shape);
lw_status lw__shelf_create(const lw__slot_shape *shape, size_t slot_count, lw__shelf **out,
                           lw_error *err);
void lw__shelf_release(lw__shelf *shelf);
/* One reference less; tells the pipeline when it was the last. */
void lw__slot_release(lw__slot *slot);
/* Rows [first, first + rows) of a filled slot as a batch. */
lw_status lw__batch_create(lw__slot *slot, uint64_t first, uint64_t rows, uint64_t first_row,
                           lw_batch **out, lw_error *err);

#endif
