/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding: added tokens cut the text into segments, the splitter cuts a segment into pieces, and
 * merging turns a piece into ids, unless the cache knows them.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/byte_pieces.h"
#include "tokenize/model.h"
#include "tokenize/supervise.h"

struct lw__encoder {
    const lw__tokenizer *tokenizer;
    lw__byte_pieces byte_pieces;
    lw__pieces_scratch *pieces;    /* of a SentencePiece vocabulary, else NULL */
    const unsigned char *document; /* where the one being encoded starts; NULL: behind it */
    unsigned char *prefixed;       /* a segment with a space put before it */
    size_t prefixed_capacity;
    lw__normal_scratch normal;
    lw__anchors anchors; /* of a text with spans */
};

typedef struct span {
    const unsigned char *data;
    size_t bytes;
} span;

void lw__arena_reset(lw__arena *arena)
{
    lw__free(arena->ids);
    *arena = (lw__arena){.ids = NULL};
}

lw_status lw__arena_reserve(lw__arena *arena, size_t extra, lw_error *err)
{
    if (extra <= arena->capacity - arena->count) {
        return LW_OK;
    }
    size_t wanted = arena->count + extra;
    size_t doubled = arena->capacity * 2;
    wanted = wanted < doubled ? doubled : wanted;
    int32_t *ids = lw__resize_array(arena->ids, wanted, sizeof *ids);
    if (ids == NULL) {
        return lw__fail_nomem(err, wanted * sizeof *ids, "token ids");
    }
    arena->ids = ids;
    arena->capacity = wanted;
    return LW_OK;
}

lw_status lw__encoder_create(const lw__tokenizer *tokenizer, lw__encoder **out, lw_error *err)
{
    return lw__encoder_create_within(tokenizer, LW__ENCODER_BYTES, out, err);
}

lw_status lw__encoder_create_within(const lw__tokenizer *tokenizer, size_t bytes, lw__encoder **out,
                                    lw_error *err)
{
    *out = NULL;
    lw__encoder *encoder = lw__alloc_zero(1, sizeof *encoder);
    if (encoder == NULL) {
        return lw__fail_nomem(err, sizeof *encoder, "an encoder");
    }
    encoder->tokenizer = tokenizer;
    lw_status status = LW_OK;
    if (tokenizer->pieces != NULL) {
        status = lw__pieces_scratch_create(&encoder->pieces, err);
    }
    if (status == LW_OK && !tokenizer->is_bytes) {
        status =
            lw__byte_pieces_create(&encoder->byte_pieces, tokenizer, encoder->pieces, bytes, err);
    }
    if (status < 0) {
        lw__encoder_destroy(encoder);
        return status;
    }
    *out = encoder;
    return LW_OK;
}

void lw__encoder_destroy(lw__encoder *encoder)
{
    if (encoder == NULL) {
        return;
    }
    lw__byte_pieces_reset(&encoder->byte_pieces);
    lw__pieces_scratch_destroy(encoder->pieces);
    lw__free(encoder->prefixed);
    lw__normal_scratch_reset(&encoder->normal);
    lw__anchors_reset(&encoder->anchors);
    lw__free(encoder);
}

static lw_status encode_pieces(lw__encoder *encoder, span text, lw__arena *arena, lw_error *err)
{
    return lw__byte_pieces_encode(&encoder->byte_pieces, text.data, text.bytes, arena, err);
}

static lw_status prefixed_reserve(lw__encoder *encoder, size_t bytes, lw_error *err)
{
    if (bytes <= encoder->prefixed_capacity) {
        return LW_OK;
    }
    size_t wanted = bytes + bytes / 2;
    unsigned char *grown = lw__resize_array(encoder->prefixed, wanted, 1);
    if (grown == NULL) {
        return lw__fail_nomem(err, wanted, "a text with a space before it");
    }
    encoder->prefixed = grown;
    encoder->prefixed_capacity = wanted;
    return LW_OK;
}

/* Text between added tokens. */
static lw_status encode_segment(lw__encoder *encoder, span text, lw__arena *arena, lw_error *err)
{
    if (encoder->tokenizer->pieces != NULL) {
        lw__piece_text segment = {.text = {.data = (const char *)text.data, .bytes = text.bytes},
                                  .first = text.data == encoder->document};
        return lw__pieces_encode(encoder->tokenizer->pieces, encoder->pieces, &encoder->byte_pieces,
                                 segment, arena, err);
    }
    if (!encoder->tokenizer->vocab.add_prefix_space || text.bytes == 0 || text.data[0] == ' ') {
        return encode_pieces(encoder, text, arena, err);
    }
    LW__TRY(prefixed_reserve(encoder, text.bytes + 1, err));
    encoder->prefixed[0] = ' ';
    memcpy(encoder->prefixed + 1, text.data, text.bytes);
    span prefixed = {.data = encoder->prefixed, .bytes = text.bytes + 1};
    return encode_pieces(encoder, prefixed, arena, err);
}

static lw_status put_id(lw__arena *arena, int32_t id, lw_error *err)
{
    LW__TRY(lw__arena_reserve(arena, 1, err));
    arena->ids[arena->count++] = id;
    return LW_OK;
}

