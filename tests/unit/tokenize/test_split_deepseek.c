/* SPDX-License-Identifier: Apache-2.0 */
/* The splitter of DeepSeek V3: numbers and ideographs are walls between texts. */
#include "split_cuts.h"

static const lw__split_rules deepseek = {.family = LW__SPLIT_DEEPSEEK, .digits = 3};

static void test_split_deepseek__numbers_and_ideographs_stand_alone(void **state)
{
    (void)state;
    cuts(&deepseek, "a|123|4|b");
    cuts(&deepseek, "a|\xE4\xB8\xAD\xE6\x96\x87\xE3\x81\x82\xE3\x83\xBC|b");
    cuts(&deepseek, "\xE9\xBE\xA5|\xE9\xBE\xA6");
    cuts(&deepseek, "\xE4\xB8\xAD|1|\xE4\xB8\xAD");
    cuts(&deepseek, "\xE3\x81\x82\xE3\x82\x99\xE3\x83\xBB|b");
    cuts(&deepseek, "\xEF\xBC\x91\xEF\xBC\x92|a");
}

static void test_split_deepseek__a_wall_is_the_end_of_a_text(void **state)
{
    (void)state;
    cuts(&deepseek, "foo|  |123");
    cuts(&deepseek, "foo|  |\xE4\xB8\xAD");
    cuts(&deepseek, "foo| | bar");
    cuts(&deepseek, "foo|   ");
    cuts(&deepseek, " |1");
    cuts(&deepseek, "a| \n|  |1");
    cuts(&deepseek, "!|1");
    cuts(&deepseek, " |\xE4\xB8\xAD");
}

static void test_split_deepseek__symbols_take_ascii_letters(void **state)
{
    (void)state;
    cuts(&deepseek, "foo|.bar|\xC3\xA9");
    cuts(&deepseek, "!.|foo");
    cuts(&deepseek, "$x|\xC3\xA9");
    cuts(&deepseek, ".|\xC3\xA9");
    cuts(&deepseek, "'s|\xC2\xBB|x");
    cuts(&deepseek, "a| .|x");
    cuts(&deepseek, "a| !!\r\n|b");
    cuts(&deepseek, "\xE2\x80\x94|x");
    cuts(&deepseek, "\xE2\x80\x99|s");
}

static void test_split_deepseek__words_hold_marks_and_take_one_character(void **state)
{
    (void)state;
    cuts(&deepseek, "a\xCC\x81"
                    "b");
    cuts(&deepseek, "\xCC\x81"
                    "a");
    cuts(&deepseek, "a|\x09"
                    "b|\xC2\xA0"
                    "c");
    cuts(&deepseek, "a|\n|b");
    cuts(&deepseek, "!|\xCC\x81"
                    "a");
}

static void test_split_deepseek__what_nothing_matches_is_a_piece(void **state)
{
    (void)state;
    cuts(&deepseek, "a|\xE2\x80\x8D|!b");
    cuts(&deepseek, "a|\xE2\x80\x8D"
                    "b");
    cuts(&deepseek, "a|\x01\x02|\x03"
                    "b");
    cuts(&deepseek, "\x01\x02");
    cuts(&deepseek, "\x01|1");
    cuts(&deepseek, "\x01|\xE4\xB8\xAD");
    cuts(&deepseek, " |\x01");
    cuts(&deepseek, "a|\x01\x02| b");
    cuts(&deepseek, "\x01|\n|b");
}

static void test_split_deepseek__bad_bytes_stay_inside_the_text(void **state)
{
    (void)state;
    cuts(&deepseek, "a|\xE4\xB8");
    cuts(&deepseek, "1|\xF0\x9F");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_deepseek__numbers_and_ideographs_stand_alone),
        cmocka_unit_test(test_split_deepseek__a_wall_is_the_end_of_a_text),
        cmocka_unit_test(test_split_deepseek__symbols_take_ascii_letters),
        cmocka_unit_test(test_split_deepseek__words_hold_marks_and_take_one_character),
        cmocka_unit_test(test_split_deepseek__what_nothing_matches_is_a_piece),
        cmocka_unit_test(test_split_deepseek__bad_bytes_stay_inside_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
