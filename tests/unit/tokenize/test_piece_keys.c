/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of pieces: each form makes those of piece_cache.h, and reads no further than the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/blocks.h"

#define PAIR_BITS 10
#define LONGEST   40
#define ROUNDS    200

static uint32_t draw(uint64_t *random, uint32_t below)
{
    *random = *random * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(*random >> 33) % below;
}

/* Pieces of any length, mostly short ones; returns the bytes of them all. */
static size_t draw_ends(lw__piece_batch *batch, size_t count, uint64_t *random)
{
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        end += 1 + draw(random, draw(random, 4) == 0 ? LONGEST : 8);
        batch->ends[i] = end;
    }
    return end;
}

/* In a block of its own size, so that a sanitizer sees what is read behind it. */
static unsigned char *draw_text(size_t bytes, uint64_t *random)
{
    unsigned char *text = malloc(bytes);
    assert_non_null(text);
    for (size_t i = 0; i < bytes; i++) {
        text[i] = (unsigned char)draw(random, 256);
    }
    return text;
}

static void check_batch(const lw__piece_batch *batch, const lw__cache *cache,
                        const unsigned char *text, size_t bytes, size_t count)
{
    size_t longer = 0;
    for (size_t i = 0; i < count; i++) {
        size_t start = i > 0 ? batch->ends[i - 1] : 0;
        size_t length = batch->ends[i] - start;
        lw__cache_key key = lw__cache_key_of(text + start, length, text + bytes);
        assert_memory_equal(&batch->keys[i], &key, sizeof key);
        assert_int_equal(batch->places[i], lw__cache_place(cache, &key));
        if (length > LW__CACHE_KEY_BYTES) {
            assert_true(longer < batch->longer_count);
            assert_int_equal(batch->longer[longer], i);
            longer++;
        }
    }
    assert_int_equal(batch->longer_count, longer);
}

static void test_piece_keys__every_form_makes_the_same(void **state)
{
    (void)state;
    static lw__piece_batch batch;
    lw__blocks_form forms[3];
    lw__cache cache;
    assert_int_equal(lw__cache_create(&cache, PAIR_BITS, NULL), LW_OK);
    size_t form_count = lw__blocks_forms(forms);
    for (size_t f = 0; f < form_count; f++) {
        uint64_t random = 1;
        print_message("%s\n", forms[f].name);
        for (size_t round = 0; round < ROUNDS; round++) {
            size_t count = round < 40 ? round : 1 + draw(&random, LW__PIECE_BATCH);
            size_t bytes = draw_ends(&batch, count, &random);
            unsigned char *text = draw_text(bytes, &random);
            forms[f].put_keys(&batch, &cache, text, bytes, count);
            check_batch(&batch, &cache, text, bytes, count);
            free(text);
        }
    }
    lw__cache_reset(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_piece_keys__every_form_makes_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
