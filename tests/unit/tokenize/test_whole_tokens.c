/* SPDX-License-Identifier: Apache-2.0 */
/* Which tokens need the rule that whole pieces go first: those that merging does not make. */
#include "tiny_vocabulary.h"
#include "tokenize/model.h"

static int32_t find(const lw__tokenizer *tokenizer, const char *piece)
{
    return lw__whole_tokens_find(&tokenizer->whole_tokens, &tokenizer->vocab,
                                 (const unsigned char *)piece, strlen(piece));
}

static void test_whole_tokens__are_those_that_merging_does_not_make(void **state)
{
    (void)state;
    tiny_json json = {.model = "\"ignore_merges\": true, ", .merges = "[\"t h\", \"a b\"]"};
    lw__tokenizer_options options = {.path = tiny_write_json("whole.json", &json)};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(find(tokenizer, "the"), TINY_THE);
    assert_int_equal(find(tokenizer, " the"), TINY_SPACE_THE);
    assert_int_equal(find(tokenizer, "aaaa"), TINY_AAAA);
    assert_int_equal(find(tokenizer, "th"), -1); /* made */
    assert_int_equal(find(tokenizer, "ab"), -1);
    assert_int_equal(find(tokenizer, "a"), -1);
    assert_int_equal(find(tokenizer, "thex"), -1); /* no token */
    assert_int_equal(find(tokenizer, ""), -1);
    lw__tokenizer_close(tokenizer);
}

static void test_whole_tokens__there_are_none_without_the_rule(void **state)
{
    (void)state;
    tiny_json json = {.merges = "[\"t h\", \"a b\"]"};
    lw__tokenizer_options options = {.path = tiny_write_json("merges.json", &json)};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_null(tokenizer->whole_tokens.filter);
    assert_int_equal(find(tokenizer, "the"), -1);
    lw__tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_tokens__are_those_that_merging_does_not_make),
        cmocka_unit_test(test_whole_tokens__there_are_none_without_the_rule),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
