/* SPDX-License-Identifier: Apache-2.0 */
/* Gzip shards that are damaged, and what reading them says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "format/decoder.h"
#include "packing.h"
#include "support/scratch.h"

static lw_status read_all(const lw__bytes *packed, size_t room, lw__bytes *out, lw_error *err)
{
    scratch_write("a.gz", packed->data, packed->count);
    lw__span span = {scratch_path("a.gz"), packed->count, 0, packed->count};
    lw__decoder *decoder = NULL;
    lw_status status = lw__decoder_gzip.open(&span, &decoder, err);
    size_t count = 1;
    while (status == LW_OK && count > 0 && lw__bytes_reserve(out, room)) {
        assert_true(decoder->block_end == LW__END_UNKNOWN);
        status = lw__decoder_gzip.read(decoder, out->data + out->count, room, &count, err);
        out->count += status == LW_OK ? count : 0;
    }
    if (status == LW_OK) {
        assert_true(decoder->block_end == out->count);
    }
    if (decoder != NULL) {
        lw__decoder_gzip.close(decoder);
    }
    return status;
}

static void check_fails(const lw__bytes *packed, size_t at, const char *rest)
{
    lw__bytes out;
    lw__bytes_init(&out);
    lw_error err;
    assert_int_equal(read_all(packed, 1000, &out, &err), LW_E_CORRUPT);
    char expected[512];
    snprintf(expected, sizeof expected, "gzip: \"%s\" at byte %zu: %s", scratch_path("a.gz"), at,
             rest);
    assert_string_equal(err.message, expected);
    lw__bytes_reset(&out);
}

static void test_gzip__members_follow_each_other(void **state)
{
    (void)state;
    lw__bytes packed;
    lw__bytes_init(&packed);
    put_gzip(&packed, "one\ntw", 6);
    put_gzip(&packed, "", 0);
    put_gzip(&packed, "o\n", 2);
    for (size_t room = 1; room < 12; room++) {
        lw__bytes out;
        lw__bytes_init(&out);
        lw_error err;
        assert_int_equal(read_all(&packed, room, &out, &err), LW_OK);
        assert_int_equal(out.count, 8);
        assert_memory_equal(out.data, "one\ntwo\n", 8);
        lw__bytes_reset(&out);
    }
    lw__bytes_reset(&packed);
}

static void test_gzip__damage_is_named(void **state)
{
    (void)state;
    lw__bytes packed;
    lw__bytes_init(&packed);
    put_gzip(&packed, "hello\n", 6);
    size_t whole = packed.count;
    for (size_t count = 1; count < whole; count++) {
        packed.count = count;
        check_fails(&packed, count, "the shard ends inside a member, expected the member's end");
    }
    packed.count = whole;
    lw__bytes_put(&packed, "x", 1);
    check_fails(&packed, whole, "bytes after the last member, expected a gzip member or the end");
    packed.data[whole] = 0;
    check_fails(&packed, whole, "bytes after the last member, expected a gzip member or the end");
    packed.count = whole;
    packed.data[whole - 5] ^= 1;
    lw__bytes out;
    lw__bytes_init(&out);
    lw_error err;
    assert_int_equal(read_all(&packed, 100, &out, &err), LW_E_CORRUPT);
    assert_non_null(strstr(err.message, "expected a whole gzip member"));
    lw__bytes_reset(&out);
    packed.data[0] = 'x';
    assert_int_equal(read_all(&packed, 100, &out, &err), LW_E_CORRUPT);
    assert_non_null(strstr(err.message, "incorrect header check, expected a whole gzip member"));
    lw__bytes_reset(&out);
    lw__bytes_reset(&packed);
}

static void test_gzip__one_block_without_reading(void **state)
{
    (void)state;
    lw__blocks blocks;
    assert_int_equal(lw__decoder_gzip.cut("not there", 10, 5, &blocks, NULL), LW_OK);
    assert_int_equal(blocks.count, 1);
    assert_true(blocks.sequential);
    assert_int_equal(lw__decoder_gzip.cut("not there", 0, 5, &blocks, NULL), LW_OK);
    assert_int_equal(blocks.count, 0);
    assert_false(blocks.sequential);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip__members_follow_each_other),
        cmocka_unit_test(test_gzip__damage_is_named),
        cmocka_unit_test(test_gzip__one_block_without_reading),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
