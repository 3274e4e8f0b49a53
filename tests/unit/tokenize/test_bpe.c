/* SPDX-License-Identifier: Apache-2.0 */
/* Merging: the rule, ties, and that a long piece gives what a short one does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "plain_merges.h"
#include "tokenize/bpe.h"

static void init(lw__bpe *bpe)
{
    lw__bpe_init(bpe);
    for (int byte = 0; byte < 256; byte++) {
        bpe->byte_ids[byte] = byte;
    }
}

static void put(lw__bpe *bpe, int32_t left, int32_t right, uint32_t rank, int32_t id)
{
    lw__merge merge = {.left = left, .right = right, .id = id, .rank = rank};
    assert_int_equal(lw__bpe_put(bpe, &merge, NULL), LW_OK);
}

static size_t encode(const lw__bpe *bpe, const void *piece, size_t bytes, int32_t *ids)
{
    lw__bpe_scratch scratch = {.merge.given = NULL};
    size_t count = 0;
    assert_int_equal(lw__bpe_encode(bpe, &scratch, piece, bytes, ids, &count, NULL), LW_OK);
    lw__bpe_scratch_reset(&scratch);
    return count;
}

static void test_bpe__the_lowest_rank_merges_first(void **state)
{
    (void)state;
    lw__bpe bpe;
    int32_t ids[8];
    init(&bpe);
    put(&bpe, 'b', 'c', 0, 300);
    put(&bpe, 'a', 'b', 1, 301);
    put(&bpe, 'a', 300, 2, 302);
    assert_int_equal(encode(&bpe, "abc", 3, ids), 1);
    assert_int_equal(ids[0], 302);
    assert_int_equal(encode(&bpe, "abab", 4, ids), 2);
    assert_int_equal(ids[0], 301);
    lw__bpe_reset(&bpe);
}

static void test_bpe__the_leftmost_of_equals_merges_first(void **state)
{
    (void)state;
    lw__bpe bpe;
    int32_t ids[8];
    init(&bpe);
    put(&bpe, 'a', 'a', 0, 300);
    assert_int_equal(encode(&bpe, "aaa", 3, ids), 2);
    assert_int_equal(ids[0], 300);
    assert_int_equal(ids[1], 'a');
    lw__bpe_reset(&bpe);
}

static void test_bpe__a_pair_given_twice_keeps_its_later_rank(void **state)
{
    (void)state;
    lw__bpe bpe;
    int32_t ids[8];
    init(&bpe);
    put(&bpe, 'a', 'b', 0, 300);
    put(&bpe, 'b', 'c', 1, 301);
    put(&bpe, 'a', 'b', 2, 300);
    assert_int_equal(bpe.count, 2);
    assert_int_equal(encode(&bpe, "abc", 3, ids), 2);
    assert_int_equal(ids[1], 301);
    lw__bpe_reset(&bpe);
}

static void test_bpe__no_merges_and_no_bytes(void **state)
{
    (void)state;
    lw__bpe bpe;
    int32_t ids[64];
    init(&bpe);
    assert_int_equal(encode(&bpe, "", 0, ids), 0);
    assert_int_equal(encode(&bpe, "a", 1, ids), 1);
    assert_int_equal(encode(&bpe, "0123456789012345678901234567890123456789", 40, ids), 40);
    assert_int_equal(ids[39], '9');
    lw__bpe_reset(&bpe);
}

/* Random merges over a few symbols; pieces on both sides of the change of method. */
static void test_bpe__short_and_long_pieces_follow_the_rule(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 300; round++) {
        lw__bpe bpe;
        lw__merge merges[24];
        init(&bpe);
        plain_draw(&bpe, merges, 24, &random);
        for (size_t bytes = 28; bytes < 300; bytes += bytes < 38 ? 1 : 23) {
            unsigned char piece[300];
            int32_t ids[300];
            int32_t plain[300];
            for (size_t i = 0; i < bytes; i++) {
                piece[i] = (unsigned char)('a' + plain_random(&random) % 3);
                plain[i] = piece[i];
            }
            size_t count = encode(&bpe, piece, bytes, ids);
            assert_int_equal(count, plain_merge(merges, 24, plain, bytes));
            assert_memory_equal(ids, plain, count * sizeof *ids);
        }
        lw__bpe_reset(&bpe);
    }
}

