/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place that calls the C heap. Every request of 0 bytes is served as one byte, so NULL
 * always means that memory is out. The countdown that makes allocations fail is shared by all
 * threads; while it is off it costs one relaxed load.
 */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

/* 0: off; 1: the next allocation fails, as do all later ones; n: n - 1 more succeed first. */
static atomic_ulong countdown;

static bool may_allocate(void)
{
    unsigned long left = atomic_load_explicit(&countdown, memory_order_relaxed);
    while (left > 1) {
        if (atomic_compare_exchange_weak_explicit(&countdown, &left, left - 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            return true;
        }
    }
    return left == 0;
}

static bool multiply(size_t count, size_t item_bytes, size_t *out)
{
    return !__builtin_mul_overflow(count, item_bytes, out) && *out <= PTRDIFF_MAX;
}

void *lw__alloc(size_t bytes)
{
    if (bytes > PTRDIFF_MAX || !may_allocate()) {
        return NULL;
    }
    return malloc(bytes == 0 ? 1 : bytes);
}

void *lw__alloc_zero(size_t count, size_t item_bytes)
{
    size_t bytes = 0;
    if (!multiply(count, item_bytes, &bytes) || !may_allocate()) {
        return NULL;
    }
    return calloc(1, bytes == 0 ? 1 : bytes);
}

static size_t whole_pages(size_t bytes, size_t page)
{
    return (bytes + page - 1) / page * page;
}

void *lw__alloc_aligned(size_t bytes, size_t page, void **start)
{
    if (bytes > PTRDIFF_MAX - 2 * page) {
        return NULL;
    }
    char *memory = lw__alloc(whole_pages(bytes, page) + page);
    if (memory != NULL) {
        *start = memory + (page - (uintptr_t)memory % page);
    }
    return memory;
}

void *lw__alloc_huge(size_t bytes, void **start)
{
    void *memory = lw__alloc_aligned(bytes, LW__OS_HUGE_BYTES, start);
    if (memory != NULL) {
        lw__os_zero_huge(*start, whole_pages(bytes, LW__OS_HUGE_BYTES));
    }
    return memory;
}

void *lw__alloc_array(size_t count, size_t item_bytes)
{
    size_t bytes = 0;
    return multiply(count, item_bytes, &bytes) ? lw__alloc(bytes) : NULL;
}

void *lw__resize_array(void *p, size_t count, size_t item_bytes)
{
    size_t bytes = 0;
    if (!multiply(count, item_bytes, &bytes) || !may_allocate()) {
        return NULL;
    }
    return realloc(p, bytes == 0 ? 1 : bytes);
}

char *lw__copy_text(const char *text, size_t bytes)
{
    char *copy = bytes < PTRDIFF_MAX ? lw__alloc(bytes + 1) : NULL;
    if (copy != NULL) {
        if (bytes > 0) {
            memcpy(copy, text, bytes);
        }
        copy[bytes] = '\0';
    }
    return copy;
}

void lw__free(void *p)
{
    free(p);
}

void lw__alloc_fail_after(unsigned long calls)
{
    atomic_store_explicit(&countdown, calls, memory_order_relaxed);
}
