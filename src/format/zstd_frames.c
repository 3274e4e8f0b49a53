/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame table of a zstd shard (RFC 8878 for frames, the seekable format for the seek table).
 * Frames are put into groups as they are found, so only the starts of the groups are kept. A seek
 * table is believed when its sizes add up to the shard and no entry is empty (an empty one may be a
 * skippable frame, which the table does not tell apart); otherwise the headers decide.
 */
#include "format/zstd_frames.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define FRAME_MAGIC      UINT32_C(0xFD2FB528)
#define SKIPPABLE_MAGIC  UINT32_C(0x184D2A50) /* the low four bits are free */
#define SEEK_TABLE_MAGIC UINT32_C(0x184D2A5E)
#define SEEK_FOOT_MAGIC  UINT32_C(0x8F92EAB1)

enum {
    WINDOW_BYTES = 4096, /* of the shard, kept while walking: many small frames need few reads */
    HEADER_MAX = 18,     /* magic, descriptor, window, dictionary, content size */
    SKIPPABLE_HEADER = 8,
    BLOCK_HEADER = 3,
    CHECKSUM_BYTES = 4,
    SEEK_FOOT = 9,
    SEEK_ENTRY = 8,
    SEEK_ENTRY_CHECKED = 12
};

typedef struct walker {
    lw__object *object;
    lw_error *err;
    uint64_t offset; /* of window[0] */
    size_t count;
    unsigned char window[WINDOW_BYTES];
} walker;

typedef struct grouper {
    lw__blocks *blocks;
    size_t capacity;
    uint64_t block_bytes;
    uint64_t open_bytes; /* of the data frames in the open group; 0: none is open */
    uint64_t frames;
} grouper;

typedef struct frame {
    uint64_t start;
    uint64_t bytes;
    uint64_t window_bytes;
    bool is_data;
} frame;

static uint32_t load_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static lw_status put_frame(grouper *g, const frame *f, lw_error *err)
{
    lw__blocks *blocks = g->blocks;
    g->frames++;
    if (f->window_bytes > blocks->window_bytes) {
        blocks->window_bytes = f->window_bytes;
    }
    if (g->open_bytes == 0) {
        if (blocks->count == g->capacity) {
            size_t capacity = g->capacity == 0 ? 16 : g->capacity * 2;
            uint64_t *starts = lw__resize_array(blocks->starts, capacity, sizeof *starts);
            if (starts == NULL) {
                return lw__fail_nomem(err, capacity * sizeof *starts, "a table of frames");
            }
            blocks->starts = starts;
            g->capacity = capacity;
        }
        blocks->starts[blocks->count++] = f->start;
    }
    g->open_bytes += f->bytes;
    if (g->open_bytes >= g->block_bytes) {
        g->open_bytes = 0;
    }
    return LW_OK;
}

static lw_status fail_frame(const walker *w, uint64_t start, const char *found,
                            const char *expected)
{
    return lw__fail(w->err, LW_E_CORRUPT, "zstd: \"%s\" frame at byte %llu: %s, expected %s",
                    w->object->path, (unsigned long long)start, found, expected);
}

/* Up to `wanted` bytes at offset; *count tells how many there are before the shard's end. */
static lw_status look(walker *w, uint64_t offset, size_t wanted, const unsigned char **out,
                      size_t *count)
{
    uint64_t left = w->object->bytes - offset;
    *count = left < wanted ? (size_t)left : wanted;
    if (offset < w->offset || offset + *count > w->offset + w->count) {
        w->offset = offset;
        w->count = left < WINDOW_BYTES ? (size_t)left : (size_t)WINDOW_BYTES;
        LW__TRY(lw__storage_read(w->object, offset, w->window, w->count, w->err));
    }
    *out = w->window + (offset - w->offset);
    return LW_OK;
}

