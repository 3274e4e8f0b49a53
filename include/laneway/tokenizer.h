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
LW_API int32_t lw_tokenizer_vocabulary(const lw_tokenizer *tokenizer);
/** The id of a token given by its bytes; -1 when there is none. */
LW_API int32_t lw_tokenizer_find(const lw_tokenizer *tokenizer, const char *text, size_t bytes);
LW_API uint64_t lw_tokenizer_fingerprint(const lw_tokenizer *tokenizer);

LW_API lw_status lw_encoder_create(lw_tokenizer *tokenizer, lw_encoder **out,
                                   lw_error *err) LW_MUST_CHECK;
LW_API void lw_encoder_destroy(lw_encoder *encoder);
/**
 * The ids of one text (UTF-8). *ids is borrowed until the encoder's next call.
 * Errors CORRUPT (not UTF-8), NOMEM. Threads Confined. Since 0.1.
 */
LW_API lw_status lw_encoder_encode(lw_encoder *encoder, const char *text, size_t bytes,
                                   const int32_t **ids, size_t *count, lw_error *err) LW_MUST_CHECK;

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
