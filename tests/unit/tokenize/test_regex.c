/* SPDX-License-Identifier: Apache-2.0 */
/* What regexes match, as each of the two engines of the references reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "tokenize/regex.h"

#define ONIGURUMA LW__REGEX_ONIGURUMA
#define FANCY     LW__REGEX_FANCY

static lw__regex *compiled(const char *pattern, lw__regex_syntax syntax, bool mapped)
{
    lw_error err = {.status = LW_OK};
    lw__regex *regex = NULL;
    const char *wrong = NULL;
    lw_str text = {.data = pattern, .bytes = strlen(pattern)};
    assert_int_equal(lw__regex_compile(text, syntax, mapped, &regex, &wrong, &err), LW_OK);
    if (regex == NULL) {
        fail_msg("%s: expected %s", pattern, wrong);
    }
    return regex;
}

/* The first match, in characters; -1 and -1 when there is none. */
static void finds(const char *pattern, lw__regex_syntax syntax, const char *text, int start,
                  int end)
{
    lw_error err = {.status = LW_OK};
    lw__regex *regex = compiled(pattern, syntax, false);
    lw__regex_scratch *scratch = NULL;
    lw__bytes classes;
    size_t from = 0;
    size_t to = 0;
    lw__bytes_init(&classes);
    assert_int_equal(lw__regex_scratch_create(&scratch, &err), LW_OK);
    lw__regex_classify(regex, (const unsigned char *)text, strlen(text), &classes);
    lw__regex_result result =
        lw__regex_find(regex, scratch, classes.data, classes.count, 0, &from, &to);
    if (start < 0) {
        assert_int_equal(result, LW__REGEX_NONE);
    } else {
        assert_int_equal(result, LW__REGEX_FOUND);
        assert_int_equal(from, start);
        assert_int_equal(to, end);
    }
    lw__bytes_reset(&classes);
    lw__regex_scratch_destroy(scratch);
    lw__regex_destroy(regex);
}

static void test_regex__an_interval_with_a_plus(void **state)
{
    (void)state;
    finds("\\p{N}{1,3}+", ONIGURUMA, "x1234567", 1, 8);
    finds("\\p{N}{1,3}+", FANCY, "x1234567", 1, 4);
    finds("a{1,2}+a", FANCY, "aa", -1, -1);
}

static void test_regex__ends_of_lines_and_of_texts(void **state)
{
    (void)state;
    finds("a$", ONIGURUMA, "a\nb", 0, 1);
    finds("a$", FANCY, "a\nb", -1, -1);
    finds("^b", ONIGURUMA, "a\nb", 2, 3);
    finds("^b", FANCY, "a\nb", -1, -1);
    finds("b\\Z", ONIGURUMA, "ab\n", 1, 2);
    finds("b\\z", ONIGURUMA, "ab\n", -1, -1);
    finds("a.", ONIGURUMA, "a\na\r", 2, 4);
}

static void test_regex__classes(void **state)
{
    (void)state;
    finds("[^(\\s|[.,!])]+", ONIGURUMA, "(ab.c", 1, 3);
    finds("[a-z&&[^aeiou]]", ONIGURUMA, "aeb", 2, 3);
    finds("[\\w-]+", ONIGURUMA, ".a-b.", 1, 4);
    finds("\\p{^L}", ONIGURUMA, "ab1", 2, 3);
    finds("[\xE4\xB8\x80-\xE9\xBE\xA5]+", ONIGURUMA, "a\xE4\xB8\xAD\xE6\x96\x87z", 1, 3);
    finds("\\u4e2d|\\x{6587}", ONIGURUMA, "\xE6\x96\x87", 0, 1);
    finds("[a&&b]", ONIGURUMA, "ab", -1, -1);
}

static void test_regex__case(void **state)
{
    (void)state;
    finds("(?i:s)", ONIGURUMA, "\xC5\xBF", 0, 1); /* long s */
    finds("(?i)[a-k]b", ONIGURUMA,
          "\xE2\x84\xAA"
          "B",
          0, 2);
    finds("(?:(?i)a|b)c", FANCY, "BC", -1, -1);
    finds("(?:(?i)a|b)c", FANCY, "Bc", 0, 2);
    finds("(?i:a(?-i:b))", FANCY, "AB", -1, -1);
}

static void test_regex__words(void **state)
{
    (void)state;
    finds("\\bb", ONIGURUMA, "ab b", 3, 4);
    finds("\\Bb", ONIGURUMA, "b ab", 3, 4);
    finds("\\w", ONIGURUMA, "\xE2\x80\x8D", -1, -1); /* a joiner */
    finds("\\w", FANCY, "\xE2\x80\x8D", 0, 1);
}

static void test_regex__bytes_behind_byte_level(void **state)
{
    (void)state;
    /* Byte 0xB2 is written as a superscript two, which is a number; 0x20 as a letter. */
    static const unsigned char text[] = {'a', 0x20, 0xB2, '1'};
    lw_error err = {.status = LW_OK};
    lw__regex *regex = compiled("\\p{N}+", ONIGURUMA, true);
    lw__regex_scratch *scratch = NULL;
    lw__bytes classes;
    size_t start = 0;
    size_t end = 0;
    lw__bytes_init(&classes);
    assert_int_equal(lw__regex_scratch_create(&scratch, &err), LW_OK);
    lw__regex_classify(regex, text, sizeof text, &classes);
    assert_int_equal(classes.count, sizeof text);
    assert_int_equal(lw__regex_find(regex, scratch, classes.data, 4, 0, &start, &end),
                     LW__REGEX_FOUND);
    assert_int_equal(start, 2);
    assert_int_equal(end, 4);
    lw__bytes_reset(&classes);
    lw__regex_scratch_destroy(scratch);
    lw__regex_destroy(regex);
}