/* Merges that a few words can say, over random letters. */
static void test_bpe__a_million_bytes_of_two_letters(void **state)
{
    (void)state;

    enum { BYTES = 1000000 };

    lw__bpe bpe;
    uint32_t seed = 1;
    size_t put_count = 0;
    init(&bpe);
    put(&bpe, 'a', 'b', 0, 300);
    put(&bpe, 300, 300, 1, 301);
    put(&bpe, 'b', 'b', 2, 302);
    char *piece = malloc(BYTES);
    int32_t *ids = malloc(BYTES * sizeof *ids);
    int32_t *plain = malloc(BYTES * sizeof *plain);
    assert_true(piece != NULL && ids != NULL && plain != NULL);
    for (size_t i = 0; i < BYTES; i++) {
        seed = seed * 1664525u + 1013904223u;
        piece[i] = (seed >> 16) % 3 == 0 ? 'b' : 'a';
    }
    /* By hand: an "a" takes the "b" behind it, two such in a row join, two other "b" do. */
    for (size_t i = 0; i < BYTES;) {
        bool is_pair = i + 1 < BYTES && piece[i] == 'a' && piece[i + 1] == 'b';
        bool is_double = i + 1 < BYTES && piece[i] == 'b' && piece[i + 1] == 'b';
        bool is_two = is_pair && i + 3 < BYTES && piece[i + 2] == 'a' && piece[i + 3] == 'b';
        plain[put_count++] = is_two ? 301 : is_pair ? 300 : is_double ? 302 : piece[i];
        i += is_two ? 4 : is_pair || is_double ? 2 : 1;
    }
    assert_int_equal(encode(&bpe, piece, BYTES, ids), put_count);
    assert_memory_equal(ids, plain, put_count * sizeof *ids);
    free(piece);
    free(ids);
    free(plain);
    lw__bpe_reset(&bpe);
}

static void test_bpe__a_million_equal_bytes(void **state)
{
    (void)state;

    enum { BYTES = 1000000 };

    lw__bpe bpe;
    init(&bpe);
    put(&bpe, 'a', 'a', 0, 300);
    put(&bpe, 300, 300, 1, 301);
    put(&bpe, 301, 301, 2, 302);
    char *piece = malloc(BYTES);
    int32_t *ids = malloc(BYTES * sizeof *ids);
    assert_non_null(piece);
    assert_non_null(ids);
    memset(piece, 'a', BYTES);
    assert_int_equal(encode(&bpe, piece, BYTES, ids), BYTES / 8);
    assert_int_equal(ids[0], 302);
    assert_int_equal(ids[BYTES / 8 - 1], 302);
    free(piece);
    free(ids);
    lw__bpe_reset(&bpe);
}

static void test_bpe__memory_that_runs_out_is_an_error(void **state)
{
    (void)state;
    lw__bpe bpe;
    lw__bpe_scratch scratch = {.merge.given = NULL};
    lw__merge merge = {.left = 'a', .right = 'a', .id = 300};
    int32_t ids[64];
    size_t count = 0;
    lw_error err;
    init(&bpe);
    lw__alloc_fail_after(1);
    void *other = lw__alloc(1);
    assert_int_equal(lw__bpe_put(&bpe, &merge, &err), LW_E_NOMEM);
    lw__alloc_fail_after(1);
    assert_int_equal(lw__bpe_encode(&bpe, &scratch,
                                    (const unsigned char *)"0123456789012345678901234567890123", 34,
                                    ids, &count, &err),
                     LW_E_NOMEM);
    lw__alloc_fail_after(0);
    lw__free(other);
    lw__bpe_scratch_reset(&scratch);
    lw__bpe_reset(&bpe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bpe__the_lowest_rank_merges_first),
        cmocka_unit_test(test_bpe__the_leftmost_of_equals_merges_first),
        cmocka_unit_test(test_bpe__a_pair_given_twice_keeps_its_later_rank),
        cmocka_unit_test(test_bpe__no_merges_and_no_bytes),
        cmocka_unit_test(test_bpe__short_and_long_pieces_follow_the_rule),
        cmocka_unit_test(test_bpe__a_million_bytes_of_two_letters),
        cmocka_unit_test(test_bpe__a_million_equal_bytes),
        cmocka_unit_test(test_bpe__memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
