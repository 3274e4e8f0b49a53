/* SPDX-License-Identifier: Apache-2.0 */
/* The heap's door: zero sizes, sizes that overflow, and failing on demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/os.h"

static void test_alloc__zero_bytes_are_not_null(void **state)
{
    (void)state;
    void *a = lw__alloc(0);
    void *b = lw__alloc_zero(0, 8);
    void *c = lw__resize_array(NULL, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    lw__free(a);
    lw__free(b);
    lw__free(c);
}

static void test_alloc__overflow_is_refused(void **state)
{
    (void)state;
    assert_null(lw__alloc(SIZE_MAX));
    assert_null(lw__alloc_array(SIZE_MAX / 2, 3));
    assert_null(lw__alloc_zero(SIZE_MAX, SIZE_MAX));
    char kept = 'k';
    assert_null(lw__resize_array(&kept, SIZE_MAX / 4, 8));
    assert_int_equal(kept, 'k');
    assert_null(lw__copy_text("x", SIZE_MAX));
}

static void test_alloc__zeroed_and_copied(void **state)
{
    (void)state;
    unsigned char *zeros = lw__alloc_zero(3, 5);
    static const unsigned char expected[15] = {0};
    assert_memory_equal(zeros, expected, 15);
    char *copy = lw__copy_text("ab\0cd", 5);
    assert_memory_equal(copy, "ab\0cd", 6);
    char *empty = lw__copy_text(NULL, 0);
    assert_string_equal(empty, "");
    lw__free(zeros);
    lw__free(copy);
    lw__free(empty);
    lw__free(NULL);
}

static void test_alloc__aligned_begins_at_a_page_and_has_all_of_its_last(void **state)
{
    (void)state;

    enum { PAGE = 4096 };

    static const size_t sizes[] = {0, 1, PAGE - 1, PAGE, PAGE + 1, 40 * PAGE};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        void *start = NULL;
        void *memory = lw__alloc_aligned(sizes[i], PAGE, &start);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)start % PAGE, 0);
        memset(start, 1, (sizes[i] + PAGE - 1) / PAGE * PAGE); /* for the sanitizer to see */
        lw__free(memory);
    }
    assert_null(lw__alloc_aligned(SIZE_MAX - PAGE, PAGE, &(void *){NULL}));
}

static void test_alloc__huge_is_zeros_also_where_the_heap_was_in_use(void **state)
{
    (void)state;

    enum { BYTES = 3 << 20 };

    for (int round = 0; round < 2; round++) {
        void *start = NULL;
        void *memory = lw__alloc_huge(BYTES, &start);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)start % LW__OS_HUGE_BYTES, 0);
        unsigned char *bytes = start;
        for (size_t i = 0; i < BYTES; i++) {
            assert_int_equal(bytes[i], 0);
        }
        memset(bytes, 1, BYTES);
        lw__free(memory);
    }
    assert_null(lw__alloc_huge(SIZE_MAX, &(void *){NULL}));
}

static void test_alloc__fails_from_the_named_one_on(void **state)
{
    (void)state;
    lw__alloc_fail_after(2);
    void *a = lw__alloc(1);
    void *b = lw__alloc_zero(1, 1);
    void *c = lw__alloc_array(1, 1);
    void *d = lw__resize_array(NULL, 1, 1);
    lw__alloc_fail_after(0);
    void *e = lw__alloc(1);
    assert_non_null(a);
    assert_null(b);
    assert_null(c);
    assert_null(d);
    assert_non_null(e);
    lw__free(a);
    lw__free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc__zero_bytes_are_not_null),
        cmocka_unit_test(test_alloc__overflow_is_refused),
        cmocka_unit_test(test_alloc__zeroed_and_copied),
        cmocka_unit_test(test_alloc__aligned_begins_at_a_page_and_has_all_of_its_last),
        cmocka_unit_test(test_alloc__huge_is_zeros_also_where_the_heap_was_in_use),
        cmocka_unit_test(test_alloc__fails_from_the_named_one_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
