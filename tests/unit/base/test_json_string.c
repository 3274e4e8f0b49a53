/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of JSON, decoded in place and down to other places, against a decoder of one byte at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"

#define MOST 400 /* bytes of a text */

/* What may stand in a string, and what it decodes to; NULL: nothing may. */
typedef struct construct {
    const char *written;
    const char *decoded;
} construct;

static const construct constructs[] = {
    {"a", "a"},
    {" is some text ", " is some text "},
    {"\\n", "\n"},
    {"\\\"", "\""},
    {"\\\\", "\\"},
    {"\\\\\\\\\\\\", "\\\\\\"},
    {"\\\\\\n", "\\\n"},
    {"\\/", "/"},
    {"\\t\\r\\b\\f", "\t\r\b\f"},
    {"\\u00e9", "é"},
    {"\\ud83d\\ude00", "\U0001F600"},
    {"é", "é"},
    {"\\x", NULL},
    {"\\é", NULL},
    {"\\u12g", NULL},
    {"\n", NULL},
    {"\x1F", NULL},
};
#define CONSTRUCTS (sizeof constructs / sizeof constructs[0])

typedef struct text {
    char written[2 * MOST];
    char decoded[2 * MOST];
    size_t written_bytes;
    size_t decoded_bytes;
    const char *fault; /* where it can not go on, in `written`; NULL: nowhere */
} text;

static void put(text *t, const construct *c)
{
    size_t bytes = strlen(c->written);
    if (t->fault == NULL && c->decoded == NULL) {
        t->fault = t->written + t->written_bytes;
    }
    memcpy(t->written + t->written_bytes, c->written, bytes);
    t->written_bytes += bytes;
    if (c->decoded != NULL) {
        memcpy(t->decoded + t->decoded_bytes, c->decoded, strlen(c->decoded));
        t->decoded_bytes += strlen(c->decoded);
    }
}

/* Decodes it `down` bytes before its place. */
static void check(const text *t, size_t down)
{
    unsigned char bytes[3 * MOST];
    lw__json json;
    memset(bytes, '.', sizeof bytes);
    bytes[down] = '"';
    memcpy(bytes + down + 1, t->written, t->written_bytes);
    bytes[down + 1 + t->written_bytes] = '"';
    lw__json_open(&json, bytes + down, t->written_bytes + 2);
    lw_str found = lw__json_string_down(&json, down == 0 ? NULL : bytes);
    if (t->fault != NULL) {
        assert_non_null(json.fault);
        assert_ptr_equal(json.at, bytes + down + 1 + (t->fault - t->written));
        return;
    }
    lw__json_finish(&json);
    assert_null(json.fault);
    assert_int_equal(found.bytes, t->decoded_bytes);
    assert_memory_equal(found.data, t->decoded, found.bytes);
}

static void test_json_string__every_construct_at_every_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONSTRUCTS; i++) {
        for (size_t before = 0; before < 140; before++) {
            for (size_t behind = 0; behind < 140; behind += 1 + before % 7) {
                text t = {.written_bytes = 0};
                for (size_t k = 0; k < before; k++) {
                    put(&t, &constructs[0]);
                }
                put(&t, &constructs[i]);
                for (size_t k = 0; k < behind; k++) {
                    put(&t, &constructs[0]);
                }
                check(&t, before % 3 == 0 ? 0 : before);
            }
        }
    }
}

static void test_json_string__mixtures(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (size_t round = 0; round < 50000; round++) {
        text t = {.written_bytes = 0};
        size_t kinds = round % 4 == 0 ? CONSTRUCTS : CONSTRUCTS - 5; /* without faults */
        size_t bytes = round % MOST;
        while (t.written_bytes < bytes) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            put(&t, &constructs[(random >> 33) % kinds]);
        }
        check(&t, round % 5 == 0 ? 0 : round % 90);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_string__every_construct_at_every_place),
        cmocka_unit_test(test_json_string__mixtures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
