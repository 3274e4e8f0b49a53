/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine takes of its budget when it opens. */
#include "support/engine_testing.h"

#define MORE_BYTES (LW__ENCODER_BYTES - LW__ENCODER_LEAST_BYTES)

/* What two threads have charged when they have a budget of so many bytes. */
static uint64_t used_of(uint64_t budget)
{
    rig r;
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("a"), 1, 4096);
    r.settings.threads = 2;
    r.settings.memory_bytes = budget;
    rig_open(&r, 0, 1);
    uint64_t used = r.engine->budget.used;
    assert_int_equal(r.engine->budget.peak, used);
    rig_close(&r);
    return used;
}

static void test_engine__tables_are_larger_when_that_leaves_half_of_the_rest(void **state)
{
    (void)state;
    uint64_t minimum = used_of(1);
    assert_int_equal(used_of(minimum), minimum);
    assert_int_equal(used_of(minimum + 4 * MORE_BYTES - 1), minimum);
    assert_int_equal(used_of(minimum + 4 * MORE_BYTES), minimum + 2 * MORE_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine__tables_are_larger_when_that_leaves_half_of_the_rest),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
