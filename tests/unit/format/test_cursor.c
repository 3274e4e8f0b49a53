/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks, parts and lines against a naive model: the whole decoded shard is split at its newlines,
 * and each line is given to a block and a part by the inequalities of docs/stream.md. Random shards
 * in all encodings and fixed corner cases must give the same lines at the same places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "format/format.h"
#include "packing.h"
#include "support/scratch.h"

enum { BLOCKS_MAX = 4096 };

/* A shard: its decoded bytes, and where each block begins in them. */
typedef struct model {
    const unsigned char *data;
    size_t count;
    uint64_t part_bytes;
    size_t block_count;
    size_t begins[BLOCKS_MAX + 1]; /* the last one is count */
} model;

static bool is_blank(const unsigned char *line, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strchr(" \t\r", line[i]) == NULL || line[i] == '\0') {
            return false;
        }
    }
    return true;
}

/* The part of block b that a line starting at `start` of the shard is in; -1: none. */
static int64_t part_of(const model *m, size_t b, size_t start)
{
    int64_t s = (int64_t)start - (int64_t)m->begins[b];
    int64_t bytes = (int64_t)(m->begins[b + 1] - m->begins[b]);
    if (s == 0 && b == 0) {
        return 0;
    }
    return s > 0 && s <= bytes ? (s - 1) / (int64_t)m->part_bytes : -1;
}

/* Appends the records of one part as "<offset in the block>:<line>\n". */
static void put_expected(const model *m, size_t b, int64_t part, lw__bytes *out)
{
    size_t start = 0;
    while (start < m->count) {
        const unsigned char *line = m->data + start;
        const unsigned char *newline = memchr(line, '\n', m->count - start);
        size_t count = newline != NULL ? (size_t)(newline - line) : m->count - start;
        size_t skip = start == 0 && count >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        if (part_of(m, b, start) == part && !is_blank(line + skip, count - skip)) {
            lw__bytes_printf(out, "%zu:", start - m->begins[b] + skip);
            lw__bytes_put(out, line + skip, count - skip);
            lw__bytes_put_u8(out, '\n');
        }
        start += count + 1;
    }
}

static void put_text(const lw__text *text, lw__bytes *out)
{
    size_t at = 0;
    while (at < text->count) {
        const unsigned char *line = text->data + at;
        const unsigned char *newline = memchr(line, '\n', text->count - at);
        size_t count = newline != NULL ? (size_t)(newline - line) : text->count - at;
        if (!is_blank(line, count)) {
            lw__bytes_printf(out, "%zu:", (size_t)text->at + at);
            lw__bytes_put(out, line, count);
            lw__bytes_put_u8(out, '\n');
        }
        at += count + 1;
    }
}

static void check_part(const model *m, size_t b, int64_t part, const lw__text *text)
{
    lw__bytes expected;
    lw__bytes got;
    lw__bytes_init(&expected);
    lw__bytes_init(&got);
    put_expected(m, b, part, &expected);
    put_text(text, &got);
    if (got.count != expected.count ||
        (got.count > 0 && memcmp(got.data, expected.data, got.count) != 0)) {
        fail_msg("block %zu of %zu, part %d of %d bytes: got\n%.*s\nexpected\n%.*s", b,
                 m->block_count, (int)part, (int)m->part_bytes, (int)got.count,
                 got.count > 0 ? (const char *)got.data : "", (int)expected.count,
                 expected.count > 0 ? (const char *)expected.data : "");
    }
    for (size_t i = 0; text->count > 0 && i < 64; i++) {
        assert_true(text->count + i < text->capacity);
        assert_int_equal(text->data[text->count + i], 0);
    }
    lw__bytes_reset(&expected);
    lw__bytes_reset(&got);
}

