/* SPDX-License-Identifier: Apache-2.0 */
/* Which forms of the block splitter this processor can run. */
#include "tokenize/blocks.h"

#include "base/cpu.h"

#if defined(__x86_64__)

size_t lw__blocks_forms(lw__blocks_form forms[static 3])
{
    size_t count = 0;
    if (lw__cpu_has_avx512()) {
        forms[count++] = (lw__blocks_form){
            .name = "avx512",
            .walk = lw__blocks_avx512,
            .do_jobs = lw__bpe_jobs_avx512,
            .put_keys = lw__piece_keys_avx512,
        };
    }
    if (lw__cpu_has_avx2()) {
        forms[count++] = (lw__blocks_form){
            .name = "avx2",
            .walk = lw__blocks_avx2,
            .do_jobs = lw__bpe_jobs_portable,
            .put_keys = lw__piece_keys_portable,
        };
    }
    forms[count++] = (lw__blocks_form){
        .name = "portable",
        .walk = lw__blocks_portable,
        .do_jobs = lw__bpe_jobs_portable,
        .put_keys = lw__piece_keys_portable,
    };
    return count;
}

#elif defined(__aarch64__)

size_t lw__blocks_forms(lw__blocks_form forms[static 3])
{
    forms[0] = (lw__blocks_form){
        .name = "neon",
        .walk = lw__blocks_neon,
        .do_jobs = lw__bpe_jobs_portable,
        .put_keys = lw__piece_keys_portable,
    };
    forms[1] = (lw__blocks_form){
        .name = "portable",
        .walk = lw__blocks_portable,
        .do_jobs = lw__bpe_jobs_portable,
        .put_keys = lw__piece_keys_portable,
    };
    return 2;
}

#else

size_t lw__blocks_forms(lw__blocks_form forms[static 3])
{
    forms[0] = (lw__blocks_form){
        .name = "portable",
        .walk = lw__blocks_portable,
        .do_jobs = lw__bpe_jobs_portable,
        .put_keys = lw__piece_keys_portable,
    };
    return 1;
}

#endif
