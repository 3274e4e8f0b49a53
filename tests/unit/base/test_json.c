/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: values, strings in place, faults with their texts and places, depth. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"

/* A reader over a copy of exactly the text's bytes. */
static unsigned char *open_text(lw__json *json, const char *text, size_t count)
{
    unsigned char *copy = malloc(count > 0 ? count : 1);
    assert_non_null(copy);
    memcpy(copy, text, count);
    lw__json_open(json, copy, count);
    return copy;
}

static void check_string(const char *text, const char *expected, size_t expected_count)
{
    lw__json json;
    unsigned char *copy = open_text(&json, text, strlen(text));
    lw_str got = lw__json_string(&json);
    lw__json_finish(&json);
    if (json.fault != NULL) {
        fail_msg("%s: %s", text, json.fault);
    }
    assert_int_equal(got.bytes, expected_count);
    assert_memory_equal(got.data, expected, expected_count);
    free(copy);
}

static void check_fault(const char *text, const char *fault, size_t at)
{
    lw__json json;
    unsigned char *copy = open_text(&json, text, strlen(text));
    lw__json_skip(&json);
    lw__json_finish(&json);
    assert_non_null(json.fault);
    assert_string_equal(json.fault, fault);
    assert_int_equal(json.at - json.begin, at);
    free(copy);
}

static void test_json__strings_decode(void **state)
{
    (void)state;
    check_string("\"\"", "", 0);
    check_string(" \"a\" ", "a", 1);
    check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    check_string("\"\\u0041\\u00e9\\u20AC\"", "A\xC3\xA9\xE2\x82\xAC", 6);
    check_string("\"\\uD83D\\uDE00!\"", "\xF0\x9F\x98\x80!", 5);
    check_string("\"\\uFFFF\\uD7FF\\uE000\"", "\xEF\xBF\xBF\xED\x9F\xBF\xEE\x80\x80", 9);
    check_string("\"a\\u0000b\"", "a\0b", 3);
}

/* Runs of every length around escapes at every distance: all ways through the moving of bytes. */
static void test_json__long_strings_decode(void **state)
{
    (void)state;
    char text[4096];
    char expected[4096];
    for (size_t run = 0; run < 100; run++) {
        size_t count = 0;
        size_t expected_count = 0;
        text[count++] = '"';
        for (size_t i = 0; i < 30; i++) {
            for (size_t k = 0; k < run; k++) {
                text[count++] = expected[expected_count++] = (char)('a' + (i + k) % 26);
            }
            static const char *const escapes[] = {"\\n", "\\u20ac", "\\\\", "\\ud83d\\ude00"};
            static const char *const decoded[] = {"\n", "\xE2\x82\xAC", "\\", "\xF0\x9F\x98\x80"};
            size_t kind = i % 7 < 4 ? 0 : i % 4;
            memcpy(text + count, escapes[kind], strlen(escapes[kind]));
            count += strlen(escapes[kind]);
            memcpy(expected + expected_count, decoded[kind], strlen(decoded[kind]));
            expected_count += strlen(decoded[kind]);
        }
        text[count++] = '"';
        text[count] = '\0';
        check_string(text, expected, expected_count);
        check_fault((text[count - 1] = '\0', text), "the text ends in a string, expected '\"'",
                    count - 1);
    }
}

