/* SPDX-License-Identifier: Apache-2.0 */
/* The clock and the processors. */
#include "base/os.h"

#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t lw__clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t lw__clock_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

size_t lw__os_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return 1;
    }
    int count = CPU_COUNT(&set);
    return count > 0 ? (size_t)count : 1;
}

size_t lw__os_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void lw__os_prefer_huge(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    size_t before = (size_t)(-(uintptr_t)memory) % LW__OS_HUGE_BYTES;
    size_t whole = bytes < before ? 0 : (bytes - before) / LW__OS_HUGE_BYTES * LW__OS_HUGE_BYTES;
    if (whole > 0) {
        (void)madvise((char *)memory + before, whole, MADV_HUGEPAGE);
    }
#else
    (void)memory;
    (void)bytes;
#endif
}

/* Small pages that the heap had in use before would stay small, so they are given back first. */
void lw__os_zero_huge(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (madvise(memory, bytes, MADV_DONTNEED) == 0) {
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
        return;
    }
#endif
    memset(memory, 0, bytes);
}
