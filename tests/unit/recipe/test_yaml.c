/* SPDX-License-Identifier: Apache-2.0 */
/* YAML to a tree: what is kept of it, and all that is refused. */
#include "recipe/node.h"
#include "recipe_testing.h"

static lw__node *read_yaml(const char *text)
{
    static const lw__origin memory;
    lw__node *node = NULL;
    lw_error err = {0};
    if (lw__recipe_read_yaml(&memory, text, strlen(text), &node, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return node;
}

static void test_yaml__a_tree_keeps_kinds_keys_lines_and_quotes(void **state)
{
    (void)state;
    lw__node *root = read_yaml("a: true\n'b': \"true\"\nc:\n  - |\n    x\n  - {d: }\n");
    assert_int_equal(root->kind, LW__NODE_MAP);
    assert_int_equal(root->count, 3);
    assert_string_equal(root->children[0]->key, "a");
    assert_true(root->children[0]->plain);
    assert_int_equal(root->children[1]->line, 2);
    assert_string_equal(root->children[1]->key, "b");
    assert_string_equal(root->children[1]->text, "true");
    assert_false(root->children[1]->plain);
    const lw__node *list = root->children[2];
    assert_int_equal(list->kind, LW__NODE_LIST);
    assert_int_equal(list->line, 3);
    assert_string_equal(list->children[0]->text, "x\n");
    assert_false(list->children[0]->plain);
    assert_string_equal(list->children[1]->children[0]->text, "");
    assert_true(list->children[1]->children[0]->plain);
    lw__node_destroy(root);
}

static void test_yaml__json_reads_as_yaml(void **state)
{
    (void)state;
    lw__node *root = read_yaml("{\n\t\"a\":1,\"b\":[\"x\\u00e9\\/\",null],\n\t\"c\":{}}");
    assert_int_equal(root->count, 3);
    assert_true(root->children[0]->plain);
    assert_string_equal(root->children[1]->children[0]->text, "x\xC3\xA9/");
    assert_int_equal(root->children[2]->kind, LW__NODE_MAP);
    lw__node_destroy(root);
}

static void test_yaml__a_text_without_a_value_gives_no_tree(void **state)
{
    (void)state;
    assert_null(read_yaml(""));
    assert_null(read_yaml("# nothing\n\n"));
}

static void test_yaml__ambiguous_yaml_is_refused_with_its_line(void **state)
{
    (void)state;
    parse_fails("lanes: 1\nseed: 2\nlanes: 3\n", LW_E_INVALID,
                "recipe: line 3: key \"lanes\" a second time, expected once (first on line 1)");
    parse_fails("lanes: &a 1\n", LW_E_INVALID,
                "recipe: line 1: anchor \"&a\", expected a value without one");
    parse_fails("\nseed: *a\n", LW_E_INVALID,
                "recipe: line 2: alias \"*a\", expected the value itself");
    parse_fails("pack: &p {}\n", LW_E_INVALID,
                "recipe: line 1: anchor \"&p\", expected a value without one");
    parse_fails("sources: &s []\n", LW_E_INVALID,
                "recipe: line 1: anchor \"&s\", expected a value without one");
    parse_fails("&k lanes: 1\n", LW_E_INVALID,
                "recipe: line 1: anchor \"&k\", expected a value without one");
    parse_fails("lanes: !!int 1\n", LW_E_INVALID,
                "recipe: line 1: tag \"tag:yaml.org,2002:int\", expected a value without one");
    parse_fails("seed: 1\n---\nseed: 2\n", LW_E_INVALID,
                "recipe: line 2: a second document, expected one");
    parse_fails("seed: 1\n? [a]\n: 2\n", LW_E_INVALID,
                "recipe: line 2: a key that is no text, expected text");
    parse_fails("? *a\n: 2\n", LW_E_INVALID,
                "recipe: line 1: a key that is no text, expected text");
    parse_fails("\"lanes\\0\": 1\n", LW_E_INVALID,
                "recipe: line 1: a NUL character in a text, expected none");
    parse_fails("end: \"a\\0b\"\n", LW_E_INVALID,
                "recipe: line 1: a NUL character in a text, expected none");
}

static void test_yaml__a_second_failing_document_is_a_failure(void **state)
{
    (void)state;
    lw_recipe *recipe = NULL;
    assert_int_equal(lw_recipe_parse("seed: 1\n---\n{", NULL, &recipe, NULL), LW_E_INVALID);
    assert_null(recipe);
}

static void test_yaml__bad_syntax_names_line_and_column(void **state)
{
    (void)state;
    parse_fails("seed: 1\npack: {algorithm: wrap\n", LW_E_INVALID,
                "recipe: line 3: did not find expected ',' or '}' while parsing a flow mapping "
                "(column 1), expected YAML");
    parse_fails("seed: 1\n  lanes: 2\n", LW_E_INVALID,
                "recipe: line 2: mapping values are not allowed in this context (column 8), "
                "expected YAML");
}

static void test_yaml__bytes_that_are_no_text_are_refused_with_their_line(void **state)
{
    (void)state;
    parse_fails("seed: 1\nend: \xFF\n", LW_E_INVALID,
                "recipe: line 2: bytes that are not UTF-8, expected text");
    parse_fails("seed: 1\n\nend: \x01\n", LW_E_INVALID,
                "recipe: line 3: a control character, expected text");
    parse_fails("\x7F"
                "ELF\x02\x01\x01",
                LW_E_INVALID, "recipe: line 1: a control character, expected text");
}

static void test_yaml__deep_nesting_is_refused(void **state)
{
    (void)state;
    char text[4001];
    memset(text, '[', 4000);
    text[4000] = '\0';
    parse_fails(text, LW_E_INVALID,
                "recipe: line 1: values nested deeper than 32, expected at most that");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml__a_tree_keeps_kinds_keys_lines_and_quotes),
        cmocka_unit_test(test_yaml__json_reads_as_yaml),
        cmocka_unit_test(test_yaml__a_text_without_a_value_gives_no_tree),
        cmocka_unit_test(test_yaml__ambiguous_yaml_is_refused_with_its_line),
        cmocka_unit_test(test_yaml__a_second_failing_document_is_a_failure),
        cmocka_unit_test(test_yaml__bad_syntax_names_line_and_column),
        cmocka_unit_test(test_yaml__bytes_that_are_no_text_are_refused_with_their_line),
        cmocka_unit_test(test_yaml__deep_nesting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
