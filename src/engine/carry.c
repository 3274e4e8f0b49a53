/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries: what a chain's accumulators hold, as references and integers (docs/checkpoints.md).
 *
 * A segment takes one byte of flags and source, and a few for the block (as a difference from the
 * last one of its source), the document and, unless it is the whole document, its range. Counts of
 * whole documents are not written: re-making the tokens brings them back. A segment that goes on
 * where the one before it ended (a long document) is its flags, and its count unless it fills its
 * row alone.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "engine/chain.h"

/* Flags of a segment's first byte; above them the source, or one of the two marks. */
#define SEGMENT_WHOLE        1u /* all of its document; with SOURCE_SAME: all of its row */
#define SEGMENT_PART         2u /* its part is not 0, and follows */
#define SEGMENT_SOURCE_SHIFT 2
#define SOURCE_SAME          62u /* goes on in the document of the segment before */
#define SOURCE_LONG          63u /* the source follows */

/* The last j of each source; sources beyond these are coded without a difference. */
#define CODED_SOURCES 64u

typedef struct coder {
    uint64_t last[CODED_SOURCES];
    lw_segment segment; /* the one before; count 0: none */
    uint64_t j;         /* its block's */
} coder;

struct lw_writer {
    lw__bytes *bytes;
    coder coder;
    uint64_t records;
};

struct lw_reader {
    lw__reader *from;
    coder coder;
    lw__chain *chain;
    size_t stage;
    lw__remake_list *remake;
};

/* ---- saving --------------------------------------------------------------------------------- */

static uint64_t *last_of(coder *state, uint32_t source)
{
    return source < CODED_SOURCES ? &state->last[source] : NULL;
}

static bool goes_on(const coder *before, const lw_segment *segment, uint64_t j)
{
    const lw_segment *last = &before->segment;
    return last->count > 0 && last->source == segment->source && before->j == j &&
           last->part == segment->part && last->document == segment->document &&
           last->first + last->count == segment->first;
}

static void put_same(lw_writer *carry, const lw_segment *segment, uint64_t row_fill)
{
    bool fills = segment->count == row_fill;
    lw__bytes_put_u8(carry->bytes,
                     (uint8_t)(SOURCE_SAME << SEGMENT_SOURCE_SHIFT | (fills ? SEGMENT_WHOLE : 0u)));
    if (!fills) {
        lw__bytes_put_varint(carry->bytes, segment->count);
    }
}

static void put_place(lw_writer *carry, const lw_segment *segment, uint64_t j, bool whole)
{
    lw__bytes *bytes = carry->bytes;
    uint32_t source = segment->source < SOURCE_SAME ? segment->source : SOURCE_LONG;
    uint64_t *last = last_of(&carry->coder, segment->source);
    lw__bytes_put_u8(bytes,
                     (uint8_t)(source << SEGMENT_SOURCE_SHIFT | (whole ? SEGMENT_WHOLE : 0u) |
                               (segment->part != 0 ? SEGMENT_PART : 0u)));
    if (source == SOURCE_LONG) {
        lw__bytes_put_varint(bytes, segment->source);
    }
    lw__bytes_put_signed(bytes, (int64_t)(j - (last != NULL ? *last : 0)));
    if (last != NULL) {
        *last = j;
    }
    if (segment->part != 0) {
        lw__bytes_put_varint(bytes, segment->part);
    }
    lw__bytes_put_varint(bytes, segment->document);
}

static void put_segment(lw_writer *carry, const lw_segment *segment, uint64_t j, bool whole,
                        uint64_t row_fill)
{
    if (!whole && goes_on(&carry->coder, segment, j)) {
        put_same(carry, segment, row_fill);
    } else {
        put_place(carry, segment, j, whole);
        if (!whole) {
            lw__bytes_put_varint(carry->bytes, segment->first);
            lw__bytes_put_varint(carry->bytes, segment->count);
        }
    }
    carry->coder.segment = *segment;
    carry->coder.j = j;
}

static void put_row(lw_writer *carry, const lw_record *rec)
{
    const lw__row *row = &rec->u.row;
    lw__bytes_put_varint(carry->bytes, row->piece_count << 1 | (row->followed ? 1u : 0u));
    lw__bytes_put_varint(carry->bytes, rec->context - row->fill);
    if (row->followed) {
        lw__bytes_put_signed(carry->bytes, row->follower);
    }
    for (size_t i = 0; i < row->piece_count; i++) {
        const lw__piece *piece = &row->pieces[i];
        put_segment(carry, &piece->segment, piece->j, piece->whole, row->fill);
    }
}

