/* SPDX-License-Identifier: Apache-2.0 */
/* Tokenizers and documents alone, without a pipeline. */
#include <stdatomic.h>
#include <string.h>

#include <laneway/tokenizer.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "format/format.h"
#include "tokenize/tokenize.h"

struct lw_tokenizer {
    lw__tokenizer *inner;
    atomic_size_t references; /* the handle's and every encoder's */
};

struct lw_encoder {
    lw_tokenizer *tokenizer;
    lw__encoder *inner;
    lw__arena arena;
};

static lw_status fail_null(const char *function, lw_error *err)
{
    return lw__fail(err, LW_E_INVALID, "tokenizer: %s: an argument is NULL", function);
}

lw_status lw_tokenizer_open(const lw_tokenizer_options *options, lw_tokenizer **out, lw_error *err)
{
    lw_tokenizer_options full = {0};
    if (options == NULL || out == NULL) {
        return fail_null("lw_tokenizer_open", err);
    }
    *out = NULL;
    LW__TRY(lw__options_copy(&full, sizeof full, options, "LW_TOKENIZER_OPTIONS_INIT", err));
    lw__tokenizer_options inner = {.path = full.path,
                                   .name = full.name,
                                   .pattern = full.pattern,
                                   .bos = full.bos,
                                   .eos = full.eos,
                                   .special_text = full.special_text != 0};
    lw_tokenizer *tokenizer = lw__alloc_zero(1, sizeof *tokenizer);
    if (tokenizer == NULL) {
        return lw__fail_nomem(err, sizeof *tokenizer, "a tokenizer");
    }
    lw_status status = lw__tokenizer_open(&inner, &tokenizer->inner, err);
    if (status < 0) {
        lw__free(tokenizer);
        return status;
    }
    atomic_init(&tokenizer->references, 1);
    *out = tokenizer;
    return LW_OK;
}

void lw_tokenizer_close(lw_tokenizer *tokenizer)
{
    if (tokenizer != NULL && atomic_fetch_sub(&tokenizer->references, 1) == 1) {
        lw__tokenizer_close(tokenizer->inner);
        lw__free(tokenizer);
    }
}

int32_t lw_tokenizer_vocabulary(const lw_tokenizer *tokenizer)
{
    return lw__tokenizer_vocabulary(tokenizer->inner);
}

int32_t lw_tokenizer_find(const lw_tokenizer *tokenizer, const char *text, size_t bytes)
{
    return lw__tokenizer_find(tokenizer->inner, text, bytes);
}

uint64_t lw_tokenizer_fingerprint(const lw_tokenizer *tokenizer)
{
    return lw__tokenizer_fingerprint(tokenizer->inner);
}

lw_status lw_tokenizer_token(const lw_tokenizer *tokenizer, int32_t id, lw_str *text, lw_error *err)
{
    if (tokenizer == NULL || text == NULL) {
        return fail_null("lw_tokenizer_token", err);
    }
    *text = (lw_str){.data = "", .bytes = 0};
    if (!lw__tokenizer_has(tokenizer->inner, id)) {
        return lw__fail(err, LW_E_INVALID,
                        "tokenizer: id %ld: no token has it, expected one of the vocabulary",
                        (long)id);
    }
    *text = lw__tokenizer_token(tokenizer->inner, id);
    return LW_OK;
}

lw_status lw_tokenizer_decode(const lw_tokenizer *tokenizer, lw_ids ids, uint32_t flags,
                              lw_byte_room *out, lw_error *err)
{
    if (tokenizer == NULL || out == NULL || (ids.data == NULL && ids.count > 0) ||
        (out->data == NULL && out->capacity > 0)) {
        return fail_null("lw_tokenizer_decode", err);
    }
    out->bytes = 0;
    if ((flags & ~LW_DECODE_SKIP_SPECIAL) != 0) {
        return lw__fail(err, LW_E_INVALID, "tokenizer: flags %#lx, expected LW_DECODE_SKIP_SPECIAL",
                        (unsigned long)flags);
    }
    lw__decoded decoded = {.data = out->data, .capacity = out->capacity};
    LW__TRY(lw__tokenizer_decode(tokenizer->inner, ids.data, ids.count,
                                 (flags & LW_DECODE_SKIP_SPECIAL) != 0, &decoded, err));
    out->bytes = decoded.bytes;
    return decoded.bytes <= out->capacity ? LW_OK : LW_AGAIN;
}

lw_status lw_encoder_create(lw_tokenizer *tokenizer, lw_encoder **out, lw_error *err)
{
    if (tokenizer == NULL || out == NULL) {
        return fail_null("lw_encoder_create", err);
    }
    *out = NULL;
    lw_encoder *encoder = lw__alloc_zero(1, sizeof *encoder);
    if (encoder == NULL) {
        return lw__fail_nomem(err, sizeof *encoder, "an encoder");
    }
    lw_status status = lw__encoder_create(tokenizer->inner, &encoder->inner, err);
    if (status < 0) {
        lw__free(encoder);
        return status;
    }
    encoder->tokenizer = tokenizer;
    atomic_fetch_add(&tokenizer->references, 1);
    *out = encoder;
    return LW_OK;
}

void lw_encoder_destroy(lw_encoder *encoder)
{
    if (encoder != NULL) {
        lw__encoder_destroy(encoder->inner);
        lw__arena_reset(&encoder->arena);
        lw_tokenizer_close(encoder->tokenizer);
        lw__free(encoder);
    }
}

