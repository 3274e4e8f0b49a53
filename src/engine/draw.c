/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing: which document a lane takes next (docs/stream.md, sections 4 and 5), and pushing it.
 *
 * Everything here is decided by what the documents are, never by when they are ready: a draw that
 * has to wait changes nothing that the next try would not come to again.
 */
#include "base/error.h"
#include "engine/lane.h"

/* A lane that reads this many passes' worth of parts without a document has none to find. */
#define BARREN_PASSES 64u

/* ---- showing the next document of a source -------------------------------------------------- */

static lw_status fail_part(const lw__part *part, lw_error *err)
{
    if (part->failure == NULL) {
        return lw__fail(err, part->status, "memory: a failure could not be kept");
    }
    *err = *part->failure;
    return part->status;
}

static lw_status fail_changed(const lw__stream *stream, const lw__part *part, lw_error *err)
{
    const lw__dataset *dataset = stream->engine->options.datasets[stream->source];
    const lw__shard *shard =
        lw__dataset_shard(dataset, lw__dataset_shard_of(dataset, part->place.block));
    return lw__fail(err, LW_E_MISMATCH,
                    "state: \"%s\" block %llu has other bytes than when the state was saved",
                    shard->path, (unsigned long long)(part->place.block - shard->first_block));
}

static lw_status fail_barren(const lw__stream *stream, lw_error *err)
{
    const lw__dataset *dataset = stream->engine->options.datasets[stream->source];
    return lw__fail(err, LW_E_CORRUPT, "source: \"%s\" has no documents, expected at least one",
                    lw__dataset_name(dataset));
}

/* Makes the window's front the part being drawn from. */
static lw_status begin_part(lw__stream *stream, lw__part *part, lw_error *err)
{
    const lw__blocks *blocks = &stream->engine->blocks[stream->source];
    lw__position *position = &stream->position;
    if (part->status < 0) {
        return fail_part(part, err);
    }
    if (position->check != 0 && position->check != part->check) {
        return fail_changed(stream, part, err);
    }
    if (position->index > part->entry_count) {
        return fail_changed(stream, part, err);
    }
    stream->barren++;
    if (!blocks->once && stream->barren / BARREN_PASSES > blocks->block_count) {
        return fail_barren(stream, err);
    }
    stream->now = part;
    position->check = part->check;
    return LW_OK;
}

static lw__outcome next_part(lw__stream *stream, lw_error *err)
{
    pthread_mutex_t *lock = &stream->engine->pool.lock;
    bool ended = false;
    pthread_mutex_lock(lock);
    if (stream->now != NULL) {
        const lw__part *done = stream->now;
        stream->position.j = done->j + (done->last ? 1 : 0);
        stream->position.part = done->last ? 0 : done->number + 1;
        stream->position.index = 0;
        stream->position.check = 0;
        stream->now = NULL;
        lw__stream_pop(stream);
    }
    lw__part *part = lw__stream_front(stream, &ended);
    pthread_mutex_unlock(lock);
    if (part == NULL) {
        return ended ? LW__HAS_ENDED : LW__MUST_WAIT;
    }
    return begin_part(stream, part, err) == LW_OK ? LW__DRAWN : LW__HAS_FAILED;
}

/* Tokens of a document that are no inputs: with the document shift its last is a label only. */
static uint64_t tokens_lost(const lw__settings *settings)
{
    return settings->shift == LW__SHIFT_DOCUMENT ? 1 : 0;
}

uint64_t lw__draw_length(const lw__settings *settings, const lw__entry *entry, size_t *token_count)
{
    uint64_t lost = tokens_lost(settings);
    *token_count = entry->token_count;
    if (*token_count <= lost) {
        return 0;
    }
    uint64_t length = *token_count - lost;
    if (length <= settings->context || settings->overflow == LW__OVERFLOW_SPLIT) {
        return length;
    }
    if (settings->overflow == LW__OVERFLOW_DROP) {
        return 0;
    }
    *token_count = (size_t)(settings->context + lost);
    return settings->context;
}

/* Of the lane's whole run, restores included. */
static uint64_t count_skipped(const lw__lane *lane)
{
    uint64_t count = 0;
    for (size_t i = 0; i < lane->mixture.source_count; i++) {
        count += lane->streams[i].position.skipped;
    }
    return count;
}

static lw_status meet_bad_record(lw__lane *lane, lw__stream *stream, const lw__entry *entry,
                                 lw_error *err)
{
    const lw__settings *settings = lane->engine->settings;
    const lw__part *part = stream->now;
    uint64_t limit = settings->bad_limit == 0 ? UINT64_MAX : settings->bad_limit;
    if (settings->policy == LW__POLICY_SKIP && count_skipped(lane) < limit) {
        stream->position.skipped++;
        lane->skipped++;
        return LW_OK;
    }
    return lw__dataset_fail_record(lane->engine->options.datasets[stream->source],
                                   part->place.block, part->number, (size_t)entry->document,
                                   entry->fault, err);
}