static void put_document(lw_writer *carry, const lw__doc *doc)
{
    lw__bytes_put_varint(carry->bytes, doc->length);
    lw__bytes_put_varint(carry->bytes, doc->token_count);
    put_place(carry, &doc->place, doc->j, true);
    carry->coder.segment.count = 0;
}

void lw_writer_put(lw_writer *carry, uint64_t value)
{
    lw__bytes_put_varint(carry->bytes, value);
}

void lw_writer_bytes(lw_writer *carry, const void *data, size_t count)
{
    lw__bytes_put_text(carry->bytes, data, count);
}

void lw_writer_record(lw_writer *carry, const lw_record *rec)
{
    carry->records++;
    lw__bytes_put_u8(carry->bytes, (uint8_t)rec->kind);
    if (rec->kind == LW__ROW) {
        put_row(carry, rec);
    } else {
        put_document(carry, &rec->u.doc);
    }
}

/* What waits for its group, which the accumulator does not know of yet. */
static void save_waiting(const lw__stage *stage, lw_writer *carry)
{
    if (stage->oper.type->acc_push_group != NULL) {
        lw_writer_put(carry, stage->waiting_count);
    }
    for (size_t i = 0; i < stage->waiting_count; i++) {
        lw_writer_record(carry, stage->waiting[i]);
    }
}

static lw_status save_stage(const lw__stage *stage, lw__bytes *out, lw_error *err)
{
    lw_writer carry = {.bytes = out};
    save_waiting(stage, &carry);
    if (stage->oper.type->acc_save != NULL) {
        lw_status status = stage->oper.type->acc_save(stage->acc, &carry, err);
        LW__TRY(lw__operator_status(stage->oper.type, status, err));
    }
    if (carry.records != stage->held) {
        return lw__fail(err, LW_E_OPERATOR, "%s: %llu records held, %llu saved",
                        stage->oper.type->name, (unsigned long long)stage->held,
                        (unsigned long long)carry.records);
    }
    return LW_OK;
}

lw_status lw__chain_save(const lw__chain *chain, lw__bytes *out, lw_error *err)
{
    for (size_t i = 0; i < chain->stage_count; i++) {
        LW__TRY(save_stage(&chain->stages[i], out, err));
    }
    return out->failed ? lw__fail_nomem(err, out->count, "a marker") : LW_OK;
}

/* ---- loading -------------------------------------------------------------------------------- */

static lw_status fail_carry(lw_error *err)
{
    return lw__fail(err, LW_E_CORRUPT,
                    "state: a lane's carry ends early or holds impossible numbers");
}

static void get_same(lw_reader *carry, uint8_t head, uint64_t row_fill, lw__piece *piece)
{
    const lw_segment *last = &carry->coder.segment;
    piece->segment = *last;
    piece->j = carry->coder.j;
    piece->segment.first = last->first + last->count;
    piece->segment.count = (head & SEGMENT_WHOLE) != 0 ? row_fill : lw__reader_varint(carry->from);
}

static void get_place(lw_reader *carry, uint8_t head, lw__piece *piece)
{
    lw_segment *segment = &piece->segment;
    segment->source = head >> SEGMENT_SOURCE_SHIFT;
    if (segment->source == SOURCE_LONG) {
        segment->source = (uint32_t)lw__reader_varint(carry->from);
    }
    uint64_t *last = last_of(&carry->coder, segment->source);
    piece->j = (uint64_t)lw__reader_signed(carry->from) + (last != NULL ? *last : 0);
    if (last != NULL) {
        *last = piece->j;
    }
    segment->part = (head & SEGMENT_PART) != 0 ? (uint32_t)lw__reader_varint(carry->from) : 0;
    segment->document = lw__reader_varint(carry->from);
    piece->whole = (head & SEGMENT_WHOLE) != 0;
}

