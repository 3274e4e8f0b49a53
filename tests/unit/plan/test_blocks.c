/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a source's blocks over its lanes and epochs, and of a part's documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <laneway/random.h>

#include "plan/blocks.h"

#define MOST 64u

static uint64_t block_at(const lw__blocks *blocks, uint64_t lane, uint64_t j)
{
    lw__block_place place;
    assert_true(lw__blocks_at(blocks, lane, j, &place));
    return place.block;
}

static void test_blocks__the_worked_recipe_has_its_blocks(void **state)
{
    (void)state;
    lw__blocks blocks = {.seed = 7, .block_count = 3, .lanes = 2, .once = true};
    lw__block_place place;
    assert_int_equal(block_at(&blocks, 0, 0), 1);
    assert_int_equal(block_at(&blocks, 0, 1), 2);
    assert_int_equal(block_at(&blocks, 1, 0), 0);
    assert_false(lw__blocks_at(&blocks, 1, 1, &place));
    assert_false(lw__blocks_at(&blocks, 0, 2, &place));
}

static void test_blocks__a_place_names_number_and_epoch(void **state)
{
    (void)state;
    lw__blocks blocks = {.seed = 1, .block_count = 5, .lanes = 4};
    lw__block_place place;
    assert_true(lw__blocks_at(&blocks, 3, 6, &place));
    assert_int_equal(place.g, 27);
    assert_int_equal(place.epoch, 5);
    uint64_t key = lw_random_key(1, LW_PURPOSE_BLOCKS, 0, 5, 0);
    assert_int_equal(place.block, lw_random_permute(key, 5, 2));
}

/* All lanes together read every block once an epoch. */
static void check_cover(uint64_t block_count, uint64_t lanes, lw__order order)
{
    lw__blocks blocks = {
        .seed = 3, .source = 2, .block_count = block_count, .lanes = lanes, .order = order};
    unsigned seen[3][MOST] = {{0}};
    for (uint64_t lane = 0; lane < lanes; lane++) {
        for (uint64_t j = 0; j <= 3 * block_count / lanes; j++) {
            lw__block_place place;
            assert_true(lw__blocks_at(&blocks, lane, j, &place));
            if (place.epoch < 3) {
                seen[place.epoch][place.block]++;
            }
        }
    }
    for (uint64_t b = 0; b < block_count; b++) {
        assert_int_equal(seen[0][b], 1);
        assert_int_equal(seen[1][b], 1);
        assert_int_equal(seen[2][b], 1);
    }
}

static void test_blocks__an_epoch_has_every_block_once(void **state)
{
    (void)state;
    for (uint64_t count = 1; count <= 20; count++) {
        for (uint64_t lanes = 1; lanes <= 9; lanes++) {
            check_cover(count, lanes, LW__ORDER_PERMUTED);
            check_cover(count, lanes, LW__ORDER_FILE);
        }
    }
}

static void test_blocks__file_order_is_the_identity(void **state)
{
    (void)state;
    lw__blocks blocks = {.seed = 3, .block_count = 7, .lanes = 1, .order = LW__ORDER_FILE};
    for (uint64_t j = 0; j < 21; j++) {
        assert_int_equal(block_at(&blocks, 0, j), j % 7);
    }
}

static void test_blocks__epochs_and_sources_have_orders_of_their_own(void **state)
{
    (void)state;
    lw__blocks one = {.seed = 3, .block_count = 50, .lanes = 1};
    lw__blocks two = {.seed = 3, .source = 1, .block_count = 50, .lanes = 1};
    unsigned same_epoch = 0;
    unsigned same_source = 0;
    for (uint64_t j = 0; j < 50; j++) {
        same_epoch += block_at(&one, 0, j) == block_at(&one, 0, j + 50);
        same_source += block_at(&one, 0, j) == block_at(&two, 0, j);
    }
    assert_true(same_epoch < 10);
    assert_true(same_source < 10);
}

static void check_documents(uint64_t g, const uint64_t *records, uint64_t count)
{
    lw__blocks blocks = {.seed = 7, .block_count = 3, .lanes = 2};
    lw__permutation order = lw__blocks_documents(&blocks, g, 0, count);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(lw__permutation_at(&order, i), records[i]);
    }
}

/* Lane 0: 5 4 6 of block 1 (records 4 5 6), then 9 7 8; lane 1: 2 3 1 0. */
static void test_blocks__the_worked_recipe_has_its_documents(void **state)
{
    (void)state;
    check_documents(0, (const uint64_t[]){1, 0, 2}, 3);
    check_documents(2, (const uint64_t[]){2, 0, 1}, 3);
    check_documents(1, (const uint64_t[]){2, 3, 1, 0}, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks__the_worked_recipe_has_its_blocks),
        cmocka_unit_test(test_blocks__a_place_names_number_and_epoch),
        cmocka_unit_test(test_blocks__an_epoch_has_every_block_once),
        cmocka_unit_test(test_blocks__file_order_is_the_identity),
        cmocka_unit_test(test_blocks__epochs_and_sources_have_orders_of_their_own),
        cmocka_unit_test(test_blocks__the_worked_recipe_has_its_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
