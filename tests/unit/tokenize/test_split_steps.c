/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting in steps: what each behavior makes of matches and gaps, and that steps follow on each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "tokenize/split_steps.h"

/* The pieces that were taken, with a bar between them. */
typedef struct taken {
    char text[128];
    size_t count;
    size_t limit; /* the taker fails behind so many */
} taken;

static lw_status take(void *context, const unsigned char *piece, size_t bytes, lw_error *err)
{
    taken *all = context;
    size_t used = strlen(all->text);
    assert_true(bytes > 0);
    assert_true(used + bytes + 2 < sizeof all->text);
    if (all->count++ == all->limit) {
        return lw__fail(err, LW_E_UNSUPPORTED, "tokenizer: too many pieces");
    }
    if (used > 0) {
        all->text[used++] = '|';
    }
    memcpy(all->text + used, piece, bytes);
    all->text[used + bytes] = '\0';
    return LW_OK;
}

static bool put(lw__steps *steps, const char *regex, lw__step_behavior behavior, bool inverted)
{
    lw_error err = {.status = LW_OK};
    const char *wrong = NULL;
    lw__step step = {.behavior = behavior, .inverted = inverted};
    lw_str text = {.data = regex, .bytes = strlen(regex)};
    assert_int_equal(lw__regex_compile(text, LW__REGEX_ONIGURUMA, false, &step.regex, &wrong, &err),
                     LW_OK);
    assert_non_null(step.regex);
    return lw__steps_put(steps, &step, text);
}

static lw_status walk(const lw__steps *steps, size_t count, const char *text, taken *all)
{
    lw_error err = {.status = LW_OK};
    lw__steps_scratch scratch = {.regex = NULL};
    assert_int_equal(lw__steps_scratch_create(&scratch, &err), LW_OK);
    lw_status status = lw__steps_walk(steps, count, &scratch, (const unsigned char *)text,
                                      strlen(text), take, all, &err);
    lw__steps_scratch_reset(&scratch);
    return status;
}

static void becomes(const lw__steps *steps, size_t count, const char *text, const char *expected)
{
    taken all = {.limit = SIZE_MAX};
    assert_int_equal(walk(steps, count, text, &all), LW_OK);
    assert_string_equal(all.text, expected);
}

static void one_becomes(const char *regex, lw__step_behavior behavior, bool inverted,
                        const char *text, const char *expected)
{
    lw__steps steps = {.count = 0};
    assert_true(put(&steps, regex, behavior, inverted));
    becomes(&steps, 1, text, expected);
    lw__steps_reset(&steps);
}

static void test_split_steps__isolated(void **state)
{
    (void)state;
    one_becomes("-", LW__STEP_ISOLATED, false, "a--bc-", "a|-|-|bc|-");
    one_becomes("-", LW__STEP_ISOLATED, true, "a--bc-", "a|-|-|bc|-");
    one_becomes("-+", LW__STEP_ISOLATED, false, "a--bc", "a|--|bc");
    one_becomes("-", LW__STEP_ISOLATED, false, "abc", "abc");
    one_becomes("-", LW__STEP_ISOLATED, false, "", "");
}

static void test_split_steps__removed(void **state)
{
    (void)state;
    one_becomes("-", LW__STEP_REMOVED, false, "-a--bc-", "a|bc");
    one_becomes("-", LW__STEP_REMOVED, true, "-a--bc-", "-|-|-|-");
    one_becomes("-", LW__STEP_REMOVED, false, "--", "");
    one_becomes("-", LW__STEP_REMOVED, true, "ab", "");
}

static void test_split_steps__contiguous(void **state)
{
    (void)state;
    one_becomes("-", LW__STEP_CONTIGUOUS, false, "a--bc-", "a|--|bc|-");
    one_becomes("-", LW__STEP_CONTIGUOUS, true, "a--bc-", "a|--|bc|-");
}

static void test_split_steps__merged_with_previous(void **state)
{
    (void)state;
    one_becomes("-", LW__STEP_WITH_PREVIOUS, false, "-a--bc-d", "-|a-|-|bc-|d");
    one_becomes("-", LW__STEP_WITH_PREVIOUS, true, "-a--bc-", "-a|-|-bc|-");
}

static void test_split_steps__merged_with_next(void **state)
{
    (void)state;
    one_becomes("-", LW__STEP_WITH_NEXT, false, "-a--bc-", "-a|-|-bc|-");
    one_becomes("-", LW__STEP_WITH_NEXT, true, "-a--bc-", "-|a-|-|bc-");
}

static void test_split_steps__matches_of_nothing_cut(void **state)
{
    (void)state;
    one_becomes("(?=b)", LW__STEP_ISOLATED, false, "abab", "a|ba|b");
    one_becomes("x*", LW__STEP_REMOVED, false, "axxb", "a|b");
}

