/* SPDX-License-Identifier: Apache-2.0 */
/* Zstd decoding: frames of all sorts, where a block ends, damage, and long windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "format/decoder.h"
#include "packing.h"
#include "support/scratch.h"

/* Reads from `begin` to the shard's end; *block_end is the block's end as the decoder tells it. */
static lw_status read_from(const lw__bytes *packed, uint64_t begin, uint64_t end, size_t room,
                           lw__bytes *out, uint64_t *block_end, lw_error *err)
{
    scratch_write("a.zst", packed->data, packed->count);
    lw__span span = {scratch_path("a.zst"), packed->count, begin, end};
    lw__decoder *decoder = NULL;
    lw_status status = lw__decoder_zstd.open(&span, &decoder, err);
    size_t count = 1;
    while (status == LW_OK && count > 0 && lw__bytes_reserve(out, room)) {
        status = lw__decoder_zstd.read(decoder, out->data + out->count, room, &count, err);
        out->count += status == LW_OK ? count : 0;
    }
    if (decoder != NULL) {
        *block_end = decoder->block_end;
        lw__decoder_zstd.close(decoder);
    }
    return status;
}

static void test_zstd__reads_past_the_block_and_knows_its_end(void **state)
{
    (void)state;
    lw__bytes packed;
    lw__bytes_init(&packed);
    size_t first = put_zstd(&packed, "one\ntwo", 7, 1);
    put_skippable(&packed, "skip", 4);
    size_t second = packed.count;
    put_zstd(&packed, "\nthree\n", 7, 1);
    put_zstd(&packed, "", 0, 1);
    size_t third = packed.count;
    put_zstd(&packed, "four", 4, 1);
    put_skippable(&packed, "skip", 4);
    static const char text[] = "one\ntwo\nthree\nfour";
    for (size_t room = 1; room < 20; room++) {
        const uint64_t spans[][4] = {
            /* begin, end, decoded from, decoded bytes of the block */
            {0, second, 0, 7},        {0, first, 0, 7},
            {second, third, 7, 7},    {third, packed.count, 14, 4},
            {0, packed.count, 0, 18},
        };
        for (size_t i = 0; i < 5; i++) {
            lw__bytes out;
            lw__bytes_init(&out);
            lw_error err;
            uint64_t block_end = 0;
            assert_int_equal(
                read_from(&packed, spans[i][0], spans[i][1], room, &out, &block_end, &err), LW_OK);
            assert_int_equal(out.count, 18 - spans[i][2]);
            assert_memory_equal(out.data, text + spans[i][2], out.count);
            assert_int_equal(block_end, spans[i][3]);
            lw__bytes_reset(&out);
        }
    }
    lw__bytes_reset(&packed);
}

static void check_fails(const lw__bytes *packed, size_t at, const char *rest)
{
    lw__bytes out;
    lw__bytes_init(&out);
    lw_error err;
    uint64_t block_end = 0;
    assert_int_equal(read_from(packed, 0, packed->count, 1000, &out, &block_end, &err),
                     LW_E_CORRUPT);
    char expected[512];
    snprintf(expected, sizeof expected,
             "zstd: \"%s\" frame at byte %zu: %s, expected a whole frame", scratch_path("a.zst"),
             at, rest);
    assert_string_equal(err.message, expected);
    lw__bytes_reset(&out);
}

static void test_zstd__damage_is_named(void **state)
{
    (void)state;
    lw__bytes packed;
    lw__bytes_init(&packed);
    put_zstd(&packed, "first", 5, 1);
    size_t second = packed.count;
    put_zstd(&packed, "hello hello hello", 17, 1);
    packed.data[packed.count - 1] ^= 1;
    check_fails(&packed, second, "Restored data doesn't match checksum");
    packed.data[packed.count - 1] ^= 1;
    packed.count--;
    check_fails(&packed, second, "the shard ends inside it");
    packed.count = second;
    lw__bytes_put(&packed, "garbage garbage", 15);
    check_fails(&packed, second, "Unknown frame descriptor");
    lw__bytes_reset(&packed);
}

/* A match 100 MiB back: needs the whole window of zstd's long mode. */
static void test_zstd__long_windows(void **state)
{
    (void)state;

    enum { DISTANCE = 100 << 20, PIECE = 1 << 16 };

    unsigned char *text = lw__alloc_zero(DISTANCE + PIECE, 1);
    assert_non_null(text);
    uint64_t seed = 7;
    for (size_t i = 0; i < PIECE; i++) {
        text[i] = text[DISTANCE + i] = (unsigned char)draw(&seed, 256);
    }
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 27);
    lw__bytes packed;
    lw__bytes out;
    lw__bytes_init(&packed);
    lw__bytes_init(&out);
    assert_true(lw__bytes_reserve(&packed, ZSTD_compressBound(DISTANCE + PIECE)));
    packed.count = ZSTD_compress2(context, packed.data, packed.capacity, text, DISTANCE + PIECE);
    ZSTD_freeCCtx(context);
    assert_true(packed.count < 2 * PIECE);
    lw_error err;
    uint64_t block_end = 0;
    assert_int_equal(read_from(&packed, 0, packed.count, 8 << 20, &out, &block_end, &err), LW_OK);
    assert_int_equal(out.count, DISTANCE + PIECE);
    assert_memory_equal(out.data + DISTANCE, text, PIECE);
    lw__bytes_reset(&packed);
    lw__bytes_reset(&out);
    lw__free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zstd__reads_past_the_block_and_knows_its_end),
        cmocka_unit_test(test_zstd__damage_is_named),
        cmocka_unit_test(test_zstd__long_windows),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
