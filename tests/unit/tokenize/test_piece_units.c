/* SPDX-License-Identifier: Apache-2.0 */
/* Where units end: by bytes, and near the end of a text by characters too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/piece_units.h"

#define NONE (-1)

static void build(lw__piece_units *units)
{
    memset(units, 0, sizeof *units);
    assert_int_equal(lw__piece_units_create(units, NULL), LW_OK);
    lw__piece_units_join(units, 'a', 'b');
    lw__piece_units_join(units, 'b', 'a');
    lw__piece_units_join(units, ' ', 'a');
    lw__piece_units_join(units, 0x4E2D, 0x4E00); /* the last byte of the first is AD */
    assert_int_equal(lw__piece_units_finish(units, NULL), LW_OK);
}

static size_t last(const lw__piece_units *units, const char *text, int but)
{
    return lw__piece_units_last(units, (const unsigned char *)text, strlen(text), but);
}

static void test_piece_units__last_cut_by_bytes(void **state)
{
    (void)state;
    lw__piece_units units;
    build(&units);
    assert_int_equal(last(&units, "ab ab", NONE), 2);
    assert_int_equal(last(&units, "ab aba", NONE), 2);
    assert_int_equal(last(&units, "abab", NONE), 0);
    assert_int_equal(last(&units, "a", NONE), 0);
    assert_int_equal(last(&units, "", NONE), 0);
    assert_int_equal(last(&units, "aab  b", NONE), 5);
    assert_int_equal(last(&units, "aab  b", ' '), 3);
    lw__piece_units_reset(&units);
}

static void test_piece_units__last_cut_by_characters(void **state)
{
    (void)state;
    lw__piece_units units;
    build(&units);
    /* Not the first of the two, but its last byte is that of one before the second. */
    const char *text = "\xE4\xB9\xAD\xE4\xB8\x80";
    assert_false(lw__pair_classes_cut(&units.classes, 0xAD, 0xE4));
    assert_int_equal(last(&units, text, NONE), 3);
    assert_int_equal(last(&units, "\xE4\xB8\xAD\xE4\xB8\x80", NONE), 0);
    lw__piece_units_reset(&units);
}

static void test_piece_units__joined_bytes_leave_no_cut_to_characters(void **state)
{
    (void)state;
    lw__piece_units units;
    memset(&units, 0, sizeof units);
    assert_int_equal(lw__piece_units_create(&units, NULL), LW_OK);
    lw__piece_units_join_bytes(&units, 'a', 'b');
    assert_int_equal(lw__piece_units_finish(&units, NULL), LW_OK);
    assert_int_equal(last(&units, "ab", NONE), 0);
    assert_int_equal(last(&units, "aab", NONE), 1);
    lw__piece_units_reset(&units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_piece_units__last_cut_by_bytes),
        cmocka_unit_test(test_piece_units__last_cut_by_characters),
        cmocka_unit_test(test_piece_units__joined_bytes_leave_no_cut_to_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
