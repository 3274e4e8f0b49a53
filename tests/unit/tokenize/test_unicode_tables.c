/* SPDX-License-Identifier: Apache-2.0 */
/* The generated table: its version, its totals, and single code points that moved before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tokenize/scan.h"
#include "tokenize/unicode.h"

static void test_unicode_tables__are_of_version_16(void **state)
{
    (void)state;
    size_t counts[4] = {0};
    for (uint32_t code = 0; code < 0x110000; code++) {
        counts[lw__unicode_class(code)]++;
    }
    assert_string_equal(lw__unicode_version, "16.0.0");
    assert_int_equal(counts[LW__CLASS_LETTER], 141028);
    assert_int_equal(counts[LW__CLASS_NUMBER], 1911);
    assert_int_equal(counts[LW__CLASS_SPACE], 25);
}

static void test_unicode_tables__single_code_points(void **state)
{
    (void)state;
    assert_int_equal(lw__unicode_class(0x1C89), LW__CLASS_LETTER); /* new in 16.0 */
    assert_int_equal(lw__unicode_class(0x088F), LW__CLASS_OTHER);  /* new in 17.0 */
    assert_int_equal(lw__unicode_class(0x180E), LW__CLASS_OTHER);  /* white space before 6.3 */
    assert_int_equal(lw__unicode_class(0x85), LW__CLASS_SPACE);
    assert_int_equal(lw__unicode_class(0x1C), LW__CLASS_OTHER);
    assert_int_equal(lw__unicode_class(0x323AF), LW__CLASS_LETTER); /* the last letter */
    assert_int_equal(lw__unicode_class(0x10FFFF), LW__CLASS_OTHER);
    assert_int_equal(lw__unicode_class(UINT32_MAX), LW__CLASS_OTHER);
}

static void test_unicode_tables__ascii_agrees_with_the_table(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x80; code++) {
        assert_int_equal(lw__scan_ascii[code], lw__unicode_class(code));
    }
    for (uint32_t byte = 0x80; byte < 0x100; byte++) {
        assert_int_equal(lw__scan_ascii[byte], 0xFF);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unicode_tables__are_of_version_16),
        cmocka_unit_test(test_unicode_tables__single_code_points),
        cmocka_unit_test(test_unicode_tables__ascii_agrees_with_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
