/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The READ half: one part from storage to token ids, on whatever thread is free.
 *
 * Stateless: the result depends on the part alone. The thread's scratch (text, documents, arena)
 * keeps its size from part to part; what outlives the task is copied into memory of just its size.
 */
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/stream.h"
#include "engine/texts.h"

/* A document's ids in the arena. */
typedef struct lw__span {
    size_t offset;
    uint32_t count;
    uint32_t dropped;
} span;

uint64_t lw__part_limit(uint64_t block_bytes)
{
    /* One id a byte at most; an entry for each record of some 32 bytes. */
    return block_bytes * sizeof(int32_t) + block_bytes / 32 * sizeof(lw__entry) + 4096;
}

void lw__part_reset(lw__part *part)
{
    lw__buffers_put(&part->stream->engine->buffers, part->entries);
    lw__free(part->huge_ids);
    lw__free(part->faults);
    lw__free(part->failure);
    part->ids = NULL;
    part->huge_ids = NULL;
    part->entries = NULL;
    part->entry_count = 0;
    part->bytes = 0;
    part->status = LW_OK;
    part->faults = NULL;
    part->failure = NULL;
}

void lw__scratch_reset(lw__scratch *scratch)
{
    lw__encoder_destroy(scratch->encoder);
    lw__text_reset(&scratch->text);
    lw__documents_reset(&scratch->documents);
    lw__arena_reset(&scratch->arena);
    lw__free(scratch->spans);
    lw__texts_reset(&scratch->texts);
    *scratch = (lw__scratch){0};
}

/* ---- fetching ------------------------------------------------------------------------------- */

static lw_status fetch(lw__part *part, lw__cursor **cursor, lw__scratch *scratch, lw_error *err)
{
    lw__stream *stream = part->stream;
    const lw__dataset *dataset = stream->engine->options.datasets[stream->source];
    if (*cursor == NULL) {
        LW__TRY(lw__cursor_open(dataset, part->place.block, part->number, cursor, err));
    }
    LW__TRY(lw__cursor_read(*cursor, &scratch->text, &part->last, err));
    if (part->last) {
        lw__cursor_close(*cursor);
        *cursor = NULL;
    }
    return LW_OK;
}

/* ---- tokenizing ----------------------------------------------------------------------------- */

/* What is encoded: the texts that workers left, or the documents as they were read. */
static size_t text_count(const lw__scratch *scratch)
{
    return scratch->texts.now.count > 0 ? scratch->texts.now.count : scratch->documents.count;
}

static lw_status reserve_spans(lw__scratch *scratch, lw_error *err)
{
    size_t count = text_count(scratch);
    if (count <= scratch->span_capacity) {
        return LW_OK;
    }
    lw__free(scratch->spans);
    scratch->spans = lw__alloc_array(count, sizeof *scratch->spans);
    scratch->span_capacity = scratch->spans != NULL ? count : 0;
    return scratch->spans != NULL ? LW_OK
                                  : lw__fail_nomem(err, count * sizeof(span), "a part's documents");
}

static lw_status encode_one(lw__scratch *scratch, size_t index, lw_error *err)
{
    bool worked = scratch->texts.now.count > 0;
    const lw__raw *raw = worked ? &scratch->texts.now.items[index].u.raw : NULL;
    const lw__document *document = &scratch->documents.items[worked ? raw->record : index];
    span *out = &scratch->spans[index];
    *out = (span){.offset = scratch->arena.count, .dropped = worked && raw->dropped};
    if (document->fault != NULL || out->dropped) {
        return LW_OK;
    }
    lw_str text =
        worked ? (lw_str){raw->text, raw->bytes} : (lw_str){document->text, document->bytes};
    LW__TRY(
        worked && raw->spans != NULL
            ? lw__encoder_encode_spans(scratch->encoder, text, raw->spans, raw->span_count,
                                       &scratch->arena, err)
            : lw__encoder_encode(scratch->encoder, text.data, text.bytes, &scratch->arena, err));
    size_t count = scratch->arena.count - out->offset;
    if (count > UINT32_MAX) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: a document of %zu tokens, expected below 2^32", count);
    }
    out->count = (uint32_t)count;
    return LW_OK;
}

