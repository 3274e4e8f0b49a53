/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What regexes are read into: the text for PCRE2, in which a set is its number, and the sets. What
 * is refused is told by the line that names what was expected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/regex_parse.h"

#define ONIGURUMA LW__REGEX_ONIGURUMA
#define FANCY     LW__REGEX_FANCY

static bool parse(const char *pattern, size_t bytes, lw__regex_syntax syntax,
                  lw__regex_parts *parts, const char **wrong)
{
    return lw__regex_parse((lw_str){.data = pattern, .bytes = bytes}, syntax, parts, wrong);
}

/* The text with each set as its number in angle brackets. */
static void write_text(const lw__regex_parts *parts, lw__bytes *out)
{
    const unsigned char *text = parts->text.data;
    for (size_t i = 0; i < parts->text.count; i++) {
        if (text[i] != LW__REGEX_SET_MARK) {
            lw__bytes_put_u8(out, text[i]);
            continue;
        }
        assert_true(i + 4 < parts->text.count);
        lw__bytes_printf(out, "<%u>", (unsigned)text[i + 1]);
        assert_true(text[i + 2] == 0 && text[i + 3] == 0 && text[i + 4] == 0);
        assert_true(text[i + 1] < parts->set_count);
        i += 4;
    }
    lw__bytes_put_u8(out, 0);
}

static void becomes(const char *pattern, lw__regex_syntax syntax, const char *expected,
                    size_t set_count)
{
    lw__regex_parts parts;
    lw__bytes text;
    const char *wrong = NULL;
    lw__bytes_init(&text);
    if (!parse(pattern, strlen(pattern), syntax, &parts, &wrong)) {
        fail_msg("%s: expected %s", pattern, wrong == NULL ? "memory" : wrong);
    }
    assert_null(wrong);
    write_text(&parts, &text);
    assert_string_equal((const char *)text.data, expected);
    assert_int_equal(parts.set_count, set_count);
    lw__bytes_reset(&text);
    lw__regex_parts_reset(&parts);
}

static void refused(const char *pattern, lw__regex_syntax syntax, const char *expected)
{
    lw__regex_parts parts;
    const char *wrong = NULL;
    assert_false(parse(pattern, strlen(pattern), syntax, &parts, &wrong));
    if (wrong == NULL || strstr(wrong, expected) == NULL) {
        fail_msg("%s: expected %s, and not %s", pattern, expected, wrong == NULL ? "" : wrong);
    }
    lw__regex_parts_reset(&parts);
}

/* The ranges of the only set of a pattern, as "first-last ...". */
static void set_is(const char *pattern, lw__regex_syntax syntax, const char *expected)
{
    lw__regex_parts parts;
    lw__bytes ranges;
    const char *wrong = NULL;
    lw__bytes_init(&ranges);
    assert_true(parse(pattern, strlen(pattern), syntax, &parts, &wrong));
    assert_int_equal(parts.set_count, 1);
    for (size_t i = 0; i < parts.sets[0].count; i++) {
        lw__bytes_printf(&ranges, "%s%X-%X", i == 0 ? "" : " ",
                         (unsigned)parts.sets[0].ranges[i].first,
                         (unsigned)parts.sets[0].ranges[i].last);
    }
    lw__bytes_put_u8(&ranges, 0);
    assert_string_equal((const char *)ranges.data, expected);
    lw__bytes_reset(&ranges);
    lw__regex_parts_reset(&parts);
}

static void test_regex_parse__sets_that_are_alike_are_one(void **state)
{
    (void)state;
    becomes("aba", ONIGURUMA, "<0><1><0>", 2);
    becomes("[ab][ba][a-b]|\\x61", ONIGURUMA, "<0><0><0>|<1>", 2);
    becomes("\\d\\p{Nd}", ONIGURUMA, "<0><0>", 1);
    becomes("a[ac]", ONIGURUMA, "<0><1>", 2);
}

static void test_regex_parse__sets(void **state)
{
    (void)state;
    set_is("[c-ea]", ONIGURUMA, "61-61 63-65");
    set_is("[^\\x{0}-`b-\\x{10FFFF}]", ONIGURUMA, "61-61");
    set_is("[a-z&&[^c-z]&&b-c]", ONIGURUMA, "62-62");
    set_is(".", ONIGURUMA, "0-9 B-10FFFF");
    set_is("[a-]", ONIGURUMA, "2D-2D 61-61");
    set_is("(?i)k", ONIGURUMA, "4B-4B 6B-6B 212A-212A");
    set_is("(?i:[s])", FANCY, "53-53 73-73 17F-17F");
    set_is("(?-i:s)", FANCY, "73-73");
    set_is("\\u2019", FANCY, "2019-2019");
    set_is("\\e", ONIGURUMA, "1B-1B");
}

