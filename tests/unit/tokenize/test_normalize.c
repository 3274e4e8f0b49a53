/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a normalizer: each case is a text and what becomes of it. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "tiny_charsmap.h"
#include "tiny_vocabulary.h"
#include "tokenize/normalize.h"

#define ACUTE   "\xCC\x81" /* U+0301 */
#define E_ACUTE "\xC3\xA9"

static lw__normal step_of(lw__normal_kind kind, const char *pattern, const char *text)
{
    lw__normal step = {.kind = kind, .left = true, .right = true};
    lw__bytes_put(&step.pattern, pattern, strlen(pattern));
    lw__bytes_put(&step.text, text, strlen(text));
    return step;
}

static void put(lw__normalizer *normalizer, lw__normal step)
{
    assert_true(lw__normalizer_put(normalizer, &step));
}

static void becomes(const lw__normalizer *normalizer, const char *given, const char *expected)
{
    lw_error err = {.status = LW_OK};
    lw__normal_scratch scratch = {.texts = {{.count = 0}}};
    lw_str out = {.data = NULL};
    for (int again = 0; again < 2; again++) {
        lw_str text = {.data = given, .bytes = strlen(given)};
        assert_int_equal(lw__normalize(normalizer, &scratch, text, &out, &err), LW_OK);
        assert_int_equal(out.bytes, strlen(expected));
        assert_memory_equal(out.data, expected, out.bytes);
    }
    lw__normal_scratch_reset(&scratch);
}

static void one_becomes(lw__normal step, const char *given, const char *expected)
{
    lw__normalizer normalizer = {.count = 0};
    put(&normalizer, step);
    becomes(&normalizer, given, expected);
    lw__normalizer_reset(&normalizer);
}

static void test_normalize__small_letters(void **state)
{
    (void)state;
    const lw__normal step = {.kind = LW__NORMAL_LOWER};
    one_becomes(step, "", "");
    one_becomes(step, "aBC \xC3\x89!", "abc " E_ACUTE "!");
    one_becomes(step, "\xC4\xB0x", "i\xCC\x87x");              /* the one that becomes two */
    one_becomes(step, "\xCE\x91\xCE\xA3", "\xCE\xB1\xCF\x83"); /* a last sigma is as any other */
    one_becomes(step, "\xC4\x80\xC4\x81\xC4\x82", "\xC4\x81\xC4\x81\xC4\x83"); /* each second one */
    one_becomes(step, "\xE2\x84\xAA", "k");                    /* the Kelvin sign is shorter then */
    one_becomes(step, "\xF0\x96\xBA\xB8", "\xF0\x96\xBB\x93"); /* new in Unicode 17 */
}

static void test_normalize__marks_are_dropped(void **state)
{
    (void)state;
    const lw__normal step = {.kind = LW__NORMAL_UNMARK};
    one_becomes(step, "e" ACUTE ACUTE "f" E_ACUTE, "ef" E_ACUTE);
    one_becomes(step, ACUTE, "");
    one_becomes(step, "\xE0\xB0\x84", "\xE0\xB0\x84"); /* a mark since Unicode 11 */
    one_becomes(step, "\xE1\xB3\xB2", "");             /* a mark until 12 */
}

static lw__normal map_step(void)
{
    lw__normal step = {.kind = LW__NORMAL_MAP};
    tiny_map_fill();
    lw__bytes_put(&step.pattern, tiny_map, TINY_MAP_BYTES);
    step.map = lw__alloc_zero(1, sizeof *step.map);
    assert_non_null(step.map);
    assert_true(lw__charsmap_open(step.map, step.pattern.data, step.pattern.count));
    return step;
}

static void test_normalize__a_map_goes_by_clusters(void **state)
{
    (void)state;
    one_becomes(map_step(), "", "");
    one_becomes(map_step(), "xAyA", "xabyab");
    one_becomes(map_step(), "AB\t", "abB ");             /* two clusters, so "AB" is not met */
    one_becomes(map_step(), "A" ACUTE ACUTE "x", "abx"); /* a short cluster is replaced whole */
    one_becomes(map_step(), "A" ACUTE ACUTE ACUTE, "ab" ACUTE ACUTE ACUTE); /* a long one is not */
    one_becomes(map_step(), "A\xE2\x83\x90" ACUTE,
                "ab\xE2\x83\x90" ACUTE); /* nor is one of six bytes */
    one_becomes(map_step(), "e" ACUTE "A", "e" ACUTE "ab");
    one_becomes(map_step(), "A\r\n\tx", "ab\r\n x");
}

