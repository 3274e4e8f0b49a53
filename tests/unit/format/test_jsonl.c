/* SPDX-License-Identifier: Apache-2.0 */
/* Lines into documents: texts, the field's path, every kind of bad record, repairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "format/jsonl.h"

#define MARK "\xEF\xBF\xBD"

/* Everything that one parse needs. */
typedef struct parsed {
    lw__jsonl_options options;
    lw__text text;
    lw__documents documents;
} parsed;

static void parse_bytes(parsed *p, const char *field, lw__bad_policy policy, const char *lines,
                        size_t count)
{
    lw_error err;
    *p = (parsed){0};
    if (lw__jsonl_init(&p->options, "web", field, policy, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    p->text.data = lw__alloc_zero(count + 64, 1);
    memcpy(p->text.data, lines, count);
    p->text.count = count;
    p->text.capacity = count + 64;
    p->text.at = 1000;
    assert_int_equal(lw__jsonl_parse(&p->options, &p->text, &p->documents, &err), LW_OK);
}

static void parse(parsed *p, const char *field, lw__bad_policy policy, const char *lines)
{
    parse_bytes(p, field, policy, lines, strlen(lines));
}

static void reset(parsed *p)
{
    lw__jsonl_reset(&p->options);
    lw__text_reset(&p->text);
    lw__documents_reset(&p->documents);
}

static void check_text(const parsed *p, size_t index, const char *text, size_t count)
{
    const lw__document *document = &p->documents.items[index];
    if (document->fault != NULL) {
        fail_msg("%zu: %s", index, document->fault->found);
    }
    assert_int_equal(document->bytes, count);
    assert_memory_equal(document->text, text, count);
}

/* Parses one line that is no good, and checks the message for it. */
static void check_bad(const char *field, lw__bad_policy policy, const char *line, uint64_t at,
                      const char *message)
{
    parsed p;
    parse(&p, field, policy, line);
    assert_int_equal(p.documents.count, 1);
    const lw__fault *fault = p.documents.items[0].fault;
    assert_non_null(fault);
    assert_null(p.documents.items[0].text);
    assert_int_equal(fault->at, 1000 + at);
    lw__record_place place = {"data/a.jsonl", true, 904, 71233, 3};
    lw_error err;
    assert_int_equal(lw__jsonl_fail(&p.options, &place, fault, &err), LW_E_CORRUPT);
    static const char head[] = "jsonl: \"data/a.jsonl\" record 904 at byte 71233: ";
    assert_memory_equal(err.message, head, sizeof head - 1);
    assert_string_equal(err.message + sizeof head - 1, message);
    reset(&p);
}

static void test_jsonl__the_record_itself_is_the_text(void **state)
{
    (void)state;
    static const char one[] = "{\"m\": [{\"a\\n\": \"\\u0041\\ud800\"}], \"m\": 1e9 }";
    static const char lines[] =
        " {\"m\": [{\"a\\n\": \"\\u0041\\ud800\"}], \"m\": 1e9 } \r\n\n{}\n";
    parsed p;
    parse(&p, ".", LW__BAD_FAIL, lines);
    assert_int_equal(p.documents.count, 2);
    check_text(&p, 0, one, sizeof one - 1);
    check_text(&p, 1, "{}", 2);
    reset(&p);
    parse(&p, ".", LW__BAD_REPLACE, "{\"m\": \"\xFF\"}");
    check_text(&p, 0, "{\"m\": \"" MARK "\"}", 12);
    reset(&p);
    check_bad(".", LW__BAD_FAIL, "[1]", 0, "another value, expected an object");
    check_bad(".", LW__BAD_FAIL, "{\"a\": 1} 2", 9, "more after the value, expected nothing");
    check_bad(".", LW__BAD_FAIL, "{\"a\": nan}", 6,
              "an unknown word, expected null, true or false");
}

static void test_jsonl__texts_in_file_order(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "text", LW__BAD_FAIL,
          "{\"text\": \"one\", \"id\": 7}\n\r\n \t\n{\"id\": [{}], \"text\":\"t\\u0077o\\n\"}\r\n"
          "\n{\"text\":\"\"}");
    assert_int_equal(p.documents.count, 3);
    check_text(&p, 0, "one", 3);
    check_text(&p, 1, "two\n", 4);
    check_text(&p, 2, "", 0);
    assert_int_equal(p.documents.fault_count, 0);
    reset(&p);
}

static void test_jsonl__nothing(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "text", LW__BAD_FAIL, "");
    assert_int_equal(p.documents.count, 0);
    p.text.count = 0;
    lw__text empty = {0};
    assert_int_equal(lw__jsonl_parse(&p.options, &empty, &p.documents, NULL), LW_OK);
    assert_int_equal(p.documents.count, 0);
    reset(&p);
    assert_int_equal(lw__jsonl_count(NULL, 0), 0);
}

