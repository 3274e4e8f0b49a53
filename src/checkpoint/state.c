/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States and their blob:
 *
 *     "LWSTATE\n" | format | payload bytes | zstd(payload) | XXH3-64 of all before, little-endian
 *     payload: count of pieces, then for each its name and its bytes
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "checkpoint/checkpoint.h"

static const char magic[8] = {'L', 'W', 'S', 'T', 'A', 'T', 'E', '\n'};

#define CHECK_BYTES 8u
#define ZSTD_LEVEL  3
/* No state of a sane run comes near: a bound for what a damaged length may make us allocate. */
#define PAYLOAD_LIMIT (UINT64_C(1) << 34)

/* ---- pieces --------------------------------------------------------------------------------- */

lw_status lw__state_create(lw_state **out, lw_error *err)
{
    *out = lw__alloc_zero(1, sizeof **out);
    if (*out == NULL) {
        return lw__fail_nomem(err, sizeof **out, "a state");
    }
    lw__bytes_init(&(*out)->blob);
    return LW_OK;
}

void lw_state_close(lw_state *state)
{
    if (state == NULL) {
        return;
    }
    for (size_t i = 0; i < state->count; i++) {
        lw__free(state->pieces[i].name);
        lw__free(state->pieces[i].data);
    }
    lw__free(state->pieces);
    lw__bytes_reset(&state->blob);
    lw__free(state);
}

static lw_status add_piece(lw_state *state, lw_str name, lw_str data, lw_error *err)
{
    lw__state_piece *pieces =
        lw__resize_array(state->pieces, state->count + 1, sizeof *state->pieces);
    if (pieces == NULL) {
        return lw__fail_nomem(err, sizeof *pieces, "a state");
    }
    state->pieces = pieces;
    lw__state_piece *piece = &pieces[state->count];
    *piece = (lw__state_piece){.name = lw__copy_text(name.data, name.bytes),
                               .name_bytes = name.bytes,
                               .data = lw__copy_text(data.data, data.bytes),
                               .bytes = data.bytes};
    if (piece->name == NULL || piece->data == NULL) {
        lw__free(piece->name);
        lw__free(piece->data);
        return lw__fail_nomem(err, data.bytes, "a state");
    }
    state->count++;
    return LW_OK;
}

lw_status lw__state_add(lw_state *state, const char *name, lw__bytes *data, lw_error *err)
{
    lw__bytes_put_u64le(data, XXH3_64bits(data->data, data->count));
    if (data->failed) {
        return lw__fail_nomem(err, data->count, "a state");
    }
    return add_piece(state, (lw_str){name, strlen(name)},
                     (lw_str){(const char *)data->data, data->count}, err);
}

static bool is_whole(const lw__state_piece *piece)
{
    if (piece->bytes < LW__PIECE_CHECK) {
        return false;
    }
    size_t count = piece->bytes - LW__PIECE_CHECK;
    lw__reader check = lw__reader_of(piece->data + count, LW__PIECE_CHECK);
    return lw__reader_u64le(&check) == XXH3_64bits(piece->data, count);
}

static int compare_names(const void *a, const void *b)
{
    const lw__state_piece *x = a;
    const lw__state_piece *y = b;
    return strcmp(x->name, y->name);
}

static int compare_to_name(const void *name, const void *piece)
{
    return strcmp(name, ((const lw__state_piece *)piece)->name);
}

const lw__state_piece *lw__state_find(const lw_state *state, const char *name)
{
    return bsearch(name, state->pieces, state->count, sizeof *state->pieces, compare_to_name);
}

/* ---- the blob ------------------------------------------------------------------------------- */

static lw_status compress_payload(const lw__bytes *payload, lw__bytes *out, lw_error *err)
{
    size_t bound = ZSTD_compressBound(payload->count);
    lw__bytes_put_varint(out, payload->count);
    if (!lw__bytes_reserve(out, bound)) {
        return lw__fail_nomem(err, bound, "a state");
    }
    size_t count =
        ZSTD_compress(out->data + out->count, bound, payload->data, payload->count, ZSTD_LEVEL);
    if (ZSTD_isError(count)) {
        return lw__fail(err, LW_E_INTERNAL, "state: zstd: %s", ZSTD_getErrorName(count));
    }
    out->count += count;
    return LW_OK;
}