/* Reads block b from `first` on, and checks each part and that the last one says so. */
static void check_block(lw__dataset *dataset, const model *m, size_t b, uint64_t first)
{
    uint64_t bytes = m->begins[b + 1] - m->begins[b];
    uint64_t parts = bytes == 0 ? 1 : (bytes + m->part_bytes - 1) / m->part_bytes;
    lw__cursor *cursor = NULL;
    lw_error err;
    lw__text text = {0};
    if (lw__cursor_open(dataset, b, first, &cursor, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    for (uint64_t part = first; part < parts; part++) {
        bool last = false;
        if (lw__cursor_read(cursor, &text, &last, &err) != LW_OK) {
            fail_msg("%s", err.message);
        }
        check_part(m, b, (int64_t)part, &text);
        assert_int_equal(last, part + 1 == parts);
    }
    lw__cursor_close(cursor);
    lw__text_reset(&text);
}

static void check_shard(const char *name, const model *m)
{
    const char *path = name;
    lw__dataset_options options = {.name = "web",
                                   .folder = scratch_folder(),
                                   .paths = &path,
                                   .path_count = 1,
                                   .text = "text",
                                   .lanes = 1,
                                   .block_bytes = m->part_bytes};
    lw__dataset *dataset = NULL;
    lw_error err;
    if (lw__dataset_open(&options, &dataset, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(lw__dataset_block_count(dataset), m->block_count);
    for (size_t b = 0; b < m->block_count; b++) {
        uint64_t bytes = m->begins[b + 1] - m->begins[b];
        uint64_t parts = bytes == 0 ? 1 : (bytes + m->part_bytes - 1) / m->part_bytes;
        check_block(dataset, m, b, 0);
        check_block(dataset, m, b, parts / 2);
        check_block(dataset, m, b, parts - 1);
    }
    lw__dataset_close(dataset);
}

/* ---- one shard in every encoding ---- */

static void check_plain(model *m)
{
    m->block_count = 0;
    for (size_t at = 0; at < m->count; at += m->part_bytes) {
        m->begins[m->block_count++] = at;
    }
    m->begins[m->block_count] = m->count;
    scratch_write("s.jsonl", m->data, m->count);
    check_shard("s.jsonl", m);
}

static void check_gzip(model *m, uint64_t *seed)
{
    lw__bytes packed;
    lw__bytes_init(&packed);
    for (size_t at = 0; at < m->count;) {
        size_t count = 1 + draw(seed, (uint32_t)(m->count - at));
        put_gzip(&packed, m->data + at, count);
        at += count;
    }
    m->block_count = 1;
    m->begins[0] = 0;
    m->begins[1] = m->count;
    scratch_write("s.jsonl.gz", packed.data, packed.count);
    check_shard("s.jsonl.gz", m);
    lw__bytes_reset(&packed);
}

static void check_one_frame(model *m)
{
    lw__bytes packed;
    lw__bytes_init(&packed);
    put_zstd(&packed, m->data, m->count, 3);
    m->block_count = 1;
    m->begins[0] = 0;
    m->begins[1] = m->count;
    scratch_write("s.jsonl.zst", packed.data, packed.count);
    check_shard("s.jsonl.zst", m);
    lw__bytes_reset(&packed);
}

/* Frames cut at random places, some empty, with skippable frames between or a seek table behind. */
static void check_frames(model *m, uint64_t *seed, bool has_table)
{
    static uint32_t pairs[2 * BLOCKS_MAX];
    lw__bytes packed;
    lw__bytes_init(&packed);
    uint32_t frames = 0;
    size_t open_bytes = 0;
    m->block_count = 0;
    for (size_t at = 0; at < m->count || frames < 2;) {
        size_t left = m->count - at;
        size_t count = left == 0 ? 0 : draw(seed, (uint32_t)(left < 300 ? left + 1 : 300));
        count += has_table && count == 0 && left > 0;
        if (open_bytes == 0) {
            m->begins[m->block_count++] = at;
        }
        size_t bytes = put_zstd(&packed, m->data + at, count, 1);
        pairs[2 * frames] = (uint32_t)bytes;
        pairs[2 * frames + 1] = (uint32_t)count;
        frames++;
        at += count;
        open_bytes = open_bytes + bytes >= m->part_bytes ? 0 : open_bytes + bytes;
        if (!has_table && draw(seed, 4) == 0) {
            put_skippable(&packed, "skipped\n", draw(seed, 9));
        }
    }
    m->begins[m->block_count] = m->count;
    if (has_table) {
        put_seek_table(&packed, pairs, frames);
    }
    scratch_write("s.ndjson.zst", packed.data, packed.count);
    check_shard("s.ndjson.zst", m);
    lw__bytes_reset(&packed);
}

static void check_all(const void *data, size_t count, uint64_t part_bytes, uint64_t *seed)
{
    static model m;
    m.data = data;
    m.count = count;
    m.part_bytes = part_bytes;
    check_plain(&m);
    check_gzip(&m, seed);
    check_one_frame(&m);
    check_frames(&m, seed, false);
    check_frames(&m, seed, true);
}

/* ---- the tests ---- */

static void put_line(lw__bytes *out, uint64_t *seed)
{
    switch (draw(seed, 8)) {
    case 0:
        lw__bytes_put(out, " \t\r", draw(seed, 4));
        break;
    case 1:
        for (uint32_t i = draw(seed, 1500); i > 0; i--) {
            lw__bytes_put_u8(out, (uint8_t)('a' + draw(seed, 26)));
        }
        break;
    default:
        for (uint32_t i = draw(seed, 60); i > 0; i--) {
            lw__bytes_put_u8(out, (uint8_t)('0' + i % 10));
        }
        lw__bytes_put(out, "\r", draw(seed, 4) == 0);
        break;
    }
}

static void test_cursor__random_shards_equal_the_model(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 250; round++) {
        uint64_t seed = round;
        lw__bytes data;
        lw__bytes_init(&data);
        lw__bytes_put(&data, "\xEF\xBB\xBF", draw(&seed, 5) == 0 ? 3 : 0);
        for (uint32_t lines = 1 + draw(&seed, 40); lines > 0; lines--) {
            put_line(&data, &seed);
            lw__bytes_put(&data, "\n", lines > 1 || draw(&seed, 2) == 0);
        }
        if (data.count == 0) {
            lw__bytes_put_u8(&data, 'x');
        }
        uint32_t largest = draw(&seed, 2) == 0 ? 40 : 700;
        uint64_t part_bytes = 1 + draw(&seed, largest);
        if (data.count / part_bytes >= BLOCKS_MAX) {
            part_bytes = data.count / BLOCKS_MAX + 1;
        }
        check_all(data.data, data.count, part_bytes, &seed);
        lw__bytes_reset(&data);
    }
}

static void test_cursor__corner_cases_equal_the_model(void **state)
{
    (void)state;
    static const char *const shards[] = {
        "a",                          /* one line, no newline */
        "a\n",                        /* one line */
        "\n",                         /* only newlines */
        "\n\n\n\n\n\n\n\n",           /* more of them */
        "aaaa\nbbbb\n",               /* a block that ends exactly behind a newline (S = 5, 10) */
        "aaaa\nbbbb",                 /* the same, last line open */
        "aaaa\n\nbbbb\n",             /* a blank line at the border */
        "aaaaaaaaaaaaaaaaaaaaaaa\nb", /* a line over several blocks */
        "aa\r\nbb\r\n\r\ncc",         /* CRLF */
        "\xEF\xBB\xBF"
        "aa\nbb\n",                   /* byte order mark */
        "\xEF\xBB\xBF",               /* nothing else */
        "\xEF\xBB\xBF\n\xEF\xBB\xBF", /* a mark in the second line is none */
        " \t\r\n \n\t",               /* only blanks */
    };
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof shards / sizeof shards[0]; i++) {
        for (uint64_t part_bytes = 1; part_bytes < 28; part_bytes++) {
            check_all(shards[i], strlen(shards[i]), part_bytes, &seed);
        }
    }
}

/* Lines far longer than what is read at once, in parts far smaller. */
static void test_cursor__long_lines(void **state)
{
    (void)state;

    enum { LONG = 3000000 };

    unsigned char *data = lw__alloc(LONG);
    uint64_t seed = 5;
    for (size_t i = 0; i < LONG; i++) {
        data[i] = (unsigned char)('a' + draw(&seed, 26));
    }
    static const size_t newlines[] = {10, 70000, 262144, 262143 * 2, 2500000};
    for (size_t i = 0; i < 5; i++) {
        data[newlines[i]] = '\n';
    }
    static model m;
    m = (model){.data = data, .count = LONG, .part_bytes = 262144};
    check_plain(&m);
    check_gzip(&m, &seed);
    check_one_frame(&m);
    m.part_bytes = 65536;
    check_plain(&m);
    check_one_frame(&m);
    lw__free(data);
}

/* An empty zstd frame is a block without lines; an empty gzip member likewise. */
static void test_cursor__encodings_of_nothing(void **state)
{
    (void)state;
    static model m;
    m = (model){.data = (const unsigned char *)"", .part_bytes = 100, .block_count = 1};
    check_one_frame(&m);
    lw__bytes packed;
    lw__bytes_init(&packed);
    put_gzip(&packed, "", 0);
    scratch_write("s.jsonl.gz", packed.data, packed.count);
    check_shard("s.jsonl.gz", &m);
    lw__bytes_reset(&packed);
}

static lw_status read_all(const char *path, lw_error *err)
{
    lw__dataset_options options = {.name = "web",
                                   .folder = scratch_folder(),
                                   .paths = &path,
                                   .path_count = 1,
                                   .text = "a.b",
                                   .block_bytes = 50};
    lw__dataset *dataset = NULL;
    lw__cursor *cursor = NULL;
    lw__text text = {0};
    lw__documents documents = {0};
    uint64_t number = 0;
    bool last = false;
    lw_status status = lw__dataset_open(&options, &dataset, err);
    if (status == LW_OK) {
        status = lw__cursor_open(dataset, 0, 0, &cursor, err);
    }
    while (status == LW_OK && !last) {
        status = lw__cursor_read(cursor, &text, &last, err);
        if (status == LW_OK) {
            status = lw__dataset_parse(dataset, &text, &documents, err);
        }
    }
    if (status == LW_OK) {
        uint64_t block = lw__dataset_block_count(dataset) - 1;
        status = lw__dataset_record_number(dataset, block, 0, &number, err);
    }
    lw__cursor_close(cursor);
    lw__text_reset(&text);
    lw__documents_reset(&documents);
    lw__dataset_close(dataset);
    return status;
}

static void test_cursor__every_allocation_may_fail(void **state)
{
    (void)state;
    lw__bytes data;
    lw__bytes packed[2];
    lw__bytes_init(&data);
    lw__bytes_init(&packed[0]);
    lw__bytes_init(&packed[1]);
    for (int i = 0; i < 100; i++) {
        lw__bytes_printf(&data, "{\"a\": {\"b\": \"%d\\n\"}}\n{\"a\": %d}\n", i, i);
    }
    put_gzip(&packed[0], data.data, data.count);
    for (size_t at = 0; at < data.count; at += 100) {
        put_zstd(&packed[1], data.data + at, data.count - at < 100 ? data.count - at : 100, 1);
    }
    scratch_write("s.jsonl", data.data, data.count);
    scratch_write("s.jsonl.gz", packed[0].data, packed[0].count);
    scratch_write("s.jsonl.zst", packed[1].data, packed[1].count);
    static const char *const names[] = {"s.jsonl", "s.jsonl.gz", "s.jsonl.zst"};
    for (size_t i = 0; i < 3; i++) {
        lw_status status = LW_E_NOMEM;
        for (unsigned long calls = 1; status != LW_OK; calls++) {
            lw_error err = {0};
            lw__alloc_fail_after(calls);
            status = read_all(names[i], &err);
            lw__alloc_fail_after(0);
            if (status != LW_OK && status != LW_E_NOMEM) {
                fail_msg("%s", err.message);
            }
            assert_true(calls < 10000);
        }
    }
    lw__bytes_reset(&data);
    lw__bytes_reset(&packed[0]);
    lw__bytes_reset(&packed[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursor__corner_cases_equal_the_model),
        cmocka_unit_test(test_cursor__random_shards_equal_the_model),
        cmocka_unit_test(test_cursor__long_lines),
        cmocka_unit_test(test_cursor__encodings_of_nothing),
        cmocka_unit_test(test_cursor__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
