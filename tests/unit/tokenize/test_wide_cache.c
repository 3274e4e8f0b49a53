/* SPDX-License-Identifier: Apache-2.0 */
/* The table of pieces of 16 to 31 bytes: keys tell pieces apart, and what is found is what was put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "tokenize/wide_cache.h"

#define LINE_BITS 12

static lw__wide_key key_of(const char *text, size_t bytes)
{
    const unsigned char *piece = (const unsigned char *)text;
    return lw__wide_key_of(piece, bytes, piece + bytes);
}

static void test_wide_cache__keys_hold_bytes_and_their_number(void **state)
{
    (void)state;
    const char text[64] = "sixteen bytes ab\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0 more text";
    for (size_t i = LW__CACHE_KEY_BYTES + 1; i <= LW__WIDE_BYTES; i++) {
        const unsigned char *piece = (const unsigned char *)text;
        lw__wide_key key = key_of(text, i);
        lw__wide_key same = lw__wide_key_of(piece, i, piece + sizeof text);
        assert_memory_equal(&key, &same, sizeof key);
        for (size_t j = LW__CACHE_KEY_BYTES + 1; j < i; j++) {
            lw__wide_key other = key_of(text, j);
            assert_memory_not_equal(&key, &other, sizeof key);
        }
    }
}

static lw__wide_key number_key(uint32_t number)
{
    char text[32];
    int bytes = snprintf(text, sizeof text, "a piece of many bytes %u", (unsigned)number);
    return key_of(text, (size_t)bytes);
}

static size_t count_found(const lw__wide_cache *cache, uint32_t end)
{
    size_t found = 0;
    for (uint32_t i = 0; i < end; i++) {
        lw__wide_key key = number_key(i);
        const lw__wide_entry *entry = lw__wide_find(cache, &key);
        if (entry != NULL) {
            assert_int_equal(entry->ids[0], (1u << LW__CACHE_ID_BITS) | i);
            found++;
        }
    }
    return found;
}

/* Up to more pieces than there are lines: none is found wrong, and while there is room few are lost. */
static void test_wide_cache__what_is_found_is_what_was_put(void **state)
{
    (void)state;
    const uint32_t lines = 1u << LINE_BITS;
    lw__wide_cache cache;
    assert_int_equal(lw__wide_cache_create(&cache, LINE_BITS, NULL), LW_OK);
    assert_int_equal(count_found(&cache, 1000), 0);
    for (uint32_t i = 0; i < 2 * lines; i++) {
        lw__wide_key key = number_key(i);
        lw__wide_take(&cache, &key)->ids[0] = (1u << LW__CACHE_ID_BITS) | i;
        if (i + 1 == lines / 4) {
            assert_true(count_found(&cache, i + 1) > lines / 4 - lines / 32);
            assert_true(count_found(&cache, i + 1) > lines / 4 - lines / 32);
        }
    }
    assert_true(count_found(&cache, 2 * lines) > lines / 2);
    lw__wide_cache_reset(&cache);
}

static void test_wide_cache__memory_that_runs_out_is_an_error(void **state)
{
    (void)state;
    lw__wide_cache cache;
    lw__alloc_fail_after(1);
    lw_status status = lw__wide_cache_create(&cache, LINE_BITS, NULL);
    lw__alloc_fail_after(0);
    assert_int_equal(status, LW_E_NOMEM);
    lw__wide_cache_reset(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_cache__keys_hold_bytes_and_their_number),
        cmocka_unit_test(test_wide_cache__what_is_found_is_what_was_put),
        cmocka_unit_test(test_wide_cache__memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
