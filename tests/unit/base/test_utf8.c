/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 by a second, naive reading of the table: all characters, all short strings, all places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/utf8.h"

static size_t encode(uint32_t c, unsigned char *out)
{
    size_t count = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = count; i-- > 1;) {
        out[i] = (unsigned char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    out[0] = (unsigned char)(marks[count] | c);
    return count;
}

/* Decodes and encodes again: a sequence is well-formed if that gives the same bytes. */
static bool is_character(const unsigned char *p, size_t count)
{
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = p[0] & masks[count];
    for (size_t i = 1; i < count; i++) {
        c = c << 6 | (p[i] & 0x3F);
    }
    unsigned char again[4];
    bool is_scalar = c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
    return is_scalar && encode(c, again) == count && memcmp(again, p, count) == 0;
}

static size_t naive_check(const unsigned char *p, size_t count)
{
    size_t at = 0;
    while (at < count) {
        size_t step = 0;
        for (size_t n = 1; n <= 4 && at + n <= count && step == 0; n++) {
            step = is_character(p + at, n) ? n : 0;
        }
        if (step == 0) {
            break;
        }
        at += step;
    }
    return at;
}

static void test_utf8__all_characters(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x120000; c++) {
        unsigned char text[4];
        size_t count = encode(c, text);
        bool is_scalar = c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
        assert_int_equal(lw__utf8_check(text, count), is_scalar ? count : 0);
    }
}

static void test_utf8__all_pairs_and_many_longer_at_every_place(void **state)
{
    (void)state;
    unsigned char text[80];
    for (uint32_t i = 0; i < 0x10000; i++) {
        for (size_t tail = 0; tail < 3; tail++) {
            size_t place = i % 41;
            memset(text, 'a', sizeof text);
            text[place] = (unsigned char)(i >> 8);
            text[place + 1] = (unsigned char)i;
            memset(text + place + 2, 0x80, tail);
            size_t expected = naive_check(text, sizeof text);
            assert_int_equal(lw__utf8_check(text, sizeof text), expected);
            size_t cut = place + 2 + tail;
            assert_int_equal(lw__utf8_check(text, cut), naive_check(text, cut));
        }
    }
}

static void test_utf8__characters_cut_by_a_chunk(void **state)
{
    (void)state;
    unsigned char text[200];
    static const uint32_t wide[] = {0xE9, 0x20AC, 0x1F600};
    for (size_t kind = 0; kind < 3; kind++) {
        for (size_t lead = 0; lead < 36; lead++) {
            memset(text, 'a', lead);
            size_t count = lead;
            while (count < 190) {
                count += encode(wide[kind], text + count);
            }
            assert_int_equal(lw__utf8_check(text, count), count);
            assert_int_equal(lw__utf8_check(text, count - 1), naive_check(text, count - 1));
            for (size_t at = lead; at < count; at++) {
                unsigned char kept = text[at];
                text[at] = 0xFF;
                assert_int_equal(lw__utf8_check(text, count), naive_check(text, count));
                text[at] = kept;
            }
        }
    }
}

static void check_repair(const char *text, const char *expected)
{
    char out[64];
    size_t count = lw__utf8_repair(text, strlen(text), out);
    assert_int_equal(count, strlen(expected));
    assert_memory_equal(out, expected, count);
}

#define MARK "\xEF\xBF\xBD"

static void test_utf8__one_mark_for_each_maximal_part(void **state)
{
    (void)state;
    check_repair("", "");
    check_repair("row \xFB.", "row " MARK ".");
    check_repair("\xE2\x82", MARK);
    check_repair("\xE2\x82x", MARK "x");
    check_repair("\xF0\x9F\x98\xE2\x82\xAC", MARK "\xE2\x82\xAC");
    check_repair("\xED\xA0\x80", MARK MARK MARK);
    check_repair("\xC0\xAF", MARK MARK);
    check_repair("\xF4\x90\x80\x80", MARK MARK MARK MARK);
    check_repair("\x80\xBF", MARK MARK);
}

static void test_utf8__nothing_and_nul(void **state)
{
    (void)state;
    assert_int_equal(lw__utf8_check(NULL, 0), 0);
    assert_int_equal(lw__utf8_check("a\0b", 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8__all_characters),
        cmocka_unit_test(test_utf8__all_pairs_and_many_longer_at_every_place),
        cmocka_unit_test(test_utf8__characters_cut_by_a_chunk),
        cmocka_unit_test(test_utf8__one_mark_for_each_maximal_part),
        cmocka_unit_test(test_utf8__nothing_and_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