/* CR and LF, and x with an acute. */
static void test_normalize__a_map_may_have_clusters_that_begin_with_ascii(void **state)
{
    (void)state;
    lw__normal step = map_step();
    lw__bytes_reset(&step.pattern);
    tiny_map_unit('x', tiny_map_label('x', 'x' ^ 0xD0, false));
    tiny_map_unit(0xD0 ^ 0xCC, tiny_map_label(0xCC, 0xD0 ^ 0xCC ^ 0xE0, false));
    tiny_map_unit(0xE0 ^ 0x81, tiny_map_label(0x81, 0xE0 ^ 0x81 ^ 0xF0, true));
    tiny_map_unit(0xF0, 1u << 31);
    tiny_map_unit('\r', tiny_map_label('\r', '\r' ^ 0xB0, false));
    tiny_map_unit(0xB0 ^ '\n', tiny_map_label('\n', 0xB0 ^ '\n' ^ 0xC0, true));
    tiny_map_unit(0xC0, 1u << 31 | 3);
    lw__bytes_put(&step.pattern, tiny_map, TINY_MAP_BYTES);
    assert_true(lw__charsmap_open(step.map, step.pattern.data, step.pattern.count));
    one_becomes(step, "x\r\nyx" ACUTE "\nz\r", "x yab\nz\r");
}

static void test_normalize__a_text_that_no_map_changes_is_not_copied(void **state)
{
    (void)state;
    lw_error err = {.status = LW_OK};
    lw__normalizer normalizer = {.count = 0};
    lw__normal_scratch scratch = {.texts = {{.count = 0}}};
    lw_str text = {.data = "xB e" ACUTE " \r\n", .bytes = 9};
    lw_str out = {.data = NULL};
    put(&normalizer, map_step());
    assert_int_equal(lw__normalize(&normalizer, &scratch, text, &out, &err), LW_OK);
    assert_ptr_equal(out.data, text.data);
    assert_int_equal(out.bytes, text.bytes);
    lw__normal_scratch_reset(&scratch);
    lw__normalizer_reset(&normalizer);
}

/* Wherever its units lead, a map whose texts are UTF-8 leaves UTF-8. */
static void test_normalize__a_map_with_flipped_bits(void **state)
{
    (void)state;
    const lw_str text = {.data = "A\0AB\t" E_ACUTE "A" ACUTE "x", .bytes = 11};
    for (size_t bit = 32; bit < (TINY_MAP_BYTES - TINY_MAP_TEXTS) * 8u; bit++) {
        lw_error err = {.status = LW_OK};
        lw__normalizer normalizer = {.count = 0};
        lw__normal_scratch scratch = {.texts = {{.count = 0}}};
        lw__normal step = map_step();
        lw_str out;
        memcpy(step.pattern.data + TINY_MAP_BYTES - TINY_MAP_TEXTS, "\xC3\xA9\0 \0",
               TINY_MAP_TEXTS);
        step.pattern.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(lw__charsmap_open(step.map, step.pattern.data, step.pattern.count));
        put(&normalizer, step);
        assert_int_equal(lw__normalize(&normalizer, &scratch, text, &out, &err), LW_OK);
        assert_int_equal(lw__utf8_check(out.data, out.bytes), out.bytes);
        lw__normal_scratch_reset(&scratch);
        lw__normalizer_reset(&normalizer);
    }
}

static void test_normalize__white_space_at_the_ends(void **state)
{
    (void)state;
    lw__normal step = {.kind = LW__NORMAL_STRIP, .left = true, .right = true};
    one_becomes(step,
                " \n\xE3\x80\x80"
                "a b\xC2\xA0\t",
                "a b");
    one_becomes(step, " \xC2\xA0 ", "");
    one_becomes(step, "a", "a");
    step.right = false;
    one_becomes(step, " a ", "a ");
    step.left = false;
    step.right = true;
    one_becomes(step, " a ", " a");
}

static void test_normalize__prepend_and_replace(void **state)
{
    (void)state;
    one_becomes(step_of(LW__NORMAL_PREPEND, "", "xy"), "a", "xya");
    one_becomes(step_of(LW__NORMAL_PREPEND, "", "xy"), "", "");
    one_becomes(step_of(LW__NORMAL_REPLACE, "aba", "c"), "ababa aba", "cba c");
    one_becomes(step_of(LW__NORMAL_REPLACE, "a", ""), "aaa", "");
    one_becomes(step_of(LW__NORMAL_REPLACE, "a", "aa"), "ba", "baa");
}