static lw_status make_blob(lw_state *state, lw_error *err)
{
    lw__bytes payload;
    lw__bytes_init(&payload);
    lw__bytes_put_varint(&payload, state->count);
    for (size_t i = 0; i < state->count; i++) {
        const lw__state_piece *piece = &state->pieces[i];
        lw__bytes_put_text(&payload, piece->name, piece->name_bytes);
        lw__bytes_put_text(&payload, piece->data, piece->bytes);
    }
    lw__bytes *blob = &state->blob;
    lw__bytes_put(blob, magic, sizeof magic);
    lw__bytes_put_varint(blob, LW__STATE_FORMAT);
    lw_status status = payload.failed ? lw__fail_nomem(err, payload.count, "a state")
                                      : compress_payload(&payload, blob, err);
    lw__bytes_reset(&payload);
    LW__TRY(status);
    lw__bytes_put_u64le(blob, XXH3_64bits(blob->data, blob->count));
    return blob->failed ? lw__fail_nomem(err, blob->count, "a state") : LW_OK;
}

lw_status lw__state_finish(lw_state *state, lw_error *err)
{
    lw__global global;
    if (state->count > 0) {
        qsort(state->pieces, state->count, sizeof *state->pieces, compare_names);
    }
    for (size_t i = 0; i < state->count; i++) {
        if (!is_whole(&state->pieces[i])) {
            return lw__fail(err, LW_E_CORRUPT,
                            "state: piece \"%s\" is cut short or changed, expected it undamaged",
                            state->pieces[i].name);
        }
    }
    for (size_t i = 1; i < state->count; i++) {
        if (strcmp(state->pieces[i - 1].name, state->pieces[i].name) == 0) {
            return lw__fail(err, LW_E_INVALID, "state: piece \"%s\" twice, expected once",
                            state->pieces[i].name);
        }
    }
    const lw__state_piece *piece = state->count > 0 ? lw__state_find(state, "global") : NULL;
    if (piece == NULL) {
        return lw__fail(err, LW_E_CORRUPT, "state: no piece \"global\", expected one");
    }
    LW__TRY(lw__global_parse(piece, &global, err));
    state->step = global.step;
    return state->blob.count == 0 ? make_blob(state, err) : LW_OK;
}

static lw_status fail_null(const char *function, lw_error *err)
{
    return lw__fail(err, LW_E_INVALID, "state: %s: an argument is NULL", function);
}

static lw_status fail_short(lw_error *err, size_t bytes)
{
    return lw__fail(err, LW_E_CORRUPT,
                    "state: %zu bytes that end early or are no state, expected a whole one", bytes);
}

static lw_status parse_pieces(lw_state *state, const lw__bytes *payload, lw_error *err)
{
    lw__reader from = lw__reader_of(payload->data, payload->count);
    uint64_t count = lw__reader_varint(&from);
    for (uint64_t i = 0; i < count && !from.failed; i++) {
        lw_str name = lw__reader_text(&from);
        lw_str data = lw__reader_text(&from);
        if (!from.failed) {
            LW__TRY(add_piece(state, name, data, err));
        }
    }
    return from.failed || from.at != from.end ? fail_short(err, payload->count) : LW_OK;
}

static lw_status check_head(const unsigned char *data, size_t bytes, lw__reader *from,
                            lw_error *err)
{
    if (bytes < sizeof magic + 2 + CHECK_BYTES || memcmp(data, magic, sizeof magic) != 0) {
        return fail_short(err, bytes);
    }
    lw__reader tail = lw__reader_of(data + bytes - CHECK_BYTES, CHECK_BYTES);
    if (lw__reader_u64le(&tail) != XXH3_64bits(data, bytes - CHECK_BYTES)) {
        return lw__fail(err, LW_E_CORRUPT,
                        "state: %zu bytes whose checksum differs, expected an undamaged state",
                        bytes);
    }
    *from = lw__reader_of(data + sizeof magic, bytes - sizeof magic - CHECK_BYTES);
    uint64_t format = lw__reader_varint(from);
    if (format != LW__STATE_FORMAT) {
        return lw__fail(err, LW_E_UNSUPPORTED, "state: format %llu, expected at most %u",
                        (unsigned long long)format, LW__STATE_FORMAT);
    }
    return LW_OK;
}

