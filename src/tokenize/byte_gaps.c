/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenize/byte_gaps.h"

#include <string.h>

#include "tokenize/byte_pieces.h"
#include "tokenize/entry_ids.h"

_Static_assert(LW__BPE_SHORT >= LW__CACHE_KEY_BYTES, "pieces of gaps are short");
_Static_assert(LW__BPE_SHORT % LW__KEPT_STEP == 0, "the ids of a gap are whole steps");

void lw__gaps_leave(lw__byte_pieces *pieces, const lw__gap_piece *piece, lw__arena *arena)
{
    lw__gaps *gaps = &pieces->gaps;
    if (gaps->count == LW__GAPS) {
        lw__gaps_fill(pieces, arena);
    }
    lw__gap *gap = &gaps->items[gaps->count++];
    gap->job.piece = piece->text;
    gap->job.bytes = (uint32_t)piece->bytes;
    gap->key = *piece->key;
    gap->at = arena->count;
    gap->whole = piece->whole;
    gaps->left++;
    lw__cache_ask_beside(&pieces->cache, piece->key);
}

/* Whether the ids of a gap are in the cache after all: beside its pair, or from a gap before it. */
static bool find_known(lw__byte_pieces *pieces, lw__gap *gap)
{
    lw__cache_entry *entry = lw__cache_find(&pieces->cache, &gap->key);
    int32_t *end = gap->job.ids;
    if (entry == NULL || !lw__entry_put_short(&pieces->long_cache, entry, &end)) {
        return false;
    }
    gap->job.count = (uint32_t)(end - gap->job.ids);
    return true;
}

/* Whether a piece is a token that goes before merges. */
static bool find_token(const lw__tokenizer *tokenizer, lw__gap *gap)
{
    if (!gap->whole) {
        return false;
    }
    gap->job.ids[0] = lw__whole_tokens_find(&tokenizer->whole_tokens, &tokenizer->vocab,
                                            gap->job.piece, gap->job.bytes);
    gap->job.count = 1;
    return gap->job.ids[0] >= 0;
}

static void keep(lw__byte_pieces *pieces, const lw__gap *gap)
{
    lw__cache_entry *entry = lw__cache_take_beside(&pieces->cache, &gap->key);
    lw__entry_fill(&pieces->long_cache, entry->ids, LW__CACHE_IDS, gap->job.ids, gap->job.count);
}

/* Finds the ids of all gaps, and returns how many there are. */
static size_t find_ids(lw__byte_pieces *pieces)
{
    lw__gaps *gaps = &pieces->gaps;
    lw__gap *unknown[LW__GAPS];
    lw__bpe_job *jobs[LW__GAPS] = {NULL};
    size_t unknown_count = 0;
    size_t job_count = 0;
    size_t ids = 0;
    for (size_t i = 0; i < gaps->count; i++) {
        lw__gap *gap = &gaps->items[i];
        if (find_known(pieces, gap)) {
            continue;
        }
        unknown[unknown_count++] = gap;
        if (!find_token(pieces->tokenizer, gap)) {
            jobs[job_count++] = &gap->job;
        }
    }
    pieces->do_jobs(&pieces->tokenizer->bpe, jobs, job_count);
    for (size_t i = 0; i < unknown_count; i++) {
        keep(pieces, unknown[i]);
    }
    for (size_t i = 0; i < gaps->count; i++) {
        ids += gaps->items[i].job.count;
    }
    return ids;
}

void lw__gaps_fill(lw__byte_pieces *pieces, lw__arena *arena)
{
    lw__gaps *gaps = &pieces->gaps;
    int32_t *end = arena->ids + arena->count;
    size_t added = find_ids(pieces);
    int32_t *to = end + added;
    for (size_t i = gaps->count; i-- > 0;) { /* the last first, as all moves up */
        const lw__gap *gap = &gaps->items[i];
        const int32_t *behind = arena->ids + gap->at;
        size_t count = (size_t)(end - behind);
        to -= count;
        memmove(to, behind, count * sizeof *to);
        to -= gap->job.count;
        memcpy(to, gap->job.ids, gap->job.count * sizeof *to);
        end -= count;
    }
    arena->count += added;
    gaps->count = 0;
}