static void test_regex_parse__groups(void **state)
{
    (void)state;
    becomes("(a)(?:a)(?<name>a)(?>a)", ONIGURUMA, "(?:<0>)(?:<0>)(?:<0>)(?><0>)", 1);
    becomes("(?P<name>a)", FANCY, "(?:<0>)", 1);
    becomes("(?=a)(?!a)(?<=a)(?<!a)", ONIGURUMA, "(?=<0>)(?!<0>)(?<=<0>)(?<!<0>)", 1);
    becomes("(?:a|(?:b|))c", ONIGURUMA, "(?:<0>|(?:<1>|))<2>", 3);
    refused("(?P<name>a)", ONIGURUMA, "groups that match");
    refused("(?<name", ONIGURUMA, "closed groups");
    refused("(a", ONIGURUMA, "closed groups");
    refused("a)", ONIGURUMA, "closed groups");
    refused("(?#a)", ONIGURUMA, "groups that match");
}

static void test_regex_parse__case_ends_with_its_group(void **state)
{
    (void)state;
    becomes("(?:(?i)a)a", ONIGURUMA, "(?:<0>)<1>", 2);
    becomes("(?i:a(?-i:a)a)a", ONIGURUMA, "(?:<0>(?:<1>)<0>)<1>", 2);
    becomes("(?i)a|a", ONIGURUMA, "<0>|<0>", 1);
    refused("a(?i)b", ONIGURUMA, "(?i) at the start");
    refused("a|(?i)b", ONIGURUMA, "(?i) at the start");
    refused("|(?i)b", ONIGURUMA, "(?i) at the start");
    becomes("(?i)(?-i)ab", ONIGURUMA, "<0><1>", 2);
    refused("(?i)\xC3\xA9", ONIGURUMA, "ASCII alone");
    refused("(?i)\\w", ONIGURUMA, "ASCII alone");
    refused("(?x)a", ONIGURUMA, "groups that match");
}

/* One character may stand for such a pair, to one engine, when case does not count. */
static void test_regex_parse__pairs_that_fold_to_one(void **state)
{
    (void)state;
    refused("(?i)ss", ONIGURUMA, "ff, fi, fl, ss, st");
    refused("(?i)aFI", ONIGURUMA, "ff, fi, fl, ss, st");
    becomes("(?i)ss", FANCY, "<0><0>", 1);
    becomes("ss", ONIGURUMA, "<0><0>", 1);
    becomes("(?i)s|s", ONIGURUMA, "<0>|<0>", 1);
    becomes("(?i)s+s", ONIGURUMA, "<0>+<0>", 1);
    becomes("(?i)s(?:s)", ONIGURUMA, "<0>(?:<0>)", 1);
    becomes("(?i)s.s", ONIGURUMA, "<0><1><0>", 2);
}

static void test_regex_parse__repeats(void **state)
{
    (void)state;
    becomes("a*b+c?", ONIGURUMA, "<0>*<1>+<2>?", 3);
    becomes("a*?b+?c??a*+", ONIGURUMA,
            "<0>*?<1>+?<2>?"
            "?<0>*+",
            3);
    becomes("a{2}b{2,}c{2,3}", ONIGURUMA, "<0>{2}<1>{2,}<2>{2,3}", 3);
    becomes("a{2,3}?", ONIGURUMA, "<0>{2,3}?", 1);
    becomes("a{2}?", FANCY, "<0>{2}?", 1);
    becomes("(?:ab)*", ONIGURUMA, "(?:<0><1>)*", 2);
    becomes("a{1000}", ONIGURUMA, "<0>{1000}", 1);
    refused("a{2}?", ONIGURUMA, "repeats no repeats");
    refused("a{1001}", ONIGURUMA, "intervals");
    refused("a{3,2}", ONIGURUMA, "intervals");
    refused("a{,3}", ONIGURUMA, "intervals");
    refused("a{2", ONIGURUMA, "intervals");
    refused("a**", ONIGURUMA, "repeats no repeats");
    refused("a*?*", ONIGURUMA, "repeats no repeats");
    refused("*a", ONIGURUMA, "something to repeat");
    refused("^*", ONIGURUMA, "something to repeat");
    refused("(?=a)*", ONIGURUMA, "something to repeat");
}

