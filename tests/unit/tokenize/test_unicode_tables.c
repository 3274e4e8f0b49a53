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

static void test_unicode_tables__kinds_divide_the_classes(void **state)
{
    (void)state;
    static const unsigned classes[] = {
        [LW__KIND_OTHER] = LW__CLASS_OTHER,  [LW__KIND_UPPER] = LW__CLASS_LETTER,
        [LW__KIND_LOWER] = LW__CLASS_LETTER, [LW__KIND_CASELESS] = LW__CLASS_LETTER,
        [LW__KIND_MARK] = LW__CLASS_OTHER,   [LW__KIND_NUMBER] = LW__CLASS_NUMBER,
        [LW__KIND_SPACE] = LW__CLASS_SPACE,  [LW__KIND_PUNCTUATION] = LW__CLASS_OTHER,
        [LW__KIND_SYMBOL] = LW__CLASS_OTHER,
    };
    size_t marks = 0;
    for (uint32_t code = 0; code < 0x110000; code++) {
        lw__kind kind = lw__unicode_kind(code);
        assert_true(kind <= LW__KIND_SYMBOL);
        assert_int_equal(classes[kind], lw__unicode_class(code));
        marks += kind == LW__KIND_MARK;
    }
    assert_int_equal(marks, 2501);
}

static void test_unicode_tables__single_kinds(void **state)
{
    (void)state;
    assert_int_equal(lw__unicode_kind('A'), LW__KIND_UPPER);
    assert_int_equal(lw__unicode_kind(0x01C5), LW__KIND_UPPER); /* title case */
    assert_int_equal(lw__unicode_kind(0x017F), LW__KIND_LOWER);
    assert_int_equal(lw__unicode_kind(0x02B0), LW__KIND_CASELESS);
    assert_int_equal(lw__unicode_kind(0x4E2D), LW__KIND_CASELESS);
    assert_int_equal(lw__unicode_kind(0x0301), LW__KIND_MARK);
    assert_int_equal(lw__unicode_kind(0xE01EF), LW__KIND_MARK); /* the last one */
    assert_int_equal(lw__unicode_kind(0x2163), LW__KIND_NUMBER);
    assert_int_equal(lw__unicode_kind(0x00AB), LW__KIND_PUNCTUATION);
    assert_int_equal(lw__unicode_kind(0x20AC), LW__KIND_SYMBOL);
    assert_int_equal(lw__unicode_kind(0x200D), LW__KIND_OTHER);
    assert_int_equal(lw__unicode_kind(LW__STRAY), LW__KIND_OTHER);
    for (uint32_t code = 0; code < 0x80; code++) {
        assert_int_equal(lw__kind_ascii[code], lw__unicode_kind(code));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unicode_tables__are_of_version_16),
        cmocka_unit_test(test_unicode_tables__single_code_points),
        cmocka_unit_test(test_unicode_tables__kinds_divide_the_classes),
        cmocka_unit_test(test_unicode_tables__single_kinds),
        cmocka_unit_test(test_unicode_tables__ascii_agrees_with_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
