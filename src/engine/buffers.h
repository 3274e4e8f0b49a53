/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers for decoded parts, kept and used again.
 *
 * Parts come and go all the time, in sizes that differ a little, made on one thread and freed on
 * another: a heap answers that with fragments. Here sizes are rounded up to four steps an octave,
 * and what is given back waits for the next part of its size; so memory settles at what was once
 * needed at the same time.
 */
#ifndef LW__ENGINE_BUFFERS_H
#define LW__ENGINE_BUFFERS_H

#include <pthread.h>
#include <stddef.h>

#define LW__BUFFER_SIZES 256

typedef struct lw__buffer lw__buffer;

typedef struct lw__buffers {
    pthread_mutex_t lock; /* of its own: taken last, for moments */
    /* under lock */
    lw__buffer *spare[LW__BUFFER_SIZES];
} lw__buffers;

void lw__buffers_init(lw__buffers *buffers);
void lw__buffers_reset(lw__buffers *buffers);
/* NULL when memory is out. */
void *lw__buffers_take(lw__buffers *buffers, size_t bytes);
/* NULL is fine. */
void lw__buffers_put(lw__buffers *buffers, void *data);

#endif