/* Passes the blocks of a data frame; *at goes from its first block to its end. */
static lw_status walk_blocks(walker *w, uint64_t start, bool has_checksum, uint64_t *at)
{
    for (bool last = false; !last;) {
        const unsigned char *p = NULL;
        size_t count = 0;
        LW__TRY(look(w, *at, BLOCK_HEADER, &p, &count));
        if (count < BLOCK_HEADER) {
            return fail_frame(w, start, "the shard ends inside it", "a whole frame");
        }
        uint32_t header = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
        uint32_t kind = header >> 1 & 3;
        if (kind == 3) {
            return fail_frame(w, start, "a block of a reserved kind", "a zstd block");
        }
        last = (header & 1) != 0;
        /* A run-length block (1) holds one byte, however long it is. */
        uint64_t step = BLOCK_HEADER + (kind == 1 ? 1 : header >> 3);
        step += last && has_checksum ? CHECKSUM_BYTES : 0;
        if (step > w->object->bytes - *at) {
            return fail_frame(w, start, "the shard ends inside it", "a whole frame");
        }
        *at += step;
    }
    return LW_OK;
}

static uint64_t content_bytes(const unsigned char *p, size_t field_bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < field_bytes; i++) {
        value |= (uint64_t)p[i] << (8 * i);
    }
    return value + (field_bytes == 2 ? 256 : 0);
}

/* The window that a frame's header asks for. Returns the header's bytes. */
static size_t read_header(const unsigned char *p, uint64_t *window_bytes)
{
    static const size_t dictionary_bytes[] = {0, 1, 2, 4};
    static const size_t content_field_bytes[] = {0, 2, 4, 8};
    unsigned descriptor = p[4];
    bool single = (descriptor >> 5 & 1) != 0;
    size_t content_field = content_field_bytes[descriptor >> 6];
    content_field = content_field == 0 && single ? 1 : content_field;
    size_t at = 5;
    if (!single) {
        uint64_t base = UINT64_C(1) << (10 + (p[at] >> 3));
        *window_bytes = base + base / 8 * (p[at] & 7);
        at++;
    }
    at += dictionary_bytes[descriptor & 3];
    if (single) {
        *window_bytes = content_bytes(p + at, content_field);
    }
    return at + content_field;
}

static lw_status walk_data_frame(walker *w, const unsigned char *p, size_t count, frame *f)
{
    unsigned char header[HEADER_MAX] = {0};
    memcpy(header, p, count);
    size_t header_bytes = read_header(header, &f->window_bytes);
    if (count < 5 || count < header_bytes) {
        return fail_frame(w, f->start, "the shard ends inside it", "a whole frame");
    }
    if (f->window_bytes > UINT64_C(1) << LW__ZSTD_WINDOW_LOG) {
        return lw__fail(w->err, LW_E_UNSUPPORTED,
                        "zstd: \"%s\" frame at byte %llu: a window of %llu bytes, expected at "
                        "most %llu",
                        w->object->path, (unsigned long long)f->start,
                        (unsigned long long)f->window_bytes, 1ULL << LW__ZSTD_WINDOW_LOG);
    }
    uint64_t at = f->start + header_bytes;
    LW__TRY(walk_blocks(w, f->start, (header[4] >> 2 & 1) != 0, &at));
    f->is_data = true;
    f->bytes = at - f->start;
    return LW_OK;
}

static lw_status walk_frame(walker *w, frame *f)
{
    const unsigned char *p = NULL;
    size_t count = 0;
    f->is_data = false;
    f->window_bytes = 0;
    LW__TRY(look(w, f->start, HEADER_MAX, &p, &count));
    uint32_t magic = count >= 4 ? load_u32(p) : 0;
    if (magic == FRAME_MAGIC) {
        return walk_data_frame(w, p, count, f);
    }
    if ((magic & ~UINT32_C(15)) != SKIPPABLE_MAGIC) {
        return fail_frame(w, f->start, "bytes that start no frame", "a zstd frame");
    }
    uint64_t left = w->object->bytes - f->start;
    f->bytes = count < SKIPPABLE_HEADER ? UINT64_MAX : SKIPPABLE_HEADER + (uint64_t)load_u32(p + 4);
    return f->bytes > left ? fail_frame(w, f->start, "the shard ends inside it", "a whole frame")
                           : LW_OK;
}

static lw_status walk_shard(lw__object *object, grouper *g, lw_error *err)
{
    walker w = {.object = object, .err = err};
    frame f = {0};
    while (f.start < object->bytes) {
        LW__TRY(walk_frame(&w, &f));
        if (f.is_data) {
            LW__TRY(put_frame(g, &f, err));
        }
        f.start += f.bytes;
    }
    return LW_OK;
}

