/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: one line, UTF-8, cut between characters, with the system's text where it had a part. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/utf8.h"

static void test_error__fills_status_and_message(void **state)
{
    (void)state;
    lw_error err;
    memset(&err, 0xFF, sizeof err);
    assert_int_equal(lw__fail(&err, LW_E_CORRUPT, "zstd: \"%s\": %d, expected %d", "a", 1, 2),
                     LW_E_CORRUPT);
    assert_int_equal(err.status, LW_E_CORRUPT);
    assert_int_equal(err.os_errno, 0);
    assert_int_equal(err.flags, 0);
    assert_int_equal(err.tag, 0);
    assert_string_equal(err.message, "zstd: \"a\": 1, expected 2");
    assert_int_equal(lw__fail(NULL, LW_E_IO, "x"), LW_E_IO);
}

static void test_error__appends_the_systems_text(void **state)
{
    (void)state;
    lw_error err;
    assert_int_equal(lw__fail_os(&err, LW_E_NOT_FOUND, ENOENT, "storage: \"%s\"", "a"),
                     LW_E_NOT_FOUND);
    assert_string_equal(err.message, "storage: \"a\": No such file or directory");
    assert_int_equal(err.os_errno, ENOENT);
    assert_int_equal(err.flags, 0);
    lw__fail_os(&err, LW_E_IO, EMFILE, "x");
    assert_int_equal(err.flags, LW_ERROR_RETRIABLE);
}

static void test_error__memory(void **state)
{
    (void)state;
    lw_error err;
    assert_int_equal(lw__fail_nomem(&err, 42, "a row"), LW_E_NOMEM);
    assert_string_equal(err.message, "memory: 42 bytes for a row are not to be had");
}

static void test_error__stays_one_line_of_utf8(void **state)
{
    (void)state;
    lw_error err;
    lw__fail(&err, LW_E_IO,
             "a\nb\tc\x7F"
             "d\xFF"
             "e\xC3\xA9\xE2\x82");
    assert_string_equal(err.message, "a?b?c?d?e\xC3\xA9??");
}

static void test_error__is_cut_between_characters(void **state)
{
    (void)state;
    lw_error err;
    char text[600];
    for (size_t lead = 0; lead < 3; lead++) {
        memset(text, 'x', lead);
        for (size_t at = lead; at + 3 < sizeof text; at += 3) {
            memcpy(text + at, "\xE2\x82\xAC", 4);
        }
        lw__fail(&err, LW_E_IO, "%s", text);
        size_t count = strlen(err.message);
        assert_int_equal(lw__utf8_check(err.message, count), count);
        assert_int_equal((count - lead) % 3, 0);
        assert_true(count >= sizeof err.message - 3);
        assert_null(strchr(err.message, '?'));
        lw__fail_os(&err, LW_E_IO, ENOENT, "%s", text);
        assert_null(strchr(err.message, '?'));
    }
}

static void test_error__every_status_has_its_name(void **state)
{
    (void)state;
    static const char *const names[] = {
        "LW_E_INTERNAL", "LW_E_BUSY", "LW_E_CANCELLED", "LW_E_MISMATCH",    "LW_E_OPERATOR",
        "LW_E_CORRUPT",  "LW_E_IO",   "LW_E_NOT_FOUND", "LW_E_UNSUPPORTED", "LW_E_NOMEM",
        "LW_E_INVALID",  "LW_OK",     "LW_END",         "LW_AGAIN",
    };
    for (int32_t status = LW_E_INTERNAL; status <= LW_AGAIN; status++) {
        assert_string_equal(lw_status_name(status), names[status - LW_E_INTERNAL]);
    }
    assert_string_equal(lw_status_name(3), "unknown");
    assert_string_equal(lw_status_name(-12), "unknown");
}

static lw_status try_it(lw_status status, int *reached)
{
    LW__TRY(status);
    *reached = 1;
    return LW_OK;
}

static void test_error__try_returns_failures_only(void **state)
{
    (void)state;
    int reached = 0;
    assert_int_equal(try_it(LW_E_BUSY, &reached), LW_E_BUSY);
    assert_int_equal(reached, 0);
    assert_int_equal(try_it(LW_END, &reached), LW_OK);
    assert_int_equal(reached, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error__fills_status_and_message),
        cmocka_unit_test(test_error__appends_the_systems_text),
        cmocka_unit_test(test_error__memory),
        cmocka_unit_test(test_error__stays_one_line_of_utf8),
        cmocka_unit_test(test_error__is_cut_between_characters),
        cmocka_unit_test(test_error__every_status_has_its_name),
        cmocka_unit_test(test_error__try_returns_failures_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
