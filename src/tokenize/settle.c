/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch of a text that no merge has crossed the ends of is merged as it would be alone, whatever
 * the ranks are. So where two neighbours stand for the bytes of a token, they are the two that its
 * bytes become alone, last of all: at most one merge of each token can happen.
 *
 * Most lists name the parts of a token before the token. Their merges are taken in order of rank: one
 * is kept when, by the merges kept before it, the bytes of its token become just its two parts. Kept
 * merges then only make tokens that were not there, so ranks only rise while a text is merged. A merge
 * that waits for a part which only comes later, and before its token is made by another, breaks this,
 * as do two merges of one pair. Then, and for ranks, settle_by_length.h says what happens.
 */
#include "tokenize/settle.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "tokenize/bpe_pairs.h"
#include "tokenize/settle_by_length.h"

enum { AHEAD = 8 }; /* merges: enough to hide a cache miss, few enough to be there still */

/* How a token is made. */
typedef struct making {
    uint32_t left;
    uint32_t right;
    uint32_t order; /* 0: not made; 1: a byte; then in order of the merges kept */
} making;

typedef struct settling {
    lw__vocab *vocab;
    lw__bpe *bpe;
    making *makings;    /* by id */
    lw__merge *kept;    /* in order */
    lw__merge *waiting; /* those that lacked a part */
    size_t kept_count;
    size_t waiting_count;
    size_t waiting_capacity;
    bool is_sound;
} settling;

static lw_status settling_fill(settling *s, size_t most_kept, lw_error *err)
{
    size_t limit = s->vocab->limit;
    s->makings = lw__alloc_zero(limit, sizeof *s->makings);
    s->kept = lw__alloc_array(most_kept + 1, sizeof *s->kept);
    if (s->makings == NULL || s->kept == NULL) {
        return lw__fail_nomem(err, limit * sizeof *s->makings + most_kept * sizeof *s->kept,
                              "merges");
    }
    lw__os_prefer_huge(s->kept, most_kept * sizeof *s->kept);
    for (size_t byte = 0; byte < 256; byte++) {
        s->makings[s->bpe->byte_ids[byte]].order = 1;
    }
    s->is_sound = true;
    return lw__bpe_reserve(s->bpe, most_kept < limit ? most_kept : limit, err);
}

static void settling_destroy(settling *s)
{
    if (s != NULL) {
        lw__free(s->makings);
        lw__free(s->kept);
        lw__free(s->waiting);
        lw__free(s);
    }
}

static lw_status settling_create(lw__vocab *vocab, lw__bpe *bpe, size_t most_kept, settling **out,
                                 lw_error *err)
{
    settling *s = lw__alloc_zero(1, sizeof *s);
    if (s == NULL) {
        return lw__fail_nomem(err, sizeof *s, "merges");
    }
    s->vocab = vocab;
    s->bpe = bpe;
    *out = s;
    return settling_fill(s, most_kept, err);
}

static uint64_t key_of(uint32_t left, uint32_t right)
{
    return (uint64_t)left << 32 | right;
}

static uint32_t rank_of(const settling *s, uint32_t left, uint32_t right)
{
    return lw__pair_wide_rank(s->bpe, key_of(left, right));
}

static bool is_made(const settling *s, int32_t id)
{
    return s->makings[id].order != 0;
}

/*
 * Whether two tokens side by side stay apart while their bytes are merged. Going back in time, the
 * one that was made last is taken apart; what then meets at the boundary must not merge before.
 * Merges of one rank go from left to right, so one across the boundary comes before one behind it.
 * The two themselves have no rank: what they give is not made yet.
 */
static bool stays_apart(const settling *s, uint32_t left, uint32_t right)
{
    for (;;) {
        uint32_t limit = 0;
        const making *first = &s->makings[left];
        const making *second = &s->makings[right];
        if (first->order > second->order) {
            limit = first->order - 2;
            left = first->right;
        } else if (second->order > 1) {
            limit = second->order - 1;
            right = second->left;
        } else {
            return true;
        }
        if (rank_of(s, left, right) < limit) {
            return false;
        }
    }
}

static lw_status keep(settling *s, const lw__merge *merge, lw_error *err)
{
    uint32_t rank = (uint32_t)s->kept_count;
    lw__merge kept = {.left = merge->left, .right = merge->right, .id = merge->id, .rank = rank};
    s->kept[s->kept_count++] = kept;
    s->makings[merge->id] =
        (making){.left = (uint32_t)merge->left, .right = (uint32_t)merge->right, .order = rank + 2};
    return lw__bpe_put(s->bpe, &kept, err);
}

