/* SPDX-License-Identifier: Apache-2.0 */
/* Frames into groups: by walking and by the seek table, and which of the two is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "format/zstd_frames.h"
#include "packing.h"
#include "support/scratch.h"

static lw_status group(const lw__bytes *packed, uint64_t block_bytes, lw__blocks *blocks,
                       lw_error *err)
{
    lw__object *object = NULL;
    scratch_write("a.zst", packed->data, packed->count);
    assert_int_equal(lw__storage_open(scratch_path("a.zst"), packed->count, &object, err), LW_OK);
    lw_status status = lw__zstd_group_frames(object, block_bytes, blocks, err);
    lw__storage_close(object);
    return status;
}

static void check_starts(const lw__bytes *packed, uint64_t block_bytes, const uint64_t *starts,
                         size_t count)
{
    lw__blocks blocks;
    lw_error err;
    if (group(packed, block_bytes, &blocks, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(blocks.count, count);
    if (count > 0) {
        assert_memory_equal(blocks.starts, starts, count * sizeof *starts);
    }
    lw__free(blocks.starts);
}

static void check_fails(const lw__bytes *packed, lw_status status, size_t at, const char *rest)
{
    lw__blocks blocks;
    lw_error err;
    char expected[512];
    assert_int_equal(group(packed, 10, &blocks, &err), status);
    snprintf(expected, sizeof expected, "zstd: \"%s\" frame at byte %zu: %s", scratch_path("a.zst"),
             at, rest);
    assert_string_equal(err.message, expected);
    assert_null(blocks.starts);
    assert_int_equal(blocks.count, 0);
}

/* Text that does not shrink, so that frames have about its size. */
static void put_noise_frame(lw__bytes *out, size_t count, uint64_t *seed)
{
    unsigned char text[400000];
    for (size_t i = 0; i < count; i++) {
        text[i] = (unsigned char)draw(seed, 256);
    }
    put_zstd(out, text, count, 1);
}

static void test_zstd_frames__groups_close_when_they_reach_the_size(void **state)
{
    (void)state;
    lw__bytes packed;
    lw__bytes_init(&packed);
    uint64_t at[6];
    uint64_t seed = 3;
    for (size_t i = 0; i < 5; i++) {
        at[i] = packed.count;
        put_noise_frame(&packed, 100, &seed);
    }
    uint64_t frame = at[1];
    check_starts(&packed, 1, at, 5);
    check_starts(&packed, frame, at, 5);
    check_starts(&packed, frame + 1, (uint64_t[]){at[0], at[2], at[4]}, 3);
    check_starts(&packed, 2 * frame, (uint64_t[]){at[0], at[2], at[4]}, 3);
    check_starts(&packed, 2 * frame + 1, (uint64_t[]){at[0], at[3]}, 2);
    check_starts(&packed, 1000000, (uint64_t[]){0}, 1);
    lw__bytes_reset(&packed);
}

static void test_zstd_frames__only_a_single_data_frame_is_sequential(void **state)
{
    (void)state;
    lw__blocks blocks;
    lw__bytes packed;
    lw__bytes_init(&packed);
    put_skippable(&packed, "abc", 3);
    assert_int_equal(group(&packed, 10, &blocks, NULL), LW_OK);
    assert_int_equal(blocks.count, 0);
    assert_false(blocks.sequential);
    put_zstd(&packed, "hello", 5, 1);
    put_skippable(&packed, "", 0);
    assert_int_equal(group(&packed, 10, &blocks, NULL), LW_OK);
    assert_int_equal(blocks.count, 1);
    assert_true(blocks.sequential);
    assert_int_equal(blocks.starts[0], 11);
    assert_int_equal(blocks.window_bytes, 5);
    lw__free(blocks.starts);
    put_zstd(&packed, "", 0, 1);
    assert_int_equal(group(&packed, 10000, &blocks, NULL), LW_OK);
    assert_int_equal(blocks.count, 1);
    assert_false(blocks.sequential);
    lw__free(blocks.starts);
    lw__bytes_reset(&packed);
}