static void test_jsonl__nul_is_text(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "text", LW__BAD_FAIL, "{\"text\": \"a\\u0000b\"}");
    check_text(&p, 0, "a\0b", 3);
    reset(&p);
}

static void test_jsonl__the_fields_path(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "a.b.c", LW__BAD_FAIL,
          "{\"a\": {\"x\": 1, \"b\": {\"c\": \"deep\"}, \"y\": {\"c\": \"no\"}}, \"c\": 3}\n");
    check_text(&p, 0, "deep", 4);
    reset(&p);
    parse(&p, "a\\.b.c", LW__BAD_FAIL, "{\"a.b\": {\"c\": \"dot\"}, \"a\": {\"b\": {\"c\": 1}}}\n");
    check_text(&p, 0, "dot", 3);
    reset(&p);
    parse(&p, "\xC3\xA9", LW__BAD_FAIL, "{\"\\u00e9\": \"accent\"}");
    check_text(&p, 0, "accent", 6);
    reset(&p);
    parse(&p, "back\\slash", LW__BAD_FAIL, "{\"back\\\\slash\": \"x\"}");
    check_text(&p, 0, "x", 1);
    reset(&p);
}

static void test_jsonl__an_empty_key_is_refused(void **state)
{
    (void)state;
    static const char *const fields[] = {"", ".a", "a.", "a..b"};
    for (size_t i = 0; i < 4; i++) {
        lw__jsonl_options options = {0};
        lw_error err;
        assert_int_equal(lw__jsonl_init(&options, "web", fields[i], LW__BAD_FAIL, &err),
                         LW_E_INVALID);
        lw__jsonl_reset(&options);
    }
}

static void test_jsonl__the_last_of_equal_keys_counts(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "a.t", LW__BAD_FAIL,
          "{\"a\":{\"t\":\"x\",\"t\":\"y\"}}\n{\"a\":{\"t\":1},\"a\":{\"t\":\"z\"}}\n");
    check_text(&p, 0, "y", 1);
    check_text(&p, 1, "z", 1);
    reset(&p);
    parse(&p, "t", LW__BAD_FAIL, "{\"t\":\"\\ud800\",\"t\":\"ok\"}");
    check_text(&p, 0, "ok", 2);
    reset(&p);
    check_bad("a.t", LW__BAD_FAIL, "{\"a\":{\"t\":\"x\"},\"a\":{}}", 0,
              "field \"a.t\" is missing, expected a string");
    check_bad("a.t", LW__BAD_FAIL, "{\"a\":{\"t\":\"x\",\"t\":null}}", 18,
              "field \"a.t\" is null, expected a string");
}

static void test_jsonl__fields_of_another_type(void **state)
{
    (void)state;
    check_bad("text", LW__BAD_FAIL, "{\"id\": 1}", 0,
              "field \"text\" is missing, expected a string");
    check_bad("text", LW__BAD_FAIL, "{\"text\": null}", 9,
              "field \"text\" is null, expected a string");
    check_bad("text", LW__BAD_FAIL, "{\"text\": 5}", 9,
              "field \"text\" is a number, expected a string");
    check_bad("text", LW__BAD_FAIL, "{\"text\":true}", 8,
              "field \"text\" is a boolean, expected a string");
    check_bad("text", LW__BAD_FAIL, "{\"text\":[\"a\"]}", 8,
              "field \"text\" is a list, expected a string");
    check_bad("text", LW__BAD_FAIL, "{\"text\":{}}", 8,
              "field \"text\" is an object, expected a string");
    check_bad("a.b", LW__BAD_FAIL, "{\"a\":\"b\"}", 0,
              "field \"a.b\" is missing, expected a string");
    check_bad("a.b", LW__BAD_FAIL, "{\"a.b\":\"b\"}", 0,
              "field \"a.b\" is missing, expected a string");
}

