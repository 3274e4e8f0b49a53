/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restoring what a carry only names: the tokens of held rows and documents are read again.
 *
 * A restored lane has one such task, before its first draw. It goes through the parts that are
 * named, in order, reading each once, and copies out the documents. Row segments that cover a whole
 * document learn their token count here, so rows are put together at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/lane.h"

/* One document that a held record needs. */
typedef struct need {
    uint64_t j;
    uint32_t source;
    uint32_t part;
    uint64_t document;
    size_t order;     /* as gathered: by record, by segment */
    lw__piece *piece; /* of a row, or */
    lw__doc *doc;     /* a held document */
    int32_t *tokens;  /* of the piece */
} need;

typedef struct needs {
    need *items;
    size_t count;
} needs;

static size_t count_needs(const lw__remake_list *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const lw_record *rec = list->items[i];
        count += rec->kind == LW__ROW ? rec->u.row.piece_count : 1;
    }
    return count;
}

static need *add_need(needs *all, const lw_segment *segment, uint64_t j)
{
    need *one = &all->items[all->count];
    *one = (need){.j = j,
                  .source = segment->source,
                  .part = segment->part,
                  .document = segment->document,
                  .order = all->count};
    all->count++;
    return one;
}

static void gather(const lw__remake_list *list, needs *out)
{
    for (size_t i = 0; i < list->count; i++) {
        lw_record *rec = list->items[i];
        if (rec->kind == LW__DOCUMENT) {
            add_need(out, &rec->u.doc.place, rec->u.doc.j)->doc = &rec->u.doc;
            continue;
        }
        for (size_t k = 0; k < rec->u.row.piece_count; k++) {
            lw__piece *piece = &rec->u.row.pieces[k];
            add_need(out, &piece->segment, piece->j)->piece = piece;
        }
    }
}

static int by_order(const void *a, const void *b)
{
    const need *x = a;
    const need *y = b;
    return x->order < y->order ? -1 : 1;
}

static int by_part(const void *a, const void *b)
{
    const need *x = a;
    const need *y = b;
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    if (x->j != y->j) {
        return x->j < y->j ? -1 : 1;
    }
    if (x->part != y->part) {
        return x->part < y->part ? -1 : 1;
    }
    return 0;
}

/* ---- filling one need ----------------------------------------------------------------------- */

static lw_status fail_changed(const lw__part *part, const need *one, lw_error *err)
{
    const lw__dataset *dataset = part->stream->engine->options.datasets[part->stream->source];
    const lw__shard *shard =
        lw__dataset_shard(dataset, lw__dataset_shard_of(dataset, part->place.block));
    return lw__fail(
        err, LW_E_MISMATCH,
        "state: \"%s\" block %llu has no such document %llu as when the state was saved",
        shard->path, (unsigned long long)(part->place.block - shard->first_block),
        (unsigned long long)one->document);
}

static const lw__entry *find_entry(const lw__part *part, uint64_t document)
{
    for (size_t i = 0; i < part->entry_count; i++) {
        if (part->entries[i].document == document && part->entries[i].fault == NULL) {
            return &part->entries[i];
        }
    }
    return NULL;
}

static int32_t *copy_tokens(const int32_t *tokens, size_t count)
{
    int32_t *copy = lw__alloc_array(count + 1, sizeof *copy);
    if (copy != NULL) {
        memcpy(copy, tokens, count * sizeof *copy);
    }
    return copy;
}

static lw_status fill_document(const lw__part *part, const lw__entry *entry, need *one,
                               lw_error *err)
{
    lw__doc *doc = one->doc;
    size_t token_count;
    uint64_t length = lw__draw_length(part->stream->engine->settings, entry, &token_count);
    if (doc->token_count != token_count || doc->length != length) {
        return fail_changed(part, one, err);
    }
    doc->place.epoch = part->place.epoch;
    doc->place.block = part->place.block;
    doc->own = copy_tokens(part->ids + entry->offset, token_count);
    doc->tokens = doc->own;
    return doc->own != NULL ? LW_OK
                            : lw__fail_nomem(err, token_count * sizeof(int32_t), "a document");
}

static lw_status fill_piece(const lw__part *part, const lw__entry *entry, need *one, lw_error *err)
{
    lw__piece *piece = one->piece;
    lw_segment *segment = &piece->segment;
    size_t token_count;
    uint64_t length = lw__draw_length(part->stream->engine->settings, entry, &token_count);
    if (piece->whole) {
        segment->count = length;
    }
    if (segment->count == 0 || segment->first > length ||
        segment->count > length - segment->first) {
        return fail_changed(part, one, err);
    }
    const int32_t *tokens = part->ids + entry->offset;
    uint64_t end = segment->first + segment->count;
    segment->epoch = part->place.epoch;
    segment->block = part->place.block;
    piece->tail = end < token_count ? tokens[end] : LW__NO_TOKEN;
    one->tokens = copy_tokens(tokens + segment->first, (size_t)segment->count);
    return one->tokens != NULL ? LW_OK
                               : lw__fail_nomem(err, segment->count * sizeof(int32_t), "a segment");
}

