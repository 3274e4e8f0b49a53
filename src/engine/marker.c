/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers: a lane between two documents, as integers.
 *
 *     row | sources | each: flags, j, part, index, drawn, skipped, check if there is one | carries
 *
 * The bytes depend on what the lane has decided, never on when: two ranks that run the same lane
 * write the same ones.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/lane.h"

#define SOURCE_ENDED 1u
#define SOURCE_CHECK 2u

static void save_source(const lw__lane *lane, size_t source, lw__bytes *out)
{
    const lw__position *at = &lane->streams[source].position;
    const lw__mixture_source *mixed = &lane->mixture.sources[source];
    lw__bytes_put_u8(
        out, (uint8_t)((mixed->ended ? SOURCE_ENDED : 0u) | (at->check != 0 ? SOURCE_CHECK : 0u)));
    lw__bytes_put_varint(out, at->j);
    lw__bytes_put_varint(out, at->part);
    lw__bytes_put_varint(out, at->index);
    lw__bytes_put_varint(out, mixed->drawn);
    lw__bytes_put_varint(out, at->skipped);
    if (at->check != 0) {
        lw__bytes_put_u64le(out, at->check);
    }
}

lw_status lw__marker_save(const lw__lane *lane, uint64_t row, lw__marker **out, lw_error *err)
{
    lw__bytes bytes;
    *out = NULL;
    lw__bytes_init(&bytes);
    lw__bytes_put_varint(&bytes, row);
    lw__bytes_put_varint(&bytes, lane->mixture.source_count);
    for (size_t i = 0; i < lane->mixture.source_count; i++) {
        save_source(lane, i, &bytes);
    }
    lw_status status = lw__chain_save(&lane->chain, &bytes, err);
    lw__marker *marker = status == LW_OK ? lw__alloc(sizeof *marker + bytes.count) : NULL;
    if (marker != NULL) {
        *marker = (lw__marker){.row = row, .count = bytes.count};
        memcpy(marker->bytes, bytes.data, bytes.count);
        *out = marker;
    } else if (status == LW_OK) {
        status = lw__fail_nomem(err, bytes.count, "a marker");
    }
    lw__bytes_reset(&bytes);
    return status;
}

static void load_source(lw__lane *lane, size_t source, lw__reader *from)
{
    lw__position at = {0};
    lw__mixture_source *mixed = &lane->mixture.sources[source];
    uint8_t flags = lw__reader_u8(from);
    at.j = lw__reader_varint(from);
    at.part = lw__reader_varint(from);
    at.index = lw__reader_varint(from);
    mixed->drawn = lw__reader_varint(from);
    mixed->ended = (flags & SOURCE_ENDED) != 0;
    at.skipped = lw__reader_varint(from);
    at.check = (flags & SOURCE_CHECK) != 0 ? lw__reader_u64le(from) : 0;
    lw__stream_seek(&lane->streams[source], &at);
}

/* Sums of what was drawn stay far below 64 bits; a damaged marker may say otherwise. */
static lw_status check_drawn(const lw__lane *lane, lw_error *err)
{
    for (size_t i = 0; i < lane->mixture.source_count; i++) {
        if (lane->mixture.sources[i].drawn > UINT64_MAX / 2 / lane->mixture.source_count) {
            return lw__fail(err, LW_E_CORRUPT, "state: lane %llu has drawn %llu tokens of a source",
                            (unsigned long long)lane->number,
                            (unsigned long long)lane->mixture.sources[i].drawn);
        }
    }
    return LW_OK;
}

lw_status lw__marker_load(lw__lane *lane, const void *data, size_t bytes, lw_error *err)
{
    lw__reader from = lw__reader_of(data, bytes);
    lane->emitted = lw__reader_varint(&from);
    uint64_t sources = lw__reader_varint(&from);
    if (from.failed || sources != lane->mixture.source_count) {
        return lw__fail(err, LW_E_CORRUPT, "state: lane %llu has %llu sources, expected %zu",
                        (unsigned long long)lane->number, (unsigned long long)sources,
                        lane->mixture.source_count);
    }
    for (size_t i = 0; i < lane->mixture.source_count; i++) {
        load_source(lane, i, &from);
    }
    LW__TRY(check_drawn(lane, err));
    lw__mixture_restart(&lane->mixture);
    LW__TRY(lw__chain_load(&lane->chain, &from, &lane->remake, err));
    if (from.failed || from.at != from.end) {
        return lw__fail(err, LW_E_CORRUPT,
                        "state: lane %llu has %zu bytes after its carry, expected none",
                        (unsigned long long)lane->number, (size_t)(from.end - from.at));
    }
    return LW_OK;
}