static void test_jsonl__lines_that_are_no_object(void **state)
{
    (void)state;
    check_bad("text", LW__BAD_FAIL, "{\"text\":\"a\"} {\"text\":\"b\"}", 13,
              "more after the value, expected nothing");
    check_bad("text", LW__BAD_FAIL, "[\"text\"]", 0, "another value, expected an object");
    check_bad("text", LW__BAD_FAIL, "{\"text\":\"a\"", 11,
              "no end of the member, expected ',' or '}'");
    check_bad("text", LW__BAD_FAIL, "{\"text\":\"a\",\"n\":NaN}", 16,
              "a byte that starts no value, expected a value");
    check_bad("text", LW__BAD_FAIL, "{\"text\":\"a\tb\"}", 10,
              "a control character in a string, expected an escape");
    check_bad("text", LW__BAD_FAIL, "{\"text\":\"a\\uDC00\"}", 10,
              "a lone surrogate, expected a pair");
    check_bad("text", LW__BAD_SKIP, "{\"text\":5} x", 11, "more after the value, expected nothing");
    check_bad("text", LW__BAD_FAIL, "nonsense", 0, "another value, expected an object");
}

static void test_jsonl__lone_surrogates_elsewhere_pass(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "text", LW__BAD_FAIL, "{\"\\ud800\":1,\"text\":\"a\",\"x\":\"\\udc00\"}");
    check_text(&p, 0, "a", 1);
    reset(&p);
}

static void test_jsonl__ill_formed_utf8(void **state)
{
    (void)state;
    check_bad("text", LW__BAD_FAIL,
              "{\"text\": \"abc\xFB"
              "def\"}",
              13, "ill-formed UTF-8, expected UTF-8");
    check_bad("text", LW__BAD_SKIP, "{\"\xC3\": 1, \"text\": \"a\"}", 2,
              "ill-formed UTF-8, expected UTF-8");
}

/* Row 2 of 4 has the byte FB: strict names the place, replace repairs it, others are untouched. */
static void test_jsonl__replace_repairs(void **state)
{
    (void)state;
    const char *lines = "{\"text\":\"a\"}\n{\"text\":\"b\xFB\xE2\x82\\n\\ud800\xED\xA0\x80\"}\n"
                        "{\"text\":\"\\udc00\xF0\x9F\x98\x80\"}\n{\"te\xFF\":1,\"text\":\"d\"}\n";
    parsed p;
    parse(&p, "text", LW__BAD_REPLACE, lines);
    assert_int_equal(p.documents.count, 4);
    check_text(&p, 0, "a", 1);
    check_text(&p, 1, "b" MARK MARK "\n" MARK MARK MARK MARK, 1 + 3 + 3 + 1 + 3 + 9);
    check_text(&p, 2, MARK "\xF0\x9F\x98\x80", 7);
    check_text(&p, 3, "d", 1);
    reset(&p);
    check_bad("text", LW__BAD_REPLACE, "{\"text\":\"\xFF", 0,
              "the text ends in a string, expected '\"'");
    check_bad("text", LW__BAD_REPLACE, "{\"text\":1}", 8,
              "field \"text\" is a number, expected a string");
}

static void test_jsonl__order_stays_around_bad_records(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "text", LW__BAD_SKIP,
          "{\"text\":\"0\"}\n{\n\n{\"text\":\"2\"}\n{\"text\":3}\n{\"text\":\"4\"}\nx");
    assert_int_equal(p.documents.count, 6);
    assert_int_equal(p.documents.fault_count, 3);
    check_text(&p, 0, "0", 1);
    check_text(&p, 2, "2", 1);
    check_text(&p, 4, "4", 1);
    assert_int_equal(p.documents.items[1].fault->at, 1000 + 14);
    assert_int_equal(p.documents.items[5].fault->at, 1000 + 53);
    assert_int_equal(lw__jsonl_count(p.text.data, p.text.count), 6);
    reset(&p);
}

/* A line cut within a character, one with a bad byte, good ones between: each is told by itself. */
static void test_jsonl__faults_on_many_lines(void **state)
{
    (void)state;
    static const char lines[] =
        "{\"text\":\"a\"}\n{\"text\":\"\xE4\xBD\n\xBD\n{\"text\":\"b\\n\"}\n"
        "{\"text\":\"c\xFF\"}\n{\"text\":\"d\xC3\xA9\"}\n\xE4";
    static const uint64_t at[] = {0, 22, 25, 0, 52, 0, 71};
    parsed p;
    parse(&p, "text", LW__BAD_FAIL, lines);
    assert_int_equal(p.documents.count, 7);
    check_text(&p, 0, "a", 1);
    check_text(&p, 3, "b\n", 2);
    check_text(&p, 5, "d\xC3\xA9", 3);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(p.documents.items[i].fault != NULL, at[i] != 0);
        if (at[i] != 0) {
            assert_string_equal(p.documents.items[i].fault->found, "ill-formed UTF-8");
            assert_int_equal(p.documents.items[i].fault->at, 1000 + at[i]);
        }
    }
    reset(&p);
}

