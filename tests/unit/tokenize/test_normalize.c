/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a normalizer: each case is a text and what becomes of it. */
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
        cmocka_unit_test(test_normalize__white_space_at_the_ends),
        cmocka_unit_test(test_normalize__prepend_and_replace),
        cmocka_unit_test(test_normalize__replace_by_a_regex),
        cmocka_unit_test(test_normalize__steps_follow_each_other),
        cmocka_unit_test(test_normalize__text_that_stays_is_not_copied),
        cmocka_unit_test(test_normalize__there_is_room_for_sixteen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
