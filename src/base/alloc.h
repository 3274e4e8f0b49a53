/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only door to the heap. All return NULL when memory is out; sizes of arrays go through the
 * checked forms. A test can make the Nth allocation fail.
 */
#ifndef LW__BASE_ALLOC_H
#define LW__BASE_ALLOC_H

#include <stddef.h>

#define LW__MUST_CHECK __attribute__((warn_unused_result))

void *lw__alloc(size_t bytes) LW__MUST_CHECK;
void *lw__alloc_zero(size_t count, size_t item_bytes) LW__MUST_CHECK;
/* At least so many bytes at *start, which is a multiple of `page`; up to the next multiple nothing
 * else lies there. What is returned is what to free. */
void *lw__alloc_aligned(size_t bytes, size_t page, void **start) LW__MUST_CHECK;
/* Zeros at *start, on huge pages where there are any: for tables that are looked up all over. What
 * is returned is what to free. */
void *lw__alloc_huge(size_t bytes, void **start) LW__MUST_CHECK;
void *lw__alloc_array(size_t count, size_t item_bytes) LW__MUST_CHECK;
/* Like realloc for count items; on failure p stays as it is. */
void *lw__resize_array(void *p, size_t count, size_t item_bytes) LW__MUST_CHECK;
char *lw__copy_text(const char *text, size_t bytes) LW__MUST_CHECK; /* adds a NUL */
void lw__free(void *p);

/* For tests: of the allocations from now on, number `calls` and all later ones fail. 0: none does. */
void lw__alloc_fail_after(unsigned long calls);

#endif
