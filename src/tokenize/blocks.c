/* SPDX-License-Identifier: Apache-2.0 */
/* Which forms of the block splitter this processor can run. */
#include "tokenize/blocks.h"

#include <stdbool.h>

#if defined(__x86_64__)

static bool runs_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

static bool runs_avx512(void)
{
    return runs_avx2() && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
}

size_t lw__blocks_forms(lw__blocks_form forms[static 3])
{
    size_t count = 0;
    if (runs_avx512()) {
        forms[count++] = (lw__blocks_form){
            .name = "avx512", .walk = lw__blocks_avx512, .do_jobs = lw__bpe_jobs_avx512};
    }
    if (runs_avx2()) {
        forms[count++] = (lw__blocks_form){
            .name = "avx2", .walk = lw__blocks_avx2, .do_jobs = lw__bpe_jobs_portable};
    }
    forms[count++] = (lw__blocks_form){
        .name = "portable", .walk = lw__blocks_portable, .do_jobs = lw__bpe_jobs_portable};
    return count;
}

#elif defined(__aarch64__)

size_t lw__blocks_forms(lw__blocks_form forms[static 3])
{
    forms[0] = (lw__blocks_form){
        .name = "neon", .walk = lw__blocks_neon, .do_jobs = lw__bpe_jobs_portable};
    forms[1] = (lw__blocks_form){
        .name = "portable", .walk = lw__blocks_portable, .do_jobs = lw__bpe_jobs_portable};
    return 2;
}

#else

size_t lw__blocks_forms(lw__blocks_form forms[static 3])
{
    forms[0] = (lw__blocks_form){
        .name = "portable", .walk = lw__blocks_portable, .do_jobs = lw__bpe_jobs_portable};
    return 1;
}

#endif
