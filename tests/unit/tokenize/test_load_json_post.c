/* SPDX-License-Identifier: Apache-2.0 */
/* BOS and EOS from the post_processor of a tokenizer.json, when they are asked for without a name. */
#include "tiny_vocabulary.h"

#define TOKEN(id, text) "{\"id\": " id ", \"content\": \"" text "\", \"special\": true}"
#define ADDED           "[" TOKEN("265", "<s>") ", " TOKEN("266", "<x>") ", " TOKEN("267", "</s>") "]"
#define SPECIAL(text)   "{\"SpecialToken\": {\"id\": \"" text "\", \"type_id\": 0}}"
#define TEXT            "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}"
#define TEMPLATE(single)                                                                           \
    "{\"type\": \"TemplateProcessing\", \"single\": [" single "], \"pair\": [" TEXT                \
    "], \"special_tokens\": {\"<x>\": {\"id\": \"<x>\", \"ids\": [266], \"tokens\": [\"<x>\"]}}}"

static void check(const char *post_processor, int32_t bos, int32_t eos)
{
    char top[1024];
    (void)snprintf(top, sizeof top, "\"post_processor\": %s, ", post_processor);
    tiny_json json = {.top = top, .added = ADDED};
    lw__tokenizer_options options = {
        .path = tiny_write_json("post.json", &json), .bos = "", .eos = ""};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_bos(tokenizer), bos);
    assert_int_equal(lw__tokenizer_eos(tokenizer), eos);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_post__a_template_comes_before_names(void **state)
{
    (void)state;
    check(TEMPLATE(SPECIAL("<x>") ", " TEXT), 266, 267);
    check(TEMPLATE(TEXT ", " SPECIAL("<x>")), 265, 266);
    check(TEMPLATE(SPECIAL("<x>") ", " TEXT ", " SPECIAL("the")), 266, TINY_THE);
    check("{\"type\": \"Sequence\", \"processors\": [{\"type\": \"ByteLevel\", \"trim_offsets\": "
          "true}, " TEMPLATE(SPECIAL("<x>") ", " TEXT) "]}",
          266, 267);
}

static void test_load_json_post__processors_with_fixed_templates(void **state)
{
    (void)state;
    check("{\"type\": \"RobertaProcessing\", \"sep\": [\"<s>\", 265], \"cls\": [\"<x>\", 266], "
          "\"trim_offsets\": true, \"add_prefix_space\": false}",
          266, 265);
}

/* Two tokens on a side are no BOS; a token that is not there is none either. */
static void test_load_json_post__else_names_count(void **state)
{
    (void)state;
    check("null", 265, 267);
    check("{\"type\": \"ByteLevel\", \"trim_offsets\": false}", 265, 267);
    check("[1]", 265, 267);
    check(TEMPLATE(TEXT), 265, 267);
    check(TEMPLATE(SPECIAL("<x>") ", " SPECIAL("<x>") ", " TEXT), 265, 267);
    check(TEMPLATE(SPECIAL("<none>") ", " TEXT ", " SPECIAL("")), 265, 267);
    check("{\"type\": \"Sequence\", \"processors\": [1, {\"processors\": []}]}", 265, 267);
}

static void test_load_json_post__nothing_is_put_unasked(void **state)
{
    (void)state;
    tiny_json json = {.top = "\"post_processor\": " TEMPLATE(SPECIAL("<x>") ", " TEXT) ", ",
                      .added = ADDED};
    lw__tokenizer_options options = {.path = tiny_write_json("post.json", &json)};
    lw__tokenizer *tokenizer = tiny_open(&options);
    tiny_encodes(tokenizer, "the", 3, TINY_THE, -1);
    lw__tokenizer_close(tokenizer);
    options.bos = "<s>";
    tokenizer = tiny_open(&options);
    tiny_encodes(tokenizer, "the", 3, 265, TINY_THE, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_post__bad_json_is_named(void **state)
{
    (void)state;
    tiny_json json = {.top = "\"post_processor\": {\"single\": [{\"SpecialToken\": 1}]}, "};
    lw__tokenizer_options options = {.path = tiny_write_json("bad.json", &json)};
    tiny_open_fails(&options, LW_E_CORRUPT, "bad.json\": byte ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_json_post__a_template_comes_before_names),
        cmocka_unit_test(test_load_json_post__processors_with_fixed_templates),
        cmocka_unit_test(test_load_json_post__else_names_count),
        cmocka_unit_test(test_load_json_post__nothing_is_put_unasked),
        cmocka_unit_test(test_load_json_post__bad_json_is_named),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