static lw_status encode_all(const lw__part *part, lw__scratch *scratch, lw_error *err)
{
    lw_status status = lw__texts_work(part, scratch, err);
    scratch->arena.count = 0;
    status = status == LW_OK ? reserve_spans(scratch, err) : status;
    for (size_t i = 0; status == LW_OK && i < text_count(scratch); i++) {
        status = encode_one(scratch, i, err);
    }
    lw__texts_release(&scratch->texts);
    return status;
}

/* ---- the result ----------------------------------------------------------------------------- */

static lw_status copy_faults(lw__part *part, const lw__scratch *scratch, lw_error *err)
{
    const lw__documents *documents = &scratch->documents;
    if (documents->fault_count == 0) {
        return LW_OK;
    }
    part->faults = lw__alloc_array(documents->fault_count, sizeof *part->faults);
    if (part->faults == NULL) {
        return lw__fail_nomem(err, documents->fault_count * sizeof *part->faults, "bad records");
    }
    return LW_OK;
}

/*
 * Entries and ids share one buffer of just their size, and the arena stays with the thread. Ids far
 * beyond the usual size (one huge document) are not copied: the part takes the arena itself.
 */
static lw_status take_buffer(lw__part *part, lw__scratch *scratch, lw_error *err)
{
    lw__engine *engine = part->stream->engine;
    const lw__dataset *dataset = engine->options.datasets[part->stream->source];
    lw__arena *arena = &scratch->arena;
    size_t entry_bytes = text_count(scratch) * sizeof *part->entries;
    size_t id_bytes = arena->count * sizeof *part->ids;
    bool huge = id_bytes > lw__part_limit(lw__dataset_block_bytes(dataset));
    part->entries = lw__buffers_take(&engine->buffers, entry_bytes + (huge ? 0 : id_bytes));
    if (part->entries == NULL) {
        return lw__fail_nomem(err, entry_bytes + id_bytes, "a part's documents");
    }
    part->bytes = entry_bytes + id_bytes;
    part->ids = (int32_t *)(void *)(part->entries + text_count(scratch));
    if (huge) {
        part->huge_ids = arena->ids;
        part->ids = arena->ids;
        *arena = (lw__arena){0};
    } else if (id_bytes > 0) {
        memcpy(part->ids, arena->ids, id_bytes);
    }
    return LW_OK;
}

static void put_entry(lw__part *part, const span *text, size_t record, uint64_t child)
{
    part->entries[part->entry_count++] = (lw__entry){.offset = text->offset,
                                                     .token_count = text->count,
                                                     .dropped = text->dropped,
                                                     .document = record | child << LW_CHILD_SHIFT};
}

/* Those of one record: what workers made of it stays together, in its order. */
static void put_entries(lw__part *part, const lw__scratch *scratch, size_t record)
{
    const lw__text_list *texts = &scratch->texts.now;
    if (texts->count == 0) {
        put_entry(part, &scratch->spans[record], record, 0);
        return;
    }
    size_t first = scratch->texts.firsts[record];
    for (size_t i = first; i < texts->count && texts->items[i].u.raw.record == record; i++) {
        put_entry(part, &scratch->spans[i], record, i - first);
    }
}

static void order_entries(lw__part *part, const lw__scratch *scratch)
{
    const lw__documents *documents = &scratch->documents;
    const lw__blocks *blocks = &part->stream->engine->blocks[part->stream->source];
    size_t faults = 0;
    lw__permutation order =
        lw__blocks_documents(blocks, part->place.g, part->number, documents->count);
    for (size_t i = 0; i < documents->count; i++) {
        size_t at = blocks->order == LW__ORDER_FILE ? i : (size_t)lw__permutation_at(&order, i);
        const lw__fault *fault = documents->items[at].fault;
        put_entries(part, scratch, at);
        if (fault != NULL) {
            part->faults[faults] = *fault;
            part->entries[part->entry_count - 1].fault = &part->faults[faults++];
        }
    }
}

