/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes from files and texts, their folders, copies, and arguments that are NULL. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recipe_testing.h"

/* A folder of its own for each test; the working directory while the test runs. */
static char folder[64];
static char *before;

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), P_tmpdir "/laneway-recipe-XXXXXX");
    before = getcwd(NULL, 0);
    return before != NULL && mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink("a/b.yaml");
    (void)rmdir("a");
    (void)unlink("b.yaml");
    int failed = chdir(before);
    free(before);
    return failed != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static void write_file(const char *path, const char *text, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void open_fails(const char *path, lw_status status, int32_t os_errno, const char *message)
{
    lw_recipe *recipe = NULL;
    lw_error err = {0};
    assert_int_equal(lw_recipe_open(path, &recipe, &err), status);
    assert_null(recipe);
    assert_int_equal(err.os_errno, os_errno);
    assert_string_equal(err.message, message);
}

static void folder_is(const char *path, const char *expected)
{
    lw_recipe *recipe = NULL;
    assert_int_equal(lw_recipe_open(path, &recipe, NULL), LW_OK);
    assert_string_equal(lw__recipe_folder(recipe), expected);
    lw_recipe_close(recipe);
}

static void test_handle__a_file_gives_its_folder(void **state)
{
    (void)state;
    char absolute[96];
    assert_int_equal(mkdir("a", 0700), 0);
    write_file("a/b.yaml", SMALL, strlen(SMALL));
    write_file("b.yaml", SMALL, strlen(SMALL));
    snprintf(absolute, sizeof(absolute), "%s/b.yaml", folder);
    folder_is("b.yaml", ".");
    folder_is("a/b.yaml", "a");
    folder_is("./a/b.yaml", "./a");
    folder_is(absolute, folder);
}

static void test_handle__messages_name_file_and_line(void **state)
{
    (void)state;
    write_file("b.yaml", "seed: 1\nshufle: 1\n", 18);
    open_fails(
        "b.yaml", LW_E_INVALID, 0,
        "recipe: \"b.yaml\" line 2: unknown key \"shufle\", expected one of this level's; the "
        "nearest is \"shuffle\"");
    write_file("b.yaml", "seed: 1\nend: \xC3\n", 15);
    open_fails("b.yaml", LW_E_INVALID, 0,
               "recipe: \"b.yaml\" line 2: bytes that are not UTF-8, expected text");
    write_file("b.yaml", "\x28\xB5\x2F\xFD\0\0", 6);
    open_fails("b.yaml", LW_E_INVALID, 0,
               "recipe: \"b.yaml\" line 1: bytes that are not UTF-8, expected text");
    write_file("b.yaml", "seed: 1\n\0", 9);
    open_fails("b.yaml", LW_E_INVALID, 0,
               "recipe: \"b.yaml\" line 2: a control character, expected text");
}

static void test_handle__files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    open_fails("none.yaml", LW_E_NOT_FOUND, ENOENT,
               "recipe: \"none.yaml\": No such file or directory");
    assert_int_equal(mkdir("a", 0700), 0);
    open_fails("a", LW_E_IO, EISDIR, "recipe: \"a\": Is a directory");
}

static void test_handle__a_file_beyond_reason_is_refused(void **state)
{
    (void)state;
    write_file("b.yaml", "", 0);
    assert_int_equal(truncate("b.yaml", ((off_t)1 << 24) + 1), 0);
    open_fails("b.yaml", LW_E_UNSUPPORTED, 0,
               "recipe: \"b.yaml\": a file of over 16777216 bytes, expected a smaller one");
}

static void test_handle__an_empty_text_is_an_empty_recipe(void **state)
{
    (void)state;
    const char *const empty[] = {"", "# a comment\n", "---\n", "{}", "\xEF\xBB\xBF"};
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        lw_recipe *recipe = parsed(empty[i]);
        set_option(recipe, "seed", "1");
        assert_string_equal(lw__recipe_folder(recipe), ".");
        lw_recipe_close(recipe);
    }
    write_file("b.yaml", "", 0);
    folder_is("b.yaml", ".");
}

