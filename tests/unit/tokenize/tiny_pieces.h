/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SentencePiece models that a person can check by hand, written as the bytes of a .model file.
 *
 * Ids are in the order of the pieces. "_" stands for U+2581 in their texts here.
 */
#ifndef TINY_PIECES_H
#define TINY_PIECES_H

#include "tiny_vocabulary.h"
#include "tokenize/piece_rules.h"

enum { TINY_UNIGRAM = 1, TINY_BPE = 2 };

typedef struct tiny_piece {
    const char *text;
    float score;
    int kind; /* lw__piece_kind */
} tiny_piece;

typedef struct tiny_model {
    const tiny_piece *pieces;
    size_t count;
    int type;
    bool byte_fallback; /* puts the 256 byte pieces behind the others */
    bool suffix;
    bool prefix;
    bool collapsed;
    bool unescaped;
    const char *bos; /* NULL: not named */
    const void *charsmap;
    size_t charsmap_bytes;
} tiny_model;

static inline void tiny_put_field(lw__bytes *out, unsigned number, unsigned form)
{
    lw__bytes_put_varint(out, number << 3 | form);
}

static inline void tiny_put_number(lw__bytes *out, unsigned number, uint64_t value)
{
    tiny_put_field(out, number, 0);
    lw__bytes_put_varint(out, value);
}

static inline void tiny_put_bytes(lw__bytes *out, unsigned number, const void *data, size_t bytes)
{
    tiny_put_field(out, number, 2);
    lw__bytes_put_text(out, data, bytes);
}

static inline void tiny_put_piece(lw__bytes *out, const char *text, float score, int kind)
{
    lw__bytes piece;
    lw__bytes written;
    uint32_t bits = 0;
    lw__bytes_init(&piece);
    lw__bytes_init(&written);
    for (const char *p = text; *p != '\0'; p++) {
        lw__bytes_put(&written, *p == '_' ? LW__ESCAPED_SPACE : p, *p == '_' ? 3 : 1);
    }
    memcpy(&bits, &score, sizeof bits);
    tiny_put_bytes(&piece, 1, written.data, written.count);
    tiny_put_field(&piece, 2, 5);
    lw__bytes_put_u32le(&piece, bits);
    tiny_put_number(&piece, 3, (uint64_t)kind);
    tiny_put_bytes(out, 1, piece.data, piece.count);
    lw__bytes_reset(&written);
    lw__bytes_reset(&piece);
}

static inline void tiny_put_trainer(lw__bytes *out, const tiny_model *model)
{
    lw__bytes spec;
    lw__bytes_init(&spec);
    tiny_put_number(&spec, 3, (uint64_t)model->type);
    tiny_put_number(&spec, 35, model->byte_fallback);
    if (model->suffix) {
        tiny_put_number(&spec, 24, 1);
    }
    if (model->bos != NULL) {
        tiny_put_bytes(&spec, 46, model->bos, strlen(model->bos));
    }
    tiny_put_bytes(out, 2, spec.data, spec.count);
    lw__bytes_reset(&spec);
}

static inline void tiny_put_normalizer(lw__bytes *out, const tiny_model *model)
{
    lw__bytes spec;
    lw__bytes_init(&spec);
    tiny_put_bytes(&spec, 1, "identity", 8);
    if (model->charsmap != NULL) {
        tiny_put_bytes(&spec, 2, model->charsmap, model->charsmap_bytes);
    }
    tiny_put_number(&spec, 3, model->prefix);
    tiny_put_number(&spec, 4, model->collapsed);
    tiny_put_number(&spec, 5, !model->unescaped);
    tiny_put_bytes(out, 3, spec.data, spec.count);
    lw__bytes_reset(&spec);
}

static inline void tiny_put_model(lw__bytes *out, const tiny_model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        tiny_put_piece(out, model->pieces[i].text, model->pieces[i].score, model->pieces[i].kind);
    }
    for (unsigned byte = 0; byte < 256 && model->byte_fallback; byte++) {
        char text[8];
        (void)snprintf(text, sizeof text, "<0x%02X>", byte);
        tiny_put_piece(out, text, 0, LW__PIECE_BYTE);
    }
    tiny_put_trainer(out, model);
    tiny_put_normalizer(out, model);
}

static inline const char *tiny_write_model(const char *name, const tiny_model *model)
{
    lw__bytes out;
    lw__bytes_init(&out);
    tiny_put_model(&out, model);
    return tiny_write_bytes(name, &out);
}

static inline lw__tokenizer *tiny_open_model(const tiny_model *model)
{
    lw__tokenizer_options options = {.path = tiny_write_model("tiny.model", model)};
    return tiny_open(&options);
}

static inline void tiny_model_fails(const tiny_model *model, lw_status status, const char *text)
{
    lw__tokenizer_options options = {.path = tiny_write_model("tiny.model", model)};
    tiny_open_fails(&options, status, text);
}

#endif
