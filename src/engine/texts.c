/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passing the texts of a part over the DOCUMENT workers, one worker after the other.
 *
 * A worker is given what the one before it left. What it makes of a document (lw_sink_make) takes
 * the document's place, so that texts stay in file order, those of one record side by side.
 */
#include "engine/texts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"

#define FIRST_TEXTS 64u

/* ---- lists of texts ------------------------------------------------------------------------- */

static lw_status append(lw__text_list *list, const lw__raw *raw, lw_error *err)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? FIRST_TEXTS : 2 * list->capacity;
        lw_record *items = lw__resize_array(list->items, capacity, sizeof *items);
        if (items == NULL) {
            return lw__fail_nomem(err, capacity * sizeof *items, "the texts of a part");
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count] = (lw_record){.kind = LW__TEXT, .holder = LW__NO_HOLDER};
    list->items[list->count++].u.raw = *raw;
    return LW_OK;
}

static void release(lw__text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        lw__free(list->items[i].u.raw.own);
        lw__free(list->items[i].u.raw.spans);
        list->items[i].u.raw.own = NULL;
        list->items[i].u.raw.spans = NULL;
    }
}

void lw__texts_release(lw__texts *texts)
{
    release(&texts->now);
    release(&texts->made);
    release(&texts->spare);
    texts->made.count = 0;
    texts->spare.count = 0;
}

void lw__texts_reset(lw__texts *texts)
{
    lw__texts_release(texts);
    lw__free(texts->now.items);
    lw__free(texts->made.items);
    lw__free(texts->spare.items);
    lw__free(texts->group);
    lw__free(texts->firsts);
    *texts = (lw__texts){0};
}

/* ---- what workers call ---------------------------------------------------------------------- */

/* The spans are places in the text. */
static lw_status check_no_spans(const char *function, const lw_record *document, lw_error *err)
{
    return document->u.raw.spans == NULL
               ? LW_OK
               : lw__fail(err, LW_E_OPERATOR,
                          "%s: a text whose spans are known, expected one without", function);
}

static lw_status copy_checked(const char *function, const char *data, size_t bytes, char **own,
                              lw_error *err)
{
    if (lw__utf8_check(data, bytes) != bytes) {
        return lw__fail(err, LW_E_OPERATOR, "%s: the new text is not UTF-8", function);
    }
    *own = lw__copy_text(data, bytes);
    return *own != NULL ? LW_OK : lw__fail_nomem(err, bytes, "a text");
}

lw_status lw_document_set_text(lw_record *document, const char *data, size_t bytes, lw_error *err)
{
    char *own = NULL;
    if (document->kind != LW__TEXT) {
        return lw__fail(err, LW_E_OPERATOR, "lw_document_set_text: not in a DOCUMENT worker");
    }
    LW__TRY(check_no_spans("lw_document_set_text", document, err));
    LW__TRY(copy_checked("lw_document_set_text", data, bytes, &own, err));
    lw__raw *raw = &document->u.raw;
    lw__free(raw->own);
    raw->own = own;
    raw->text = own;
    raw->bytes = bytes;
    return LW_OK;
}

/* Whether no character goes on over a place in the text. */
static bool is_edge(const lw__raw *raw, uint64_t at)
{
    return at == raw->bytes || ((unsigned char)raw->text[at] & 0xC0) != 0x80;
}

static bool are_spans(const lw__raw *raw, const lw_text_span *spans, size_t count)
{
    uint64_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        if (spans[i].first < taken || spans[i].end < spans[i].first || spans[i].end > raw->bytes ||
            !is_edge(raw, spans[i].first) || !is_edge(raw, spans[i].end)) {
            return false;
        }
        taken = spans[i].end;
    }
    return true;
}

lw_status lw_document_supervise(lw_record *document, const lw_text_span *spans, size_t count,
                                lw_error *err)
{
    lw__raw *raw = &document->u.raw;
    if (document->kind != LW__TEXT) {
        return lw__fail(err, LW_E_OPERATOR, "lw_document_supervise: not in a DOCUMENT worker");
    }
    LW__TRY(check_no_spans("lw_document_supervise", document, err));
    if (!are_spans(raw, spans, count)) {
        return lw__fail(err, LW_E_OPERATOR,
                        "lw_document_supervise: spans that overlap, cut a character or leave the "
                        "text of %zu bytes, expected them in order and within it",
                        raw->bytes);
    }
    raw->spans = lw__alloc_array(count + 1, sizeof *spans);
    if (raw->spans == NULL) {
        return lw__fail_nomem(err, (count + 1) * sizeof *spans, "the spans of a text");
    }
    if (count > 0) {
        memcpy(raw->spans, spans, count * sizeof *spans);
    }
    raw->span_count = count;
    return LW_OK;
}

lw_status lw_sink_make(lw_sink *sink, const lw_record *parent, const char *data, size_t bytes,
                       lw_error *err)
{
    lw__text_pass *pass = sink->texts;
    lw__raw raw = {.bytes = bytes};
    if (pass == NULL || pass->next == pass->count || pass->group[pass->next] != parent) {
        return lw__fail(err, LW_E_OPERATOR, "%s: makes a document of one that is not next",
                        sink->type->name);
    }
    LW__TRY(check_no_spans("lw_sink_make", parent, err));
    LW__TRY(copy_checked("lw_sink_make", data, bytes, &raw.own, err));
    raw.text = raw.own;
    raw.record = parent->u.raw.record;
    raw.parent = pass->next;
    lw_status status = append(pass->made, &raw, err);
    if (status < 0) {
        lw__free(raw.own);
    }
    return status;
}