static void test_split_steps__characters_are_whole(void **state)
{
    (void)state;
    one_becomes("\xC3\xA9", LW__STEP_ISOLATED, false, "\xE4\xB8\xAD\xC3\xA9z",
                "\xE4\xB8\xAD|\xC3\xA9|z");
}

/* Each piece is a text of its own to the next step. */
static void test_split_steps__steps_follow_on_each_other(void **state)
{
    (void)state;
    const lw__step family = {.rules = {.family = LW__SPLIT_GPT2}};
    lw__steps steps = {.count = 0};
    assert_true(put(&steps, "\\d", LW__STEP_ISOLATED, false));
    assert_true(put(&steps, "^b|b$", LW__STEP_REMOVED, false));
    assert_true(lw__steps_put(&steps, &family, (lw_str){.data = "", .bytes = 0}));
    becomes(&steps, 0, "ba1b", "ba1b");
    becomes(&steps, 0, "", "");
    becomes(&steps, 1, "bab1bab b", "bab|1|bab b");
    becomes(&steps, 2, "bab1bab b", "a|1|ab ");
    becomes(&steps, 3, "bab1bab ab", "a|1|ab| a");
    becomes(&steps, 3, "x y  z", "x| y| | z");
    lw__steps_reset(&steps);
    assert_int_equal(steps.count, 0);
}

static void test_split_steps__there_is_room_for_eight(void **state)
{
    (void)state;
    lw__steps steps = {.count = 0};
    for (size_t i = 0; i < LW__STEPS; i++) {
        assert_true(put(&steps, "-", LW__STEP_ISOLATED, false));
    }
    assert_false(put(&steps, "-", LW__STEP_ISOLATED, false));
    assert_int_equal(steps.count, LW__STEPS);
    becomes(&steps, LW__STEPS, "a-b", "a|-|b");
    lw__steps_reset(&steps);
}

/* For fingerprints. */
static void test_split_steps__their_text_tells_them_apart(void **state)
{
    (void)state;

    static const struct {
        const char *regex;
        lw__step_behavior behavior;
        bool inverted;
    } all[] = {{"a", LW__STEP_ISOLATED, false},
               {"b", LW__STEP_ISOLATED, false},
               {"a", LW__STEP_REMOVED, false},
               {"a", LW__STEP_ISOLATED, true}};

    lw__steps steps[sizeof all / sizeof all[0]] = {{.count = 0}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_true(put(&steps[i], all[i].regex, all[i].behavior, all[i].inverted));
        for (size_t j = 0; j < i; j++) {
            assert_true(steps[i].text.count != steps[j].text.count ||
                        memcmp(steps[i].text.data, steps[j].text.data, steps[i].text.count) != 0);
        }
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        lw__steps_reset(&steps[i]);
    }
}

static void test_split_steps__a_taker_that_fails_ends_the_walk(void **state)
{
    (void)state;
    lw__steps steps = {.count = 0};
    taken all = {.limit = 2};
    assert_true(put(&steps, "-", LW__STEP_ISOLATED, false));
    assert_int_equal(walk(&steps, 1, "a-b-c", &all), LW_E_UNSUPPORTED);
    assert_string_equal(all.text, "a|-");
    assert_int_equal(all.count, 3);
    lw__steps_reset(&steps);
}

static void test_split_steps__a_match_that_is_too_hard_is_an_error(void **state)
{
    (void)state;
    lw__steps steps = {.count = 0};
    taken all = {.limit = SIZE_MAX};
    char text[101];
    for (size_t i = 0; i < sizeof text - 1; i++) {
        text[i] = i % 2 == 0 ? 'a' : 'b';
    }
    text[sizeof text - 1] = '\0';
    assert_true(put(&steps, "(?:a|b|ab)*(?:c|d)", LW__STEP_ISOLATED, false));
    assert_int_equal(walk(&steps, 1, text, &all), LW_E_UNSUPPORTED);
    assert_int_equal(all.count, 0);
    lw__steps_reset(&steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_steps__isolated),
        cmocka_unit_test(test_split_steps__removed),
        cmocka_unit_test(test_split_steps__contiguous),
        cmocka_unit_test(test_split_steps__merged_with_previous),
        cmocka_unit_test(test_split_steps__merged_with_next),
        cmocka_unit_test(test_split_steps__matches_of_nothing_cut),
        cmocka_unit_test(test_split_steps__characters_are_whole),
        cmocka_unit_test(test_split_steps__steps_follow_on_each_other),
        cmocka_unit_test(test_split_steps__there_is_room_for_eight),
        cmocka_unit_test(test_split_steps__their_text_tells_them_apart),
        cmocka_unit_test(test_split_steps__a_taker_that_fails_ends_the_walk),
        cmocka_unit_test(test_split_steps__a_match_that_is_too_hard_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
