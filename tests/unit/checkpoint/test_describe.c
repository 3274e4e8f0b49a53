/* SPDX-License-Identifier: Apache-2.0 */
/* A state described: JSON that parses, with the right values, and text for people. */
#include <laneway/laneway.h>

#include "base/json.h"
#include "support/state_testing.h"

/* Values that need escapes: quotes, backslashes, newlines, a tab. */
static lw_state *awkward_state(void)
{
    lw_state *made = NULL;
    lw__identity identity;
    made_identity(&identity, "\"\\\n\t{}");
    assert_int_equal(lw__state_create(&made, NULL), LW_OK);
    made_add_global(made, &identity, 6);
    made_add_lane(made, 0, 18, "\x05m");
    made_add_lane(made, 7, 18, "\x06marker");
    lw__identity_reset(&identity);
    return made_finish(made);
}

static char *describe(const lw_state *made, int json)
{
    char *text = NULL;
    lw_error err = {0};
    if (lw_state_describe(made, json, &text, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return text;
}

static int is(lw_str key, const char *name)
{
    return key.bytes == strlen(name) && memcmp(key.data, name, key.bytes) == 0;
}

static void read_lanes(lw__json *json)
{
    static const int64_t lanes[] = {0, 7};
    static const int64_t markers[] = {5, 6};
    size_t count = 0;
    assert_true(lw__json_enter(json, '['));
    for (; lw__json_next(json); count++) {
        assert_true(lw__json_enter(json, '{'));
        while (lw__json_next(json)) {
            lw_str key = lw__json_key(json);
            int64_t value = lw__json_int(json);
            assert_true(!is(key, "lane") || value == lanes[count]);
            assert_true(!is(key, "marker_row") || value == markers[count]);
            assert_true(!is(key, "rows") || value == 18);
        }
    }
    assert_int_equal(count, 2);
}

static void read_fields(lw__json *json)
{
    size_t count = 0;
    assert_true(lw__json_enter(json, '{'));
    for (; lw__json_next(json); count++) {
        lw_str key = lw__json_key(json);
        lw_str value = lw__json_string(json);
        if (is(key, "context")) {
            assert_int_equal(value.bytes, 6);
            assert_memory_equal(value.data, "\"\\\n\t{}", 6);
        }
    }
    assert_int_equal(count, 2);
}

static void test_describe__json_parses_and_has_its_values(void **state)
{
    (void)state;
    lw_state *made = awkward_state();
    char *text = describe(made, 1);
    lw__json json;
    unsigned seen = 0;
    lw__json_open(&json, text, strlen(text));
    assert_true(lw__json_enter(&json, '{'));
    while (lw__json_next(&json)) {
        lw_str key = lw__json_key(&json);
        if (is(key, "lanes")) {
            read_lanes(&json);
        } else if (is(key, "fields")) {
            read_fields(&json);
        } else if (is(key, "recipe")) {
            assert_true(is(lw__json_string(&json), "seed: 1\n"));
        } else if (is(key, "step")) {
            assert_int_equal(lw__json_int(&json), 6);
        } else {
            lw__json_skip(&json);
            continue;
        }
        seen++;
    }
    lw__json_finish(&json);
    assert_null(json.fault);
    assert_int_equal(seen, 4);
    lw_text_free(text);
    lw_state_close(made);
}

static void test_describe__text_names_step_options_and_lanes(void **state)
{
    (void)state;
    lw_state *made = made_state(6, 0, 2);
    char *text = describe(made, 0);
    assert_memory_equal(text, "after step 6, 2 lanes, ", 23);
    assert_non_null(strstr(text, "seed                             1\n"));
    assert_non_null(strstr(text, "context                          32\n"));
    assert_non_null(strstr(text, "     1           18            9"));
    lw_text_free(text);
    lw_state_close(made);
}

static void test_describe__a_piece_that_is_no_lanes_is_refused(void **state)
{
    (void)state;
    lw_state *made = awkward_state();
    char *text = (char *)1;
    lw_error err = {0};
    made_add(made, "lane_00009", "?", 1);
    made_finish(made);
    assert_int_equal(lw_state_describe(made, 1, &text, &err), LW_E_CORRUPT);
    assert_null(text);
    assert_string_equal(err.message, "state: piece \"lane_00009\" has the wrong size");
    assert_int_equal(lw_state_describe(made, 0, &text, &err), LW_E_CORRUPT);
    assert_int_equal(lw_state_describe(NULL, 0, &text, &err), LW_E_INVALID);
    lw_state_close(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe__json_parses_and_has_its_values),
        cmocka_unit_test(test_describe__text_names_step_options_and_lanes),
        cmocka_unit_test(test_describe__a_piece_that_is_no_lanes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
