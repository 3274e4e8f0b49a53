/* SPDX-License-Identifier: Apache-2.0 */
/* Building and asking the filter of cuts.h. A character is named by its bytes, as one number. */
#include "tokenize/cuts.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "base/error.h"

#define FILTER_BITS 20

/* Names of what is not a whole character; no character has one of them. */
#define PART_BEFORE  UINT32_C(0xFF000000) /* plus its last byte, or nothing for any */
#define PART_BEHIND  UINT32_C(0xFE000000) /* plus its first byte, or nothing for any */
#define NO_CHARACTER UINT32_MAX

static inline uint64_t bit_of(uint32_t before, uint32_t behind)
{
    uint64_t hash = ((uint64_t)before << 32 | behind) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return hash >> (64 - FILTER_BITS);
}

static inline bool is_joined(const lw__cuts *cuts, uint32_t before, uint32_t behind)
{
    uint64_t bit = bit_of(before, behind);
    return (cuts->joined[bit / 64] >> bit % 64 & 1) != 0;
}

static void join(lw__cuts *cuts, uint32_t before, uint32_t behind)
{
    uint64_t bit = bit_of(before, behind);
    cuts->joined[bit / 64] |= (uint64_t)1 << bit % 64;
}

static inline bool follows(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

static inline size_t bytes_of_lead(unsigned char lead)
{
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* The name of the character at p, and its size; NO_CHARACTER when it is not whole. */
static inline uint32_t character_at(const unsigned char *p, size_t left, size_t *bytes)
{
    uint32_t name = *p;
    *bytes = bytes_of_lead(*p);
    if (*bytes > left || follows(*p) || *p > 0xF4) {
        return NO_CHARACTER;
    }
    for (size_t i = 1; i < *bytes; i++) {
        if (!follows(p[i])) {
            return NO_CHARACTER;
        }
        name = name << 8 | p[i];
    }
    return name;
}

/* The name of the character, or the part of one, that ends at `at` in a token. */
static uint32_t name_before(const unsigned char *text, size_t at)
{
    size_t start = at - 1;
    size_t bytes = 0;
    while (start > 0 && follows(text[start])) {
        start--;
    }
    uint32_t name = character_at(text + start, at - start, &bytes);
    return name != NO_CHARACTER && bytes == at - start ? name : PART_BEFORE | text[at - 1];
}

static void join_token(lw__cuts *cuts, const unsigned char *text, size_t bytes)
{
    for (size_t at = 1; at < bytes; at++) {
        if ((text[at - 1] | text[at]) < 0x80) { /* most are, and name themselves */
            join(cuts, text[at - 1], text[at]);
            continue;
        }
        if (follows(text[at])) {
            continue;
        }
        size_t size = 0;
        uint32_t before = name_before(text, at);
        uint32_t behind = character_at(text + at, bytes - at, &size);
        if (behind != NO_CHARACTER) {
            join(cuts, before >= PART_BEHIND ? PART_BEFORE : before, behind);
        } else if (before < PART_BEHIND) {
            join(cuts, before, PART_BEHIND);
        } else {
            join(cuts, before, PART_BEHIND | text[at]);
        }
    }
}

lw_status lw__cuts_create(lw__cuts *cuts, lw_error *err)
{
    size_t words = ((size_t)1 << FILTER_BITS) / 64;
    cuts->joined = lw__alloc_zero(words, sizeof *cuts->joined);
    if (cuts->joined == NULL) {
        return lw__fail_nomem(err, words * sizeof *cuts->joined, "a vocabulary");
    }
    return LW_OK;
}

static uint32_t name_of(uint32_t code)
{
    if (code < 0x80) {
        return code;
    }
    uint32_t last = 0x80 | (code & 0x3F);
    if (code < 0x800) {
        return (0xC0 | code >> 6) << 8 | last;
    }
    last |= (0x80 | (code >> 6 & 0x3F)) << 8;
    if (code < 0x10000) {
        return (0xE0 | code >> 12) << 16 | last;
    }
    return (0xF0 | code >> 18) << 24 | (0x80 | (code >> 12 & 0x3F)) << 16 | last;
}

void lw__cuts_join(lw__cuts *cuts, uint32_t before, uint32_t behind)
{
    join(cuts, name_of(before), name_of(behind));
}

lw_status lw__cuts_build(lw__cuts *cuts, const lw__vocab *vocab, lw_error *err)
{
    LW__TRY(lw__cuts_create(cuts, err));
    for (int32_t id = 0; (size_t)id < vocab->limit; id++) {
        lw_str text = lw__vocab_text(vocab, id);
        join_token(cuts, (const unsigned char *)text.data, text.bytes);
    }
    return LW_OK;
}

void lw__cuts_reset(lw__cuts *cuts)
{
    lw__free(cuts->joined);
    cuts->joined = NULL;
}

size_t lw__cuts_next(const lw__cuts *cuts, const unsigned char *text, size_t bytes, size_t at)
{
    size_t size = 0;
    if (cuts->joined == NULL) {
        return bytes;
    }
    uint32_t before = character_at(text + at, bytes - at, &size);
    while (before != NO_CHARACTER) {
        at += size;
        if (at == bytes) {
            return bytes;
        }
        uint32_t behind = character_at(text + at, bytes - at, &size);
        if (behind == NO_CHARACTER) {
            return bytes;
        }
        if (!is_joined(cuts, before, behind) && !is_joined(cuts, before, PART_BEHIND) &&
            !is_joined(cuts, PART_BEFORE, behind) &&
            !is_joined(cuts, PART_BEFORE | text[at - 1], PART_BEHIND | text[at])) {
            return at;
        }
        before = behind;
    }
    return bytes;
}
