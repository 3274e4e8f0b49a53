/* SPDX-License-Identifier: Apache-2.0 */
/* Where grapheme clusters end: each rule of UAX #29, and the classes that they go by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "tokenize/graphemes.h"
#include "tokenize/scan.h"
#include "tokenize/unicode_graphemes.h"

enum {
    ACUTE = 0x301,
    ZWNJ = 0x200C,
    ZWJ = 0x200D,
    KA = 0x915,
    VIRAMA = 0x94D,
    NUKTA = 0x93C,
    COPYRIGHT = 0xA9,
    WOMAN = 0x1F469,
    LAPTOP = 0x1F4BB,
    TONE = 0x1F3FB,
    FLAG = 0x1F1E6,
    CUT = 1 /* between codes: a cluster ends here */
};

/* Codes with CUT between them, up to 0: the clusters of their text are what stands between. */
static void clusters(const uint32_t *codes)
{
    lw__bytes text;
    size_t ends[16];
    size_t count = 0;
    lw__bytes_init(&text);
    for (; *codes != 0; codes++) {
        if (*codes == CUT) {
            ends[count++] = text.count;
        } else {
            lw__scan_put(&text, *codes);
        }
    }
    ends[count++] = text.count;
    const unsigned char *at = text.data;
    for (size_t i = 0; i < count; i++) {
        at += lw__grapheme_bytes(at, text.data + text.count);
        assert_int_equal(at - text.data, ends[i]);
    }
    lw__bytes_reset(&text);
}

#define CLUSTERS(...) clusters((const uint32_t[]){__VA_ARGS__, 0})

static void test_graphemes__controls_stand_alone(void **state)
{
    (void)state;
    CLUSTERS('a', CUT, 'b');
    CLUSTERS('\r', '\n', CUT, ACUTE);
    CLUSTERS('\n', CUT, '\r', CUT, '\r', '\n');
    CLUSTERS('a', CUT, 0x200B, CUT, ACUTE, CUT, '\n', CUT, 'a');
    CLUSTERS(0x600, CUT, '\n');
}

static void test_graphemes__marks_extend(void **state)
{
    (void)state;
    CLUSTERS('a', ACUTE, ZWJ, ZWNJ, CUT, 'b');
    CLUSTERS(0x915, 0x903, CUT, 'b');      /* a spacing mark */
    CLUSTERS(0x600, 'a', ACUTE, CUT, 'b'); /* what is prepended */
    CLUSTERS(0x600, 0x600, FLAG, FLAG, CUT, FLAG);
    CLUSTERS(0x1F3FB, TONE, CUT, 'a'); /* a tone of skin extends anything */
}

static void test_graphemes__syllables(void **state)
{
    (void)state;
    CLUSTERS(0x1100, 0x1100, 0x1161, 0x1161, 0x11A8, 0x11A8, CUT, 0x1100);
    CLUSTERS(0x1100, 0xAC00, 0x1161, 0x11A8, CUT, 0x1161);
    CLUSTERS(0x1100, 0xAC01, 0x11A8, CUT, 0x1161, CUT, 0xAC00, CUT, 0xAC00);
    CLUSTERS(0xAC01, CUT, 0x1161);
    CLUSTERS(0x11A8, CUT, 0xAC00);
    CLUSTERS(0x1161, CUT, 0x1100);
    CLUSTERS(0x1100, CUT, 0x11A8);
}

static void test_graphemes__pictographs_are_joined(void **state)
{
    (void)state;
    CLUSTERS(WOMAN, TONE, ZWJ, LAPTOP, ZWJ, COPYRIGHT, CUT, WOMAN);
    CLUSTERS('a', ZWJ, CUT, LAPTOP);
    CLUSTERS(WOMAN, ZWJ, ZWJ, CUT, LAPTOP);
    CLUSTERS(WOMAN, ZWJ, ACUTE, ZWJ, CUT, LAPTOP);
    CLUSTERS(WOMAN, ACUTE, ZWNJ, ZWJ, LAPTOP);
    CLUSTERS(WOMAN, ACUTE, CUT, LAPTOP);
    CLUSTERS(WOMAN, 0x903, ZWJ, CUT, LAPTOP);
}

static void test_graphemes__conjuncts(void **state)
{
    (void)state;
    CLUSTERS(KA, VIRAMA, KA, NUKTA, VIRAMA, ZWJ, KA, CUT, KA);
    CLUSTERS(KA, ZWJ, CUT, KA);
    CLUSTERS(KA, VIRAMA, ZWNJ, CUT, KA);
    CLUSTERS(KA, ZWNJ, VIRAMA, CUT, KA);
    CLUSTERS('a', VIRAMA, CUT, KA);
    CLUSTERS(KA, 0x903, VIRAMA, CUT, KA);
    CLUSTERS(KA, VIRAMA, CUT, 'a');
}

static void test_graphemes__flags_are_two_letters(void **state)
{
    (void)state;
    CLUSTERS(FLAG, FLAG + 1, CUT, FLAG, FLAG, CUT, FLAG);
    CLUSTERS(FLAG, FLAG, ACUTE, CUT, FLAG, ACUTE, CUT, FLAG);
    CLUSTERS('a', CUT, FLAG, FLAG, CUT, FLAG, CUT, 'a');
}

static void test_graphemes__classes_are_those_of_unicode_17(void **state)
{
    (void)state;
    assert_int_equal(lw__unicode_grapheme(0x1ACF), LW__GRAPHEME_EXTEND); /* new */
    assert_int_equal(lw__unicode_grapheme(0x2605), LW__GRAPHEME_OTHER); /* no pictograph any more */
    assert_int_equal(lw__unicode_grapheme(0x1000), LW__GRAPHEME_CONSONANT);
    assert_int_equal(lw__unicode_grapheme(0x1039), LW__GRAPHEME_LINKER);
    assert_int_equal(lw__unicode_grapheme(0x1FFFE), LW__GRAPHEME_OTHER);
    assert_int_equal(lw__unicode_grapheme(0x1FC00),
                     LW__GRAPHEME_PICTOGRAPH); /* of no character yet */
    assert_int_equal(lw__unicode_grapheme(0xE0000), LW__GRAPHEME_CONTROL);
    assert_int_equal(lw__unicode_grapheme(0xE0FFF), LW__GRAPHEME_CONTROL);
    assert_int_equal(lw__unicode_grapheme(0xE1000), LW__GRAPHEME_OTHER);
    assert_int_equal(lw__unicode_grapheme(0x10FFFF), LW__GRAPHEME_OTHER);
    assert_int_equal(lw__unicode_grapheme(0xABFF), LW__GRAPHEME_OTHER);
    assert_int_equal(lw__unicode_grapheme(0xD7A3), LW__GRAPHEME_LVT);
    assert_int_equal(lw__unicode_grapheme(0xD7A4), LW__GRAPHEME_OTHER);
    assert_int_equal(lw__unicode_grapheme(0xD788), LW__GRAPHEME_LV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphemes__controls_stand_alone),
        cmocka_unit_test(test_graphemes__marks_extend),
        cmocka_unit_test(test_graphemes__syllables),
        cmocka_unit_test(test_graphemes__pictographs_are_joined),
        cmocka_unit_test(test_graphemes__conjuncts),
        cmocka_unit_test(test_graphemes__flags_are_two_letters),
        cmocka_unit_test(test_graphemes__classes_are_those_of_unicode_17),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