static void count_passed(lw__lane *lane, const lw__entry *entry)
{
    const lw__settings *settings = lane->engine->settings;
    uint64_t lost = tokens_lost(settings);
    if (entry->dropped) {
        lane->dropped++;
    } else if (entry->token_count <= lost) {
        lane->empty++;
    } else {
        lane->dropped++;
        lane->truncated_tokens += entry->token_count - lost;
    }
}

/* Moves a stream to its next document that has a length, passing over the others. */
static lw__outcome show(lw__lane *lane, lw__stream *stream, lw_error *err)
{
    const lw__settings *settings = lane->engine->settings;
    for (;;) {
        if (stream->now == NULL || stream->position.index == stream->now->entry_count) {
            lw__outcome moved = next_part(stream, err);
            if (moved != LW__DRAWN) {
                return moved;
            }
            continue;
        }
        const lw__entry *entry = &stream->now->entries[stream->position.index];
        size_t token_count;
        if (entry->fault != NULL) {
            if (meet_bad_record(lane, stream, entry, err) != LW_OK) {
                return LW__HAS_FAILED;
            }
        } else {
            if (!entry->dropped && lw__draw_length(settings, entry, &token_count) > 0) {
                stream->barren = 0;
                return LW__DRAWN;
            }
            count_passed(lane, entry);
        }
        stream->position.index++;
    }
}

/* ---- drawing -------------------------------------------------------------------------------- */

static uint64_t count_supervised(const int32_t *tokens, size_t count)
{
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += (tokens[i] & LW_TOKEN_UNSUPERVISED) == 0;
    }
    return found;
}

/* Of the document that a stream shows. None is for nothing, or its source would be drawn for ever. */
static uint64_t cost_of(const lw__lane *lane, const lw__stream *stream)
{
    const lw__settings *settings = lane->engine->settings;
    const lw__entry *entry = &stream->now->entries[stream->position.index];
    size_t token_count;
    uint64_t length = lw__draw_length(settings, entry, &token_count);
    if (settings->unit != LW__UNIT_SUPERVISED) {
        return settings->unit == LW__UNIT_TOKENS ? length : 1;
    }
    uint64_t cost = count_supervised(stream->now->ids + entry->offset, token_count);
    return cost > 0 ? cost : 1;
}

/* Chooses the source to draw from. Repeating it after a wait comes to the same. */
static lw__outcome choose(lw__lane *lane, size_t *chosen, uint64_t *chosen_cost, lw_error *err)
{
    lw__mixture *mixture = &lane->mixture;
    *chosen = SIZE_MAX;
    for (size_t i = 0; i < mixture->source_count; i++) {
        if (!lw__mixture_is_eligible(mixture, i)) {
            continue;
        }
        lw__outcome shown = show(lane, &lane->streams[i], err);
        if (shown == LW__HAS_ENDED) {
            lw__mixture_end(mixture, i);
            return lw__mixture_is_live(mixture) ? choose(lane, chosen, chosen_cost, err)
                                                : LW__HAS_ENDED;
        }
        if (shown != LW__DRAWN) {
            return shown;
        }
        uint64_t cost = cost_of(lane, &lane->streams[i]);
        if (*chosen == SIZE_MAX || lw__mixture_is_before(mixture, i, cost, *chosen, *chosen_cost)) {
            *chosen = i;
            *chosen_cost = cost;
        }
    }
    return LW__DRAWN;
}

static void fill_document(const lw__lane *lane, lw__stream *stream, lw__doc *doc)
{
    const lw__part *part = stream->now;
    const lw__entry *entry = &part->entries[stream->position.index];
    doc->length = lw__draw_length(lane->engine->settings, entry, &doc->token_count);
    doc->tokens = part->ids + entry->offset;
    doc->j = part->j;
    doc->place = (lw_segment){.source = stream->source,
                              .part = part->number,
                              .epoch = part->place.epoch,
                              .block = part->place.block,
                              .document = entry->document};
}

static lw_status push_document(lw__lane *lane, size_t source, lw_error *err)
{
    lw__stream *stream = &lane->streams[source];
    lw_record *rec = NULL;
    LW__TRY(lw__store_doc(&lane->store, &rec, err));
    fill_document(lane, stream, &rec->u.doc);
    const lw__entry *entry = &stream->now->entries[stream->position.index];
    lane->truncated_tokens += entry->token_count - rec->u.doc.token_count;
    lane->documents++;
    stream->position.index++;
    return lw__chain_push(&lane->chain, rec, err);
}

lw__outcome lw__lane_draw(lw__lane *lane, lw_error *err)
{
    size_t source;
    uint64_t cost = 0;
    lw__outcome chosen =
        lw__mixture_is_live(&lane->mixture) ? choose(lane, &source, &cost, err) : LW__HAS_ENDED;
    if (chosen != LW__DRAWN) {
        return chosen;
    }
    lw__mixture_draw(&lane->mixture, source, cost);
    return push_document(lane, source, err) == LW_OK ? LW__DRAWN : LW__HAS_FAILED;
}