static lw_status wait_for_parts(settling *s, const lw__merge *merge, lw_error *err)
{
    if (s->waiting_count == s->waiting_capacity) {
        size_t wanted = s->waiting_capacity * 2 + 64;
        lw__merge *grown = lw__resize_array(s->waiting, wanted, sizeof *grown);
        if (grown == NULL) {
            return lw__fail_nomem(err, wanted * sizeof *grown, "merges");
        }
        s->waiting = grown;
        s->waiting_capacity = wanted;
    }
    s->waiting[s->waiting_count++] = *merge;
    return LW_OK;
}

/* Asks for what the merges behind `at` will look at, which is spread over more memory than a core caches. */
__attribute__((always_inline)) static inline void look_ahead(const settling *s, size_t at)
{
    const lw__vocab *vocab = s->vocab;
    if (at + 2 * AHEAD < vocab->merge_count) {
        __builtin_prefetch(&s->makings[vocab->merges[at + 2 * AHEAD].id]);
    }
    if (at + AHEAD < vocab->merge_count && !is_made(s, vocab->merges[at + AHEAD].id)) {
        const lw__merge *merge = &vocab->merges[at + AHEAD];
        __builtin_prefetch(&s->makings[merge->left]);
        __builtin_prefetch(&s->makings[merge->right]);
        lw__pair_wide_prefetch(s->bpe, key_of((uint32_t)merge->left, (uint32_t)merge->right));
    }
}

static lw_status offer(settling *s, const lw__merge *merge, lw_error *err)
{
    if (is_made(s, merge->id)) {
        const making *made = &s->makings[merge->id];
        bool is_same = made->left == (uint32_t)merge->left && made->right == (uint32_t)merge->right;
        s->is_sound = s->is_sound && !is_same;
        return LW_OK;
    }
    if (!is_made(s, merge->left) || !is_made(s, merge->right)) {
        return wait_for_parts(s, merge, err);
    }
    return stays_apart(s, (uint32_t)merge->left, (uint32_t)merge->right) ? keep(s, merge, err)
                                                                         : LW_OK;
}

static bool makes_every_token(const settling *s)
{
    const lw__vocab *vocab = s->vocab;
    for (int32_t id = 0; (size_t)id < vocab->limit; id++) {
        lw_str text = lw__vocab_text(vocab, id);
        if (!is_made(s, id) && text.bytes > 0 &&
            lw__vocab_find(vocab, text.data, text.bytes) == id) {
            return false;
        }
    }
    return true;
}

/* Whether a merge that lacked a part never happens: the part never comes, or the token is made first. */
static bool waits_in_vain(const settling *s, const lw__merge *merge)
{
    uint32_t left = s->makings[merge->left].order;
    uint32_t right = s->makings[merge->right].order;
    uint32_t made = s->makings[merge->id].order;
    uint32_t last = left > right ? left : right;
    return left == 0 || right == 0 || (made != 0 && made < last);
}

static void finish(settling *s, bool *makes_all)
{
    *makes_all = makes_every_token(s);
    lw__free(s->vocab->merges);
    s->vocab->merges = s->kept;
    s->vocab->merge_count = s->kept_count;
    s->vocab->merge_capacity = s->kept_count;
    s->kept = NULL;
}

/* In order of rank; *is_sound is false when that does not tell, and then nothing has changed. */
static lw_status settle_in_order(lw__vocab *vocab, lw__bpe *bpe, bool *is_sound, bool *makes_all,
                                 lw_error *err)
{
    settling *s = NULL;
    lw_status status = settling_create(vocab, bpe, vocab->merge_count, &s, err);
    for (size_t i = 0; i < vocab->merge_count && status == LW_OK && s->is_sound; i++) {
        look_ahead(s, i);
        status = offer(s, &vocab->merges[i], err);
    }
    if (status == LW_OK) {
        for (size_t i = 0; i < s->waiting_count && s->is_sound; i++) {
            s->is_sound = waits_in_vain(s, &s->waiting[i]);
        }
        *is_sound = s->is_sound;
        if (s->is_sound) {
            finish(s, makes_all);
        } else {
            lw__bpe_clear(bpe);
        }
    }
    settling_destroy(s);
    return status;
}

lw_status lw__settle(lw__vocab *vocab, lw__bpe *bpe, bool *makes_all, lw_error *err)
{
    bool is_sound = false;
    if (!vocab->merge_ranks) {
        LW__TRY(settle_in_order(vocab, bpe, &is_sound, makes_all, err));
    }
    return is_sound ? LW_OK : lw__settle_by_length(vocab, bpe, makes_all, err);
}
