/* SPDX-License-Identifier: Apache-2.0 */
/* Where the GPT-2 and cl100k splitters cut, and the names of patterns. */
#include "split_cuts.h"

static const lw__split_rules gpt2 = {.family = LW__SPLIT_GPT2};
static const lw__split_rules cl100k = {.family = LW__SPLIT_CL100K, .digits = 3};
static const lw__split_rules one_digit = {.family = LW__SPLIT_CL100K, .digits = 1};
static const lw__split_rules whole_tail = {
    .family = LW__SPLIT_CL100K, .digits = 3, .trailing_whole = true};

static void test_split__gpt2_words_take_one_space(void **state)
{
    (void)state;
    cuts(&gpt2, "Hello| world|!!");
    cuts(&gpt2, "a| b| | c");
    cuts(&gpt2, "a|\n|b");
    cuts(&gpt2, "x| 12345|abc| ?!|9");
    cuts(&gpt2, " a");
}

static void test_split__gpt2_contractions_are_lower_case(void **state)
{
    (void)state;
    cuts(&gpt2, "don|'t| we|'re| I|'m| he|'s| she|'d| they|'ll| you|'ve");
    cuts(&gpt2, "DON|'|T");
    cuts(&gpt2, "'s|x");
    cuts(&gpt2, "a| '|s");
    cuts(&gpt2, "a|'|\xC5\xBF");
    cuts(&gpt2, "a|'|l");
    cuts(&gpt2, "a|''|s");
    cuts(&gpt2, "a|'");
}

static void test_split__gpt2_white_space_leaves_its_last_character(void **state)
{
    (void)state;
    cuts(&gpt2, "a|  | b");
    cuts(&gpt2, "a|   ");
    cuts(&gpt2, "a|\r|\n|b");
    cuts(&gpt2, "a| \n|\n|b");
    cuts(&gpt2, "a|\xC2\xA0|b");
    cuts(&gpt2, "a|\xC2\xA0| b");
    cuts(&gpt2, "a| |\xE3\x80\x80|b");
    cuts(&gpt2, " ");
    cuts(&gpt2, "\n");
}

static void test_split__classes_are_those_of_unicode(void **state)
{
    (void)state;
    cuts(&gpt2, "\xC3\xA9t\xC3\xA9|\xC2\xBD\xC2\xB2|\xE4\xB8\xAD\xE6\x96\x87|\xE3\x80\x82");
    cuts(&gpt2, "a|\xE2\x80\x8D|b");                  /* ZWJ is no letter */
    cuts(&gpt2, "a|\xCC\x81|b");                      /* nor is a mark */
    cuts(&gpt2, "a|\xE1\xA0\x8E|b");                  /* U+180E is no white space */
    cuts(&gpt2, "a|\x1C|b");                          /* nor is U+001C */
    cuts(&gpt2, "\xF0\x9D\x92\x9C|\xF0\x9F\x8E\x89"); /* a letter of plane 1, an emoji */
    cuts(&cl100k, "a|\xE2\x80\x8D"
                  "b");
}

static void test_split__cl100k_contractions_have_any_case(void **state)
{
    (void)state;
    cuts(&cl100k, "DON|'T| we|'rE| it|'S");
    cuts(&cl100k, "it|'\xC5\xBF|x");
    cuts(&cl100k, "it|'x");
    cuts(&cl100k, "it|'l|'");
    cuts(&cl100k, "it|''|s");
    cuts(&cl100k, "it|'LL|a");
}

static void test_split__cl100k_words_take_one_character(void **state)
{
    (void)state;
    cuts(&cl100k, "(hello|)()");
    cuts(&cl100k, "!!?|x");
    cuts(&cl100k, "\tx|\xC2\xA0y");
    cuts(&cl100k, "\n|x");
    cuts(&cl100k, "a| !!\n\n|b");
    cuts(&cl100k, "a|.\r\n|b");
    cuts(&cl100k, "_a|_|1");
}

static void test_split__cl100k_numbers_are_grouped_by_characters(void **state)
{
    (void)state;
    cuts(&cl100k, "123|456|7");
    cuts(&cl100k, "a| |123|4");
    cuts(&cl100k, "\xC2\xBD\xC2\xB2\xEF\xBC\x91|1");
    cuts(&one_digit, "1|2|3|a");
}

static void test_split__cl100k_white_space_ends_at_the_last_newline(void **state)
{
    (void)state;
    cuts(&cl100k, "a| \n \n|  | b");
    cuts(&cl100k, "a|\r\n|\tb");
    cuts(&cl100k, "a|  |\xC2\xA0|!");
    cuts(&cl100k, "a|\n|  ");
    cuts(&cl100k, "a| | |1");
    cuts(&whole_tail, "a|\n  ");
    cuts(&whole_tail, "a|\n|  | b");
}

static void test_split__bad_bytes_stay_inside_the_text(void **state)
{
    (void)state;
    cuts(&gpt2, "a|\xE4\xB8");
    cuts(&gpt2, "a|\x80\xFF|b");
    cuts(&cl100k, "1|\xF0\x9F");
    cuts(&cl100k, "'\xC5");
}

static void test_split__names_of_patterns(void **state)
{
    (void)state;
    lw__split_rules rules;
    assert_true(lw__split_rules_named("gpt2", &rules));
    assert_int_equal(rules.family, LW__SPLIT_GPT2);
    assert_true(lw__split_rules_named("cl100k", &rules));
    assert_int_equal(rules.digits, 3);
    assert_true(lw__split_rules_named("llama3", &rules));
    assert_int_equal(rules.family, LW__SPLIT_CL100K);
    assert_true(lw__split_rules_named("qwen", &rules));
    assert_int_equal(rules.digits, 1);
    assert_true(lw__split_rules_named("llama4", &rules));
    assert_int_equal(rules.family, LW__SPLIT_O200K);
    assert_true(lw__split_rules_named("qwen3_6", &rules));
    assert_int_equal(rules.family, LW__SPLIT_QWEN3_6);
    assert_false(lw__split_rules_named("o300k", &rules));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split__gpt2_words_take_one_space),
        cmocka_unit_test(test_split__gpt2_contractions_are_lower_case),
        cmocka_unit_test(test_split__gpt2_white_space_leaves_its_last_character),
        cmocka_unit_test(test_split__classes_are_those_of_unicode),
        cmocka_unit_test(test_split__cl100k_contractions_have_any_case),
        cmocka_unit_test(test_split__cl100k_words_take_one_character),
        cmocka_unit_test(test_split__cl100k_numbers_are_grouped_by_characters),
        cmocka_unit_test(test_split__cl100k_white_space_ends_at_the_last_newline),
        cmocka_unit_test(test_split__bad_bytes_stay_inside_the_text),
        cmocka_unit_test(test_split__names_of_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
