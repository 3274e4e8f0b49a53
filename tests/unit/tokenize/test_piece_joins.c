/* SPDX-License-Identifier: Apache-2.0 */
/* Merging of symbols: few and many of them by the same rule, against the rule written plainly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/piece_joins.h"

enum { SYMBOLS = 60, PAIRS = 300, MOST = 600, ROW_SYMBOLS = 9 };

static lw__joint pairs[PAIRS];
static const lw__joint *by_symbols[SYMBOLS][SYMBOLS]; /* the later of two counts */

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Ranks repeat, as scores of pieces may. */
static void fill(lw__joins *joins, uint32_t seed, uint32_t symbols)
{
    lw_error err = {.status = LW_OK};
    assert_int_equal(lw__joins_create(joins, &err), LW_OK);
    memset(by_symbols, 0, sizeof by_symbols);
    for (size_t i = 0; i < PAIRS; i++) {
        pairs[i] = (lw__joint){.left = draw(&seed) % symbols,
                               .right = draw(&seed) % symbols,
                               .becomes = draw(&seed) % symbols,
                               .rank = draw(&seed) % 40};
        assert_int_equal(lw__joins_put(joins, &pairs[i], &err), LW_OK);
        by_symbols[pairs[i].left][pairs[i].right] = &pairs[i];
    }
}

static size_t merge_plainly(int32_t *symbols, size_t count)
{
    for (;;) {
        const lw__joint *best = NULL;
        size_t at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            const lw__joint *pair = by_symbols[symbols[i]][symbols[i + 1]];
            if (pair != NULL && (best == NULL || pair->rank < best->rank)) {
                best = pair;
                at = i;
            }
        }
        if (best == NULL) {
            return count;
        }
        symbols[at] = (int32_t)best->becomes;
        memmove(symbols + at + 1, symbols + at + 2, (count - at - 2) * sizeof *symbols);
        count--;
    }
}

static void check(const lw__joins *joins, lw__merge_scratch *scratch, const int32_t *symbols,
                  size_t count)
{
    lw_error err = {.status = LW_OK};
    int32_t ours[MOST];
    int32_t plain[MOST];
    memcpy(ours, symbols, count * sizeof *ours);
    memcpy(plain, symbols, count * sizeof *plain);
    size_t expected = merge_plainly(plain, count);
    assert_int_equal(lw__joins_merge(joins, scratch, ours, &count, &err), LW_OK);
    assert_int_equal(count, expected);
    assert_memory_equal(ours, plain, count * sizeof *ours);
}

static void test_piece_joins__follows_the_rule(void **state)
{
    (void)state;
    lw__joins joins;
    lw__merge_scratch scratch = {.given = NULL};
    fill(&joins, 5, SYMBOLS);
    uint32_t seed = 9;
    for (size_t round = 0; round < 2000; round++) {
        int32_t ours[MOST];
        size_t count = draw(&seed) % (round % 4 == 0 ? MOST : 40);
        for (size_t i = 0; i < count; i++) {
            ours[i] = (int32_t)(draw(&seed) % SYMBOLS);
        }
        check(&joins, &scratch, ours, count);
    }
    lw__merge_scratch_reset(&scratch);
    lw__joins_reset(&joins);
}

/* Few symbols, so that rows merge into rows, and all kinds of ranks and neighbours come up. */
static void test_piece_joins__rows_of_equal_symbols(void **state)
{
    (void)state;
    lw__merge_scratch scratch = {.given = NULL};
    for (uint32_t table = 0; table < 100; table++) {
        lw__joins joins;
        uint32_t seed = table;
        fill(&joins, 1000 + table, 3 + table % ROW_SYMBOLS);
        for (size_t round = 0; round < 6; round++) {
            int32_t ours[MOST];
            size_t count = 0;
            while (count < MOST / 2) {
                int32_t symbol = (int32_t)(draw(&seed) % ROW_SYMBOLS);
                for (size_t left = 1 + draw(&seed) % 200; left > 0; left--) {
                    ours[count++] = symbol;
                }
            }
            check(&joins, &scratch, ours, count);
        }
        lw__joins_reset(&joins);
    }
    lw__merge_scratch_reset(&scratch);
}

/* Text in which the same few symbols come again and again, with a change here and there. */
static void test_piece_joins__repeated_symbols(void **state)
{
    (void)state;
    lw__merge_scratch scratch = {.given = NULL};
    for (uint32_t table = 0; table < 40; table++) {
        lw__joins joins;
        uint32_t seed = table;
        fill(&joins, 2000 + table, 3 + table % ROW_SYMBOLS);
        for (size_t period = 1; period < 9; period++) {
            int32_t ours[MOST];
            for (size_t i = 0; i < MOST; i++) {
                bool is_new = i < period || draw(&seed) % 200 == 0;
                ours[i] = is_new ? (int32_t)(draw(&seed) % ROW_SYMBOLS) : ours[i - period];
            }
            check(&joins, &scratch, ours, MOST);
        }
        lw__joins_reset(&joins);
    }
    lw__merge_scratch_reset(&scratch);
}

/* What stands last decides on all that is before it, so no window can be done with before. */
static void test_piece_joins__a_merge_that_goes_on_to_the_left(void **state)
{
    (void)state;
    lw_error err = {.status = LW_OK};
    lw__joins joins;
    lw__merge_scratch scratch = {.given = NULL};
    lw__joint joint = {.left = 1, .right = 0, .becomes = 0, .rank = 0};
    int32_t symbols[MOST];
    assert_int_equal(lw__joins_create(&joins, &err), LW_OK);
    assert_int_equal(lw__joins_put(&joins, &joint, &err), LW_OK);
    for (size_t last = 0; last < 2; last++) {
        size_t count = MOST;
        for (size_t i = 0; i < MOST; i++) {
            symbols[i] = 1;
        }
        symbols[MOST - 1] = (int32_t)last;
        assert_int_equal(lw__joins_merge(&joins, &scratch, symbols, &count, &err), LW_OK);
        assert_int_equal(count, last == 0 ? 1 : MOST);
        assert_int_equal(symbols[0], last);
    }
    lw__merge_scratch_reset(&scratch);
    lw__joins_reset(&joins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_piece_joins__follows_the_rule),
        cmocka_unit_test(test_piece_joins__rows_of_equal_symbols),
        cmocka_unit_test(test_piece_joins__repeated_symbols),
        cmocka_unit_test(test_piece_joins__a_merge_that_goes_on_to_the_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