static void regex_becomes(const char *pattern, const char *text, const char *given,
                          const char *expected)
{
    lw_error err = {.status = LW_OK};
    const char *wrong = NULL;
    lw__normal step = step_of(LW__NORMAL_REPLACE, pattern, text);
    lw_str regex = {.data = pattern, .bytes = strlen(pattern)};
    assert_int_equal(
        lw__regex_compile(regex, LW__REGEX_ONIGURUMA, false, &step.regex, &wrong, &err), LW_OK);
    assert_non_null(step.regex);
    one_becomes(step, given, expected);
}

static void test_normalize__replace_by_a_regex(void **state)
{
    (void)state;
    regex_becomes(" {2,}", "_", "a  b c    " E_ACUTE " ", "a_b c_" E_ACUTE " ");
    regex_becomes("x*", "-", "a" E_ACUTE "xxb", "-a-" E_ACUTE "-b-");
    regex_becomes("[^a]+", "", "a" E_ACUTE E_ACUTE "ab", "aa");
    regex_becomes("b", "c", "", "");
}

static void test_normalize__steps_follow_each_other(void **state)
{
    (void)state;
    lw__normalizer normalizer = {.count = 0};
    put(&normalizer, (lw__normal){.kind = LW__NORMAL_FORM, .form = LW__NFC_KD});
    put(&normalizer, (lw__normal){.kind = LW__NORMAL_FORM, .form = LW__NFC_C});
    put(&normalizer, (lw__normal){.kind = LW__NORMAL_LOWER});
    put(&normalizer, step_of(LW__NORMAL_PREPEND, "", " "));
    put(&normalizer, step_of(LW__NORMAL_REPLACE, " ", "_"));
    becomes(&normalizer, "\xEF\xAC\x81 \xC3\x89", "_fi_" E_ACUTE);
    lw__normalizer_reset(&normalizer);
}

static void test_normalize__text_that_stays_is_not_copied(void **state)
{
    (void)state;
    lw_error err = {.status = LW_OK};
    lw__normalizer normalizer = {.count = 0};
    lw__normal_scratch scratch = {.texts = {{.count = 0}}};
    lw_str text = {.data = "as it is", .bytes = 8};
    lw_str out = {.data = NULL};
    put(&normalizer, (lw__normal){.kind = LW__NORMAL_FORM, .form = LW__NFC_KC});
    put(&normalizer, (lw__normal){.kind = LW__NORMAL_LOWER});
    put(&normalizer, (lw__normal){.kind = LW__NORMAL_UNMARK});
    put(&normalizer, step_of(LW__NORMAL_REPLACE, "  ", " "));
    assert_int_equal(lw__normalize(&normalizer, &scratch, text, &out, &err), LW_OK);
    assert_ptr_equal(out.data, text.data);
    lw__normal_scratch_reset(&scratch);
    lw__normalizer_reset(&normalizer);
}

static void test_normalize__there_is_room_for_sixteen(void **state)
{
    (void)state;
    lw__normalizer normalizer = {.count = 0};
    for (size_t i = 0; i < LW__NORMAL_STEPS; i++) {
        put(&normalizer, step_of(LW__NORMAL_PREPEND, "", "a"));
    }
    becomes(&normalizer, "b", "aaaaaaaaaaaaaaaab");
    lw__normal more = step_of(LW__NORMAL_PREPEND, "", "a");
    assert_false(lw__normalizer_put(&normalizer, &more));
    lw__normalizer_reset(&normalizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normalize__small_letters),
        cmocka_unit_test(test_normalize__marks_are_dropped),
        cmocka_unit_test(test_normalize__a_map_goes_by_clusters),
        cmocka_unit_test(test_normalize__a_map_may_have_clusters_that_begin_with_ascii),
        cmocka_unit_test(test_normalize__a_text_that_no_map_changes_is_not_copied),
        cmocka_unit_test(test_normalize__a_map_with_flipped_bits),
        cmocka_unit_test(test_normalize__white_space_at_the_ends),
        cmocka_unit_test(test_normalize__prepend_and_replace),
        cmocka_unit_test(test_normalize__replace_by_a_regex),
        cmocka_unit_test(test_normalize__steps_follow_each_other),
        cmocka_unit_test(test_normalize__text_that_stays_is_not_copied),
        cmocka_unit_test(test_normalize__there_is_room_for_sixteen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