/* Texts move down over the lines before them; those already found must stay as they are. */
static void test_jsonl__texts_stay_when_later_ones_move(void **state)
{
    (void)state;

    enum { COUNT = 40, ESCAPES = 60 };

    char *lines = lw__alloc_zero(COUNT * (3 * ESCAPES + 64), 1);
    size_t used = 0;
    for (size_t i = 0; i < COUNT; i++) {
        used += (size_t)sprintf(lines + used, "{\"text\":\"%02zu", i);
        for (size_t k = 0; k < ESCAPES + i; k++) {
            used += (size_t)sprintf(lines + used, k % 3 == i % 3 ? "\\\"" : "x");
        }
        used += (size_t)sprintf(lines + used, "\",\"text2\":\"unused\"}\n");
    }
    parsed p;
    parse(&p, "text", LW__BAD_FAIL, lines);
    assert_int_equal(p.documents.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        char wanted[2 + ESCAPES + COUNT + 1];
        sprintf(wanted, "%02zu", i);
        for (size_t k = 0; k < ESCAPES + i; k++) {
            wanted[2 + k] = k % 3 == i % 3 ? '"' : 'x';
        }
        check_text(&p, i, wanted, 2 + ESCAPES + i);
    }
    reset(&p);
    lw__free(lines);
}

static void test_jsonl__reuse_from_part_to_part(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "text", LW__BAD_REPLACE, "x\n{\"text\":\"\xFF\"}\ny\n");
    assert_int_equal(p.documents.fault_count, 2);
    for (int round = 0; round < 3; round++) {
        static const char again[] = "{\"text\":\"a\"}\n{\"text\":\"\xFF\xFF\"}\n";
        p.text.count = sizeof again - 1;
        assert_true(p.text.count <= p.text.capacity);
        memcpy(p.text.data, again, p.text.count);
        assert_int_equal(lw__jsonl_parse(&p.options, &p.text, &p.documents, NULL), LW_OK);
        assert_int_equal(p.documents.count, 2);
        check_text(&p, 0, "a", 1);
        check_text(&p, 1, MARK MARK, 6);
    }
    reset(&p);
}

static void test_jsonl__a_place_that_could_not_be_counted(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "text", LW__BAD_FAIL, "{}");
    lw__record_place place = {"a.jsonl", false, 0, 0, 12};
    lw_error err;
    lw__jsonl_fail(&p.options, &place, p.documents.items[0].fault, &err);
    assert_string_equal(err.message, "jsonl: \"a.jsonl\" block 12 at byte 1000 of the block: field "
                                     "\"text\" is missing, expected a string");
    reset(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jsonl__the_record_itself_is_the_text),
        cmocka_unit_test(test_jsonl__texts_in_file_order),
        cmocka_unit_test(test_jsonl__nothing),
        cmocka_unit_test(test_jsonl__nul_is_text),
        cmocka_unit_test(test_jsonl__the_fields_path),
        cmocka_unit_test(test_jsonl__an_empty_key_is_refused),
        cmocka_unit_test(test_jsonl__the_last_of_equal_keys_counts),
        cmocka_unit_test(test_jsonl__fields_of_another_type),
        cmocka_unit_test(test_jsonl__lines_that_are_no_object),
        cmocka_unit_test(test_jsonl__lone_surrogates_elsewhere_pass),
        cmocka_unit_test(test_jsonl__ill_formed_utf8),
        cmocka_unit_test(test_jsonl__replace_repairs),
        cmocka_unit_test(test_jsonl__order_stays_around_bad_records),
        cmocka_unit_test(test_jsonl__faults_on_many_lines),
        cmocka_unit_test(test_jsonl__texts_stay_when_later_ones_move),
        cmocka_unit_test(test_jsonl__reuse_from_part_to_part),
        cmocka_unit_test(test_jsonl__a_place_that_could_not_be_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