static void test_handle__a_copy_outlives_and_ignores_its_original(void **state)
{
    (void)state;
    lw_recipe *recipe = NULL;
    lw_recipe *copy = NULL;
    assert_int_equal(lw_recipe_parse(SMALL, "x/y", &recipe, NULL), LW_OK);
    char *text = text_of(recipe);
    assert_int_equal(lw_recipe_copy(recipe, &copy, NULL), LW_OK);
    set_option(recipe, "seed", "5");
    lw_recipe_close(recipe);
    char *copied = text_of(copy);
    assert_string_equal(copied, text);
    assert_string_equal(lw__recipe_folder(copy), "x/y");
    lw_text_free(text);
    lw_text_free(copied);
    lw_recipe_close(copy);
}

static lw_status work(const void *op, lw_record *const *group, size_t group_count, lw_sink *out,
                      lw_error *err)
{
    (void)op;
    (void)group;
    (void)group_count;
    (void)out;
    (void)err;
    return LW_OK;
}

static void test_handle__a_copy_has_the_operators(void **state)
{
    (void)state;
    size_t count = 0;
    lw_recipe *copy = NULL;
    lw_recipe *recipe = parsed(SMALL);
    const lw_op_type type = {
        .struct_size = sizeof(type), .name = "own", .phase = LW_PHASE_ROW, .work = work};
    assert_int_equal(lw_recipe_add_operator(recipe, &type, &count, "x", NULL), LW_OK);
    assert_int_equal(lw_recipe_copy(recipe, &copy, NULL), LW_OK);
    lw_recipe_close(recipe);
    const lw__recipe_operator *added = lw__recipe_operators(copy, &count);
    assert_int_equal(count, 1);
    assert_ptr_equal(added->type, &type);
    assert_ptr_equal(added->op, &count);
    assert_string_equal(added->options, "x");
    lw_recipe_close(copy);
}

static void test_handle__null_arguments_are_refused(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    lw_recipe *out = recipe;
    char *text = NULL;
    lw_error err = {0};
    assert_int_equal(lw_recipe_open(NULL, &out, &err), LW_E_INVALID);
    assert_null(out);
    assert_string_equal(err.message,
                        "recipe: lw_recipe_open: an argument is NULL, expected a pointer");
    assert_int_equal(lw_recipe_open("x", NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_parse(NULL, NULL, &out, NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_parse("", NULL, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_set(NULL, "seed", "1", NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_set(recipe, NULL, "1", NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_set(recipe, "seed", NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_add_operator(recipe, NULL, NULL, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_text(NULL, &text, NULL), LW_E_INVALID);
    assert_int_equal(lw_recipe_text(recipe, NULL, NULL), LW_E_INVALID);
    out = recipe;
    assert_int_equal(lw_recipe_copy(NULL, &out, NULL), LW_E_INVALID);
    assert_null(out);
    assert_int_equal(lw_recipe_copy(recipe, NULL, NULL), LW_E_INVALID);
    lw_text_free(NULL);
    lw_recipe_close(NULL);
    lw_recipe_close(recipe);
}

static void test_handle__running_out_of_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    write_file("b.yaml", SMALL, strlen(SMALL));
    lw_status status = LW_E_NOMEM;
    for (unsigned long calls = 1; status != LW_OK; calls++) {
        lw_recipe *recipe = NULL;
        lw_recipe *copy = NULL;
        lw__alloc_fail_after(calls);
        status = lw_recipe_open("b.yaml", &recipe, NULL);
        if (status == LW_OK) {
            status = lw_recipe_copy(recipe, &copy, NULL);
        }
        lw__alloc_fail_after(0);
        assert_true(status == LW_OK || status == LW_E_NOMEM);
        lw_recipe_close(recipe);
        lw_recipe_close(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_handle__a_file_gives_its_folder, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_handle__messages_name_file_and_line, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_handle__files_that_cannot_be_read_are_named,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_handle__a_file_beyond_reason_is_refused, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_handle__an_empty_text_is_an_empty_recipe, make_folder,
                                        remove_folder),
        cmocka_unit_test(test_handle__a_copy_outlives_and_ignores_its_original),
        cmocka_unit_test(test_handle__a_copy_has_the_operators),
        cmocka_unit_test(test_handle__null_arguments_are_refused),
        cmocka_unit_test_setup_teardown(test_handle__running_out_of_memory_leaves_nothing_behind,
                                        make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