/* Where a seek table would be. */
typedef struct seek_table {
    uint64_t start;
    size_t bytes; /* the whole skippable frame */
    size_t entries;
    size_t entry_bytes;
} seek_table;

/* Reads the shard's last bytes; *out stays empty unless they are the foot of a seek table. */
static lw_status find_seek_table(lw__object *object, seek_table *out, lw_error *err)
{
    unsigned char foot[SEEK_FOOT];
    *out = (seek_table){0};
    if (object->bytes < SEEK_FOOT + SKIPPABLE_HEADER) {
        return LW_OK;
    }
    LW__TRY(lw__storage_read(object, object->bytes - SEEK_FOOT, foot, SEEK_FOOT, err));
    if (load_u32(foot + 5) != SEEK_FOOT_MAGIC || (foot[4] & 0x7C) != 0) {
        return LW_OK;
    }
    size_t entry_bytes = (foot[4] & 0x80) != 0 ? SEEK_ENTRY_CHECKED : SEEK_ENTRY;
    size_t entries = load_u32(foot);
    uint64_t bytes = (uint64_t)entries * entry_bytes + SEEK_FOOT + SKIPPABLE_HEADER;
    if (entries > 0 && bytes < object->bytes) {
        *out = (seek_table){object->bytes - bytes, (size_t)bytes, entries, entry_bytes};
    }
    return LW_OK;
}

/* Whether the table's own header fits, no entry is empty, and the frames fill what is before it. */
static bool is_consistent(const seek_table *table, const unsigned char *data)
{
    uint64_t sum = 0;
    const unsigned char *entry = data + SKIPPABLE_HEADER;
    for (size_t i = 0; i < table->entries; i++, entry += table->entry_bytes) {
        if (load_u32(entry) == 0 || load_u32(entry + 4) == 0) {
            return false;
        }
        sum += load_u32(entry);
    }
    return load_u32(data) == SEEK_TABLE_MAGIC &&
           load_u32(data + 4) == table->bytes - SKIPPABLE_HEADER && sum == table->start;
}

static lw_status put_entries(const seek_table *table, const unsigned char *data, grouper *g,
                             lw_error *err)
{
    frame f = {.is_data = true};
    const unsigned char *entry = data + SKIPPABLE_HEADER;
    for (size_t i = 0; i < table->entries; i++, entry += table->entry_bytes) {
        f.bytes = load_u32(entry);
        /* A frame's window is not in the table, but it need not be larger than the frame's text. */
        uint64_t text_bytes = load_u32(entry + 4);
        uint64_t most = UINT64_C(1) << LW__ZSTD_WINDOW_LOG;
        f.window_bytes = text_bytes < most ? text_bytes : most;
        LW__TRY(put_frame(g, &f, err));
        f.start += f.bytes;
    }
    return LW_OK;
}

/* Groups by the seek table; *used tells whether there was one to go by. */
static lw_status use_seek_table(lw__object *object, grouper *g, bool *used, lw_error *err)
{
    seek_table table;
    *used = false;
    LW__TRY(find_seek_table(object, &table, err));
    if (table.entries == 0) {
        return LW_OK;
    }
    unsigned char *data = lw__alloc(table.bytes);
    if (data == NULL) {
        return lw__fail_nomem(err, table.bytes, "a seek table");
    }
    lw_status status = lw__storage_read(object, table.start, data, table.bytes, err);
    if (status == LW_OK && is_consistent(&table, data)) {
        *used = true;
        status = put_entries(&table, data, g, err);
    }
    lw__free(data);
    return status;
}

lw_status lw__zstd_group_frames(lw__object *object, uint64_t block_bytes, lw__blocks *blocks,
                                lw_error *err)
{
    *blocks = (lw__blocks){0};
    grouper g = {.blocks = blocks, .block_bytes = block_bytes};
    bool used = false;
    lw_status status = use_seek_table(object, &g, &used, err);
    if (status == LW_OK && !used) {
        status = walk_shard(object, &g, err);
    }
    if (status != LW_OK) {
        lw__free(blocks->starts);
        *blocks = (lw__blocks){0};
        return status;
    }
    blocks->sequential = g.frames == 1;
    return LW_OK;
}
