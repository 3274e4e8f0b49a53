/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokenizer layer: text span in, ids appended to an arena.
 *
 * A tokenizer is immutable once open and shared by all threads; what a thread needs to encode
 * (scratch, later a cache) is its encoder. Encoding allocates only when the arena or the scratch
 * has to grow, never once per document in steady state.
 */
#ifndef LW__TOKENIZE_H
#define LW__TOKENIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/op.h>

typedef struct lw__tokenizer lw__tokenizer; /* Shared */
typedef struct lw__encoder lw__encoder;     /* Confined */

typedef struct lw__tokenizer_options {
    const char *path;    /* a file of a known kind or a folder with one; NULL with a name */
    const char *name;    /* "bytes": ids 0-255, BOS 256, EOS 257; NULL with a path */
    const char *pattern; /* LW__SPLIT_NAMES; for ranks in .tiktoken form, else NULL */
    const char *bos;     /* NULL: none; "": the vocabulary's own; else the token's text */
    const char *eos;     /* the same */
    bool special_text;   /* text that looks like a special token becomes that token */
} lw__tokenizer_options;

/* Ids of many documents, one after the other. */
typedef struct lw__arena {
    int32_t *ids;
    size_t count;
    size_t capacity;
} lw__arena;

void lw__arena_reset(lw__arena *arena);
/* Room for `extra` more ids. */
lw_status lw__arena_reserve(lw__arena *arena, size_t extra, lw_error *err);

lw_status lw__tokenizer_open(const lw__tokenizer_options *options, lw__tokenizer **out,
                             lw_error *err);
void lw__tokenizer_close(lw__tokenizer *tokenizer);
/* One more than the largest id, added tokens and the BOS and EOS of "bytes" included. */
int32_t lw__tokenizer_vocabulary(const lw__tokenizer *tokenizer);
int32_t lw__tokenizer_bos(const lw__tokenizer *tokenizer); /* -1: none asked for */
int32_t lw__tokenizer_eos(const lw__tokenizer *tokenizer); /* -1: none asked for */
/* The id of a token given by its bytes (special and added ones too); -1 when there is none. */
int32_t lw__tokenizer_find(const lw__tokenizer *tokenizer, const char *text, size_t bytes);
/* The bytes of a token; empty for an id that has none. Borrowed. */
lw_str lw__tokenizer_token(const lw__tokenizer *tokenizer, int32_t id);
bool lw__tokenizer_has(const lw__tokenizer *tokenizer, int32_t id);

/* Where a decoded text goes. */
typedef struct lw__decoded {
    char *data; /* the caller's */
    size_t capacity;
    size_t bytes; /* of the text; more than the capacity when it does not fit */
} lw__decoded;

/* The text of some ids, as far as it fits; `skip_special` passes over special tokens. */
lw_status lw__tokenizer_decode(const lw__tokenizer *tokenizer, const int32_t *ids, size_t count,
                               bool skip_special, lw__decoded *out, lw_error *err);
/* Equal for equal behaviour: covers vocabulary, merges, pattern, special tokens and options. */
uint64_t lw__tokenizer_fingerprint(const lw__tokenizer *tokenizer);

/* What an encoder takes, roughly, most of it tables of pieces; with less it may be slower. */
#define LW__ENCODER_BYTES       ((size_t)34 << 20)
#define LW__ENCODER_LEAST_BYTES ((size_t)15 << 20)

lw_status lw__encoder_create(const lw__tokenizer *tokenizer, lw__encoder **out, lw_error *err);
/* The same with tables for so many bytes, at least LW__ENCODER_LEAST_BYTES. They change no id. */
lw_status lw__encoder_create_within(const lw__tokenizer *tokenizer, size_t bytes, lw__encoder **out,
                                    lw_error *err);
void lw__encoder_destroy(lw__encoder *encoder);
/* Appends BOS (if asked for), the ids of the text (valid UTF-8), and EOS (if asked for). */
lw_status lw__encoder_encode(lw__encoder *encoder, const char *text, size_t bytes, lw__arena *arena,
                             lw_error *err);
/*
 * The same, with LW_TOKEN_UNSUPERVISED in all ids but those that hold a byte of one of the spans,
 * which are in order, apart, within the text and of whole characters.
 */
lw_status lw__encoder_encode_spans(lw__encoder *encoder, lw_str text, const lw_text_span *spans,
                                   size_t span_count, lw__arena *arena, lw_error *err);

#endif
