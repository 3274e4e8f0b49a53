/* SPDX-License-Identifier: Apache-2.0 */
/* Record numbers in every encoding and order of asking, and the line for a bad record. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "format/format.h"
#include "packing.h"
#include "support/scratch.h"

enum { RECORDS = 400, PARTS_MAX = 4096 };

/* The shard's records say their own numbers, which is what the numbers are compared with. */
static void put_records(lw__bytes *out)
{
    uint64_t seed = 9;
    for (int i = 0; i < RECORDS; i++) {
        lw__bytes_printf(out, "{\"text\": \"%d\"}\n", i);
        lw__bytes_put(out, "\n \r\n", draw(&seed, 3) == 0 ? 4 : 0);
        if (draw(&seed, 20) == 0) {
            lw__bytes_printf(out, "{\"text\": \"%d%0500d\"}\n", ++i, 0);
        }
    }
}

static lw__dataset *open_file(const char *path, lw__bad_policy policy)
{
    lw__dataset_options options = {.name = "web",
                                   .folder = scratch_folder(),
                                   .paths = &path,
                                   .path_count = 1,
                                   .text = "text",
                                   .lanes = 1,
                                   .block_bytes = 150,
                                   .bad_policy = policy};
    lw__dataset *dataset = NULL;
    lw_error err;
    if (lw__dataset_open(&options, &dataset, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return dataset;
}

/* One part and the number that its first record should have. */
typedef struct part {
    uint64_t block;
    uint64_t index;
    uint64_t first_record;
} part;

static size_t list_parts(const lw__dataset *dataset, part *parts)
{
    lw__text text = {0};
    lw__documents documents = {0};
    size_t count = 0;
    uint64_t records = 0;
    for (uint64_t block = 0; block < lw__dataset_block_count(dataset); block++) {
        lw__cursor *cursor = NULL;
        bool last = false;
        assert_int_equal(lw__cursor_open(dataset, block, 0, &cursor, NULL), LW_OK);
        for (uint64_t index = 0; !last; index++) {
            assert_int_equal(lw__cursor_read(cursor, &text, &last, NULL), LW_OK);
            assert_int_equal(lw__dataset_parse(dataset, &text, &documents, NULL), LW_OK);
            parts[count++] = (part){block, index, records};
            for (size_t i = 0; i < documents.count; i++) {
                char number[16];
                snprintf(number, sizeof number, "%d", (int)(records + i));
                assert_memory_equal(documents.items[i].text, number, strlen(number));
            }
            records += documents.count;
        }
        lw__cursor_close(cursor);
    }
    lw__text_reset(&text);
    lw__documents_reset(&documents);
    return count;
}

static void check_numbers(const char *name)
{
    static part parts[PARTS_MAX];
    for (size_t step = 1; step < 8; step += 2) {
        lw__dataset *dataset = open_file(name, LW__BAD_FAIL);
        size_t count = list_parts(dataset, parts);
        assert_true(count > 20);
        for (size_t i = 0; i < count; i++) {
            const part *p = &parts[step == 1 ? i : step == 3 ? count - 1 - i : i * step % count];
            uint64_t number = UINT64_MAX;
            lw_error err;
            if (lw__dataset_record_number(dataset, p->block, p->index, &number, &err) != LW_OK) {
                fail_msg("%s", err.message);
            }
            assert_int_equal(number, p->first_record);
        }
        lw__dataset_close(dataset);
    }
}

static void write_all(void)
{
    lw__bytes data;
    lw__bytes packed;
    lw__bytes_init(&data);
    lw__bytes_init(&packed);
    put_records(&data);
    scratch_write("a.jsonl", data.data, data.count);
    put_gzip(&packed, data.data, data.count);
    scratch_write("b.jsonl.gz", packed.data, packed.count);
    packed.count = 0;
    put_zstd(&packed, data.data, data.count, 1);
    scratch_write("c.jsonl.zst", packed.data, packed.count);
    packed.count = 0;
    for (size_t at = 0; at < data.count; at += 333) {
        put_zstd(&packed, data.data + at, data.count - at < 333 ? data.count - at : 333, 1);
    }
    scratch_write("d.jsonl.zst", packed.data, packed.count);
    lw__bytes_reset(&data);
    lw__bytes_reset(&packed);
}

static void test_records__numbers_in_every_encoding_and_order(void **state)
{
    (void)state;
    write_all();
    check_numbers("a.jsonl");
    check_numbers("b.jsonl.gz");
    check_numbers("c.jsonl.zst");
    check_numbers("d.jsonl.zst");
}

static void *ask_all(void *argument)
{
    lw__dataset *dataset = argument;
    for (uint64_t block = 0; block < lw__dataset_block_count(dataset); block++) {
        uint64_t number = 0;
        if (lw__dataset_record_number(dataset, block, 0, &number, NULL) != LW_OK) {
            return argument;
        }
    }
    return NULL;
}

static void test_records__many_threads_may_ask(void **state)
{
    (void)state;
    write_all();
    lw__dataset *dataset = open_file("a.jsonl", LW__BAD_FAIL);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, dataset), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *result = dataset;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
    lw__dataset_close(dataset);
}

/* Reads until the bad record and checks the line for it. */
static void check_message(const char *name, const char *place)
{
    lw__dataset *dataset = open_file(name, LW__BAD_FAIL);
    lw__text text = {0};
    lw__documents documents = {0};
    lw_error err = {0};
    for (uint64_t block = 0; block < lw__dataset_block_count(dataset); block++) {
        lw__cursor *cursor = NULL;
        bool last = false;
        assert_int_equal(lw__cursor_open(dataset, block, 0, &cursor, NULL), LW_OK);
        for (uint64_t index = 0; !last; index++) {
            assert_int_equal(lw__cursor_read(cursor, &text, &last, NULL), LW_OK);
            assert_int_equal(lw__dataset_parse(dataset, &text, &documents, NULL), LW_OK);
            for (size_t i = 0; i < documents.count; i++) {
                if (documents.items[i].fault != NULL) {
                    assert_int_equal(lw__dataset_fail_record(dataset, block, index, i,
                                                             documents.items[i].fault, &err),
                                     LW_E_CORRUPT);
                }
            }
        }
        lw__cursor_close(cursor);
    }
    char expected[512];
    snprintf(expected, sizeof expected,
             "jsonl: \"%s\" %s: field \"text\" is a number, expected a "
             "string",
             scratch_path(name), place);
    assert_string_equal(err.message, expected);
    lw__text_reset(&text);
    lw__documents_reset(&documents);
    lw__dataset_close(dataset);
}

static void test_records__a_bad_record_is_named_by_number_and_byte(void **state)
{
    (void)state;
    lw__bytes data;
    lw__bytes packed;
    lw__bytes_init(&data);
    lw__bytes_init(&packed);
    for (int i = 0; i < 90; i++) {
        lw__bytes_printf(&data, "{\"text\": \"%02d\"}\n\n", i);
    }
    size_t at = data.count + 9;
    lw__bytes_printf(&data, "{\"text\": 7}\n{\"text\": \"end\"}\n");
    char place[64];
    snprintf(place, sizeof place, "record 90 at byte %zu", at);
    scratch_write("a.jsonl", data.data, data.count);
    check_message("a.jsonl", place);
    put_gzip(&packed, data.data, 700);
    put_gzip(&packed, data.data + 700, data.count - 700);
    scratch_write("b.jsonl.gz", packed.data, packed.count);
    check_message("b.jsonl.gz", place);
    packed.count = 0;
    for (size_t begin = 0; begin < data.count; begin += 250) {
        size_t left = data.count - begin;
        put_zstd(&packed, data.data + begin, left < 250 ? left : 250, 1);
    }
    scratch_write("c.jsonl.zst", packed.data, packed.count);
    check_message("c.jsonl.zst", place);
    lw__bytes_reset(&data);
    lw__bytes_reset(&packed);
}

static void test_records__the_message_stands_when_counting_fails(void **state)
{
    (void)state;
    write_all();
    lw__dataset *dataset = open_file("a.jsonl", LW__BAD_FAIL);
    assert_int_equal(truncate(scratch_path("a.jsonl"), 10), 0);
    lw__fault fault = {"ill-formed UTF-8", "UTF-8", 33};
    lw_error err;
    assert_int_equal(lw__dataset_fail_record(dataset, 5, 0, 2, &fault, &err), LW_E_CORRUPT);
    char expected[512];
    snprintf(expected, sizeof expected,
             "jsonl: \"%s\" block 5 at byte 33 of the block: ill-formed "
             "UTF-8, expected UTF-8",
             scratch_path("a.jsonl"));
    assert_string_equal(err.message, expected);
    uint64_t number = 0;
    assert_int_equal(lw__dataset_record_number(dataset, 5, 0, &number, &err), LW_E_MISMATCH);
    lw__dataset_close(dataset);
}

static void test_records__a_part_that_is_not_there(void **state)
{
    (void)state;
    write_all();
    lw__dataset *dataset = open_file("a.jsonl", LW__BAD_FAIL);
    uint64_t number = 0;
    lw_error err;
    assert_int_equal(lw__dataset_record_number(dataset, 1, 1, &number, &err), LW_E_INVALID);
    assert_string_equal(err.message,
                        "format: source \"web\" block 1: part 1 asked for, expected one of 1");
    lw__dataset_close(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records__numbers_in_every_encoding_and_order),
        cmocka_unit_test(test_records__many_threads_may_ask),
        cmocka_unit_test(test_records__a_bad_record_is_named_by_number_and_byte),
        cmocka_unit_test(test_records__the_message_stands_when_counting_fails),
        cmocka_unit_test(test_records__a_part_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
