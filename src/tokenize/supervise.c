/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking the tokens of a stretch along its bytes.
 *
 * Where the stretch is rewritten before it is encoded, a place in it is where its bytes before that
 * place end when they are rewritten alone. Is a character made of bytes on both sides, the place lies
 * inside it, and its token holds bytes of both.
 */
#include "tokenize/supervise.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/piece_model.h"

#define FIRST_ANCHORS 64u
#define KEPT_ANCHORS  65536u /* room that is kept: a text of that many added tokens is rare */

/* What lies between two anchors. */
typedef struct stretch {
    lw_str text;
    size_t at; /* in the whole text */
    int32_t *ids;
    size_t id_count;
    size_t next;       /* the first id that is not passed, */
    size_t next_bytes; /* and where it begins, as rewritten */
    bool is_checked;   /* the ids add up to the text */
} stretch;

void lw__anchors_reset(lw__anchors *anchors)
{
    lw__free(anchors->items);
    *anchors = (lw__anchors){.text = NULL};
}

void lw__anchors_begin(lw__anchors *anchors, lw_str text)
{
    anchors->text = (const unsigned char *)text.data;
    anchors->bytes = text.bytes;
    anchors->count = 0;
}

void lw__anchors_end(lw__anchors *anchors)
{
    anchors->text = NULL;
    if (anchors->capacity > KEPT_ANCHORS) {
        lw__anchors_reset(anchors);
    }
}

lw_status lw__anchors_put(lw__anchors *anchors, const unsigned char *at, size_t id, lw_error *err)
{
    size_t offset = (size_t)((uintptr_t)at - (uintptr_t)anchors->text);
    if (anchors->text == NULL || offset > anchors->bytes) {
        return LW_OK;
    }
    if (anchors->count == anchors->capacity) {
        size_t capacity = anchors->capacity == 0 ? FIRST_ANCHORS : 2 * anchors->capacity;
        lw__anchor *items = lw__resize_array(anchors->items, capacity, sizeof *items);
        if (items == NULL) {
            return lw__fail_nomem(err, capacity * sizeof *items, "the places of a text");
        }
        anchors->items = items;
        anchors->capacity = capacity;
    }
    anchors->items[anchors->count++] = (lw__anchor){.at = offset, .id = id};
    return LW_OK;
}

/* ---- bytes, as encoding sees them ---- */

static size_t count_canonical(const lw__piece_rules *rules, lw_str text)
{
    size_t count = text.bytes;
    for (size_t i = 0; rules->escaped && i + 3 <= text.bytes; i++) {
        count -= memcmp(text.data + i, LW__ESCAPED_SPACE, 3) == 0 ? 2 : 0;
    }
    return count;
}

/* The bytes of text that a token stands for. */
static size_t token_bytes(const lw__tokenizer *tokenizer, int32_t token)
{
    if (tokenizer->is_bytes) {
        return 1;
    }
    lw_str text = lw__vocab_text(&tokenizer->vocab, LW_TOKEN_ID(token));
    if (tokenizer->pieces == NULL) {
        return text.bytes;
    }
    const lw__piece_rules *rules = &tokenizer->vocab.pieces;
    return rules->byte_fallback && lw__piece_byte(text) >= 0 ? 1 : count_canonical(rules, text);
}

static lw_status count_prepared(const lw__supervision *job, const stretch *s, lw_str text,
                                size_t *bytes, lw_error *err)
{
    lw__piece_source source = {.left = text, .first = s->at == 0};
    job->pieces->text_count = 0;
    LW__TRY(lw__pieces_prepare(job->tokenizer->pieces, job->pieces, &source, SIZE_MAX, err));
    *bytes = job->pieces->text_count;
    return LW_OK;
}

/* How many bytes the first `bytes` of a stretch are when it is encoded. */
static lw_status rewritten(const lw__supervision *job, const stretch *s, size_t bytes, size_t *out,
                           lw_error *err)
{
    const lw__vocab *vocab = &job->tokenizer->vocab;
    lw_str text = {.data = s->text.data, .bytes = bytes};
    *out = 0;
    if (bytes == 0) {
        return LW_OK;
    }
    LW__TRY(lw__normalize(&vocab->normalizer, job->normal, text, &text, err));
    if (job->tokenizer->pieces != NULL) {
        return count_prepared(job, s, text, out, err);
    }
    bool is_prefixed = vocab->add_prefix_space && text.bytes > 0 && text.data[0] != ' ';
    *out = text.bytes + is_prefixed;
    return LW_OK;
}

/* ---- a stretch ---- */

static lw_status check_sum(const lw__supervision *job, stretch *s, lw_error *err)
{
    size_t bytes = 0;
    size_t sum = 0;
    LW__TRY(rewritten(job, s, s->text.bytes, &bytes, err));
    for (size_t i = 0; i < s->id_count; i++) {
        sum += token_bytes(job->tokenizer, s->ids[i]);
    }
    if (sum != bytes) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: bytes %zu to %zu of a text are %zu of tokens, expected %zu: "
                        "which tokens are learnt can not be told",
                        s->at, s->at + s->text.bytes, sum, bytes);
    }
    s->is_checked = true;
    return LW_OK;
}

static void take_marks(stretch *s, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        s->ids[i] = LW_TOKEN_ID(s->ids[i]);
    }
}

/* Takes the marks off the ids of bytes [first, end) of a stretch; a later call asks for later ones. */
static lw_status walk(const lw__supervision *job, stretch *s, size_t first, size_t end,
                      lw_error *err)
{
    size_t from = 0;
    size_t to = 0;
    LW__TRY(s->is_checked ? LW_OK : check_sum(job, s, err));
    LW__TRY(rewritten(job, s, first, &from, err));
    LW__TRY(rewritten(job, s, end, &to, err));
    for (; s->next < s->id_count && s->next_bytes < to; s->next++) {
        size_t after = s->next_bytes + token_bytes(job->tokenizer, s->ids[s->next]);
        take_marks(s, s->next, s->next + (after > from));
        s->next_bytes = after;
    }
    return LW_OK;
}

static lw_status supervise_stretch(const lw__supervision *job, stretch *s, lw_error *err)
{
    size_t stop = s->at + s->text.bytes;
    for (size_t i = 0; i < job->span_count && job->spans[i].first < stop; i++) {
        const lw_text_span *span = &job->spans[i];
        size_t first = span->first > s->at ? (size_t)span->first : s->at;
        size_t end = span->end < stop ? (size_t)span->end : stop;
        if (first >= end) {
            continue;
        }
        if (s->id_count == 1 || end - first == s->text.bytes) {
            take_marks(s, 0, s->id_count);
        } else {
            LW__TRY(walk(job, s, first - s->at, end - s->at, err));
        }
    }
    return LW_OK;
}

lw_status lw__supervise(const lw__supervision *job, lw_error *err)
{
    const lw__anchors *anchors = job->anchors;
    for (size_t i = 0; i + 1 < anchors->count; i++) {
        const lw__anchor *this = &anchors->items[i];
        const lw__anchor *next = &anchors->items[i + 1];
        stretch s = {.text = {(const char *)anchors->text + this->at, next->at - this->at},
                     .at = this->at,
                     .ids = job->ids + this->id,
                     .id_count = next->id - this->id};
        LW__TRY(supervise_stretch(job, &s, err));
    }
    return LW_OK;
}
