/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mixer's arithmetic, driven as a lane drives it: against the worked draws of docs/stream.md, and
 * for its error bound, at every draw, with skewed weights and lengths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <laneway/random.h>

#include "plan/mixture.h"

__extension__ typedef __int128 wide;

#define MOST  40u
#define DRAWS 4000u

/* What a source shows next: a list that ends, or lengths without end from a key. */
typedef struct feed {
    const uint64_t *lengths; /* NULL: without end */
    size_t count;
    size_t next;
    uint64_t key;
    uint64_t longest;
} feed;

static uint64_t shown(const feed *f, uint64_t *length)
{
    if (f->lengths != NULL) {
        *length = f->next < f->count ? f->lengths[f->next] : 0;
        return f->next < f->count;
    }
    uint64_t r = lw_random_key(f->key, LW_PURPOSE_USER, f->next, 0, 0);
    *length = 1 + r % (r >> 32 & 15 ? f->longest / 8 + 1 : f->longest);
    return 1;
}

/* One draw by the rule of the page; SIZE_MAX when all have ended. */
static size_t draw(lw__mixture *m, feed *feeds, uint64_t *cost)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < m->source_count; i++) {
        uint64_t length;
        if (!lw__mixture_is_eligible(m, i)) {
            continue;
        }
        if (!shown(&feeds[i], &length)) {
            lw__mixture_end(m, i);
            return lw__mixture_is_live(m) ? draw(m, feeds, cost) : SIZE_MAX;
        }
        if (best == SIZE_MAX || lw__mixture_is_before(m, i, length, best, *cost)) {
            best = i;
            *cost = length;
        }
    }
    assert_true(best != SIZE_MAX);
    feeds[best].next++;
    lw__mixture_draw(m, best, *cost);
    return best;
}

static void test_mixture__the_worked_draws_come_in_order(void **state)
{
    (void)state;
    static const uint64_t a[] = {4, 4, 4, 4};
    static const uint64_t b[] = {1, 2, 3, 4, 5, 6};
    static const uint64_t c[] = {10, 1};
    static const size_t sources[] = {1, 0, 1, 2, 0, 1, 0, 0, 2, 1, 1, 1};
    static const uint64_t costs[] = {1, 4, 2, 10, 4, 3, 4, 4, 1, 4, 5, 6};
    static const uint64_t drawn[][3] = {{0, 1, 0},  {4, 1, 0},  {4, 3, 0},   {4, 3, 10},
                                        {8, 3, 10}, {8, 6, 10}, {12, 6, 10}, {16, 6, 10},
                                        {0, 0, 1},  {0, 4, 1},  {0, 5, 0},   {0, 11, 0}};
    feed feeds[] = {
        {.lengths = a, .count = 4}, {.lengths = b, .count = 6}, {.lengths = c, .count = 2}};
    lw__mixture_source mixed[] = {
        {.weight = 500000000}, {.weight = 300000000}, {.weight = 200000000}};
    lw__mixture m = {.sources = mixed, .source_count = 3};
    lw__mixture_restart(&m);
    for (size_t i = 0; i < 12; i++) {
        uint64_t cost = 0;
        assert_int_equal(draw(&m, feeds, &cost), sources[i]);
        assert_int_equal(cost, costs[i]);
        for (size_t s = 0; s < 3; s++) {
            assert_int_equal(mixed[s].drawn, drawn[i][s]);
        }
        assert_int_equal(m.total, drawn[i][0] + drawn[i][1] + drawn[i][2]);
    }
    uint64_t cost = 0;
    assert_true(draw(&m, feeds, &cost) == SIZE_MAX);
    assert_false(lw__mixture_is_live(&m));
}

static void check_error(const lw__mixture *m, uint64_t longest)
{
    for (size_t i = 0; i < m->source_count; i++) {
        const lw__mixture_source *s = &m->sources[i];
        wide error = (wide)s->drawn * m->live_weight - (wide)s->weight * m->total;
        error = error < 0 ? -error : error;
        assert_true(error < (wide)longest * m->live_weight);
    }
}

/* Weights fall off geometrically or by a power, so some sources are drawn once in thousands. */
static uint64_t skewed_weight(uint64_t count, size_t i)
{
    return i % 2 == 0 ? UINT64_C(1000000000) >> (i % 20)
                      : 1 + lw_random_key(count, 1000, i, 0, 0) % 900000000;
}

