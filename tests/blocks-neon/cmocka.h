/* SPDX-License-Identifier: Apache-2.0 */
/* As much of cmocka as test_blocks.c uses: the library is not there for the processor that is emulated. */
#ifndef CMOCKA_H
#define CMOCKA_H

#include <stdio.h>
#include <stdlib.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define print_error(...)       ((void)fprintf(stderr, __VA_ARGS__))
#define fail()                 fail_at(__FILE__, __LINE__)
#define assert_true(condition) ((condition) ? (void)0 : fail())
#define assert_int_equal(a, b) assert_true((a) == (b))
#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f                                                                                      \
    }
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    run_group(tests, sizeof(tests) / sizeof *(tests), setup)

static inline _Noreturn void fail_at(const char *file, int line)
{
    print_error("%s:%d: wrong\n", file, line);
    exit(1);
}

static inline int run_group(const struct CMUnitTest *tests, size_t count, int (*setup)(void **))
{
    void *state = NULL;
    assert_true(setup == NULL || setup(&state) == 0);
    for (size_t i = 0; i < count; i++) {
        tests[i].run(&state);
        (void)printf("passed: %s\n", tests[i].name);
    }
    return 0;
}

#endif