static void test_json__faults(void **state)
{
    (void)state;
    check_fault("", "the text ends, expected a value", 0);
    check_fault("  ", "the text ends, expected a value", 2);
    check_fault("\"a\nb\"", "a control character in a string, expected an escape", 2);
    check_fault("\"abc", "the text ends in a string, expected '\"'", 4);
    check_fault("\"abc\\", "the text ends in a string, expected '\"'", 5);
    check_fault("\"\\x\"",
                "an unknown escape, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u", 1);
    check_fault("\"\\u12G4\"", "a bad \\u escape, expected four hex digits", 1);
    check_fault("\"\\u12", "a bad \\u escape, expected four hex digits", 1);
    check_fault("{} {}", "more after the value, expected nothing", 3);
    check_fault("{\"a\" 1}", "a key without a value, expected ':'", 5);
    check_fault("{\"a\":1 \"b\":2}", "no end of the member, expected ',' or '}'", 7);
    check_fault("{\"a\":1,}", "no key, expected '\"'", 7);
    check_fault("{1:2}", "no key, expected '\"'", 1);
    check_fault("{\"a\":1", "no end of the member, expected ',' or '}'", 6);
    check_fault("[1 2]", "no end of the element, expected ',' or ']'", 3);
    check_fault("[1,]", "a byte that starts no value, expected a value", 3);
    check_fault("[1,", "the text ends in a list, expected a value", 3);
    check_fault("[", "the text ends in a list, expected a value", 1);
    check_fault("{\"a\":", "the text ends, expected a value", 5);
    check_fault("nul", "an unknown word, expected null, true or false", 0);
    check_fault("NaN", "a byte that starts no value, expected a value", 0);
    check_fault("-", "a number cut short, expected a digit", 1);
    check_fault("1.", "a number cut short, expected a digit", 2);
    check_fault("1e+", "a number cut short, expected a digit", 3);
    check_fault("01", "more after the value, expected nothing", 1);
}

static void test_json__lone_surrogates(void **state)
{
    (void)state;
    static const char *const texts[] = {"\"\\ud800\"", "\"\\udc00x\"", "\"\\ud800\\n\"",
                                        "\"\\ud800\\u0041\"", "\"\\ud800\\ud800\""};
    static const char *const repaired[] = {"\xEF\xBF\xBD", "\xEF\xBF\xBDx", "\xEF\xBF\xBD\n",
                                           "\xEF\xBF\xBD"
                                           "A",
                                           "\xEF\xBF\xBD\xEF\xBF\xBD"};
    for (size_t i = 0; i < 5; i++) {
        lw__json json;
        unsigned char *copy = open_text(&json, texts[i], strlen(texts[i]));
        lw_str got = lw__json_string(&json);
        assert_int_equal(got.bytes, 0);
        assert_string_equal(json.fault, "a lone surrogate, expected a pair");
        assert_int_equal(json.at - json.begin, 1);
        memcpy(copy, texts[i], strlen(texts[i]));
        lw__json_open(&json, copy, strlen(texts[i]));
        json.replace_surrogates = true;
        got = lw__json_string(&json);
        assert_null(json.fault);
        assert_int_equal(got.bytes, strlen(repaired[i]));
        assert_memory_equal(got.data, repaired[i], got.bytes);
        memcpy(copy, texts[i], strlen(texts[i]));
        lw__json_open(&json, copy, strlen(texts[i]));
        lw__json_skip(&json);
        lw__json_finish(&json);
        assert_null(json.fault);
        free(copy);
    }
}

static void test_json__walks_members_in_order(void **state)
{
    (void)state;
    const char *text = "{\"a\": [1, -2, []], \"b\": {\"c\": true, \"d\": null}, \"e\": 2.5}";
    lw__json json;
    unsigned char *copy = open_text(&json, text, strlen(text));
    assert_true(lw__json_enter(&json, '{'));
    assert_true(lw__json_next(&json));
    assert_memory_equal(lw__json_key(&json).data, "a", 1);
    assert_true(lw__json_enter(&json, '['));
    assert_true(lw__json_next(&json));
    assert_int_equal(lw__json_int(&json), 1);
    assert_true(lw__json_next(&json));
    assert_int_equal(lw__json_int(&json), -2);
    assert_true(lw__json_next(&json));
    assert_int_equal(lw__json_peek(&json), LW__JSON_ARRAY);
    lw__json_skip(&json);
    assert_false(lw__json_next(&json));
    assert_true(lw__json_next(&json));
    assert_memory_equal(lw__json_key(&json).data, "b", 1);
    assert_true(lw__json_enter(&json, '{'));
    assert_true(lw__json_next(&json));
    lw__json_key(&json);
    assert_true(lw__json_bool(&json));
    assert_true(lw__json_next(&json));
    lw__json_key(&json);
    assert_int_equal(lw__json_peek(&json), LW__JSON_NULL);
    lw__json_skip(&json);
    assert_false(lw__json_next(&json));
    assert_true(lw__json_next(&json));
    lw__json_key(&json);
    assert_true(lw__json_number(&json) == 2.5);
    assert_false(lw__json_next(&json));
    lw__json_finish(&json);
    assert_null(json.fault);
    assert_false(lw__json_next(&json));
    free(copy);
}

