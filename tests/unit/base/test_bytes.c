/* SPDX-License-Identifier: Apache-2.0 */
/* The coding of saved things: exact bytes, round trips, and readers of cut or wrong bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes.h"

static void test_bytes__exact_coding(void **state)
{
    (void)state;
    lw__bytes bytes;
    lw__bytes_init(&bytes);
    lw__bytes_put_u8(&bytes, 0xAB);
    lw__bytes_put_u64le(&bytes, UINT64_C(0x0102030405060708));
    lw__bytes_put_varint(&bytes, 300);
    lw__bytes_put_signed(&bytes, -1);
    lw__bytes_put_signed(&bytes, 1);
    lw__bytes_put_text(&bytes, "hi", 2);
    lw__bytes_printf(&bytes, "%d-%s", 7, "x");
    static const unsigned char expected[] = {0xAB, 8, 7, 6, 5,   4,   3,   2,   1,  0xAC,
                                             0x02, 1, 2, 2, 'h', 'i', '7', '-', 'x'};
    assert_false(bytes.failed);
    assert_int_equal(bytes.count, sizeof expected);
    assert_memory_equal(bytes.data, expected, sizeof expected);
    lw__bytes_reset(&bytes);
    assert_null(bytes.data);
}

static void test_bytes__numbers_come_back(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,     1,          127,       128,       16383,
                                      16384, UINT32_MAX, INT64_MAX, UINT64_MAX};
    lw__bytes bytes;
    lw__bytes_init(&bytes);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        lw__bytes_put_varint(&bytes, values[i]);
        lw__bytes_put_signed(&bytes, (int64_t)values[i]);
        lw__bytes_put_u64le(&bytes, values[i]);
    }
    lw__bytes_put_signed(&bytes, INT64_MIN);
    lw__reader reader = lw__reader_of(bytes.data, bytes.count);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_true(lw__reader_varint(&reader) == values[i]);
        assert_true(lw__reader_signed(&reader) == (int64_t)values[i]);
        assert_true(lw__reader_u64le(&reader) == values[i]);
    }
    assert_true(lw__reader_signed(&reader) == INT64_MIN);
    assert_false(reader.failed);
    assert_ptr_equal(reader.at, reader.end);
    lw__bytes_reset(&bytes);
}

static void test_bytes__a_cut_reader_gives_zeros(void **state)
{
    (void)state;
    lw__reader reader = lw__reader_of("\x05"
                                      "abc",
                                      4);
    lw_str text = lw__reader_text(&reader);
    assert_true(reader.failed);
    assert_int_equal(text.bytes, 0);
    assert_int_equal(lw__reader_u8(&reader), 0);
    assert_int_equal(lw__reader_varint(&reader), 0);
    reader = lw__reader_of("\x80", 1);
    assert_int_equal(lw__reader_varint(&reader), 0);
    assert_true(reader.failed);
    reader = lw__reader_of("1234567", 7);
    assert_int_equal(lw__reader_u64le(&reader), 0);
    assert_true(reader.failed);
    reader = lw__reader_of(NULL, 0);
    assert_int_equal(lw__reader_u8(&reader), 0);
    assert_true(reader.failed);
}

static void test_bytes__a_number_of_more_than_64_bits_fails(void **state)
{
    (void)state;
    lw__reader reader = lw__reader_of("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10);
    assert_true(lw__reader_varint(&reader) == UINT64_MAX);
    assert_false(reader.failed);
    reader = lw__reader_of("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 10);
    assert_int_equal(lw__reader_varint(&reader), 0);
    assert_true(reader.failed);
}

static void test_bytes__text_is_borrowed(void **state)
{
    (void)state;
    static const char data[] = "\x02hi\x00";
    lw__reader reader = lw__reader_of(data, 4);
    lw_str text = lw__reader_text(&reader);
    assert_ptr_equal(text.data, data + 1);
    assert_int_equal(text.bytes, 2);
    assert_int_equal(lw__reader_text(&reader).bytes, 0);
    assert_false(reader.failed);
}

static void test_bytes__a_writer_remembers_that_memory_ran_out(void **state)
{
    (void)state;
    lw__bytes bytes;
    lw__bytes_init(&bytes);
    lw__bytes_put_u8(&bytes, 1);
    lw__alloc_fail_after(1);
    void *used = lw__alloc(1);
    lw__bytes_put(&bytes, (char[100]){0}, 100);
    lw__alloc_fail_after(0);
    lw__bytes_put_u8(&bytes, 2);
    assert_true(bytes.failed);
    assert_int_equal(bytes.count, 1);
    assert_false(lw__bytes_reserve(&bytes, 0));
    lw__bytes_reset(&bytes);
    assert_false(bytes.failed);
    assert_false(lw__bytes_reserve(&bytes, SIZE_MAX));
    lw__bytes_reset(&bytes);
    lw__free(used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes__exact_coding),
        cmocka_unit_test(test_bytes__numbers_come_back),
        cmocka_unit_test(test_bytes__a_cut_reader_gives_zeros),
        cmocka_unit_test(test_bytes__a_number_of_more_than_64_bits_fails),
        cmocka_unit_test(test_bytes__text_is_borrowed),
        cmocka_unit_test(test_bytes__a_writer_remembers_that_memory_ran_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