static lw_status fill(const lw__part *part, need *one, lw_error *err)
{
    const lw__entry *entry = find_entry(part, one->document);
    if (entry == NULL) {
        return fail_changed(part, one, err);
    }
    return one->doc != NULL ? fill_document(part, entry, one, err)
                            : fill_piece(part, entry, one, err);
}

/* ---- going through the parts ---------------------------------------------------------------- */

/* Fills the needs of one part; returns how many there were. */
static lw_status fill_from_part(lw__lane *lane, need *first, size_t count, size_t worker,
                                lw_error *err)
{
    lw__part part = {.stream = &lane->streams[first->source], .j = first->j, .number = first->part};
    const lw__blocks *blocks = &lane->engine->blocks[first->source];
    if (!lw__blocks_at(blocks, lane->number, part.j, &part.place)) {
        return fail_changed(&part, first, err);
    }
    lw_status status = lw__part_read_alone(&part, worker, err);
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        status = fill(&part, &first[i], err);
    }
    lw__part_reset(&part);
    return status;
}

static lw_status fill_all(lw__lane *lane, needs *all, size_t worker, lw_error *err)
{
    for (size_t first = 0; first < all->count;) {
        size_t end = first + 1;
        if (all->items[first].source >= lane->mixture.source_count) {
            return lw__fail(err, LW_E_CORRUPT, "state: a segment of source %u, expected one of %zu",
                            all->items[first].source, lane->mixture.source_count);
        }
        while (end < all->count && by_part(&all->items[first], &all->items[end]) == 0) {
            end++;
        }
        LW__TRY(fill_from_part(lane, &all->items[first], end - first, worker, err));
        first = end;
    }
    return LW_OK;
}

/* ---- putting rows together ------------------------------------------------------------------ */

/* Takes the needs of one row, which follow each other from *next on. */
static lw_status join_row(lw_record *rec, const need **next, lw_error *err)
{
    lw__row *row = &rec->u.row;
    uint64_t at = 0;
    for (size_t i = 0; i < row->piece_count; i++, (*next)++) {
        uint64_t count = row->pieces[i].segment.count;
        if (row->tokens != NULL && at + count <= row->fill) {
            memcpy(row->tokens + at, (*next)->tokens, count * sizeof(int32_t));
        }
        at += count;
    }
    if (at != row->fill) {
        return lw__fail(err, LW_E_MISMATCH,
                        "state: a row of %llu tokens whose documents now give another number",
                        (unsigned long long)row->fill);
    }
    return LW_OK;
}

static lw_status remake(lw__lane *lane, needs *all, size_t worker, lw_error *err)
{
    const need *next = all->items;
    gather(&lane->remake, all);
    qsort(all->items, all->count, sizeof *all->items, by_part);
    LW__TRY(fill_all(lane, all, worker, err));
    qsort(all->items, all->count, sizeof *all->items, by_order);
    for (size_t i = 0; i < lane->remake.count; i++) {
        if (lane->remake.items[i]->kind == LW__ROW) {
            LW__TRY(join_row(lane->remake.items[i], &next, err));
        } else {
            next++;
        }
    }
    return LW_OK;
}

static void needs_reset(needs *all)
{
    for (size_t i = 0; i < all->count; i++) {
        lw__free(all->items[i].tokens);
    }
    lw__free(all->items);
}

void lw__remake_run(lw__task *task, size_t worker)
{
    lw__lane *lane = (lw__lane *)((char *)task - offsetof(lw__lane, remake_task));
    lw__engine *engine = lane->engine;
    lw_error err = {0};
    uint64_t start = lw__clock_cpu_ns();
    needs all = {.items = lw__alloc_zero(count_needs(&lane->remake), sizeof(need))};
    lw_status status = all.items != NULL
                           ? remake(lane, &all, worker, &err)
                           : lw__fail_nomem(&err, lane->remake.count * sizeof(need), "a restore");
    needs_reset(&all);
    lane->remake.count = 0;
    pthread_mutex_lock(&engine->pool.lock);
    engine->counters.remake_ns += lw__clock_cpu_ns() - start;
    lane->running = false;
    if (status < 0) {
        lw__lane_fail(lane, &err);
    } else {
        lw__lane_wake(lane);
    }
    pthread_mutex_unlock(&engine->pool.lock);
}
