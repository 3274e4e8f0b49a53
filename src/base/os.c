/* SPDX-License-Identifier: Apache-2.0 */
/* The clock and the processors. */
#include "base/os.h"

#include <sched.h>
#include <time.h>

#include "base/clock.h"

uint64_t lw__clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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
