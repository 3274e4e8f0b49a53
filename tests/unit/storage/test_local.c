/* SPDX-License-Identifier: Apache-2.0 */
/* Local files: what each kind of path entry lists, names and sizes, reads, and what goes wrong. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "storage/storage.h"
#include "support/scratch.h"

static bool is_wanted(const char *name)
{
    size_t count = strlen(name);
    return count > 6 && strcmp(name + count - 6, ".jsonl") == 0;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const lw__file *)a)->path, ((const lw__file *)b)->path);
}

/* Lists an entry and checks its files, given as "name:bytes" words in order of their paths. */
static void check_list(const char *entry, const char *expected)
{
    lw__files files = {0};
    lw_error err;
    if (lw__storage_list(scratch_folder(), entry, is_wanted, &files, &err) != LW_OK) {
        fail_msg("%s: %s", entry, err.message);
    }
    qsort(files.items, files.count, sizeof *files.items, compare);
    char got[1024] = "";
    for (size_t i = 0; i < files.count; i++) {
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%s:%d", i > 0 ? " " : "", files.items[i].name,
                 (int)files.items[i].bytes);
        assert_true(strncmp(files.items[i].path, scratch_folder(), strlen(scratch_folder())) == 0);
    }
    assert_string_equal(got, expected);
    lw__files_reset(&files);
}

static void check_refusal(const char *entry, lw_status status, const char *format)
{
    lw__files files = {0};
    lw_error err;
    char expected[512];
    char path[300];
    snprintf(path, sizeof path, "%s/%s", scratch_folder(), entry);
    snprintf(expected, sizeof expected, "storage: \"%s\"%s", path, format);
    assert_int_equal(lw__storage_list(scratch_folder(), entry, is_wanted, &files, &err), status);
    assert_string_equal(err.message, expected);
    lw__files_reset(&files);
}

static void write_tree(void)
{
    scratch_clear();
    scratch_write_text("data/b.jsonl", "bb");
    scratch_write_text("data/a.jsonl", "a");
    scratch_write_text("data/deep/er/c.jsonl", "ccc");
    scratch_write_text("data/deep/README", "no");
    scratch_write_text("data/.hidden.jsonl", "no");
    scratch_write_text("data/_private/d.jsonl", "no");
    scratch_write_text("data/.git/e.jsonl", "no");
    scratch_write_text("odd[1].jsonl", "12345");
    scratch_write_text("other.txt", "four");
}

static void test_local__files_folders_and_globs(void **state)
{
    (void)state;
    write_tree();
    check_list("data/a.jsonl", "a.jsonl:1");
    check_list("other.txt", "other.txt:4");
    check_list("data", "a.jsonl:1 b.jsonl:2 deep/er/c.jsonl:3");
    check_list("data/", "a.jsonl:1 b.jsonl:2 deep/er/c.jsonl:3");
    check_list(".//data//deep/", "er/c.jsonl:3");
    check_list("data/*.jsonl", "a.jsonl:1 b.jsonl:2");
    check_list("da*/a.jsonl", "data/a.jsonl:1");
    check_list("da?a/deep", "data/deep/er/c.jsonl:3");
    check_list("odd[1].jsonl", "odd[1].jsonl:5");
}

static void test_local__what_is_not_there(void **state)
{
    (void)state;
    write_tree();
    scratch_write_text("empty/x.txt", "");
    check_refusal("none.jsonl", LW_E_NOT_FOUND, ": No such file or directory");
    check_refusal("data/a.jsonl/x", LW_E_NOT_FOUND, ": Not a directory");
    check_refusal("data/*.gz", LW_E_NOT_FOUND, ": no shard, expected at least one");
    check_refusal("none/*.gz", LW_E_NOT_FOUND, ": no shard, expected at least one");
    check_refusal("empty", LW_E_NOT_FOUND, ": no shard, expected at least one");
    assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0);
    check_refusal("pipe", LW_E_INVALID, ": neither a file nor a folder, expected one of them");
}

static void test_local__a_store_that_is_not_built_in(void **state)
{
    (void)state;
    lw__files files = {0};
    lw_error err;
    assert_int_equal(lw__storage_list("x", "s3://bucket/a", is_wanted, &files, &err),
                     LW_E_UNSUPPORTED);
    assert_string_equal(err.message,
                        "storage: \"s3://bucket/a\": a store that is not in this build, "
                        "expected a local path");
}

static void test_local__links_are_followed_but_not_in_circles(void **state)
{
    (void)state;
    write_tree();
    assert_int_equal(symlink("..", scratch_path("data/deep/up")), 0);
    assert_int_equal(symlink("a.jsonl", scratch_path("data/link.jsonl")), 0);
    assert_int_equal(symlink("gone", scratch_path("data/gone.txt")), 0);
    check_list("data", "a.jsonl:1 b.jsonl:2 deep/er/c.jsonl:3 link.jsonl:1");
    assert_int_equal(symlink("gone", scratch_path("data/gone.jsonl")), 0);
    lw__files files = {0};
    lw_error err;
    assert_int_equal(lw__storage_list(scratch_folder(), "data", is_wanted, &files, &err),
                     LW_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "data/gone.jsonl\": No such file or directory"));
    lw__files_reset(&files);
}

