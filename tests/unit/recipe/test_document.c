/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/recipe.md is what the option table says. With LANEWAY_WRITE_DOCS in the environment the
 * test writes the file instead.
 */
#include <stdlib.h>

#include "recipe_testing.h"

#ifndef LANEWAY_SOURCE_DIR
#define LANEWAY_SOURCE_DIR "." /* tests run at the top of the tree */
#endif

static const char path[] = LANEWAY_SOURCE_DIR "/docs/recipe.md";

static void write_document(const lw__bytes *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text->data, 1, text->count, file), text->count);
    assert_int_equal(fclose(file), 0);
}

static void test_document__the_file_is_what_the_table_says(void **state)
{
    (void)state;
    lw__bytes made;
    lw__bytes_init(&made);
    assert_int_equal(lw__recipe_document(&made, NULL), LW_OK);
    if (getenv("LANEWAY_WRITE_DOCS") != NULL) {
        write_document(&made);
    }
    char *stored = calloc(1, made.count + 2);
    FILE *file = fopen(path, "rb");
    assert_non_null(stored);
    assert_non_null(file);
    size_t count = fread(stored, 1, made.count + 1, file);
    fclose(file);
    lw__bytes_put_u8(&made, '\0');
    assert_string_equal(stored, (const char *)made.data);
    assert_int_equal(count, made.count - 1);
    free(stored);
    lw__bytes_reset(&made);
}

/* The document's first example is right: taken out of the page and read. */
static void test_document__the_example_is_a_recipe(void **state)
{
    (void)state;
    lw__bytes made;
    lw__bytes_init(&made);
    assert_int_equal(lw__recipe_document(&made, NULL), LW_OK);
    lw__bytes_put_u8(&made, '\0');
    char *begin = strstr((char *)made.data, "```yaml\n");
    assert_non_null(begin);
    begin += strlen("```yaml\n");
    *strstr(begin, "```") = '\0';
    lw_recipe *recipe = parsed(begin);
    assert_int_equal(settings_of(recipe)->source_count, 2);
    lw_recipe_close(recipe);
    lw__bytes_reset(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document__the_file_is_what_the_table_says),
        cmocka_unit_test(test_document__the_example_is_a_recipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
