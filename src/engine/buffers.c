/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of spare buffers by size. */
#include "engine/buffers.h"

#include <stdint.h>

#include "base/alloc.h"

/* Before the bytes handed out; as wide as any alignment asks for. */
struct lw__buffer {
    lw__buffer *next;
    size_t size; /* index of its list */
};

_Static_assert(sizeof(lw__buffer) == 16, "what follows is aligned for any type");

#define LEAST_BYTES ((size_t)1024)
/* A spare up to this many steps too large is used rather than a new buffer made: half as large again. */
#define NEAR 2

/* Sizes are LEAST_BYTES * 2^(i / 4) * (1 + (i % 4) / 4). */
static size_t bytes_of(size_t size)
{
    return (LEAST_BYTES << size / 4) / 4 * (4 + size % 4);
}

static size_t size_for(size_t bytes)
{
    size_t size = 0;
    while (size < LW__BUFFER_SIZES - 1 && size / 4 < 40 && bytes_of(size) < bytes) {
        size++;
    }
    return size;
}

void lw__buffers_init(lw__buffers *buffers)
{
    *buffers = (lw__buffers){0};
    pthread_mutex_init(&buffers->lock, NULL);
}

void lw__buffers_reset(lw__buffers *buffers)
{
    for (size_t i = 0; i < LW__BUFFER_SIZES; i++) {
        while (buffers->spare[i] != NULL) {
            lw__buffer *gone = buffers->spare[i];
            buffers->spare[i] = gone->next;
            lw__free(gone);
        }
    }
    pthread_mutex_destroy(&buffers->lock);
}

static lw__buffer *take_spare(lw__buffers *buffers, size_t size)
{
    lw__buffer *found = NULL;
    pthread_mutex_lock(&buffers->lock);
    for (size_t i = size; i <= size + NEAR && i < LW__BUFFER_SIZES && found == NULL; i++) {
        found = buffers->spare[i];
        if (found != NULL) {
            buffers->spare[i] = found->next;
        }
    }
    pthread_mutex_unlock(&buffers->lock);
    return found;
}

void *lw__buffers_take(lw__buffers *buffers, size_t bytes)
{
    size_t size = size_for(bytes);
    lw__buffer *buffer = take_spare(buffers, size);
    if (buffer == NULL) {
        size_t room = bytes_of(size) > bytes ? bytes_of(size) : bytes;
        buffer = lw__alloc(sizeof *buffer + room);
        if (buffer == NULL) {
            return NULL;
        }
        buffer->size = size;
    }
    return buffer + 1;
}

void lw__buffers_put(lw__buffers *buffers, void *data)
{
    if (data == NULL) {
        return;
    }
    lw__buffer *buffer = (lw__buffer *)data - 1;
    pthread_mutex_lock(&buffers->lock);
    buffer->next = buffers->spare[buffer->size];
    buffers->spare[buffer->size] = buffer;
    pthread_mutex_unlock(&buffers->lock);
}