static void check_int(const char *text, int64_t expected, const char *fault)
{
    lw__json json;
    unsigned char *copy = open_text(&json, text, strlen(text));
    assert_true(lw__json_int(&json) == expected);
    if (fault == NULL) {
        assert_null(json.fault);
    } else {
        assert_string_equal(json.fault, fault);
    }
    free(copy);
}

static void test_json__integers(void **state)
{
    (void)state;
    check_int("0", 0, NULL);
    check_int("-0", 0, NULL);
    check_int("9223372036854775807", INT64_MAX, NULL);
    check_int("-9223372036854775808", INT64_MIN, NULL);
    check_int("9223372036854775808", 0, "an integer out of range, expected one of 64 bits");
    check_int("-9223372036854775809", 0, "an integer out of range, expected one of 64 bits");
    check_int("1.0", 0, "a number with a fraction or exponent, expected an integer");
    check_int("1e2", 0, "a number with a fraction or exponent, expected an integer");
    check_int("\"1\"", 0, "another value, expected an integer");
}

static double number_of(const char *text, const char **fault)
{
    lw__json json;
    unsigned char *copy = open_text(&json, text, strlen(text));
    double value = lw__json_number(&json);
    *fault = json.fault;
    free(copy);
    return value;
}

static void test_json__numbers_in_any_locale(void **state)
{
    (void)state;
    const char *fault = NULL;
    const char *set = setlocale(LC_NUMERIC, "de_DE.UTF-8");
    (void)set; /* where it is not installed the test still holds */
    assert_true(number_of("0.1", &fault) == 0.1 && fault == NULL);
    assert_true(number_of("-1.5e-3", &fault) == -1.5e-3 && fault == NULL);
    setlocale(LC_NUMERIC, "C");
    assert_true(number_of("1e999", &fault) == 0);
    assert_string_equal(fault, "a number out of range, expected one that a double holds");
    char digits[600];
    memset(digits, '1', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    assert_true(number_of(digits, &fault) == 0);
    assert_string_equal(fault, "a number of more than 512 bytes, expected a shorter one");
}

static void test_json__depth_is_limited(void **state)
{
    (void)state;
    char text[2 * LW__JSON_DEPTH + 3];
    memset(text, '[', LW__JSON_DEPTH);
    memset(text + LW__JSON_DEPTH, ']', LW__JSON_DEPTH);
    lw__json json;
    unsigned char *copy = open_text(&json, text, 2 * LW__JSON_DEPTH);
    lw__json_skip(&json);
    lw__json_finish(&json);
    assert_null(json.fault);
    free(copy);
    memset(text, '[', LW__JSON_DEPTH + 1);
    text[LW__JSON_DEPTH + 1] = '\0';
    check_fault(text, "more than 256 levels, expected at most 256", LW__JSON_DEPTH);
}

static void test_json__the_first_fault_sticks(void **state)
{
    (void)state;
    lw__json json;
    unsigned char *copy = open_text(&json, "[1 2]", 5);
    lw__json_enter(&json, '[');
    lw__json_next(&json);
    lw__json_string(&json);
    const char *fault = json.fault;
    assert_string_equal(fault, "another value, expected a string");
    assert_int_equal(json.at - json.begin, 1);
    assert_int_equal(lw__json_peek(&json), LW__JSON_NONE);
    assert_false(lw__json_next(&json));
    assert_false(lw__json_enter(&json, '{'));
    assert_int_equal(lw__json_int(&json), 0);
    lw__json_skip(&json);
    lw__json_finish(&json);
    assert_ptr_equal(json.fault, fault);
    assert_int_equal(json.at - json.begin, 1);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__strings_decode),
        cmocka_unit_test(test_json__long_strings_decode),
        cmocka_unit_test(test_json__faults),
        cmocka_unit_test(test_json__lone_surrogates),
        cmocka_unit_test(test_json__walks_members_in_order),
        cmocka_unit_test(test_json__integers),
        cmocka_unit_test(test_json__numbers_in_any_locale),
        cmocka_unit_test(test_json__depth_is_limited),
        cmocka_unit_test(test_json__the_first_fault_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
