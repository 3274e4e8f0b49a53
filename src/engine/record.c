/* SPDX-License-Identifier: Apache-2.0 */
/* Making, filling and reusing records; the document and row half of laneway/op.h. */
#include "engine/record.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/*
 * Room for segments that a spare row keeps. Kept without a bound, the room of every row would creep up
 * to the most that any row ever held.
 */
#define KEPT_PIECES  64
#define FIRST_PIECES 4

/* ---- the store ------------------------------------------------------------------------------ */

static lw_status make_record(lw__store *store, lw__kind kind, lw_record **out, lw_error *err)
{
    lw_record *rec = lw__alloc_zero(1, sizeof *rec);
    if (rec == NULL) {
        return lw__fail_nomem(err, sizeof *rec, "a record");
    }
    rec->kind = kind;
    rec->shift = store->shift;
    rec->context = store->context;
    rec->holder = LW__NO_HOLDER;
    rec->all = store->all;
    store->all = rec;
    *out = rec;
    return LW_OK;
}

lw_status lw__store_doc(lw__store *store, lw_record **out, lw_error *err)
{
    *out = store->spare_docs;
    if (*out == NULL) {
        return make_record(store, LW__DOCUMENT, out, err);
    }
    store->spare_docs = (*out)->next;
    (*out)->next = NULL;
    return LW_OK;
}

static lw_status take_row(lw__store *store, lw_record **out, lw_error *err)
{
    lw_record **list = store->spare_rows != NULL ? &store->spare_rows : &store->bare_rows;
    *out = *list;
    if (*out == NULL) {
        return make_record(store, LW__ROW, out, err);
    }
    store->spare_count -= list == &store->spare_rows ? 1 : 0;
    *list = (*out)->next;
    (*out)->next = NULL;
    return LW_OK;
}

lw_status lw__store_row(lw__store *store, lw_record **out, lw_error *err)
{
    LW__TRY(take_row(store, out, err));
    lw__row *row = &(*out)->u.row;
    if (row->tokens == NULL && !store->counts_only) {
        row->tokens = lw__alloc_array(store->context, sizeof(int32_t));
        if (row->tokens == NULL) {
            return lw__fail_nomem(err, store->context * sizeof(int32_t), "a row");
        }
    }
    return LW_OK;
}

/* One very long document makes many rows at once; their memory is not kept for ever. */
static void put_row(lw__store *store, lw_record *rec)
{
    lw__row *row = &rec->u.row;
    bool keep = store->spare_count < store->spare_limit;
    lw_record **list = keep ? &store->spare_rows : &store->bare_rows;
    store->spare_count += keep ? 1 : 0;
    if (!keep) {
        lw__free(row->tokens);
        row->tokens = NULL;
    }
    if (row->piece_capacity > KEPT_PIECES) {
        lw__free(row->pieces);
        row->pieces = NULL;
        row->piece_capacity = 0;
    }
    row->fill = 0;
    row->piece_count = 0;
    row->followed = false;
    rec->next = *list;
    *list = rec;
}

void lw__store_put(lw__store *store, lw_record *rec)
{
    rec->holder = LW__NO_HOLDER;
    if (rec->kind == LW__ROW) {
        put_row(store, rec);
        return;
    }
    lw__free(rec->u.doc.own);
    rec->u.doc = (lw__doc){0};
    rec->next = store->spare_docs;
    store->spare_docs = rec;
}

void lw__store_reset(lw__store *store)
{
    while (store->all != NULL) {
        lw_record *rec = store->all;
        store->all = rec->all;
        if (rec->kind == LW__ROW) {
            lw__free(rec->u.row.tokens);
            lw__free(rec->u.row.pieces);
        } else {
            lw__free(rec->u.doc.own);
        }
        lw__free(rec);
    }
    store->spare_docs = NULL;
    store->spare_rows = NULL;
    store->bare_rows = NULL;
    store->spare_count = 0;
}

uint64_t lw__row_bytes(uint64_t context)
{
    return sizeof(lw_record) + context * sizeof(int32_t) + 4 * sizeof(lw__piece);
}

lw_status lw__doc_detach(lw_record *rec, lw_error *err)
{
    lw__doc *doc = &rec->u.doc;
    if (doc->own != NULL) {
        return LW_OK;
    }
    doc->own = lw__alloc_array(doc->token_count + 1, sizeof(int32_t));
    if (doc->own == NULL) {
        return lw__fail_nomem(err, doc->token_count * sizeof(int32_t), "a held document");
    }
    memcpy(doc->own, doc->tokens, doc->token_count * sizeof(int32_t));
    doc->tokens = doc->own;
    return LW_OK;
}

