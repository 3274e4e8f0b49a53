/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a source: order and names of shards, the block table, sizes chosen, and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "format/format.h"
#include "packing.h"
#include "support/scratch.h"

/* Opens path entries (NULL ends them) below the scratch folder. */
static lw_status open_paths(const char *const *paths, uint64_t block_bytes, uint64_t lanes,
                            lw__dataset **out, lw_error *err)
{
    size_t count = 0;
    while (paths[count] != NULL) {
        count++;
    }
    lw__dataset_options options = {.name = "web",
                                   .folder = scratch_folder(),
                                   .paths = paths,
                                   .path_count = count,
                                   .text = "text",
                                   .lanes = lanes,
                                   .block_bytes = block_bytes};
    return lw__dataset_open(&options, out, err);
}

static lw__dataset *must_open(const char *const *paths, uint64_t block_bytes, uint64_t lanes)
{
    lw__dataset *dataset = NULL;
    lw_error err;
    if (open_paths(paths, block_bytes, lanes, &dataset, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return dataset;
}

static void check_refusal(const char *const *paths, uint64_t lanes, lw_status status,
                          const char *format)
{
    lw__dataset *dataset = NULL;
    lw_error err;
    char expected[sizeof err.message];
    assert_int_equal(open_paths(paths, 0, lanes, &dataset, &err), status);
    assert_null(dataset);
    snprintf(expected, sizeof expected, "%s", format);
    assert_string_equal(err.message, expected);
}

static const char *message(const char *before, const char *name, const char *after)
{
    static char text[512];
    snprintf(text, sizeof text, "%s%s%s", before, scratch_path(name), after);
    return text;
}

static void write_bytes(const char *name, size_t count)
{
    char *bytes = malloc(count + 1);
    assert_non_null(bytes);
    memset(bytes, 'x', count);
    scratch_write(name, bytes, count);
    free(bytes);
}

static void test_dataset__shards_are_sorted_by_path_bytes(void **state)
{
    (void)state;
    scratch_clear();
    write_bytes("d/b.jsonl", 10);
    write_bytes("d/B.jsonl", 20);
    write_bytes("d/a/z.ndjson", 30);
    write_bytes("d/a.jsonl", 0);
    write_bytes("d/a-b.jsonl", 41);
    write_bytes("d/\xC3\xA9.jsonl", 5);
    write_bytes("d/10.jsonl", 1);
    write_bytes("d/9.jsonl", 1);
    write_bytes("d/z.json", 1);
    lw__dataset *dataset = must_open((const char *[]){"d", NULL}, 20, 1);
    static const char *const names[] = {"10.jsonl", "9.jsonl",    "B.jsonl", "a-b.jsonl",
                                        "a.jsonl",  "a/z.ndjson", "b.jsonl", "\xC3\xA9.jsonl"};
    static const uint64_t blocks[] = {1, 1, 1, 3, 0, 2, 1, 1};
    assert_int_equal(lw__dataset_shard_count(dataset), 8);
    uint64_t first = 0;
    for (size_t i = 0; i < 8; i++) {
        const lw__shard *shard = lw__dataset_shard(dataset, i);
        assert_string_equal(shard->name, names[i]);
        assert_int_equal(shard->first_block, first);
        assert_int_equal(shard->block_count, blocks[i]);
        assert_false(shard->sequential);
        for (uint64_t b = 0; b < blocks[i]; b++) {
            assert_int_equal(lw__dataset_shard_of(dataset, first + b), i);
        }
        first += blocks[i];
    }
    assert_int_equal(lw__dataset_block_count(dataset), 10);
    assert_int_equal(lw__dataset_block_bytes(dataset), 20);
    assert_string_equal(lw__dataset_name(dataset), "web");
    lw__dataset_close(dataset);
    lw__dataset_close(NULL);
}

static void test_dataset__chooses_the_block_size(void **state)
{
    (void)state;
    scratch_clear();
    write_bytes("a.jsonl", 1000000);
    write_bytes("b.jsonl", 600000);
    const char *const paths[] = {"a.jsonl", "b.jsonl", NULL};
    static const uint64_t cases[][2] = {{1, 50000}, {2, 25000}, {3, 16666}, {64, 2048}};
    for (size_t i = 0; i < 4; i++) {
        lw__dataset *dataset = must_open(paths, 0, cases[i][0]);
        assert_int_equal(lw__dataset_block_bytes(dataset), cases[i][1]);
        lw__dataset_close(dataset);
    }
    write_bytes("c.jsonl", 9000000);
    lw__dataset *dataset = must_open((const char *[]){"c.jsonl", NULL}, 0, 1);
    assert_int_equal(lw__dataset_block_bytes(dataset), 262144);
    assert_int_equal(lw__dataset_block_count(dataset), 35);
    assert_true(lw__dataset_read_bytes(dataset) >= 262144 + 65536);
    lw__dataset_close(dataset);
}

static void test_dataset__plain_and_gzip_shards_are_not_read(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        skip(); /* root may read everything */
    }
    scratch_clear();
    write_bytes("d/a.jsonl", 100);
    write_bytes("d/b.jsonl.gz", 100);
    assert_int_equal(chmod(scratch_path("d/a.jsonl"), 0), 0);
    assert_int_equal(chmod(scratch_path("d/b.jsonl.gz"), 0), 0);
    lw__dataset *dataset = must_open((const char *[]){"d", NULL}, 0, 1);
    lw__dataset_close(dataset);
}

static void test_dataset__sequential_shards_need_as_many_as_lanes(void **state)
{
    (void)state;
    scratch_clear();
    lw__bytes packed;
    lw__bytes_init(&packed);
    put_gzip(&packed, "{}\n", 3);
    scratch_write("a.jsonl.gz", packed.data, packed.count);
    packed.count = 0;
    put_zstd(&packed, "{}\n", 3, 1);
    scratch_write("b.jsonl.zst", packed.data, packed.count);
    lw__dataset *dataset = must_open((const char *[]){"*", NULL}, 0, 2);
    assert_int_equal(lw__dataset_block_count(dataset), 2);
    assert_true(lw__dataset_shard(dataset, 0)->sequential);
    assert_true(lw__dataset_shard(dataset, 1)->sequential);
    assert_true(lw__dataset_read_bytes(dataset) > 262144);
    lw__dataset_close(dataset);
    check_refusal((const char *[]){"*", NULL}, 3, LW_E_INVALID,
                  "format: source \"web\": has 2 sequential shards for 3 lanes, expected at least "
                  "3; \"laneway repack\" makes them seekable");
    lw__bytes_reset(&packed);
}

static void test_dataset__refusals(void **state)
{
    (void)state;
    scratch_clear();
    write_bytes("d/empty.jsonl", 0);
    write_bytes("d/two.ndjson", 0);
    write_bytes("a.txt", 3);
    write_bytes("a.jsonl", 3);
    check_refusal((const char *[]){"d", NULL}, 1, LW_E_INVALID,
                  "format: source \"web\": all 2 shards are empty, expected data");
    check_refusal((const char *[]){NULL}, 1, LW_E_INVALID,
                  "format: source \"web\": no path, expected at least one");
    check_refusal((const char *[]){"gone", NULL}, 1, LW_E_NOT_FOUND,
                  message("storage: \"", "gone", "\": No such file or directory"));
    check_refusal(
        (const char *[]){"a.jsonl", "./a.jsonl", NULL}, 1, LW_E_INVALID,
        message("format: source \"web\": \"", "a.jsonl", "\" is named twice, expected once"));
    check_refusal((const char *[]){"a.txt", NULL}, 1, LW_E_UNSUPPORTED,
                  message("format: source \"web\": \"", "a.txt",
                          "\" has no known ending, expected .jsonl or .ndjson (alone or with .gz "
                          "or .zst), or the option \"format\""));
}

static void test_dataset__a_source_may_be_empty_if_asked(void **state)
{
    (void)state;
    scratch_clear();
    write_bytes("a.jsonl", 0);
    const char *path = "a.jsonl";
    lw__dataset_options options = {.name = "web",
                                   .folder = scratch_folder(),
                                   .paths = &path,
                                   .path_count = 1,
                                   .text = "text",
                                   .lanes = 4,
                                   .may_be_empty = true};
    lw__dataset *dataset = NULL;
    assert_int_equal(lw__dataset_open(&options, &dataset, NULL), LW_OK);
    assert_int_equal(lw__dataset_block_count(dataset), 0);
    assert_int_equal(lw__dataset_shard_count(dataset), 1);
    assert_int_equal(lw__dataset_block_bytes(dataset), 2048);
    lw__dataset_close(dataset);
}

static void test_dataset__the_format_option(void **state)
{
    (void)state;
    scratch_clear();
    write_bytes("a.txt", 3);
    const char *path = "a.txt";
    lw__dataset_options options = {.name = "web",
                                   .folder = scratch_folder(),
                                   .paths = &path,
                                   .path_count = 1,
                                   .text = "text",
                                   .lanes = 1,
                                   .format = "jsonl"};
    lw__dataset *dataset = NULL;
    lw_error err;
    assert_int_equal(lw__dataset_open(&options, &dataset, &err), LW_OK);
    lw__dataset_close(dataset);
    options.format = "csv";
    assert_int_equal(lw__dataset_open(&options, &dataset, &err), LW_E_UNSUPPORTED);
    assert_string_equal(err.message, "format: source \"web\": format \"csv\", expected \"jsonl\"");
}

static void test_dataset__a_shard_that_changed_is_an_error(void **state)
{
    (void)state;
    scratch_clear();
    write_bytes("a.jsonl", 100);
    lw__dataset *dataset = must_open((const char *[]){"a.jsonl", NULL}, 0, 1);
    write_bytes("a.jsonl", 101);
    lw__cursor *cursor = NULL;
    lw_error err;
    assert_int_equal(lw__cursor_open(dataset, 0, 0, &cursor, &err), LW_E_MISMATCH);
    assert_null(cursor);
    assert_string_equal(err.message,
                        message("storage: \"", "a.jsonl",
                                "\": the file changed during the run: 101 bytes, expected 100"));
    lw__dataset_close(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dataset__shards_are_sorted_by_path_bytes),
        cmocka_unit_test(test_dataset__chooses_the_block_size),
        cmocka_unit_test(test_dataset__plain_and_gzip_shards_are_not_read),
        cmocka_unit_test(test_dataset__sequential_shards_need_as_many_as_lanes),
        cmocka_unit_test(test_dataset__refusals),
        cmocka_unit_test(test_dataset__a_source_may_be_empty_if_asked),
        cmocka_unit_test(test_dataset__the_format_option),
        cmocka_unit_test(test_dataset__a_shard_that_changed_is_an_error),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