static void get_segment(lw_reader *carry, uint64_t row_fill, lw__piece *piece)
{
    uint8_t head = lw__reader_u8(carry->from);
    *piece = (lw__piece){.tail = LW__NO_TOKEN};
    if (head >> SEGMENT_SOURCE_SHIFT == SOURCE_SAME) {
        get_same(carry, head, row_fill, piece);
    } else {
        get_place(carry, head, piece);
        if (!piece->whole) {
            piece->segment.first = lw__reader_varint(carry->from);
            piece->segment.count = lw__reader_varint(carry->from);
        }
    }
    carry->coder.segment = piece->segment;
    carry->coder.j = piece->j;
}

static lw_status get_row(lw_reader *carry, lw_record *rec, lw_error *err)
{
    lw__row *row = &rec->u.row;
    uint64_t head = lw__reader_varint(carry->from);
    uint64_t room = lw__reader_varint(carry->from);
    row->fill = room <= rec->context ? rec->context - room : 0;
    row->followed = (head & 1) != 0;
    if (row->followed) {
        row->follower = (int32_t)lw__reader_signed(carry->from);
    }
    if (room > rec->context || head >> 1 > row->fill || carry->from->failed) {
        return fail_carry(err);
    }
    for (uint64_t left = head >> 1; left > 0; left--) {
        LW__TRY(lw__row_reserve(row, err));
        get_segment(carry, row->fill, &row->pieces[row->piece_count++]);
    }
    return LW_OK;
}

static void get_document(lw_reader *carry, lw__doc *doc)
{
    lw__piece piece = {.tail = LW__NO_TOKEN};
    doc->length = lw__reader_varint(carry->from);
    doc->token_count = (size_t)lw__reader_varint(carry->from);
    get_place(carry, lw__reader_u8(carry->from), &piece);
    doc->place = piece.segment;
    doc->j = piece.j;
    carry->coder.segment.count = 0;
}

static lw_status remember(lw__remake_list *list, lw_record *rec, lw_error *err)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        lw_record **items = lw__resize_array(list->items, capacity, sizeof(lw_record *));
        if (items == NULL) {
            return lw__fail_nomem(err, capacity * sizeof(lw_record *), "a restore");
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = rec;
    return LW_OK;
}

uint64_t lw_reader_get(lw_reader *carry)
{
    return lw__reader_varint(carry->from);
}

lw_str lw_reader_bytes(lw_reader *carry)
{
    return lw__reader_text(carry->from);
}

lw_status lw_reader_record(lw_reader *carry, lw_record **out, lw_error *err)
{
    lw__store *store = carry->chain->store;
    uint8_t kind = lw__reader_u8(carry->from);
    *out = NULL;
    if (carry->from->failed || kind > LW__ROW) {
        return fail_carry(err);
    }
    lw_record *rec = NULL;
    if (kind == LW__ROW) {
        LW__TRY(lw__store_row(store, &rec, err));
        LW__TRY(get_row(carry, rec, err));
    } else {
        LW__TRY(lw__store_doc(store, &rec, err));
        get_document(carry, &rec->u.doc);
    }
    rec->holder = carry->stage;
    carry->chain->stages[carry->stage].held++;
    LW__TRY(remember(carry->remake, rec, err));
    *out = rec;
    return carry->from->failed ? fail_carry(err) : LW_OK;
}

static lw_status load_waiting(lw__stage *stage, lw_reader *carry, lw_error *err)
{
    const lw_op_type *type = stage->oper.type;
    uint64_t count = type->acc_push_group != NULL ? lw_reader_get(carry) : 0;
    if (count > 0 && count >= type->group_count) {
        return fail_carry(err);
    }
    while (stage->waiting_count < count) {
        LW__TRY(lw_reader_record(carry, &stage->waiting[stage->waiting_count], err));
        stage->waiting_count++;
    }
    return LW_OK;
}

lw_status lw__chain_load(lw__chain *chain, lw__reader *from, lw__remake_list *remake, lw_error *err)
{
    for (size_t i = 0; i < chain->stage_count; i++) {
        lw__stage *stage = &chain->stages[i];
        lw_reader carry = {.from = from, .chain = chain, .stage = i, .remake = remake};
        LW__TRY(load_waiting(stage, &carry, err));
        if (stage->oper.type->acc_load != NULL) {
            lw_status status = stage->oper.type->acc_load(stage->acc, &carry, err);
            LW__TRY(lw__operator_status(stage->oper.type, status, err));
        }
    }
    return from->failed ? fail_carry(err) : LW_OK;
}