lw_status lw__row_reserve(lw__row *row, lw_error *err)
{
    if (row->piece_count < row->piece_capacity) {
        return LW_OK;
    }
    size_t capacity = row->piece_capacity == 0 ? FIRST_PIECES : 2 * row->piece_capacity;
    lw__piece *pieces = lw__resize_array(row->pieces, capacity, sizeof *pieces);
    if (pieces == NULL) {
        return lw__fail_nomem(err, capacity * sizeof *pieces, "the segments of a row");
    }
    row->pieces = pieces;
    row->piece_capacity = capacity;
    return LW_OK;
}

int32_t lw__row_last_label(const lw__row *row)
{
    if (row->followed) {
        return row->follower;
    }
    return row->piece_count > 0 ? row->pieces[row->piece_count - 1].tail : LW__NO_TOKEN;
}

/* ---- laneway/op.h --------------------------------------------------------------------------- */

uint64_t lw_document_length(const lw_record *document)
{
    return document->u.doc.length;
}

const int32_t *lw_document_tokens(const lw_record *document, size_t *count)
{
    *count = document->u.doc.token_count;
    return document->u.doc.tokens;
}

uint32_t lw_document_source(const lw_record *document)
{
    return document->u.doc.place.source;
}

lw_str lw_document_text(const lw_record *document)
{
    return (lw_str){document->u.raw.text, document->u.raw.bytes};
}

uint64_t lw_row_fill(const lw_record *row)
{
    return row->u.row.fill;
}

size_t lw_row_segment_count(const lw_record *row)
{
    return row->u.row.piece_count;
}

lw_segment lw_row_segment(const lw_record *row, size_t index)
{
    return row->u.row.pieces[index].segment;
}

lw_status lw_row_get(lw_record *row, lw_row_arrays *out, lw_error *err)
{
    if (row->arrays == NULL || out->struct_size < sizeof *out) {
        return lw__fail(err, LW_E_INVALID, "lw_row_get: %s",
                        row->arrays == NULL ? "not in a ROW worker" : "struct_size is not set");
    }
    *out = *row->arrays;
    return LW_OK;
}

static lw_status check_append(const lw_record *row, const lw_record *document, uint64_t first,
                              uint64_t count, lw_error *err)
{
    if (row->kind != LW__ROW || document->kind != LW__DOCUMENT) {
        return lw__fail(err, LW_E_OPERATOR, "lw_row_append: a %s, expected a row and a document",
                        row->kind != LW__ROW ? "document for the row" : "row for the document");
    }
    if (row->holder == LW__NO_HOLDER || row->holder != document->holder) {
        return lw__fail(err, LW_E_OPERATOR,
                        "lw_row_append: a row or a document that the operator does not hold");
    }
    if (count == 0 || first > document->u.doc.length || count > document->u.doc.length - first) {
        return lw__fail(err, LW_E_OPERATOR,
                        "lw_row_append: tokens %llu+%llu of a document, expected some of its %llu",
                        (unsigned long long)first, (unsigned long long)count,
                        (unsigned long long)document->u.doc.length);
    }
    if (count > row->context - row->u.row.fill) {
        return lw__fail(err, LW_E_OPERATOR, "lw_row_append: %llu tokens, expected at most %llu",
                        (unsigned long long)count,
                        (unsigned long long)(row->context - row->u.row.fill));
    }
    return LW_OK;
}

lw_status lw_row_append(lw_record *rec, lw_record *document, uint64_t first, uint64_t count,
                        lw_error *err)
{
    lw__row *row = &rec->u.row;
    lw__doc *doc = &document->u.doc;
    LW__TRY(check_append(rec, document, first, count, err));
    LW__TRY(lw__row_reserve(row, err));
    lw__piece *piece = &row->pieces[row->piece_count++];
    *piece = (lw__piece){.segment = doc->place, .j = doc->j};
    piece->segment.first = first;
    piece->segment.count = count;
    piece->whole = count == doc->length;
    piece->tail = first + count < doc->token_count ? doc->tokens[first + count] : LW__NO_TOKEN;
    if (row->tokens != NULL) {
        memcpy(row->tokens + row->fill, doc->tokens + first, count * sizeof(int32_t));
    }
    row->fill += count;
    doc->used += count;
    return LW_OK;
}

lw_status lw_row_follow(lw_record *row, const lw_record *document, uint64_t first, lw_error *err)
{
    if (first >= document->u.doc.token_count) {
        return lw__fail(err, LW_E_OPERATOR, "lw_row_follow: token %llu, expected one of %zu",
                        (unsigned long long)first, document->u.doc.token_count);
    }
    int32_t token = document->u.doc.tokens[first];
    if (lw__row_last_label(&row->u.row) != token) {
        row->u.row.follower = token;
        row->u.row.followed = true;
    }
    return LW_OK;
}
