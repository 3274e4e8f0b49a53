/* SPDX-License-Identifier: Apache-2.0 */
/* See settle_by_length.h. Every token is merged once, so this takes O(n log n) for n bytes of tokens. */
#include "tokenize/settle_by_length.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* How a token is made, at which rank of the list; LW__RANK_NONE: it is not. */
typedef struct making {
    int32_t left;
    int32_t right;
    uint32_t rank;
} making;

typedef struct settling {
    lw__vocab *vocab;
    lw__bpe *bpe;
    making *makings;  /* by id */
    uint32_t *latest; /* by id: the last merge of a list that makes it, and one more; 0: none */
    uint32_t *before; /* by merge: the one before it that makes the same token, likewise */
    int32_t *ids;     /* of the tokens that merges may make, the shorter ones first */
    size_t id_count;
    size_t longest;
    size_t made_count;
    int32_t *parts; /* of one token */
    lw__bpe_scratch scratch;
} settling;

static void settling_reset(settling *s)
{
    lw__free(s->makings);
    lw__free(s->latest);
    lw__free(s->before);
    lw__free(s->ids);
    lw__free(s->parts);
    lw__bpe_scratch_reset(&s->scratch);
}

/* The bytes of a token of the model; 0 of a byte, and of what merging can not reach. */
static size_t merged_bytes(const lw__vocab *vocab, int32_t id)
{
    lw_str text = lw__vocab_text(vocab, id);
    bool is_merged = text.bytes > 1 && lw__vocab_find(vocab, text.data, text.bytes) == id;
    return is_merged ? text.bytes : 0;
}

static lw_status allocate(settling *s, lw_error *err)
{
    const lw__vocab *vocab = s->vocab;
    size_t limit = vocab->limit;
    for (size_t id = 0; id < limit; id++) {
        size_t bytes = lw__vocab_text(vocab, (int32_t)id).bytes;
        s->longest = bytes > s->longest ? bytes : s->longest;
    }
    s->makings = lw__alloc_array(limit + 1, sizeof *s->makings);
    s->latest = lw__alloc_zero(limit + 1, sizeof *s->latest);
    s->before = lw__alloc_array(vocab->merge_count + 1, sizeof *s->before);
    s->ids = lw__alloc_array(limit + 1, sizeof *s->ids);
    s->parts = lw__alloc_array(s->longest + 1, sizeof *s->parts);
    if (s->makings == NULL || s->latest == NULL || s->before == NULL || s->ids == NULL ||
        s->parts == NULL) {
        return lw__fail_nomem(err, limit * sizeof *s->makings, "merges");
    }
    memset(s->makings, 0xFF, (limit + 1) * sizeof *s->makings);
    return lw__bpe_reserve(s->bpe, vocab->model_count, err);
}

/* Sorts by counting; `bytes` has room for a number of each id. */
static void sort_ids(settling *s, size_t *bytes, size_t *starts)
{
    size_t limit = s->vocab->limit;
    for (size_t id = 0; id < limit; id++) {
        bytes[id] = merged_bytes(s->vocab, (int32_t)id);
        starts[bytes[id] + 1]++;
    }
    s->id_count = limit - starts[1];
    starts[1] = 0;
    for (size_t i = 2; i <= s->longest; i++) {
        starts[i] += starts[i - 1];
    }
    for (size_t id = 0; id < limit; id++) {
        if (bytes[id] > 0) {
            s->ids[starts[bytes[id]]++] = (int32_t)id;
        }
    }
}

static lw_status order_by_length(settling *s, lw_error *err)
{
    size_t count = s->vocab->limit + s->longest + 2;
    size_t *numbers = lw__alloc_zero(count, sizeof *numbers);
    if (numbers == NULL) {
        return lw__fail_nomem(err, count * sizeof *numbers, "merges");
    }
    sort_ids(s, numbers, numbers + s->vocab->limit);
    lw__free(numbers);
    return LW_OK;
}

