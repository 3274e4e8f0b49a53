/* SPDX-License-Identifier: Apache-2.0 */
/* References: a slot is free when its last batch is, a shelf lives as long as any batch. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/os.h"
#include "deliver/slot.h"

static const lw__slot_shape shape = {.rows = 6, .context = 3, .token_bytes = 4, .digests = true};

static void note(void *ctx, lw__slot *slot)
{
    (void)slot;
    ++*(int *)ctx;
}

static lw__shelf *open_shelf(int *freed)
{
    lw__shelf *shelf = NULL;
    assert_int_equal(lw__shelf_create(&shape, 2, &shelf, NULL), LW_OK);
    shelf->freed = note;
    shelf->ctx = freed;
    shelf->slots[0].references = 1; /* while the step is being taken */
    return shelf;
}

static lw_batch *batch_of(lw__slot *slot, uint64_t first, uint64_t rows)
{
    lw_batch *batch = NULL;
    assert_int_equal(lw__batch_create(slot, first, rows, 12, &batch, NULL), LW_OK);
    return batch;
}

static void test_slot__it_is_free_when_its_last_batch_is_released(void **state)
{
    (void)state;
    static const size_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    for (size_t o = 0; o < 3; o++) {
        int freed = 0;
        lw__shelf *shelf = open_shelf(&freed);
        lw__slot *slot = &shelf->slots[0];
        lw_batch *batches[] = {batch_of(slot, 0, 2), batch_of(slot, 2, 2), batch_of(slot, 4, 2)};
        lw_batch_retain(batches[0]);
        lw__slot_release(slot);
        lw_batch_release(batches[0]);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(freed, 0);
            lw_batch_release(batches[orders[o][i]]);
        }
        assert_int_equal(freed, 1);
        lw__shelf_release(shelf);
    }
}

static void test_slot__batches_outlive_the_shelfs_owner(void **state)
{
    (void)state;
    int freed = 0;
    lw__shelf *shelf = open_shelf(&freed);
    lw__slot *slot = &shelf->slots[0];
    lw_batch_view view = {.struct_size = sizeof view};
    lw_batch *one = batch_of(slot, 0, 4);
    lw_batch *two = batch_of(slot, 4, 2);
    memset(slot->tokens, 7, 6 * 3 * 4);
    memset(slot->valid_tokens, 0, 6 * sizeof *slot->valid_tokens);
    shelf->freed = NULL;
    lw__slot_release(slot);
    lw__shelf_release(shelf);
    lw_batch_release(one);
    assert_int_equal(lw_batch_get(two, &view, NULL), LW_OK);
    assert_int_equal(view.first_row, 16);
    assert_int_equal(view.rows, 2);
    assert_int_equal(((const unsigned char *)view.tokens)[6 * 4 - 1], 7);
    lw_batch_release(two);
    assert_int_equal(freed, 0);
}

static void *release(void *batch)
{
    lw_batch_release(batch);
    return NULL;
}

static void test_slot__batches_are_released_from_other_threads(void **state)
{
    (void)state;

    enum { COUNT = 6 };

    pthread_t threads[COUNT];
    int freed = 0;
    lw__shelf *shelf = open_shelf(&freed);
    lw_batch *batches[COUNT];
    for (uint64_t i = 0; i < COUNT; i++) {
        batches[i] = batch_of(&shelf->slots[0], i, 1);
    }
    lw__slot_release(&shelf->slots[0]);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, release, batches[i]), 0);
    }
    for (size_t i = 0; i < COUNT; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(freed, 1);
    lw__shelf_release(shelf);
}

/* An array of a slot begins where the one before it has ended, and ends within the memory. */
static const unsigned char *check_array(const lw__slot *slot, const unsigned char *array,
                                        size_t bytes, const unsigned char *end)
{
    assert_true(array >= end);
    assert_int_equal((uintptr_t)array % 64, 0);
    assert_true(array + bytes <= slot->memory + slot->memory_bytes);
    return array + bytes;
}

static void check_memory(const lw__slot *slot)
{
    const lw__slot_shape *of = &slot->shelf->shape;
    size_t cells = (size_t)(of->rows * of->context);
    size_t page = lw__os_page_bytes();
    assert_int_equal((uintptr_t)slot->memory % page, 0);
    assert_int_equal(slot->memory_bytes % page, 0);
    const unsigned char *end = slot->memory;
    end = check_array(slot, slot->tokens, cells * of->token_bytes, end);
    end = check_array(slot, slot->positions, cells * of->token_bytes, end);
    end = check_array(slot, slot->labels, cells * of->token_bytes, end);
    end = check_array(slot, slot->loss_mask, cells, end);
    end = check_array(slot, slot->document_starts, cells, end);
    if (of->digests) {
        end = check_array(slot, slot->row_digests, of->rows * 32, end);
    } else {
        assert_null(slot->row_digests);
    }
    assert_true(slot->memory + slot->memory_bytes - end < (ptrdiff_t)page);
}

