/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tokenizer's files say: tokens, merges, added tokens, rules. Loaders fill it; it is
 * checked and completed once, when the tokenizer is opened, and never changes after that.
 *
 * Tokens are raw bytes here: the byte-level alphabet of the files is undone while loading.
 */
#ifndef LW__TOKENIZE_VOCAB_H
#define LW__TOKENIZE_VOCAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#include "base/bytes.h"
#include "base/json.h"
#include "tokenize/bpe.h"
#include "tokenize/decode.h"
#include "tokenize/normalize.h"
#include "tokenize/piece_rules.h"
#include "tokenize/split.h"
#include "tokenize/split_steps.h"

/* Ids lie below this: it bounds what a small corrupt file can make us allocate. */
#define LW__VOCAB_LIMIT (1 << 22)

/* Where in a file something was found; the prefix of every message about it. */
typedef struct lw__place {
    const char *path;
    const char *unit; /* "line", "byte", "merge"; NULL: the file as a whole */
    uint64_t at;
} lw__place;

typedef struct lw__token {
    size_t offset; /* into pool */
    uint32_t bytes;
    uint16_t present; /* 0: the id is not in use */
    uint16_t special; /* 1: an added token that is special */
} lw__token;

/* The hash beside the id tells other tokens apart without a look at their bytes. */
typedef struct lw__slot {
    int32_t id; /* -1: empty */
    uint32_t hash;
} lw__slot;

/* The texts of two tokens, one behind the other: what they become has all of it. */
typedef struct lw__merge_text {
    const char *text;
    uint32_t left_bytes;
    uint32_t right_bytes;
} lw__merge_text;

typedef struct lw__added {
    int32_t id;
    bool special;
    bool lstrip;      /* takes the white space before it */
    bool rstrip;      /* takes the white space behind it */
    bool single_word; /* not where a word goes on before it or behind it */
    bool normalized;  /* matched after all those that are not */
} lw__added;

typedef struct lw__vocab {
    const char *path; /* as given; borrowed until opening is done, then NULL */
    lw__bytes pool;
    lw__token *tokens; /* by id */
    size_t limit;      /* one more than the largest id */
    size_t capacity;

    lw__slot *slots;    /* the model's tokens by hash of their bytes */
    void *slots_memory; /* what they lie in */
    size_t slot_count;
    size_t model_count; /* the model's tokens: those that are not only added */

    lw__merge *merges;
    size_t merge_count;
    size_t merge_capacity;

    lw__added *added;
    size_t added_count;
    size_t added_capacity;

    int32_t bos; /* what the file puts around a text, if it says so */
    int32_t eos;
    bool has_bos;
    bool has_eos;

    lw__split_rules rules;
    lw__steps steps; /* with LW__SPLIT_STEPS, in place of one family; of pieces, before all else */
    bool add_prefix_space;
    lw__normalizer normalizer; /* of text between added tokens */
    bool merge_ranks;          /* there are no merges: ids are ranks, and say what merges */
    bool whole_piece;          /* a piece that is a token is that token, whatever the merges say */
    lw__piece_rules pieces;    /* of SentencePiece; then no split rules are used */
    lw__decode_rules decode;
} lw__vocab;

void lw__vocab_reset(lw__vocab *vocab);

/* One line "tokenizer: "<path>": <unit> <at>: <text>". */
lw_status lw__vocab_fail(lw_error *err, lw_status status, const lw__place *place,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Bytes of a token to show in a message: a whole number of characters, not too many. */
int lw__vocab_shown(lw_str text);

/* Room at once for what a file of so many bytes mostly has; what is not used is never touched. */
lw_status lw__vocab_expect(lw__vocab *vocab, size_t file_bytes, lw_error *err);
/* The same for merges, once the tokens are there. */
lw_status lw__vocab_expect_merges(lw__vocab *vocab, lw_error *err);

/* Adds a token of the model. An id or bytes that are there already are an error at `place`. */
lw_status lw__vocab_put(lw__vocab *vocab, int64_t id, lw_str text, const lw__place *place,
                        lw_error *err);
/* The same for a token that merging can not reach: it is not found by its bytes. */
lw_status lw__vocab_put_aside(lw__vocab *vocab, int64_t id, lw_str text, const lw__place *place,
                              lw_error *err);
lw_status lw__vocab_put_added(lw__vocab *vocab, const lw__added *added, lw_error *err);
/*
 * Adds merges with the next ranks. `place` is that of the first, and goes on with them. All are
 * looked up faster together than one by one.
 */
lw_status lw__vocab_put_merges(lw__vocab *vocab, const lw__merge_text *merges, size_t count,
                               lw__place *place, lw_error *err);
lw_status lw__vocab_push_merge(lw__vocab *vocab, const lw__merge *merge, lw_error *err);

/* Asks for where a token of these bytes is, or would be put. */
void lw__vocab_prefetch(const lw__vocab *vocab, const void *text, size_t bytes);
/* The id of a token of the model by its bytes; -1 when there is none. */
int32_t lw__vocab_find(const lw__vocab *vocab, const void *text, size_t bytes);
/* The same for an added token. */
int32_t lw__vocab_find_added(const lw__vocab *vocab, lw_str text);
lw_str lw__vocab_text(const lw__vocab *vocab, int32_t id);

/* Reads a whole file. */
lw_status lw__vocab_read(const char *path, lw__bytes *out, lw_error *err);

/* The loaders; each fills an empty vocabulary from vocab->path. */
lw_status lw__load_tiktoken(lw__vocab *vocab, const char *pattern, lw_error *err);
lw_status lw__load_bpe(lw__vocab *vocab, lw_error *err);
lw_status lw__load_tekken(lw__vocab *vocab, lw_error *err);
lw_status lw__load_tokenizer_json(lw__vocab *vocab, lw_error *err);
lw_status lw__load_sentencepiece(lw__vocab *vocab, lw_error *err);

/* Whether the file begins as a .tiktoken file does, whatever its name. */
bool lw__load_tiktoken_is(const char *path);
/* Whether the path names one half of a vocab.bpe + encoder.json pair. */
bool lw__load_bpe_is_half(const char *path);
/* The bytes of a text of the byte-level alphabet, to `to`, which has room for as many as the text has;
 * false when a character is not of that alphabet. */
bool lw__byte_level_undo(lw_str text, char *to, size_t *bytes);
/* The character of that alphabet which stands for a byte. */
uint32_t lw__byte_level_code(unsigned char byte);
/* Reads an object of token text -> id. */
lw_status lw__load_token_object(lw__vocab *vocab, lw__json *json, lw_error *err);
/* What is wrong in a JSON file; LW_OK when nothing is. */
lw_status lw__load_json_fault(const char *path, const lw__json *json, lw_error *err);
/* Reads a JSON file, which must be UTF-8. */
lw_status lw__load_json_read(const char *path, lw__bytes *out, lw_error *err);

#endif
