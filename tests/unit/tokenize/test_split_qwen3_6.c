/* SPDX-License-Identifier: Apache-2.0 */
/* The splitter of Qwen 3.5 and 3.6: that of cl100k with marks in words. */
#include "split_cuts.h"

static const lw__split_rules qwen = {.family = LW__SPLIT_QWEN3_6, .digits = 1};

static void test_split_qwen3_6__marks_are_of_words(void **state)
{
    (void)state;
    cuts(&qwen, "a\xCC\x81"
                "b");
    cuts(&qwen, "\xCC\x81\xCC\x81"
                "a");
    cuts(&qwen, "!\xCC\x81");
    cuts(&qwen, "!!|\xCC\x81");
    cuts(&qwen, "a| \xCC\x81x");
    cuts(&qwen, "\n|\xCC\x81");
    cuts(&qwen, "\xE0\xA4\xB9\xE0\xA4\xBF");
}

static void test_split_qwen3_6__the_rest_is_as_in_cl100k(void **state)
{
    (void)state;
    cuts(&qwen, "DON|'T| we|'rE");
    cuts(&qwen, "'\xC5\xBF|x");
    cuts(&qwen, "it|'x");
    cuts(&qwen, "1|2|a");
    cuts(&qwen, "(hello|)()\n\n|x");
    cuts(&qwen, "a| !!\r\n|b");
    cuts(&qwen, "a| \n \n|  | b");
    cuts(&qwen, "a|\n|  ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_qwen3_6__marks_are_of_words),
        cmocka_unit_test(test_split_qwen3_6__the_rest_is_as_in_cl100k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
