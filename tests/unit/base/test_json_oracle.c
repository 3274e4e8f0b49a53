/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader against Python's parser: same verdict and strings for many thousand texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/json.h"
#include "oracle.h"

static void put_value(lw__json *json, lw__bytes *out);

static void put_string(lw_str text, lw__bytes *out)
{
    lw__bytes_put_u8(out, '<');
    lw__bytes_put(out, text.data, text.bytes);
    lw__bytes_put_u8(out, '>');
}

static void put_container(lw__json *json, char open, lw__bytes *out)
{
    lw__bytes_put_u8(out, (uint8_t)open);
    lw__json_enter(json, open);
    while (lw__json_next(json)) {
        if (open == '{') {
            put_string(lw__json_key(json), out);
            lw__bytes_put_u8(out, ':');
        }
        put_value(json, out);
        lw__bytes_put_u8(out, ',');
    }
    lw__bytes_put_u8(out, open == '{' ? '}' : ']');
}

static void put_value(lw__json *json, lw__bytes *out)
{
    switch (lw__json_peek(json)) {
    case LW__JSON_OBJECT:
        put_container(json, '{', out);
        break;
    case LW__JSON_ARRAY:
        put_container(json, '[', out);
        break;
    case LW__JSON_STRING:
        put_string(lw__json_string(json), out);
        break;
    case LW__JSON_NUMBER:
        lw__json_skip(json); /* not every number fits a double */
        lw__bytes_put_u8(out, '#');
        break;
    case LW__JSON_NULL:
        lw__json_skip(json);
        lw__bytes_put_u8(out, 'n');
        break;
    case LW__JSON_NONE:
        lw__json_skip(json);
        break;
    default:
        lw__bytes_put_u8(out, lw__json_bool(json) ? 't' : 'f');
        break;
    }
}

static const char *skip_all(const char *hex)
{
    size_t count = 0;
    unsigned char *bytes = oracle_bytes(hex, &count);
    lw__json json;
    lw__json_open(&json, bytes, count);
    lw__json_skip(&json);
    lw__json_finish(&json);
    free(bytes);
    return json.fault;
}

static void check_case(char *words[3])
{
    size_t count = 0;
    unsigned char *bytes = oracle_bytes(words[0], &count);
    lw__json json;
    lw__bytes out;
    lw__bytes_init(&out);
    lw__json_open(&json, bytes, count);
    put_value(&json, &out);
    lw__json_finish(&json);
    int is_good = strcmp(words[1], "good") == 0;
    if ((json.fault == NULL) != is_good) {
        fail_msg("%s is %s, but the reader says: %s", words[0], words[1],
                 json.fault != NULL ? json.fault : "fine");
    }
    if (is_good) {
        size_t expected_count = 0;
        unsigned char *expected = oracle_bytes(words[2], &expected_count);
        if (out.count != expected_count || memcmp(out.data, expected, expected_count) != 0) {
            fail_msg("%s: other strings, expected %s", words[0], words[2]);
        }
        free(expected);
    }
    const char *skip_fault = skip_all(words[0]);
    int is_surrogate = json.fault != NULL && strstr(json.fault, "surrogate") != NULL;
    if (!is_surrogate && (skip_fault == NULL) != is_good) {
        fail_msg("%s is %s, but skipping says: %s", words[0], words[1],
                 skip_fault != NULL ? skip_fault : "fine");
    }
    lw__bytes_reset(&out);
    free(bytes);
}

static void test_json_oracle__agrees_with_python(void **state)
{
    (void)state;
    assert_true(oracle_run("json", check_case) > 15000);
}

int main(void)
{
    if (oracle_is_missing()) {
        return ORACLE_SKIP;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json_oracle__agrees_with_python)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
