/* SPDX-License-Identifier: Apache-2.0 */
/* A tokenizer alone, without a pipeline (docs/tokenizers.md). */
#ifndef LANEWAY_TOKENIZER_H
#define LANEWAY_TOKENIZER_H

#include <laneway/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Shared: immutable once open. */
typedef struct lw_tokenizer lw_tokenizer;
/** Confined: what one thread needs to encode; keeps its tokenizer alive. */
typedef struct lw_encoder lw_encoder;

typedef struct lw_tokenizer_options {
    size_t struct_size;
    const char *path;      /* of the file; NULL with a name */
    const char *name;      /* "bytes"; NULL with a path */
    const char *pattern;   /* for ranks in .tiktoken form; else NULL */
    const char *bos;       /* NULL: none; "": the vocabulary's own; else its text */
    const char *eos;       /* the same */
    uint32_t special_text; /* 1: text that looks like a special token becomes that token */
    uint32_t reserved;
} lw_tokenizer_options;

#define LW_TOKENIZER_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(lw_tokenizer_options), NULL, NULL, NULL, NULL, NULL, 0, 0                           \
    }

/** Opens a tokenizer. Errors NOT_FOUND, IO, CORRUPT, INVALID, UNSUPPORTED, NOMEM. Since 0.1. */
LW_API lw_status lw_tokenizer_open(const lw_tokenizer_options *options, lw_tokenizer **out,
                                   lw_error *err) LW_MUST_CHECK;
LW_API void lw_tokenizer_close(lw_tokenizer *tokenizer);
/** One more than the largest id. Not every id below it need have a token. */
LW_API int32_t lw_tokenizer_vocabulary(const lw_tokenizer *tokenizer);
/**
 * The id of a token given by its bytes; -1 when there is none. A SentencePiece token is written as in
 * its file, with U+2581 for a space.
 */
LW_API int32_t lw_tokenizer_find(const lw_tokenizer *tokenizer, const char *text, size_t bytes);
/**
 * The text of a token, as lw_tokenizer_find() takes it: bytes, which need not be UTF-8, and none for
 * the BOS and EOS of "bytes". Borrowed until the tokenizer is closed.
 * Errors INVALID (no token has this id). Threads Shared. Since 0.1, unstable.
 */
LW_API lw_status lw_tokenizer_token(const lw_tokenizer *tokenizer, int32_t id, lw_str *text,
                                    lw_error *err) LW_MUST_CHECK;
/**
 * A number for how the tokenizer encodes: equal where vocabulary, merges, splitting, normalizing,
 * added tokens and options are, whatever kind of file they come from (docs/tokenizers.md).
 */
LW_API uint64_t lw_tokenizer_fingerprint(const lw_tokenizer *tokenizer);

/** Ids to read. */
typedef struct lw_ids {
    const int32_t *data; /* may be NULL when count is 0 */
    size_t count;
} lw_ids;

/** The caller's memory for bytes. */
typedef struct lw_byte_room {
    char *data;      /* may be NULL when capacity is 0 */
    size_t capacity; /* bytes that data has room for */
    size_t bytes;    /* set by the call: those of the whole result, also when it does not fit */
} lw_byte_room;

/** The caller's memory for ids. */
typedef struct lw_id_room {
    int32_t *data;   /* may be NULL when capacity is 0 */
    size_t capacity; /* ids that data has room for */
    size_t count;    /* set by the call: those of the whole result, also when it does not fit */
} lw_id_room;

#define LW_DECODE_SKIP_SPECIAL 1u /* special tokens are passed over */

/**
 * The text of some ids, without a NUL behind it.
 *
 * What encoding put there is undone as the reference library of the file does it: escaped spaces,
 * byte pieces, the space before a text. Bytes of a character that is not complete come out as they
 * are, where that library puts U+FFFD. Nothing is allocated.
 *
 * @param flags  0 or LW_DECODE_SKIP_SPECIAL
 * @param out    receives the bytes; with no capacity, only how many there are
 * Returns  LW_OK; LW_AGAIN when they do not fit: out->bytes is the capacity that is needed
 * Errors   INVALID (an id that no token has), UNSUPPORTED (the file's decoder is not known)
 * Threads  Shared
 * Since    0.1, unstable
 */
LW_API lw_status lw_tokenizer_decode(const lw_tokenizer *tokenizer, lw_ids ids, uint32_t flags,
                                     lw_byte_room *out, lw_error *err) LW_MUST_CHECK;

LW_API lw_status lw_encoder_create(lw_tokenizer *tokenizer, lw_encoder **out,
                                   lw_error *err) LW_MUST_CHECK;
LW_API void lw_encoder_destroy(lw_encoder *encoder);
/**
 * The ids of one text (UTF-8). *ids is borrowed until the encoder's next call.
 * Errors CORRUPT (not UTF-8), NOMEM. Threads Confined. Since 0.1.
 */
LW_API lw_status lw_encoder_encode(lw_encoder *encoder, const char *text, size_t bytes,
                                   const int32_t **ids, size_t *count, lw_error *err) LW_MUST_CHECK;
/**
 * The ids of many texts (UTF-8), one text behind the other, in the caller's memory.
 *
 * Those of text i are ids->data[offsets[i]] up to, not including, ids->data[offsets[i + 1]]. Each
 * text is encoded as lw_encoder_encode() does it, BOS and EOS included. The encoder's own memory
 * grows to what the longest text so far needs, and is allocated no more after that.
 *
 * @param texts    text_count of them; may be NULL when that is 0
 * @param ids      receives the ids; with no capacity, only how many there are
 * @param offsets  room for text_count + 1; all are set also when the ids do not fit; may be NULL
 * Returns  LW_OK; LW_AGAIN when they do not fit: ids->count is the capacity that is needed
 * Errors   CORRUPT (a text is not UTF-8), NOMEM; ids->count is 0 then
 * Threads  Confined
 * Since    0.1, unstable
 */
LW_API lw_status lw_encoder_encode_many(lw_encoder *encoder, const lw_str *texts, size_t text_count,
                                        lw_id_room *ids, size_t *offsets,
                                        lw_error *err) LW_MUST_CHECK;

/* ---- documents of files, without a pipeline ------------------------------------------------- */

/** Called for each document in file order; another status than LW_OK stops and is returned. */
typedef lw_status lw_document_visit(void *ctx, lw_str text, lw_error *err);
/**
 * Reads the documents of a JSONL file (plain, .gz or .zst) front to back. `text` is the dotted path
 * of the text field; NULL: "text". Errors NOT_FOUND, IO, CORRUPT, NOMEM. Threads any. Since 0.1.
 */
LW_API lw_status lw_documents_read(const char *path, const char *text, lw_document_visit *visit,
                                   void *ctx, lw_error *err) LW_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
