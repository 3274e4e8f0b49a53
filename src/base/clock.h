/* SPDX-License-Identifier: Apache-2.0 */
/* The monotonic clock, for time-outs and counters only: never for a decision of the stream. */
#ifndef LW__BASE_CLOCK_H
#define LW__BASE_CLOCK_H

#include <stdint.h>

uint64_t lw__clock_ns(void);
/* Processor time of the calling thread: what a stage costs, whatever else the machine does. */
uint64_t lw__clock_cpu_ns(void);

#endif