static lw_status parse_blob(lw_state *state, const unsigned char *data, size_t bytes, lw_error *err)
{
    lw__reader from;
    lw__bytes payload;
    LW__TRY(check_head(data, bytes, &from, err));
    uint64_t count = lw__reader_varint(&from);
    if (from.failed || count > PAYLOAD_LIMIT) {
        return fail_short(err, bytes);
    }
    lw__bytes_init(&payload);
    if (!lw__bytes_reserve(&payload, (size_t)count + 1)) {
        return lw__fail_nomem(err, (size_t)count, "a state");
    }
    payload.count =
        ZSTD_decompress(payload.data, (size_t)count, from.at, (size_t)(from.end - from.at));
    lw_status status = ZSTD_isError(payload.count) || payload.count != count
                           ? fail_short(err, bytes)
                           : parse_pieces(state, &payload, err);
    lw__bytes_reset(&payload);
    LW__TRY(status);
    lw__bytes_put(&state->blob, data, bytes);
    return state->blob.failed ? lw__fail_nomem(err, bytes, "a state")
                              : lw__state_finish(state, err);
}

lw_status lw_state_parse(const void *data, size_t bytes, lw_state **out, lw_error *err)
{
    lw_state *state = NULL;
    if (data == NULL || out == NULL) {
        return fail_null("lw_state_parse", err);
    }
    *out = NULL;
    LW__TRY(lw__state_create(&state, err));
    lw_status status = parse_blob(state, data, bytes, err);
    if (status < 0) {
        lw_state_close(state);
        return status;
    }
    *out = state;
    return LW_OK;
}

lw_status lw_state_from_pieces(const lw_str *names, const lw_str *pieces, size_t count,
                               lw_state **out, lw_error *err)
{
    lw_state *state = NULL;
    if (out == NULL || (count > 0 && (names == NULL || pieces == NULL))) {
        return fail_null("lw_state_from_pieces", err);
    }
    *out = NULL;
    LW__TRY(lw__state_create(&state, err));
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        status = add_piece(state, names[i], pieces[i], err);
    }
    status = status == LW_OK ? lw__state_finish(state, err) : status;
    if (status < 0) {
        lw_state_close(state);
        return status;
    }
    *out = state;
    return LW_OK;
}

/* ---- merging -------------------------------------------------------------------------------- */

static lw_status merge_piece(lw_state *into, const lw__state_piece *piece, lw_error *err)
{
    for (size_t i = 0; i < into->count; i++) {
        const lw__state_piece *have = &into->pieces[i];
        if (strcmp(have->name, piece->name) != 0) {
            continue;
        }
        bool same =
            have->bytes == piece->bytes && memcmp(have->data, piece->data, have->bytes) == 0;
        if (!same && !lw__global_is_same(have, piece)) {
            return lw__fail(
                err, LW_E_MISMATCH,
                "state: piece \"%s\" differs between the states to merge, expected parts of "
                "one run at one step",
                piece->name);
        }
        return LW_OK;
    }
    return add_piece(into, (lw_str){piece->name, piece->name_bytes},
                     (lw_str){piece->data, piece->bytes}, err);
}

lw_status lw_state_merge(const lw_state *const *states, size_t count, lw_state **out, lw_error *err)
{
    lw_state *merged = NULL;
    if (out == NULL || (count > 0 && states == NULL)) {
        return fail_null("lw_state_merge", err);
    }
    *out = NULL;
    LW__TRY(lw__state_create(&merged, err));
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        if (states[i] == NULL) {
            status = fail_null("lw_state_merge", err);
            break;
        }
        for (size_t k = 0; k < states[i]->count && status == LW_OK; k++) {
            status = merge_piece(merged, &states[i]->pieces[k], err);
        }
    }
    status = status == LW_OK ? lw__state_finish(merged, err) : status;
    if (status < 0) {
        lw_state_close(merged);
        return status;
    }
    *out = merged;
    return LW_OK;
}

/* ---- looking -------------------------------------------------------------------------------- */

lw_str lw_state_bytes(const lw_state *state)
{
    return (lw_str){(const char *)state->blob.data, state->blob.count};
}

size_t lw_state_piece_count(const lw_state *state)
{
    return state->count;
}

lw_str lw_state_piece_name(const lw_state *state, size_t index)
{
    return (lw_str){state->pieces[index].name, state->pieces[index].name_bytes};
}

lw_str lw_state_piece_bytes(const lw_state *state, size_t index)
{
    return (lw_str){state->pieces[index].data, state->pieces[index].bytes};
}

uint64_t lw_state_step(const lw_state *state)
{
    return state->step;
}
