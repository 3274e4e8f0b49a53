/* SPDX-License-Identifier: Apache-2.0 */
/* The o200k splitter and that of tekken. Marks and caseless letters are both cases. */
#include "split_cuts.h"

static const lw__split_rules o200k = {.family = LW__SPLIT_O200K, .digits = 3};
static const lw__split_rules tekken = {.family = LW__SPLIT_TEKKEN, .digits = 1};

static void test_split_o200k__a_capital_behind_a_small_letter_begins_a_word(void **state)
{
    (void)state;
    cuts(&o200k, "HTMLParser");
    cuts(&o200k, "foo|Bar|BAZ");
    cuts(&o200k, "foo|BARbaz| WORLD| Hello");
    cuts(&tekken, "foo|BARbaz");
}

static void test_split_o200k__caseless_letters_and_marks_are_of_both_cases(void **state)
{
    (void)state;
    cuts(&o200k, "A\xE3\x81\x82|B");
    cuts(&o200k, "\xE4\xB8\xAD|A");
    cuts(&o200k, "A\xE4\xB8\xAD"
                 "b");
    cuts(&o200k, "\xC7\x85"
                 "a|\xC7\x85"
                 "B");
    cuts(&o200k, "a\xCA\xB0|A");
    cuts(&o200k, "AB\xCC\x81|C");
    cuts(&o200k, "a\xCC\x81"
                 "b");
    cuts(&tekken, "\xE4\xB8\xAD|A");
}

static void test_split_o200k__a_mark_can_be_what_stands_before_a_word(void **state)
{
    (void)state;
    cuts(&o200k, "\xCC\x81|A");
    cuts(&o200k, "\xCC\x81"
                 "a");
    cuts(&o200k, "1|\xCC\x81");
    cuts(&o200k, "!\xCC\x81"
                 "a");
    cuts(&o200k, "!!\xCC\x81|a");
    cuts(&o200k, "a| \xCC\x81\xCC\x81|A");
    cuts(&o200k, "\n|\xCC\x81");
}

static void test_split_o200k__words_take_one_character(void **state)
{
    (void)state;
    cuts(&o200k, "(hello|)()");
    cuts(&o200k, "\x09x|\xC2\xA0Y");
    cuts(&o200k, "!|\xC2\xA0");
    cuts(&o200k, "\n|x");
    cuts(&o200k, "1|/A");
    cuts(&o200k, "!!|X");
}

static void test_split_o200k__contractions_end_a_word(void **state)
{
    (void)state;
    cuts(&o200k, "don't|x| WE'RE| it'S");
    cuts(&o200k, "it'\xC5\xBF|x");
    cuts(&o200k, "A's|'s");
    cuts(&o200k, "'s| '|s");
    cuts(&o200k, "it|'x");
    cuts(&o200k, "1|'s");
    cuts(&tekken, "don|'t");
}

static void test_split_o200k__numbers(void **state)
{
    (void)state;
    cuts(&o200k, "123|456|7");
    cuts(&o200k, "\xC2\xBD\xC2\xB2\xEF\xBC\x91|1|a");
    cuts(&tekken, "1|2|\xEF\xBC\x93|a");
}

static void test_split_o200k__line_ends_and_slashes_behind_symbols(void **state)
{
    (void)state;
    cuts(&o200k, "!\n/|foo");
    cuts(&o200k, "a|/b");
    cuts(&o200k, "a|//\n\n/|b");
    cuts(&o200k, " !!/\r\n| b");
    cuts(&o200k, "a|\n|/b");
}

static void test_split_o200k__white_space_is_that_of_cl100k(void **state)
{
    (void)state;
    cuts(&o200k, "a| \n \n|  | b");
    cuts(&o200k, "a| | |1");
    cuts(&o200k, "a|\n|  ");
    cuts(&tekken, "a|  |\xC2\xA0|!");
}

static void test_split_o200k__bad_bytes_stay_inside_the_text(void **state)
{
    (void)state;
    cuts(&o200k, "a|\xE4\xB8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_o200k__a_capital_behind_a_small_letter_begins_a_word),
        cmocka_unit_test(test_split_o200k__caseless_letters_and_marks_are_of_both_cases),
        cmocka_unit_test(test_split_o200k__a_mark_can_be_what_stands_before_a_word),
        cmocka_unit_test(test_split_o200k__words_take_one_character),
        cmocka_unit_test(test_split_o200k__contractions_end_a_word),
        cmocka_unit_test(test_split_o200k__numbers),
        cmocka_unit_test(test_split_o200k__line_ends_and_slashes_behind_symbols),
        cmocka_unit_test(test_split_o200k__white_space_is_that_of_cl100k),
        cmocka_unit_test(test_split_o200k__bad_bytes_stay_inside_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
