/* SPDX-License-Identifier: Apache-2.0 */
/* A state for people, and for programs. */
#include "base/error.h"
#include "checkpoint/checkpoint.h"

static void put_json_text(lw__bytes *out, lw_str text)
{
    lw__bytes_put_u8(out, '"');
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\') {
            lw__bytes_printf(out, "\\%c", c);
        } else if (c < 0x20) {
            lw__bytes_printf(out, "\\u%04x", c);
        } else {
            lw__bytes_put_u8(out, c);
        }
    }
    lw__bytes_put_u8(out, '"');
}

/* Names and sizes of one source's files, summed up. */
typedef struct source_total {
    lw_str name;
    uint64_t shards;
    uint64_t bytes;
} source_total;

static source_total next_source(lw__reader *from, lw__bytes *name)
{
    source_total total = {.name = lw__reader_text(from)};
    total.shards = lw__reader_varint(from);
    name->count = 0;
    for (uint64_t i = 0; i < total.shards && !from->failed; i++) {
        uint64_t bytes = 0;
        uint32_t sample;
        lw__global_next_shard(from, name, &bytes, &sample);
        total.bytes += bytes;
    }
    return total;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_fields(const lw__global *global, lw__bytes *out)
{
    lw__reader from = global->fields;
    for (uint64_t i = 0; i < global->field_count; i++) {
        lw_str key = lw__reader_text(&from);
        lw_str value = lw__reader_text(&from);
        lw__bytes_printf(out, i == 0 ? "" : ", ");
        put_json_text(out, key);
        lw__bytes_printf(out, ": ");
        put_json_text(out, value);
    }
}

static void json_sources(const lw__global *global, lw__bytes *name, lw__bytes *out)
{
    lw__reader from = global->sources;
    for (uint64_t i = 0; i < global->source_count; i++) {
        source_total total = next_source(&from, name);
        lw__bytes_printf(out, "%s{\"name\": ", i == 0 ? "" : ", ");
        put_json_text(out, total.name);
        lw__bytes_printf(out, ", \"shards\": %llu, \"bytes\": %llu}",
                         (unsigned long long)total.shards, (unsigned long long)total.bytes);
    }
}

static lw_status json_lanes(const lw_state *state, lw__bytes *out, lw_error *err)
{
    const char *comma = "";
    for (size_t i = 0; i < state->count; i++) {
        lw__lane_piece piece;
        if (state->pieces[i].name[0] != 'l') {
            continue;
        }
        LW__TRY(lw__lane_piece_parse(&state->pieces[i], &piece, err));
        lw__reader marker = lw__reader_of(piece.marker.data, piece.marker.bytes);
        lw__bytes_printf(out,
                         "%s{\"lane\": %llu, \"rows\": %llu, \"marker_row\": %llu, \"bytes\": %zu}",
                         comma, (unsigned long long)piece.lane, (unsigned long long)piece.taken,
                         (unsigned long long)lw__reader_varint(&marker), state->pieces[i].bytes);
        comma = ", ";
    }
    return LW_OK;
}

static lw_status describe_json(const lw_state *state, const lw__global *global, lw__bytes *name,
                               lw__bytes *out, lw_error *err)
{
    lw__bytes_printf(out,
                     "{\"format\": %u, \"stream_version\": %llu, \"step\": %llu, \"bytes\": %zu, ",
                     LW__STATE_FORMAT, (unsigned long long)global->stream_version,
                     (unsigned long long)global->step, state->blob.count);
    lw__bytes_printf(out, "\"fields\": {");
    json_fields(global, out);
    lw__bytes_printf(out, "}, \"sources\": [");
    json_sources(global, name, out);
    lw__bytes_printf(out, "], \"lanes\": [");
    LW__TRY(json_lanes(state, out, err));
    lw__bytes_printf(out, "], \"recipe\": ");
    put_json_text(out, global->recipe);
    lw__bytes_printf(out, "}\n");
    return LW_OK;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void text_sources(const lw__global *global, lw__bytes *name, lw__bytes *out)
{
    lw__reader from = global->sources;
    lw__bytes_printf(out, "\n%-24s %8s %16s\n", "source", "files", "bytes");
    for (uint64_t i = 0; i < global->source_count; i++) {
        source_total total = next_source(&from, name);
        lw__bytes_printf(out, "%-24.*s %8llu %16llu\n", (int)total.name.bytes, total.name.data,
                         (unsigned long long)total.shards, (unsigned long long)total.bytes);
    }
}

static lw_status text_lanes(const lw_state *state, lw__bytes *out, lw_error *err)
{
    lw__bytes_printf(out, "\n%6s %12s %12s %8s\n", "lane", "rows taken", "marker row", "bytes");
    for (size_t i = 0; i < state->count; i++) {
        lw__lane_piece piece;
        if (state->pieces[i].name[0] != 'l') {
            continue;
        }
        LW__TRY(lw__lane_piece_parse(&state->pieces[i], &piece, err));
        lw__reader marker = lw__reader_of(piece.marker.data, piece.marker.bytes);
        lw__bytes_printf(out, "%6llu %12llu %12llu %8zu\n", (unsigned long long)piece.lane,
                         (unsigned long long)piece.taken,
                         (unsigned long long)lw__reader_varint(&marker), state->pieces[i].bytes);
    }
    return LW_OK;
}

static lw_status describe_text(const lw_state *state, const lw__global *global, lw__bytes *name,
                               lw__bytes *out, lw_error *err)
{
    lw__reader from = global->fields;
    lw__bytes_printf(out,
                     "after step %llu, %zu lanes, %zu bytes (format %u, stream version %llu)\n\n",
                     (unsigned long long)global->step, state->count - 1, state->blob.count,
                     LW__STATE_FORMAT, (unsigned long long)global->stream_version);
    for (uint64_t i = 0; i < global->field_count; i++) {
        lw_str key = lw__reader_text(&from);
        lw_str value = lw__reader_text(&from);
        lw__bytes_printf(out, "%-32.*s %.*s\n", (int)key.bytes, key.data, (int)value.bytes,
                         value.data);
    }
    text_sources(global, name, out);
    return text_lanes(state, out, err);
}

lw_status lw_state_describe(const lw_state *state, int32_t json, char **out, lw_error *err)
{
    lw__global global;
    lw__bytes text;
    lw__bytes name;
    if (state == NULL || out == NULL) {
        return lw__fail(err, LW_E_INVALID, "state: lw_state_describe: an argument is NULL");
    }
    *out = NULL;
    LW__TRY(lw__global_parse(lw__state_find(state, "global"), &global, err));
    lw__bytes_init(&text);
    lw__bytes_init(&name);
    lw_status status = json != 0 ? describe_json(state, &global, &name, &text, err)
                                 : describe_text(state, &global, &name, &text, err);
    lw__bytes_put_u8(&text, 0);
    lw__bytes_reset(&name);
    if (status == LW_OK && text.failed) {
        status = lw__fail_nomem(err, text.count, "a description");
    }
    if (status < 0) {
        lw__bytes_reset(&text);
        return status;
    }
    *out = (char *)text.data;
    return LW_OK;
}
