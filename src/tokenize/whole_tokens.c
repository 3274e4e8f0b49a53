/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenize/whole_tokens.h"

#include <stdbool.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/error.h"

#define FILTER_BITS  16 /* 8 KiB, which stay in the first cache */
#define FILTER_WORDS (((size_t)1 << FILTER_BITS) / 64)

static uint64_t bit_of(const void *text, size_t bytes)
{
    return (uint64_t)XXH3_64bits(text, bytes) >> (64 - FILTER_BITS);
}

/* Marks the ids of the tokens that merging makes. */
static void mark_made(bool *made, const lw__vocab *vocab, const lw__bpe *bpe)
{
    for (size_t byte = 0; byte < 256; byte++) {
        made[bpe->byte_ids[byte]] = true;
    }
    for (size_t i = 0; i < vocab->merge_count; i++) {
        made[vocab->merges[i].id] = true;
    }
}

static void put_others(lw__whole_tokens *whole, const lw__vocab *vocab, const bool *made)
{
    for (int32_t id = 0; (size_t)id < vocab->limit; id++) {
        lw_str text = lw__vocab_text(vocab, id);
        if (!made[id] && text.bytes > 0 && lw__vocab_find(vocab, text.data, text.bytes) == id) {
            uint64_t bit = bit_of(text.data, text.bytes);
            whole->filter[bit / 64] |= (uint64_t)1 << bit % 64;
        }
    }
}

lw_status lw__whole_tokens_build(lw__whole_tokens *whole, const lw__vocab *vocab,
                                 const lw__bpe *bpe, lw_error *err)
{
    *whole = (lw__whole_tokens){.filter = NULL};
    if (!vocab->whole_piece) {
        return LW_OK;
    }
    bool *made = lw__alloc_zero(vocab->limit, sizeof *made);
    whole->filter = lw__alloc_zero(FILTER_WORDS, sizeof *whole->filter);
    if (made == NULL || whole->filter == NULL) {
        lw__free(made);
        return lw__fail_nomem(err, vocab->limit, "a vocabulary");
    }
    mark_made(made, vocab, bpe);
    put_others(whole, vocab, made);
    lw__free(made);
    return LW_OK;
}

void lw__whole_tokens_reset(lw__whole_tokens *whole)
{
    lw__free(whole->filter);
    whole->filter = NULL;
}

int32_t lw__whole_tokens_find(const lw__whole_tokens *whole, const lw__vocab *vocab,
                              const unsigned char *piece, size_t bytes)
{
    if (whole->filter == NULL) {
        return -1;
    }
    uint64_t bit = bit_of(piece, bytes);
    bool may_be = (whole->filter[bit / 64] >> bit % 64 & 1) != 0;
    return may_be ? lw__vocab_find(vocab, piece, bytes) : -1;
}