static void run_skewed(size_t count)
{
    lw__mixture_source mixed[MOST] = {{0}};
    feed feeds[MOST] = {{0}};
    lw__mixture m = {.sources = mixed, .source_count = count};
    uint64_t longest = 2000;
    for (size_t i = 0; i < count; i++) {
        mixed[i].weight = skewed_weight(count, i);
        feeds[i] = (feed){.key = count * 100 + i, .longest = i % 3 == 0 ? longest : 50};
    }
    lw__mixture_restart(&m);
    for (size_t i = 0; i < DRAWS; i++) {
        uint64_t cost = 0;
        draw(&m, feeds, &cost);
        check_error(&m, longest);
    }
}

static void test_mixture__the_error_stays_below_the_longest_document(void **state)
{
    (void)state;
    for (size_t count = 3; count <= MOST; count++) {
        run_skewed(count);
    }
}

static void test_mixture__a_source_that_ends_starts_the_counts_anew_for_the_rest(void **state)
{
    (void)state;
    lw__mixture_source mixed[] = {
        {.weight = 6, .drawn = 60}, {.weight = 3, .drawn = 30}, {.weight = 1, .drawn = 9}};
    lw__mixture m = {.sources = mixed, .source_count = 3};
    lw__mixture_restart(&m);
    assert_int_equal(m.total, 99);
    assert_int_equal(m.live_weight, 10);
    lw__mixture_end(&m, 0);
    assert_true(mixed[0].ended);
    assert_int_equal(m.total, 0);
    assert_int_equal(m.live_weight, 4);
    assert_int_equal(mixed[1].drawn + mixed[2].drawn, 0);
    assert_false(lw__mixture_is_eligible(&m, 0));
    assert_true(lw__mixture_is_eligible(&m, 1));
    lw__mixture_end(&m, 1);
    lw__mixture_end(&m, 2);
    assert_false(lw__mixture_is_live(&m));
}

static void test_mixture__the_bound_holds_again_after_each_end(void **state)
{
    (void)state;
    static uint64_t lengths[4][60];
    feed feeds[4];
    lw__mixture_source mixed[4] = {
        {.weight = 800}, {.weight = 150}, {.weight = 40}, {.weight = 10}};
    lw__mixture m = {.sources = mixed, .source_count = 4};
    for (size_t s = 0; s < 4; s++) {
        for (size_t i = 0; i < 60; i++) {
            lengths[s][i] = 1 + lw_random_key(s, 1000, i, 0, 0) % 90;
        }
        feeds[s] = (feed){.lengths = lengths[s], .count = 60};
    }
    lw__mixture_restart(&m);
    uint64_t cost = 0;
    size_t draws = 0;
    for (; draw(&m, feeds, &cost) != SIZE_MAX; draws++) {
        for (size_t s = 0; s < 4; s++) {
            wide error = (wide)mixed[s].drawn * m.live_weight - (wide)mixed[s].weight * m.total;
            error = error < 0 ? -error : error;
            assert_true(mixed[s].ended || error < (wide)90 * m.live_weight);
        }
    }
    assert_int_equal(draws, 240);
}

static void test_mixture__a_tie_goes_to_the_first_source(void **state)
{
    (void)state;
    lw__mixture_source mixed[] = {{.weight = 1}, {.weight = 1}};
    lw__mixture m = {.sources = mixed, .source_count = 2};
    lw__mixture_restart(&m);
    assert_false(lw__mixture_is_before(&m, 1, 5, 0, 5));
    assert_false(lw__mixture_is_before(&m, 0, 5, 1, 5));
    assert_true(lw__mixture_is_before(&m, 1, 4, 0, 5));
}

static void test_mixture__products_beyond_64_bits_are_exact(void **state)
{
    (void)state;
    uint64_t big = UINT64_C(1) << 60;
    lw__mixture_source mixed[] = {{.weight = 500000000000000000, .drawn = big},
                                  {.weight = 499999999999999999, .drawn = big}};
    lw__mixture m = {.sources = mixed, .source_count = 2};
    lw__mixture_restart(&m);
    assert_true(lw__mixture_is_eligible(&m, 0));
    assert_false(lw__mixture_is_eligible(&m, 1));
    assert_true(lw__mixture_is_before(&m, 0, 2, 1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixture__the_worked_draws_come_in_order),
        cmocka_unit_test(test_mixture__the_error_stays_below_the_longest_document),
        cmocka_unit_test(test_mixture__a_source_that_ends_starts_the_counts_anew_for_the_rest),
        cmocka_unit_test(test_mixture__the_bound_holds_again_after_each_end),
        cmocka_unit_test(test_mixture__a_tie_goes_to_the_first_source),
        cmocka_unit_test(test_mixture__products_beyond_64_bits_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
