/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces "lane_00000" ...: lane, rows delivered, and the marker to go on from. */
#include <stdio.h>

#include "base/error.h"
#include "checkpoint/checkpoint.h"

void lw__lane_piece_name(uint64_t lane, char out[32])
{
    snprintf(out, 32, "lane_%05llu", (unsigned long long)lane);
}

lw_status lw__lane_piece_save(lw_state *state, const lw__lane_piece *piece, lw_error *err)
{
    lw__bytes bytes;
    char name[32];
    lw__lane_piece_name(piece->lane, name);
    lw__bytes_init(&bytes);
    lw__bytes_put_varint(&bytes, piece->lane);
    lw__bytes_put_varint(&bytes, piece->taken);
    lw__bytes_put_text(&bytes, piece->marker.data, piece->marker.bytes);
    lw_status status = lw__state_add(state, name, &bytes, err);
    lw__bytes_reset(&bytes);
    return status;
}

lw_status lw__lane_piece_parse(const lw__state_piece *piece, lw__lane_piece *out, lw_error *err)
{
    lw__reader from = lw__reader_of(piece->data, piece->bytes - LW__PIECE_CHECK);
    out->lane = lw__reader_varint(&from);
    out->taken = lw__reader_varint(&from);
    out->marker = lw__reader_text(&from);
    if (from.failed || from.at != from.end) {
        return lw__fail(err, LW_E_CORRUPT, "state: piece \"%s\" has the wrong size", piece->name);
    }
    return LW_OK;
}

lw_status lw__lane_piece_find(const lw_state *state, uint64_t lane, lw__lane_piece *out,
                              lw_error *err)
{
    char name[32];
    lw__lane_piece_name(lane, name);
    const lw__state_piece *piece = lw__state_find(state, name);
    if (piece == NULL) {
        return lw__fail(
            err, LW_E_NOT_FOUND,
            "state: no piece \"%s\", expected one for every lane of this rank (merge the states "
            "of all ranks)",
            name);
    }
    LW__TRY(lw__lane_piece_parse(piece, out, err));
    if (out->lane != lane) {
        return lw__fail(err, LW_E_CORRUPT, "state: piece \"%s\" is of lane %llu", name,
                        (unsigned long long)out->lane);
    }
    return LW_OK;
}