/* ---- one worker ----------------------------------------------------------------------------- */

/* Those not dropped yet; documents with a fault have no text to work on. */
static lw_status gather(lw__scratch *scratch, lw__text_pass *pass, lw_error *err)
{
    lw__texts *texts = &scratch->texts;
    if (texts->now.count > texts->group_capacity) {
        lw__free(texts->group);
        texts->group = lw__alloc_array(texts->now.count, sizeof(lw_record *));
        texts->group_capacity = texts->group != NULL ? texts->now.count : 0;
        if (texts->group == NULL) {
            return lw__fail_nomem(err, texts->now.count * sizeof(lw_record *), "a part's texts");
        }
    }
    *pass = (lw__text_pass){.group = texts->group, .made = &texts->made};
    for (size_t i = 0; i < texts->now.count; i++) {
        lw_record *rec = &texts->now.items[i];
        if (scratch->documents.items[rec->u.raw.record].fault == NULL && !rec->u.raw.dropped) {
            texts->group[pass->count++] = rec;
        }
    }
    return LW_OK;
}

/* Moves what was made into its place in the file's order. A parent that was dropped is gone. */
static lw_status merge(lw__texts *texts, const lw__text_pass *pass, lw_error *err)
{
    size_t made = 0;
    size_t place = 0; /* in the group */
    texts->spare.count = 0;
    for (size_t i = 0; i < texts->now.count; i++) {
        lw_record *rec = &texts->now.items[i];
        bool in_group = place < pass->count && pass->group[place] == rec;
        size_t before = made;
        while (in_group && made < texts->made.count &&
               texts->made.items[made].u.raw.parent == place) {
            LW__TRY(append(&texts->spare, &texts->made.items[made].u.raw, err));
            texts->made.items[made++].u.raw.own = NULL;
        }
        if (made == before || !rec->u.raw.dropped) {
            LW__TRY(append(&texts->spare, &rec->u.raw, err));
            rec->u.raw.own = NULL;
            rec->u.raw.spans = NULL;
        }
        place += in_group;
    }
    release(&texts->now);
    lw__text_list before = texts->now;
    texts->now = texts->spare;
    texts->spare = before;
    texts->made.count = 0;
    return LW_OK;
}

/* A failure is that of the document that comes after those put or dropped. */
static void name_document(const lw__part *part, const lw__text_pass *pass, lw_error *err)
{
    const lw__stream *stream = part->stream;
    if (pass->next < pass->count) {
        lw__dataset_name_record(stream->engine->options.datasets[stream->source], part->place.block,
                                part->number, pass->group[pass->next]->u.raw.record, err);
    }
}

static lw_status run_worker(const lw__part *part, const lw__operator *oper, lw__scratch *scratch,
                            lw_error *err)
{
    lw__text_pass pass = {0};
    LW__TRY(gather(scratch, &pass, err));
    lw_sink sink = {.type = oper->type, .texts = &pass};
    lw_status status = oper->type->work(oper->op, pass.group, pass.count, &sink, err);
    status = lw__operator_status(oper->type, status, err);
    if (status < 0) {
        name_document(part, &pass, err);
        return status;
    }
    if (pass.next != pass.count) {
        return lw__fail(err, LW_E_OPERATOR, "%s: %zu documents in, %zu accounted for",
                        oper->type->name, pass.count, pass.next);
    }
    return scratch->texts.made.count > 0 ? merge(&scratch->texts, &pass, err) : LW_OK;
}

/* ---- a part --------------------------------------------------------------------------------- */

static lw_status begin(lw__scratch *scratch, lw_error *err)
{
    for (size_t i = 0; i < scratch->documents.count; i++) {
        const lw__document *document = &scratch->documents.items[i];
        lw__raw raw = {.text = document->text, .bytes = document->bytes, .record = i};
        LW__TRY(append(&scratch->texts.now, &raw, err));
    }
    return LW_OK;
}

static lw_status find_firsts(lw__texts *texts, size_t record_count, lw_error *err)
{
    if (record_count > texts->capacity) {
        lw__free(texts->firsts);
        texts->firsts = lw__alloc_array(record_count, sizeof *texts->firsts);
        texts->capacity = texts->firsts != NULL ? record_count : 0;
        if (texts->firsts == NULL) {
            return lw__fail_nomem(err, record_count * sizeof *texts->firsts, "a part's texts");
        }
    }
    for (size_t i = texts->now.count; i-- > 0;) {
        texts->firsts[texts->now.items[i].u.raw.record] = i;
    }
    return LW_OK;
}

lw_status lw__texts_work(const lw__part *part, lw__scratch *scratch, lw_error *err)
{
    const lw__engine *engine = part->stream->engine;
    scratch->texts.now.count = 0;
    if (!lw__operators_have_work(engine->options.operators, engine->options.operator_count,
                                 LW_PHASE_DOCUMENT)) {
        return LW_OK;
    }
    LW__TRY(begin(scratch, err));
    for (size_t i = 0; i < engine->options.operator_count; i++) {
        const lw__operator *oper = &engine->options.operators[i];
        if (oper->type->phase == LW_PHASE_DOCUMENT && oper->type->work != NULL) {
            LW__TRY(run_worker(part, oper, scratch, err));
        }
    }
    return find_firsts(&scratch->texts, scratch->documents.count, err);
}