static void test_slot__each_has_whole_pages_of_its_own_with_all_arrays_in_them(void **state)
{
    (void)state;
    static const lw__slot_shape shapes[] = {
        {.rows = 1, .context = 1, .token_bytes = 4},
        {.rows = 6, .context = 333, .token_bytes = 4, .digests = true},
        {.rows = 7, .context = 511, .token_bytes = 8},
        {.rows = 64, .context = 64, .token_bytes = 8, .digests = true},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        lw__shelf *shelf = NULL;
        assert_int_equal(lw__shelf_create(&shapes[i], 3, &shelf, NULL), LW_OK);
        for (size_t s = 0; s < 3; s++) {
            check_memory(&shelf->slots[s]);
            for (size_t t = 0; t < s; t++) {
                const lw__slot *low = &shelf->slots[s];
                const lw__slot *high = &shelf->slots[t];
                if (low->memory > high->memory) {
                    low = high;
                    high = &shelf->slots[s];
                }
                assert_true(low->memory + low->memory_bytes <= high->memory);
            }
        }
        lw__shelf_release(shelf);
    }
}

static void test_slot__a_view_is_that_of_the_batchs_rows(void **state)
{
    (void)state;
    int freed = 0;
    lw__shelf *shelf = open_shelf(&freed);
    lw__slot *slot = &shelf->slots[0];
    lw_batch *batch = batch_of(slot, 2, 3);
    const lw_segment *segments;
    size_t count;
    for (uint64_t i = 0; i < 6; i++) {
        slot->valid_tokens[i] = i;
    }
    slot->step = 40;
    lw_batch_view view = {.struct_size = sizeof view};
    assert_int_equal(lw_batch_get(batch, &view, NULL), LW_OK);
    assert_int_equal(view.step, 40);
    assert_int_equal(view.first_row, 14);
    assert_ptr_equal(view.memory, slot->memory);
    assert_int_equal(view.memory_bytes, slot->memory_bytes);
    assert_int_equal(view.valid_tokens, 2 + 3 + 4);
    assert_int_equal(view.token_bytes, 4);
    assert_ptr_equal(view.tokens, slot->tokens + 2 * 3 * 4);
    assert_ptr_equal(view.labels, slot->labels + 2 * 3 * 4);
    assert_ptr_equal(view.positions, slot->positions + 2 * 3 * 4);
    assert_ptr_equal(view.loss_mask, slot->loss_mask + 2 * 3);
    assert_ptr_equal(view.document_starts, slot->document_starts + 2 * 3);
    assert_ptr_equal(view.row_digests, slot->row_digests + 2 * 32);
    assert_int_equal(lw_batch_segments(batch, 2, &segments, &count, NULL), LW_OK);
    assert_int_equal(count, 0);
    assert_int_equal(lw_batch_segments(batch, 3, &segments, &count, NULL), LW_E_INVALID);
    lw_batch_release(batch);
    lw__shelf_release(shelf);
}

static void test_slot__running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    lw_status status = LW_E_NOMEM;
    unsigned long calls = 1;
    for (; status == LW_E_NOMEM; calls++) {
        lw_error err = {0};
        lw__shelf *shelf = NULL;
        lw__alloc_fail_after(calls);
        status = lw__shelf_create(&shape, 2, &shelf, &err);
        lw__alloc_fail_after(0);
        assert_int_equal(err.status, status);
        assert_true((shelf != NULL) == (status == LW_OK));
        if (shelf != NULL) {
            lw__shelf_release(shelf);
        }
    }
    assert_int_equal(status, LW_OK);
    assert_true(calls > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slot__it_is_free_when_its_last_batch_is_released),
        cmocka_unit_test(test_slot__batches_outlive_the_shelfs_owner),
        cmocka_unit_test(test_slot__batches_are_released_from_other_threads),
        cmocka_unit_test(test_slot__each_has_whole_pages_of_its_own_with_all_arrays_in_them),
        cmocka_unit_test(test_slot__a_view_is_that_of_the_batchs_rows),
        cmocka_unit_test(test_slot__running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