static lw_status copy_entries(lw__part *part, lw__scratch *scratch, lw_error *err)
{
    if (scratch->documents.count == 0) {
        return LW_OK;
    }
    LW__TRY(copy_faults(part, scratch, err));
    LW__TRY(take_buffer(part, scratch, err));
    order_entries(part, scratch);
    return LW_OK;
}

/* What a huge document made grow is given back, or every thread would keep its size. */
static void shrink(lw__scratch *scratch, const lw__dataset *dataset)
{
    uint64_t usual = lw__dataset_read_bytes(dataset);
    if (scratch->text.capacity > 4 * usual) {
        lw__text_reset(&scratch->text);
    }
    if (scratch->arena.capacity * sizeof(int32_t) > 4 * usual) {
        lw__arena_reset(&scratch->arena);
    }
}

/* What decoding a part took, for the counters. */
typedef struct timing {
    uint64_t bytes;
    uint64_t read_ns;
    uint64_t parse_ns;
    uint64_t tokenize_ns;
} timing;

static lw_status decode(lw__part *part, lw__scratch *scratch, timing *times, lw_error *err)
{
    lw__stream *stream = part->stream;
    const lw__dataset *dataset = stream->engine->options.datasets[stream->source];
    uint64_t start = lw__clock_cpu_ns();
    part->check = XXH3_64bits(scratch->text.data, scratch->text.count) | 1;
    LW__TRY(lw__dataset_parse(dataset, &scratch->text, &scratch->documents, err));
    uint64_t parsed = lw__clock_cpu_ns();
    LW__TRY(encode_all(part, scratch, err));
    LW__TRY(copy_entries(part, scratch, err));
    times->parse_ns = parsed - start;
    times->tokenize_ns = lw__clock_cpu_ns() - parsed;
    return LW_OK;
}

static void count_times(lw__engine *engine, const timing *times)
{
    engine->counters.read_bytes += times->bytes;
    engine->counters.read_ns += times->read_ns;
    engine->counters.parse_ns += times->parse_ns;
    engine->counters.tokenize_ns += times->tokenize_ns;
}

/* A failure waits in the part until the lane comes to it, so that it is met in stream order. */
static void keep_failure(lw__part *part, lw_status status, const lw_error *err)
{
    if (status < 0) {
        lw__part_reset(part);
        part->status = status;
        part->failure = lw__alloc_zero(1, sizeof *part->failure);
        if (part->failure != NULL) {
            *part->failure = *err;
        }
    }
}

void lw__part_run(lw__task *task, size_t worker)
{
    lw__part *part = (lw__part *)task;
    lw__stream *stream = part->stream;
    lw__engine *engine = stream->engine;
    lw__scratch *scratch = &engine->scratch[worker];
    lw_error err = {0};
    timing times = {0};
    uint64_t start = lw__clock_cpu_ns();
    lw_status status = fetch(part, &stream->cursor, scratch, &err);
    times.read_ns = lw__clock_cpu_ns() - start;
    keep_failure(part, status, &err);

    pthread_mutex_lock(&engine->pool.lock);
    lw__stream_fetched(stream, part);
    pthread_mutex_unlock(&engine->pool.lock);

    if (status == LW_OK) {
        times.bytes = scratch->text.count;
        status = decode(part, scratch, &times, &err);
        keep_failure(part, status, &err);
    }
    shrink(scratch, engine->options.datasets[stream->source]);
    pthread_mutex_lock(&engine->pool.lock);
    count_times(engine, &times);
    lw__stream_finished(stream, part);
    pthread_mutex_unlock(&engine->pool.lock);
}

lw_status lw__part_read_alone(lw__part *part, size_t worker, lw_error *err)
{
    lw__scratch *scratch = &part->stream->engine->scratch[worker];
    lw__cursor *cursor = NULL;
    timing times = {0};
    lw_status status = fetch(part, &cursor, scratch, err);
    lw__cursor_close(cursor);
    return status == LW_OK ? decode(part, scratch, &times, err) : status;
}