static void test_regex_parse__an_interval_with_a_plus(void **state)
{
    (void)state;
    becomes("ba{2,3}+", ONIGURUMA, "<0>(?:<1>{2,3})+", 2);
    becomes("(?:ab){2}+c", ONIGURUMA, "(?:(?:<0><1>){2})+<2>", 3);
    becomes("a{2,3}+", FANCY, "<0>{2,3}+", 1);
    refused("a{2}++*", ONIGURUMA, "repeats no repeats");
}

static void test_regex_parse__anchors(void **state)
{
    (void)state;
    becomes("\\Aa\\z", ONIGURUMA, "\\A<0>\\z", 1);
    becomes("^a$", FANCY, "\\A<0>\\z", 1);
    becomes("^", ONIGURUMA, "(?:\\A|(?<=<0>)(?=<1>))", 2);
    becomes("$", ONIGURUMA, "(?!<0>)", 1);
    becomes("\\Z", ONIGURUMA, "(?=<0>?\\z)", 1);
    becomes("\\b", ONIGURUMA, "(?:(?<=<0>)(?!<0>)|(?<!<0>)(?=<0>))", 1);
    becomes("\\B", ONIGURUMA, "(?:(?<=<0>)(?=<0>)|(?<!<0>)(?!<0>))", 1);
    refused("\\Z", FANCY, "\\z in place of \\Z");
    refused("\\G", ONIGURUMA, "no escapes but those");
}

static void test_regex_parse__sizes(void **state)
{
    (void)state;
    lw__regex_parts parts;
    lw__bytes pattern;
    const char *wrong = NULL;
    refused("", ONIGURUMA, "1 to 16384 bytes");
    lw__bytes_init(&pattern);
    for (size_t i = 0; i < LW__REGEX_MAX_BYTES; i++) {
        lw__bytes_put_u8(&pattern, 'a');
    }
    assert_true(parse((const char *)pattern.data, pattern.count, FANCY, &parts, &wrong));
    lw__regex_parts_reset(&parts);
    lw__bytes_put_u8(&pattern, 'a');
    assert_false(parse((const char *)pattern.data, pattern.count, FANCY, &parts, &wrong));
    lw__regex_parts_reset(&parts);
    pattern.count = 0;
    for (uint32_t code = 0; code < LW__REGEX_SETS; code++) {
        lw__bytes_printf(&pattern, "\\x{%X}", 0x4E00 + (unsigned)code);
    }
    assert_true(parse((const char *)pattern.data, pattern.count, ONIGURUMA, &parts, &wrong));
    assert_int_equal(parts.set_count, LW__REGEX_SETS);
    lw__regex_parts_reset(&parts);
    lw__bytes_put(&pattern, "a", 2);
    refused((const char *)pattern.data, ONIGURUMA, "fewer sets");
    lw__bytes_reset(&pattern);
}

static void test_regex_parse__depth(void **state)
{
    (void)state;
    char pattern[128] = "";
    for (size_t i = 0; i < LW__REGEX_DEPTH; i++) {
        pattern[i] = '(';
        pattern[LW__REGEX_DEPTH + 1 + i] = ')';
    }
    pattern[LW__REGEX_DEPTH] = 'a';
    lw__regex_parts parts;
    const char *wrong = NULL;
    assert_true(parse(pattern, strlen(pattern), ONIGURUMA, &parts, &wrong));
    lw__regex_parts_reset(&parts);
    memmove(pattern + 1, pattern, strlen(pattern) + 1);
    refused(pattern, ONIGURUMA, "not nested so deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regex_parse__sets_that_are_alike_are_one),
        cmocka_unit_test(test_regex_parse__sets),
        cmocka_unit_test(test_regex_parse__groups),
        cmocka_unit_test(test_regex_parse__case_ends_with_its_group),
        cmocka_unit_test(test_regex_parse__pairs_that_fold_to_one),
        cmocka_unit_test(test_regex_parse__repeats),
        cmocka_unit_test(test_regex_parse__an_interval_with_a_plus),
        cmocka_unit_test(test_regex_parse__anchors),
        cmocka_unit_test(test_regex_parse__sizes),
        cmocka_unit_test(test_regex_parse__depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
