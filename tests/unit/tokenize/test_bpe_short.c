/* SPDX-License-Identifier: Apache-2.0 */
/* Merging of short pieces: each form does what the rule says, for any number of pieces at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <cmocka.h>

#include "plain_merges.h"
#include "tokenize/blocks.h"
#include "tokenize/bpe_short.h"

#define MERGES 24
#define JOBS   70

static void check_jobs(const lw__bpe *bpe, const lw__merge *merges, lw__bpe_do_jobs *do_jobs,
                       size_t count, uint64_t *random)
{
    unsigned char pieces[JOBS][LW__BPE_SHORT];
    lw__bpe_job jobs[JOBS];
    lw__bpe_job *list[JOBS] = {NULL};
    for (size_t i = 0; i < count; i++) {
        jobs[i].piece = pieces[i];
        jobs[i].bytes = 1 + plain_random(random) % LW__BPE_SHORT;
        jobs[i].count = 99;
        list[i] = &jobs[i];
        for (size_t k = 0; k < jobs[i].bytes; k++) {
            pieces[i][k] = (unsigned char)('a' + plain_random(random) % 4); /* d never merges */
        }
    }
    do_jobs(bpe, list, count);
    for (size_t i = 0; i < count; i++) {
        int32_t plain[LW__BPE_SHORT];
        for (size_t k = 0; k < jobs[i].bytes; k++) {
            plain[k] = pieces[i][k];
        }
        assert_int_equal(jobs[i].count, plain_merge(merges, MERGES, plain, jobs[i].bytes));
        assert_memory_equal(jobs[i].ids, plain, jobs[i].count * sizeof *plain);
    }
}

static void check_form(lw__bpe_do_jobs *do_jobs, bool finished)
{
    uint64_t random = 1;
    for (size_t round = 0; round < 3 * JOBS; round++) {
        lw__bpe bpe;
        lw__merge merges[MERGES];
        lw__bpe_init(&bpe);
        for (int byte = 0; byte < 256; byte++) {
            bpe.byte_ids[byte] = byte;
        }
        plain_draw(&bpe, merges, MERGES, &random);
        assert_int_equal(finished ? lw__bpe_finish(&bpe, NULL) : LW_OK, LW_OK);
        check_jobs(&bpe, merges, do_jobs, round % (JOBS + 1), &random);
        lw__bpe_reset(&bpe);
    }
}

static void test_bpe_short__every_form_follows_the_rule(void **state)
{
    (void)state;
    lw__blocks_form forms[3];
    size_t count = lw__blocks_forms(forms);
    for (size_t i = 0; i < count; i++) {
        print_message("%s\n", forms[i].name);
        check_form(forms[i].do_jobs, true);
        check_form(forms[i].do_jobs, false); /* slots of vocabularies that are too large */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bpe_short__every_form_follows_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