lw_status lw_encoder_encode(lw_encoder *encoder, const char *text, size_t bytes,
                            const int32_t **ids, size_t *count, lw_error *err)
{
    if (encoder == NULL || (text == NULL && bytes > 0) || ids == NULL || count == NULL) {
        return fail_null("lw_encoder_encode", err);
    }
    size_t valid = lw__utf8_check(text, bytes);
    if (valid != bytes) {
        return lw__fail(err, LW_E_CORRUPT, "tokenizer: byte %zu of the text is not UTF-8", valid);
    }
    encoder->arena.count = 0;
    LW__TRY(lw__encoder_encode(encoder->inner, text, bytes, &encoder->arena, err));
    *ids = encoder->arena.ids;
    *count = encoder->arena.count;
    return LW_OK;
}

/* Encodes one of many, and copies its ids behind those of the others as far as they fit. */
static lw_status encode_next(lw_encoder *encoder, const lw_str *text, size_t number,
                             lw_id_room *ids, lw_error *err)
{
    if (text->data == NULL && text->bytes > 0) {
        return lw__fail(err, LW_E_INVALID, "tokenizer: text %zu: NULL, expected %zu bytes", number,
                        text->bytes);
    }
    size_t valid = lw__utf8_check(text->data, text->bytes);
    if (valid != text->bytes) {
        return lw__fail(err, LW_E_CORRUPT,
                        "tokenizer: text %zu: byte %zu is not UTF-8, expected UTF-8", number,
                        valid);
    }
    encoder->arena.count = 0;
    LW__TRY(lw__encoder_encode(encoder->inner, text->data, text->bytes, &encoder->arena, err));
    size_t found = encoder->arena.count;
    if (found > 0 && ids->count <= ids->capacity && found <= ids->capacity - ids->count) {
        memcpy(ids->data + ids->count, encoder->arena.ids, found * sizeof *ids->data);
    }
    ids->count += found;
    return LW_OK;
}

lw_status lw_encoder_encode_many(lw_encoder *encoder, const lw_str *texts, size_t text_count,
                                 lw_id_room *ids, size_t *offsets, lw_error *err)
{
    if (encoder == NULL || (texts == NULL && text_count > 0) || ids == NULL ||
        (ids->data == NULL && ids->capacity > 0)) {
        return fail_null("lw_encoder_encode_many", err);
    }
    ids->count = 0;
    for (size_t i = 0; i < text_count; i++) {
        if (offsets != NULL) {
            offsets[i] = ids->count;
        }
        lw_status status = encode_next(encoder, &texts[i], i, ids, err);
        if (status < 0) {
            ids->count = 0;
            return status;
        }
    }
    if (offsets != NULL) {
        offsets[text_count] = ids->count;
    }
    return ids->count <= ids->capacity ? LW_OK : LW_AGAIN;
}

/* ---- documents of a file -------------------------------------------------------------------- */

/* What reading documents needs; all reused from part to part. */
typedef struct walk {
    lw__dataset *dataset;
    lw__cursor *cursor;
    lw__text text;
    lw__documents documents;
} walk;

static lw_status visit_part(walk *w, uint64_t block, uint64_t part, lw_document_visit *visit,
                            void *ctx, lw_error *err)
{
    for (size_t i = 0; i < w->documents.count; i++) {
        const lw__document *document = &w->documents.items[i];
        if (document->fault != NULL) {
            return lw__dataset_fail_record(w->dataset, block, part, i, document->fault, err);
        }
        lw_status status = visit(ctx, (lw_str){document->text, document->bytes}, err);
        if (status != LW_OK) {
            return status;
        }
    }
    return LW_OK;
}

static lw_status visit_block(walk *w, uint64_t block, lw_document_visit *visit, void *ctx,
                             lw_error *err)
{
    bool last = false;
    LW__TRY(lw__cursor_open(w->dataset, block, 0, &w->cursor, err));
    for (uint64_t part = 0; !last; part++) {
        LW__TRY(lw__cursor_read(w->cursor, &w->text, &last, err));
        LW__TRY(lw__dataset_parse(w->dataset, &w->text, &w->documents, err));
        lw_status status = visit_part(w, block, part, visit, ctx, err);
        if (status != LW_OK) {
            return status;
        }
    }
    lw__cursor_close(w->cursor);
    w->cursor = NULL;
    return LW_OK;
}

static lw_status visit_all(walk *w, const char *path, const char *text, lw_document_visit *visit,
                           void *ctx, lw_error *err)
{
    lw__dataset_options options = {.name = path,
                                   .folder = ".",
                                   .paths = &path,
                                   .path_count = 1,
                                   .text = text != NULL ? text : "text",
                                   .lanes = 1,
                                   .may_be_empty = true};
    lw_status status = LW_OK;
    LW__TRY(lw__dataset_open(&options, &w->dataset, err));
    for (uint64_t block = 0; block < lw__dataset_block_count(w->dataset) && status == LW_OK;
         block++) {
        status = visit_block(w, block, visit, ctx, err);
    }
    return status;
}

lw_status lw_documents_read(const char *path, const char *text, lw_document_visit *visit, void *ctx,
                            lw_error *err)
{
    walk w = {0};
    if (path == NULL || visit == NULL) {
        return fail_null("lw_documents_read", err);
    }
    lw_status status = visit_all(&w, path, text, visit, ctx, err);
    lw__cursor_close(w.cursor);
    lw__text_reset(&w.text);
    lw__documents_reset(&w.documents);
    lw__dataset_close(w.dataset);
    return status;
}