/* Frames of many blocks, of run-length blocks, and many tiny ones over the walker's window. */
static void test_zstd_frames__walks_all_kinds_of_blocks(void **state)
{
    (void)state;
    static unsigned char zeros[400000];
    static uint64_t at[3002];
    lw__bytes packed;
    lw__bytes_init(&packed);
    uint64_t seed = 4;
    size_t count = 0;
    at[count++] = packed.count;
    put_noise_frame(&packed, 400000, &seed);
    at[count++] = packed.count;
    put_zstd(&packed, zeros, sizeof zeros, 1);
    while (count < 3002) {
        at[count++] = packed.count;
        put_noise_frame(&packed, count % 7, &seed);
        if (count % 5 == 0) {
            put_skippable(&packed, zeros, count % 6000);
        }
    }
    check_starts(&packed, 1, at, count);
    lw__bytes_reset(&packed);
}

static void put_three_frames(lw__bytes *packed, uint32_t pairs[6])
{
    for (uint32_t i = 0; i < 3; i++) {
        pairs[2 * i] = (uint32_t)put_zstd(packed, "hello hello hello", 17, 1);
        pairs[2 * i + 1] = 17;
    }
}

/* Damages a block header that only a walk would look at: then only the table can have been used. */
static void test_zstd_frames__a_consistent_seek_table_is_used(void **state)
{
    (void)state;
    uint32_t pairs[6];
    lw__bytes packed;
    lw__bytes_init(&packed);
    put_three_frames(&packed, pairs);
    packed.data[pairs[0]] = 0;
    put_seek_table(&packed, pairs, 3);
    uint64_t frame = pairs[0];
    check_starts(&packed, 1, (uint64_t[]){0, frame, 2 * frame}, 3);
    lw__bytes_reset(&packed);
}

static void test_zstd_frames__other_seek_tables_are_not(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        uint32_t pairs[6];
        lw__bytes packed;
        lw__bytes_init(&packed);
        put_three_frames(&packed, pairs);
        uint64_t frame = pairs[0];
        if (kind == 0) {
            pairs[2]++; /* the sizes do not add up */
        } else if (kind == 1) {
            pairs[3] = 0; /* may be a skippable frame */
        }
        size_t table_at = packed.count;
        put_seek_table(&packed, pairs, kind == 2 ? 2 : 3);
        if (kind == 3) {
            packed.data[table_at + 4]++; /* the frame's size is not the table's */
            put_u32(&packed, 0);
            packed.count -= 3;
        }
        check_starts(&packed, 1, (uint64_t[]){0, frame, 2 * frame}, 3);
        lw__bytes_reset(&packed);
    }
}

static void test_zstd_frames__damage_is_named(void **state)
{
    (void)state;
    lw__bytes packed;
    lw__bytes_init(&packed);
    put_zstd(&packed, "first", 5, 1);
    size_t second = packed.count;
    put_zstd(&packed, "hello hello hello", 17, 1);
    size_t whole = packed.count;
    for (size_t count = second + 4; count < whole; count++) {
        packed.count = count;
        check_fails(&packed, LW_E_CORRUPT, second,
                    "the shard ends inside it, expected a whole frame");
    }
    packed.count = whole;
    lw__bytes_put(&packed, "{}\n", 3);
    check_fails(&packed, LW_E_CORRUPT, whole, "bytes that start no frame, expected a zstd frame");
    packed.count = whole;
    packed.data[second] = 'x';
    check_fails(&packed, LW_E_CORRUPT, second, "bytes that start no frame, expected a zstd frame");
    packed.count = second;
    put_skippable(&packed, "abc", 3);
    packed.count--;
    check_fails(&packed, LW_E_CORRUPT, second, "the shard ends inside it, expected a whole frame");
    packed.count = second;
    /* A header with a window of 256 MiB and an empty last block. */
    lw__bytes_put(&packed, "\x28\xB5\x2F\xFD\x00\x90\x01\x00\x00", 9);
    check_fails(&packed, LW_E_UNSUPPORTED, second,
                "a window of 268435456 bytes, expected at most 134217728");
    lw__bytes_reset(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zstd_frames__groups_close_when_they_reach_the_size),
        cmocka_unit_test(test_zstd_frames__only_a_single_data_frame_is_sequential),
        cmocka_unit_test(test_zstd_frames__walks_all_kinds_of_blocks),
        cmocka_unit_test(test_zstd_frames__a_consistent_seek_table_is_used),
        cmocka_unit_test(test_zstd_frames__other_seek_tables_are_not),
        cmocka_unit_test(test_zstd_frames__damage_is_named),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
