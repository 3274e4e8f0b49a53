/* SPDX-License-Identifier: Apache-2.0 */
/* The table of short pieces: keys tell pieces apart, and what is found is what was put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/piece_cache.h"

#define PAIR_BITS 12

static lw__cache_key key_of(const char *text, size_t bytes)
{
    return lw__cache_key_of((const unsigned char *)text, bytes,
                            (const unsigned char *)text + bytes);
}

static void test_piece_cache__keys_hold_bytes_and_their_number(void **state)
{
    (void)state;
    const char text[32] = "a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0 more text";
    for (size_t i = 1; i <= LW__CACHE_KEY_BYTES; i++) {
        lw__cache_key key = key_of(text, i);
        lw__cache_key same = lw__cache_key_of_16((const unsigned char *)text, i);
        assert_memory_equal(&key, &same, sizeof key);
        for (size_t j = 1; j < i; j++) {
            lw__cache_key other = key_of(text, j);
            assert_memory_not_equal(&key, &other, sizeof key);
        }
        lw__cache_key other = lw__cache_other_kind(key);
        assert_memory_not_equal(&key, &other, sizeof key);
    }
}

/* Looks where an encoder does; the number of ids, 0 when the piece is not there. */
static size_t find(const lw__cache *cache, const lw__cache_key *key, uint32_t *first)
{
    const lw__cache_entry *pair = lw__cache_pair(cache, key);
    const lw__cache_entry *found = lw__cache_is(&pair[0], key) ? &pair[0]
                                   : lw__cache_is(&pair[1], key)
                                       ? &pair[1]
                                       : lw__cache_find_beside(cache, key);
    if (found == NULL) {
        return 0;
    }
    *first = found->ids[0] & ((1u << LW__CACHE_ID_BITS) - 1);
    return found->ids[0] >> LW__CACHE_ID_BITS;
}

static void put_number(const lw__cache *cache, uint32_t number)
{
    char text[16];
    int bytes = snprintf(text, sizeof text, "n%u", (unsigned)number);
    lw__cache_key key = key_of(text, (size_t)bytes);
    const int32_t ids[LW__CACHE_IDS] = {(int32_t)number, 1, 2, 3};
    lw__cache_entry *entry = lw__cache_take_beside(cache, &key);
    memcpy(entry->ids, ids, sizeof ids);
    entry->ids[0] |= (1 + number % LW__CACHE_IDS) << LW__CACHE_ID_BITS;
}

static size_t count_found(const lw__cache *cache, uint32_t end)
{
    size_t found = 0;
    for (uint32_t i = 0; i < end; i++) {
        char text[16];
        uint32_t first = 0;
        int bytes = snprintf(text, sizeof text, "n%u", (unsigned)i);
        lw__cache_key key = key_of(text, (size_t)bytes);
        size_t count = find(cache, &key, &first);
        if (count > 0) {
            assert_int_equal(count, 1 + i % LW__CACHE_IDS);
            assert_int_equal(first, i);
            found++;
        }
    }
    return found;
}

/* Up to more pieces than there are places: none is found wrong, and while there is room few are lost. */
static void test_piece_cache__what_is_found_is_what_was_put(void **state)
{
    (void)state;
    const uint32_t places = 2u << PAIR_BITS;
    lw__cache cache;
    assert_int_equal(lw__cache_create(&cache, PAIR_BITS, NULL), LW_OK);
    assert_int_equal(count_found(&cache, 1000), 0);
    for (uint32_t i = 0; i < 2 * places; i++) {
        put_number(&cache, i);
        if (i + 1 == places / 4 * 3) { /* twice, as finding moves entries */
            assert_true(count_found(&cache, i + 1) > places / 4 * 3 - places / 64);
            assert_true(count_found(&cache, i + 1) > places / 4 * 3 - places / 64);
        }
    }
    assert_true(count_found(&cache, 2 * places) > places / 2);
    lw__cache_reset(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_piece_cache__keys_hold_bytes_and_their_number),
        cmocka_unit_test(test_piece_cache__what_is_found_is_what_was_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