static void link_merges(settling *s)
{
    for (size_t i = 0; i < s->vocab->merge_count; i++) {
        uint32_t *latest = &s->latest[s->vocab->merges[i].id];
        s->before[i] = *latest;
        *latest = (uint32_t)i + 1;
    }
}

/* The rank at which two parts become a token; of a pair given twice the later counts. */
static uint32_t rank_of(const settling *s, int32_t id, int32_t left, int32_t right)
{
    if (s->vocab->merge_ranks) {
        return (uint32_t)id;
    }
    for (uint32_t at = s->latest[id]; at != 0; at = s->before[at - 1]) {
        const lw__merge *merge = &s->vocab->merges[at - 1];
        if (merge->left == left && merge->right == right) {
            return at - 1;
        }
    }
    return LW__RANK_NONE;
}

static lw_status settle_token(settling *s, int32_t id, lw_error *err)
{
    lw_str text = lw__vocab_text(s->vocab, id);
    size_t count = 0;
    if (!s->vocab->merge_ranks && s->latest[id] == 0) {
        return LW_OK;
    }
    LW__TRY(lw__bpe_encode(s->bpe, &s->scratch, (const unsigned char *)text.data, text.bytes,
                           s->parts, &count, err));
    uint32_t rank = count == 2 ? rank_of(s, id, s->parts[0], s->parts[1]) : LW__RANK_NONE;
    if (rank == LW__RANK_NONE) {
        return LW_OK;
    }
    lw__merge merge = {.left = s->parts[0], .right = s->parts[1], .id = id, .rank = rank};
    s->makings[id] = (making){.left = merge.left, .right = merge.right, .rank = rank};
    s->made_count++;
    return lw__bpe_put(s->bpe, &merge, err);
}

/* What happens takes the place of the list. */
static lw_status replace_merges(settling *s, lw_error *err)
{
    lw__vocab *vocab = s->vocab;
    size_t ranks = vocab->merge_ranks ? vocab->limit : vocab->merge_count;
    lw__merge *kept = lw__alloc_array(s->made_count + 1, sizeof *kept);
    size_t count = 0;
    if (kept == NULL) {
        return lw__fail_nomem(err, s->made_count * sizeof *kept, "merges");
    }
    for (size_t rank = 0; rank < ranks; rank++) {
        int32_t id = vocab->merge_ranks ? (int32_t)rank : vocab->merges[rank].id;
        const making *made = &s->makings[id];
        if (made->rank == rank) {
            kept[count] = (lw__merge){
                .left = made->left, .right = made->right, .id = id, .rank = (uint32_t)count};
            count++;
        }
    }
    lw__free(vocab->merges);
    vocab->merges = kept;
    vocab->merge_count = count;
    vocab->merge_capacity = count;
    return LW_OK;
}

/* Ranks without holes: places in a long list may be too many for narrow slots (bpe_pairs.h). */
static lw_status put_again(settling *s, lw_error *err)
{
    const lw__vocab *vocab = s->vocab;
    lw__bpe_clear(s->bpe);
    LW__TRY(lw__bpe_reserve(s->bpe, vocab->merge_count, err));
    for (size_t i = 0; i < vocab->merge_count; i++) {
        LW__TRY(lw__bpe_put(s->bpe, &vocab->merges[i], err));
    }
    return LW_OK;
}

static lw_status settle_all(settling *s, bool *makes_all, lw_error *err)
{
    LW__TRY(allocate(s, err));
    LW__TRY(order_by_length(s, err));
    link_merges(s);
    for (size_t i = 0; i < s->id_count; i++) {
        LW__TRY(settle_token(s, s->ids[i], err));
    }
    *makes_all = s->made_count == s->id_count;
    LW__TRY(replace_merges(s, err));
    return s->vocab->merge_ranks ? LW_OK : put_again(s, err);
}

lw_status lw__settle_by_length(lw__vocab *vocab, lw__bpe *bpe, bool *makes_all, lw_error *err)
{
    settling s = {.vocab = vocab, .bpe = bpe};
    lw_status status = settle_all(&s, makes_all, err);
    settling_reset(&s);
    return status;
}
