/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions this processor has, of those that files have a form of their own for. */
#ifndef LW__BASE_CPU_H
#define LW__BASE_CPU_H

#include <stdbool.h>

#if defined(__x86_64__)

/* With BMI2, which all have that have AVX2, unless a virtual machine hides it. */
static inline bool lw__cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

/* As it came with Ice Lake and Zen 4: bytes are compressed, and looked up in tables of 128. */
static inline bool lw__cpu_has_avx512(void)
{
    return lw__cpu_has_avx2() && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
}

#endif

#endif
