/* SPDX-License-Identifier: Apache-2.0 */
/* The UTF-8 check and repair against Python's decoder, place by place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/utf8.h"
#include "oracle.h"

static void check_case(char *words[3])
{
    size_t count = 0;
    size_t expected_count = 0;
    unsigned char *bytes = oracle_bytes(words[0], &count);
    unsigned char *expected = oracle_bytes(words[2], &expected_count);
    size_t bad = strtoul(words[1], NULL, 10);
    if (lw__utf8_check(bytes, count) != bad) {
        fail_msg("%s: first bad byte %zu, expected %zu", words[0], lw__utf8_check(bytes, count),
                 bad);
    }
    unsigned char *out = malloc(3 * count + 1);
    size_t out_count = lw__utf8_repair(bytes, count, out);
    if (out_count != expected_count || memcmp(out, expected, out_count) != 0) {
        fail_msg("%s: repaired otherwise, expected %s", words[0], words[2]);
    }
    free(out);
    free(expected);
    free(bytes);
}

static void test_utf8_oracle__agrees_with_python(void **state)
{
    (void)state;
    assert_true(oracle_run("utf8", check_case) > 30000);
}

int main(void)
{
    if (oracle_is_missing()) {
        return ORACLE_SKIP;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_utf8_oracle__agrees_with_python)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