static lw_status normalize(lw__encoder *encoder, span *text, lw_error *err)
{
    lw_str given = {.data = (const char *)text->data, .bytes = text->bytes};
    lw_str normal = given;
    LW__TRY(lw__normalize(&encoder->tokenizer->vocab.normalizer, &encoder->normal, given, &normal,
                          err));
    encoder->document = text->data == encoder->document ? (const unsigned char *)normal.data : NULL;
    *text = (span){.data = (const unsigned char *)normal.data, .bytes = normal.bytes};
    return LW_OK;
}

static lw_status put_anchor(lw__encoder *encoder, const unsigned char *at, const lw__arena *arena,
                            lw_error *err)
{
    return encoder->anchors.text == NULL
               ? LW_OK
               : lw__anchors_put(&encoder->anchors, at, arena->count, err);
}

/* Finds the added tokens of one round; what lies between goes to the next round. The second is that
 * of the normalized text. */
static lw_status encode_round(lw__encoder *encoder, size_t round, span text, lw__arena *arena,
                              lw_error *err)
{
    LW__TRY(put_anchor(encoder, text.data, arena, err));
    if (round == LW__ROUNDS) {
        return encode_segment(encoder, text, arena, err);
    }
    if (round == 1 && encoder->tokenizer->vocab.normalizer.count > 0) {
        LW__TRY(normalize(encoder, &text, err));
    }
    if (encoder->tokenizer->matchers[round].count == 0) {
        return encode_round(encoder, round + 1, text, arena, err);
    }
    const lw__matcher *matcher = &encoder->tokenizer->matchers[round];
    size_t taken = 0;
    size_t at = 0;
    lw__match match;
    while (lw__matcher_next(matcher, text.data, text.bytes, &at, taken, &match)) {
        if (match.start > taken) {
            span between = {.data = text.data + taken, .bytes = match.start - taken};
            LW__TRY(encode_round(encoder, round + 1, between, arena, err));
        }
        LW__TRY(put_anchor(encoder, text.data + match.start, arena, err));
        LW__TRY(put_id(arena, match.id, err));
        taken = match.end;
    }
    if (taken < text.bytes) {
        span rest = {.data = text.data + taken, .bytes = text.bytes - taken};
        return encode_round(encoder, round + 1, rest, arena, err);
    }
    return LW_OK;
}

static lw_status encode_bytes(span text, lw__arena *arena, lw_error *err)
{
    LW__TRY(lw__arena_reserve(arena, text.bytes, err));
    for (size_t i = 0; i < text.bytes; i++) {
        arena->ids[arena->count + i] = text.data[i];
    }
    arena->count += text.bytes;
    return LW_OK;
}

static lw_status encode_document(lw__encoder *encoder, span text, lw__arena *arena, lw_error *err)
{
    const lw__tokenizer *tokenizer = encoder->tokenizer;
    if (tokenizer->bos >= 0) {
        LW__TRY(put_id(arena, tokenizer->bos, err));
    }
    LW__TRY(put_anchor(encoder, text.data, arena, err));
    LW__TRY(tokenizer->is_bytes ? encode_bytes(text, arena, err)
                                : encode_round(encoder, 0, text, arena, err));
    LW__TRY(put_anchor(encoder, text.data + text.bytes, arena, err));
    return tokenizer->eos >= 0 ? put_id(arena, tokenizer->eos, err) : LW_OK;
}

lw_status lw__encoder_encode(lw__encoder *encoder, const char *text, size_t bytes, lw__arena *arena,
                             lw_error *err)
{
    size_t before = arena->count;
    span all = {.data = (const unsigned char *)(bytes == 0 ? "" : text), .bytes = bytes};
    encoder->document = all.data;
    lw_status status = encode_document(encoder, all, arena, err);
    if (status < 0) {
        arena->count = before;
    }
    return status;
}

static lw_status supervise(lw__encoder *encoder, const lw_text_span *spans, size_t span_count,
                           lw__arena *arena, size_t before, lw_error *err)
{
    lw__supervision job = {.tokenizer = encoder->tokenizer,
                           .normal = &encoder->normal,
                           .pieces = encoder->pieces,
                           .anchors = &encoder->anchors,
                           .spans = spans,
                           .span_count = span_count,
                           .ids = arena->ids};
    for (size_t i = before; i < arena->count; i++) {
        arena->ids[i] |= LW_TOKEN_UNSUPERVISED;
    }
    return lw__supervise(&job, err);
}

lw_status lw__encoder_encode_spans(lw__encoder *encoder, lw_str text, const lw_text_span *spans,
                                   size_t span_count, lw__arena *arena, lw_error *err)
{
    size_t before = arena->count;
    text.data = text.bytes == 0 ? "" : text.data;
    lw__anchors_begin(&encoder->anchors, text);
    lw_status status = lw__encoder_encode(encoder, text.data, text.bytes, arena, err);
    if (status == LW_OK) {
        status = supervise(encoder, spans, span_count, arena, before, err);
    }
    lw__anchors_end(&encoder->anchors);
    arena->count = status == LW_OK ? arena->count : before;
    return status;
}