static void test_regex__too_many_steps_are_an_end(void **state)
{
    (void)state;
    lw_error err = {.status = LW_OK};
    lw__regex *regex = compiled("(?:a|b|ab)*(?:c|d)", ONIGURUMA, false);
    lw__regex_scratch *scratch = NULL;
    lw__bytes classes;
    char text[128];
    size_t start = 0;
    size_t end = 0;
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = i % 2 == 0 ? 'a' : 'b';
    }
    lw__bytes_init(&classes);
    assert_int_equal(lw__regex_scratch_create(&scratch, &err), LW_OK);
    lw__regex_classify(regex, (unsigned char *)text, sizeof text, &classes);
    assert_int_equal(lw__regex_find(regex, scratch, classes.data, classes.count, 0, &start, &end),
                     LW__REGEX_LIMIT);
    lw__bytes_reset(&classes);
    lw__regex_scratch_destroy(scratch);
    lw__regex_destroy(regex);
}

static const char *refusal(const char *pattern, lw__regex_syntax syntax)
{
    lw_error err = {.status = LW_OK};
    lw__regex *regex = NULL;
    const char *wrong = NULL;
    lw_str text = {.data = pattern, .bytes = strlen(pattern)};
    assert_int_equal(lw__regex_compile(text, syntax, false, &regex, &wrong, &err), LW_OK);
    if (regex != NULL) {
        fail_msg("%s is taken, expected a refusal", pattern);
    }
    return wrong;
}

static void test_regex__what_is_not_sure_is_refused(void **state)
{
    (void)state;

    static const struct {
        const char *pattern;
        const char *wrong;
    } cases[] = {
        {"", "1 to 16384 bytes"},
        {"(a)\\1", "escapes"},
        {"\\h", "escapes"},
        {"a\\", "last backslash"},
        {"\\p{Greek}", "general categories"},
        {"\\pL", "general categories"},
        {"\\xE9", "codes like"},
        {"\\x{D800}", "codes like"},
        {"\\x{110000}", "codes like"},
        {"(?x) a", "groups that match"},
        {"(?~a)", "groups that match"},
        {"a(?i)b", "at the start of a group"},
        {"(a", "closed groups"},
        {"a)", "closed groups"},
        {"(?<n", "closed groups"},
        {"[a", "brackets that hold something"},
        {"[]", "brackets that hold something"},
        {"[[:alpha:]]", "brackets of characters"},
        {"[a-\\d]", "ranges of characters"},
        {"[b-a]", "ranges that ascend"},
        {"[a--b]", "ranges of characters"},
        {"[\\w-a]", "hyphens are escaped"},
        {"[a&&]", "each side of &&"},
        {"*a", "something to repeat"},
        {"a**", "repeats no repeats"},
        {"a{2}{3}", "repeats no repeats"},
        {"a{1,2}+*", "repeats no repeats"},
        {"a{2}?", "repeats no repeats"},
        {"a{2,1}", "intervals like"},
        {"a{1001}", "intervals like"},
        {"a{,3}", "intervals like"},
        {"(?=a)*", "something to repeat"},
        {"(?<=a+)b", "looks behind by a fixed width"},
        {"(?i)\xC3\xA9", "case of ASCII alone"},
        {"(?i)\\p{L}", "case of ASCII alone"},
        {"(?i)ss", "case of ff"},
        {"((((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))))",
         "not nested so deep"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *wrong = refusal(cases[i].pattern, ONIGURUMA);
        if (strstr(wrong, cases[i].wrong) == NULL) {
            fail_msg("%s: expected %s, not %s", cases[i].pattern, cases[i].wrong, wrong);
        }
    }
    assert_non_null(strstr(refusal("a\\Z", FANCY), "\\z in place"));
    assert_non_null(strstr(refusal("[a~~b]", FANCY), "brackets of characters"));
}

static void test_regex__memory_that_runs_out_is_an_error(void **state)
{
    (void)state;
    static const lw_str pattern = {.data = "(?i:'s)|[^\\p{L}&&[^\\s]]{1,3}+|\\b", .bytes = 33};
    lw_error err = {.status = LW_OK};
    lw_status status = LW_E_NOMEM;
    for (unsigned long calls = 1; status == LW_E_NOMEM; calls++) {
        lw__regex *regex = NULL;
        const char *wrong = NULL;
        lw__alloc_fail_after(calls);
        status = lw__regex_compile(pattern, ONIGURUMA, false, &regex, &wrong, &err);
        lw__alloc_fail_after(0);
        assert_null(wrong);
        assert_true((regex != NULL) == (status == LW_OK));
        lw__regex_destroy(regex);
    }
    assert_int_equal(status, LW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regex__an_interval_with_a_plus),
        cmocka_unit_test(test_regex__ends_of_lines_and_of_texts),
        cmocka_unit_test(test_regex__classes),
        cmocka_unit_test(test_regex__case),
        cmocka_unit_test(test_regex__words),
        cmocka_unit_test(test_regex__bytes_behind_byte_level),
        cmocka_unit_test(test_regex__too_many_steps_are_an_end),
        cmocka_unit_test(test_regex__what_is_not_sure_is_refused),
        cmocka_unit_test(test_regex__memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
