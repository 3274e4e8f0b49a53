/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of long pieces: what was put is found whole, until newer pieces overwrite it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "tokenize/long_cache.h"

static lw__long_key key_of(const char *text, unsigned kind)
{
    return lw__long_cache_key((const unsigned char *)text, strlen(text), kind);
}

static void test_long_cache__pieces_are_found_by_bytes_and_kind(void **state)
{
    (void)state;
    lw__long_cache cache;
    size_t count = 0;
    const int32_t ids[] = {7, 8, 9};
    assert_int_equal(lw__long_cache_create(&cache, LW__LONG_CACHE_BITS, NULL), LW_OK);
    lw__long_key key = key_of("a piece of some length", 0);
    lw__long_key part = key_of("a piece of some length", 1);
    assert_null(lw__long_cache_find(&cache, &key, &count));
    lw__long_cache_put(&cache, &key, ids, 3);
    const uint32_t *found = lw__long_cache_find(&cache, &key, &count);
    assert_non_null(found);
    assert_int_equal(count, 3);
    assert_memory_equal(found, ids, sizeof ids);
    assert_null(lw__long_cache_find(&cache, &part, &count));
    lw__long_cache_reset(&cache);
}

/* Far more pieces than fit: each is found whole or not at all, the newest always. */
static void test_long_cache__old_pieces_give_way(void **state)
{
    (void)state;
    lw__long_cache cache;
    assert_int_equal(lw__long_cache_create(&cache, LW__LONG_CACHE_BITS, NULL), LW_OK);
    for (int i = 0; i < 200000; i++) {
        char text[LW__LONG_CACHE_BYTES + 1];
        int32_t ids[40];
        size_t count = 0;
        memset(text, 'x', sizeof text);
        (void)snprintf(text, 16, "%d", i);
        text[strlen(text)] = '-';
        text[20 + i % (LW__LONG_CACHE_BYTES - 19)] = '\0';
        for (int j = 0; j < 40; j++) {
            ids[j] = i + j;
        }
        lw__long_key key = key_of(text, 0);
        lw__long_cache_put(&cache, &key, ids, 1 + (size_t)i % 40);
        const uint32_t *found = lw__long_cache_find(&cache, &key, &count);
        assert_non_null(found);
        assert_int_equal(count, 1 + (size_t)i % 40);
        assert_memory_equal(found, ids, count * sizeof *ids);
        (void)snprintf(text, 16, "%d", i / 2);
        lw__long_key other = key_of(text, 0);
        found = lw__long_cache_find(&cache, &other, &count);
        assert_true(found == NULL || found[0] == (uint32_t)(i / 2));
    }
    lw__long_cache_reset(&cache);
}

/* The next text after number *from whose piece belongs to the same two slots as another. */
static lw__long_key next_beside(const lw__long_cache *cache, const lw__long_key *other, char *text,
                                size_t room, int *from)
{
    for (;;) {
        (void)snprintf(text, room, "a piece of number %d", ++*from);
        lw__long_key key = key_of(text, 0);
        if (((key.hash ^ other->hash) & (cache->slot_count - 2)) == 0) {
            return key;
        }
    }
}

static void test_long_cache__two_pieces_share_two_slots(void **state)
{
    (void)state;
    lw__long_cache cache;
    char second_text[40];
    char third_text[40];
    int number = 0;
    size_t count = 0;
    const int32_t ids[] = {1, 2, 3};
    assert_int_equal(lw__long_cache_create(&cache, LW__LONG_CACHE_BITS, NULL), LW_OK);
    lw__long_key first = key_of("a piece", 0);
    lw__long_key second = next_beside(&cache, &first, second_text, sizeof second_text, &number);
    lw__long_key third = next_beside(&cache, &first, third_text, sizeof third_text, &number);
    lw__long_cache_put(&cache, &first, ids, 1);
    lw__long_cache_put(&cache, &second, ids, 2);
    assert_non_null(lw__long_cache_find(&cache, &first, &count));
    assert_int_equal(count, 1);
    assert_non_null(lw__long_cache_find(&cache, &second, &count));
    assert_int_equal(count, 2);
    lw__long_cache_put(&cache, &third, ids, 3); /* in place of the oldest */
    assert_null(lw__long_cache_find(&cache, &first, &count));
    assert_non_null(lw__long_cache_find(&cache, &second, &count));
    assert_non_null(lw__long_cache_find(&cache, &third, &count));
    assert_int_equal(count, 3);
    lw__long_cache_reset(&cache);
}

/* Far around the ring, with pieces between: ids are those that were kept, or gone. */
static void test_long_cache__kept_ids_are_whole_or_gone(void **state)
{
    (void)state;

    enum { ROUNDS = 200000 };

    lw__long_cache cache;
    uint64_t positions[64] = {0};
    assert_int_equal(lw__long_cache_create(&cache, LW__LONG_CACHE_BITS, NULL), LW_OK);
    for (int i = 0; i < ROUNDS; i++) {
        int32_t ids[LW__LONG_CACHE_KEPT];
        for (int j = 0; j < LW__LONG_CACHE_KEPT; j++) {
            ids[j] = i + j;
        }
        positions[i % 64] = lw__long_cache_keep(&cache, ids, 1 + (size_t)i % LW__LONG_CACHE_KEPT);
        lw__long_key key = key_of("a piece between the kept ids", 0);
        lw__long_cache_put(&cache, &key, ids, 1 + (size_t)i % 3);
        const uint32_t *newest = lw__long_cache_kept(&cache, positions[i % 64]);
        assert_non_null(newest);
        assert_memory_equal(newest, ids, (1 + (size_t)i % LW__LONG_CACHE_KEPT) * sizeof *ids);
        const uint32_t *older = lw__long_cache_kept(&cache, positions[(i + 1) % 64]);
        assert_true(i < 64 || (older != NULL && older[0] == (uint32_t)(i - 63)));
    }
    assert_null(lw__long_cache_kept(&cache, 0));
    lw__long_cache_reset(&cache);
}

static void test_long_cache__memory_that_runs_out_is_an_error(void **state)
{
    (void)state;
    lw__long_cache cache;
    lw__alloc_fail_after(1);
    lw_status status = lw__long_cache_create(&cache, LW__LONG_CACHE_BITS, NULL);
    lw__alloc_fail_after(0);
    assert_int_equal(status, LW_E_NOMEM);
    lw__long_cache_reset(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_cache__pieces_are_found_by_bytes_and_kind),
        cmocka_unit_test(test_long_cache__old_pieces_give_way),
        cmocka_unit_test(test_long_cache__two_pieces_share_two_slots),
        cmocka_unit_test(test_long_cache__kept_ids_are_whole_or_gone),
        cmocka_unit_test(test_long_cache__memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
