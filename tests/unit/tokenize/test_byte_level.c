/* SPDX-License-Identifier: Apache-2.0 */
/* The byte-level alphabet: which character stands for which byte, and that no other does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/vocab.h"

enum { CODES = 0x800 }; /* of at most two bytes in UTF-8 */

static bool is_printable(unsigned byte)
{
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

static size_t put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    out[0] = (char)(0xC0 | code >> 6);
    out[1] = (char)(0x80 | (code & 0x3F));
    return 2;
}

/* The byte of one character; -1 when it is none of the alphabet. */
static int undone(uint32_t code)
{
    char text[2];
    char byte = 0;
    size_t bytes = 0;
    lw_str one = {.data = text, .bytes = put_utf8(text, code)};
    if (!lw__byte_level_undo(one, &byte, &bytes)) {
        return -1;
    }
    assert_int_equal(bytes, 1);
    return (unsigned char)byte;
}

static void test_byte_level__each_byte_has_one_character(void **state)
{
    (void)state;
    uint32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint32_t code = is_printable(byte) ? byte : next++;
        assert_int_equal(lw__byte_level_code((unsigned char)byte), code);
        assert_int_equal(undone(code), byte);
    }
    assert_int_equal(next, 0x144);
}

static void test_byte_level__no_other_character_is_taken(void **state)
{
    (void)state;
    size_t taken = 0;
    for (uint32_t code = 0; code < CODES; code++) {
        taken += undone(code) >= 0;
    }
    assert_int_equal(taken, 256);
}

static void test_byte_level__texts_that_are_cut_or_longer_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"\xC4", "a\xC4", "\xC4z", "\xA0", "\xE4\xB8\xAD", "a b"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char out[8];
        size_t bytes = 0;
        lw_str text = {.data = texts[i], .bytes = strlen(texts[i])};
        assert_false(lw__byte_level_undo(text, out, &bytes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_level__each_byte_has_one_character),
        cmocka_unit_test(test_byte_level__no_other_character_is_taken),
        cmocka_unit_test(test_byte_level__texts_that_are_cut_or_longer_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