static void test_local__reads_exact_ranges(void **state)
{
    (void)state;
    scratch_clear();
    scratch_write_text("f", "0123456789");
    lw__object *object = NULL;
    lw_error err;
    const char *path = scratch_path("f");
    assert_int_equal(lw__storage_open(path, 10, &object, &err), LW_OK);
    char out[11] = "";
    assert_int_equal(lw__storage_read(object, 3, out, 4, &err), LW_OK);
    assert_string_equal(out, "3456");
    assert_int_equal(lw__storage_read(object, 10, out, 0, &err), LW_OK);
    assert_int_equal(lw__storage_read(object, 8, out, 3, &err), LW_E_INVALID);
    assert_int_equal(lw__storage_read(object, UINT64_MAX, out, 3, &err), LW_E_INVALID);
    lw__storage_close(object);
    lw__storage_close(NULL);
}

static void check_message(const lw_error *err, const char *path, const char *rest)
{
    char expected[512];
    snprintf(expected, sizeof expected, "storage: \"%s\"%s", path, rest);
    assert_string_equal(err->message, expected);
}

static void test_local__a_file_that_changed(void **state)
{
    (void)state;
    scratch_clear();
    scratch_write_text("f", "0123456789");
    const char *path = scratch_path("f");
    lw__object *object = NULL;
    lw_error err;
    assert_int_equal(lw__storage_open(path, 9, &object, &err), LW_E_MISMATCH);
    assert_null(object);
    check_message(&err, path, ": the file changed during the run: 10 bytes, expected 9");
    assert_int_equal(lw__storage_open(path, 10, &object, &err), LW_OK);
    assert_int_equal(truncate(path, 6), 0);
    char out[10];
    assert_int_equal(lw__storage_read(object, 2, out, 8, &err), LW_E_IO);
    check_message(&err, path, ": 4 bytes at byte 2, expected 8 (the file became shorter)");
    lw__storage_close(object);
    assert_int_equal(lw__storage_open(scratch_path("none"), 1, &object, &err), LW_E_NOT_FOUND);
    assert_int_equal(err.os_errno, ENOENT);
}

static void test_local__a_file_that_may_not_be_read(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        skip(); /* root may read everything */
    }
    scratch_clear();
    scratch_write_text("f", "x");
    const char *path = scratch_path("f");
    assert_int_equal(chmod(path, 0), 0);
    lw__object *object = NULL;
    lw_error err;
    assert_int_equal(lw__storage_open(path, 1, &object, &err), LW_E_IO);
    check_message(&err, path, ": Permission denied");
}

static void test_local__every_allocation_may_fail(void **state)
{
    (void)state;
    write_tree();
    lw_status status = LW_E_NOMEM;
    for (unsigned long calls = 1; status != LW_OK; calls++) {
        lw__files files = {0};
        lw_error err;
        lw__alloc_fail_after(calls);
        status = lw__storage_list(scratch_folder(), "data", is_wanted, &files, &err);
        lw__alloc_fail_after(0);
        assert_true(status == LW_OK || status == LW_E_NOMEM);
        lw__files_reset(&files);
        assert_true(calls < 1000);
    }
}

static void test_local__ten_thousand_files_list_quickly(void **state)
{
    (void)state;
    scratch_clear();
    for (int i = 0; i < 10000; i++) {
        char name[64];
        snprintf(name, sizeof name, "many/%d/%05d.jsonl", i % 10, i);
        scratch_write_text(name, "x");
    }
    struct timespec begin;
    struct timespec end;
    lw__files files = {0};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_int_equal(lw__storage_list(scratch_folder(), "many", is_wanted, &files, NULL), LW_OK);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_int_equal(files.count, 10000);
    lw__files_reset(&files);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    print_message("10,000 files listed in %.3f s\n", seconds);
    assert_true(seconds < 3); /* ten times what it may take: the machine may be busy */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local__files_folders_and_globs),
        cmocka_unit_test(test_local__what_is_not_there),
        cmocka_unit_test(test_local__a_store_that_is_not_built_in),
        cmocka_unit_test(test_local__links_are_followed_but_not_in_circles),
        cmocka_unit_test(test_local__reads_exact_ranges),
        cmocka_unit_test(test_local__a_file_that_changed),
        cmocka_unit_test(test_local__a_file_that_may_not_be_read),
        cmocka_unit_test(test_local__every_allocation_may_fail),
        cmocka_unit_test(test_local__ten_thousand_files_list_quickly),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
