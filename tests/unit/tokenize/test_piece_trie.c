/* SPDX-License-Identifier: Apache-2.0 */
/* The double array: against a plain search, over texts of all bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/piece_trie.h"

enum { KEYS = 4000, MOST_BYTES = 6 };

static unsigned char storage[KEYS][MOST_BYTES];
static lw__trie_key keys[KEYS];

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static int is_there(size_t count, const unsigned char *text, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (keys[i].bytes == bytes && memcmp(keys[i].text, text, bytes) == 0) {
            return keys[i].id;
        }
    }
    return -1;
}

static size_t fill(uint32_t seed, uint32_t symbols)
{
    size_t count = 0;
    for (size_t i = 0; i < KEYS; i++) {
        size_t bytes = 1 + draw(&seed) % MOST_BYTES;
        for (size_t k = 0; k < bytes; k++) {
            storage[count][k] = (unsigned char)(draw(&seed) % symbols);
        }
        if (is_there(count, storage[count], bytes) < 0) {
            keys[count] =
                (lw__trie_key){.text = storage[count], .bytes = bytes, .id = (int32_t)count};
            count++;
        }
    }
    return count;
}

static void check(const lw__trie *trie, size_t count, const unsigned char *text, size_t bytes)
{
    lw__trie_key found = lw__trie_longest(trie, text, bytes);
    for (size_t length = bytes; length > 0; length--) {
        int id = is_there(count, text, length);
        if (id >= 0) {
            assert_int_equal(found.bytes, length);
            assert_int_equal(found.id, id);
            return;
        }
    }
    assert_int_equal(found.bytes, 0);
}

static void test_piece_trie__finds_the_longest(void **state)
{
    (void)state;
    static const uint32_t symbols[] = {2, 7, 256};
    for (uint32_t round = 0; round < 3; round++) {
        lw_error err = {.status = LW_OK};
        lw__trie trie;
        size_t count = fill(round, symbols[round]);
        assert_int_equal(lw__trie_build(&trie, keys, count, &err), LW_OK);
        uint32_t seed = 77;
        for (size_t i = 0; i < 3000; i++) {
            unsigned char text[MOST_BYTES + 2];
            for (size_t k = 0; k < sizeof text; k++) {
                text[k] = (unsigned char)(draw(&seed) % symbols[round]);
            }
            check(&trie, count, text, draw(&seed) % (sizeof text + 1));
        }
        for (size_t i = 0; i < count; i++) {
            check(&trie, count, keys[i].text, keys[i].bytes);
        }
        lw__trie_reset(&trie);
    }
}

static void test_piece_trie__without_texts(void **state)
{
    (void)state;
    lw_error err = {.status = LW_OK};
    lw__trie trie;
    assert_int_equal(lw__trie_build(&trie, keys, 0, &err), LW_OK);
    assert_int_equal(lw__trie_longest(&trie, (const unsigned char *)"a", 1).bytes, 0);
    lw__trie_reset(&trie);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_piece_trie__finds_the_longest),
        cmocka_unit_test(test_piece_trie__without_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
