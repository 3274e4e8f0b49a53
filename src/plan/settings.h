/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recipe's settings, typed and checked. The recipe layer fills them from its option table (which
 * says for each whether it is STREAM or SPEED); all layers to the right of plan read them.
 * Texts belong to the recipe. Immutable while a pipeline runs.
 */
#ifndef LW__PLAN_SETTINGS_H
#define LW__PLAN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lw__unit { LW__UNIT_TOKENS, LW__UNIT_DOCUMENTS, LW__UNIT_SUPERVISED } lw__unit;

typedef enum lw__order { LW__ORDER_PERMUTED, LW__ORDER_FILE } lw__order;

typedef enum lw__algorithm { LW__PACK_WRAP, LW__PACK_BEST_FIT } lw__algorithm;

typedef enum lw__overflow {
    LW__OVERFLOW_SPLIT,
    LW__OVERFLOW_TRUNCATE,
    LW__OVERFLOW_DROP
} lw__overflow;

typedef enum lw__shift { LW__SHIFT_STREAM, LW__SHIFT_DOCUMENT } lw__shift;

typedef enum lw__end { LW__END_REPEAT, LW__END_DROP, LW__END_PAD } lw__end;

typedef enum lw__policy { LW__POLICY_FAIL, LW__POLICY_SKIP, LW__POLICY_REPLACE } lw__policy;

typedef enum lw__dtype { LW__DTYPE_INT32, LW__DTYPE_INT64 } lw__dtype;

typedef struct lw__source_settings {
    const char *name;
    const char *const *paths;
    size_t path_count;
    const char *format; /* NULL: by the shards' names */
    const char *text;
    uint64_t weight;      /* times 10^9 */
    uint64_t block_bytes; /* 0: chosen */
} lw__source_settings;

typedef struct lw__settings {
    /* STREAM */
    uint64_t seed;
    uint64_t lanes;
    uint64_t global_batch; /* rows a step */
    uint64_t context;      /* tokens a row */
    const lw__source_settings *sources;
    size_t source_count;
    lw__unit unit;
    lw__order order;
    const char *tokenizer_path; /* one of path and name */
    const char *tokenizer_name;
    const char *tokenizer_pattern;
    const char *tokenizer_bos; /* as in lw__tokenizer_options */
    const char *tokenizer_eos;
    bool special_text;
    lw__algorithm algorithm;
    lw__overflow overflow;
    uint64_t open_rows; /* best_fit */
    int64_t pad;        /* token id; -1: EOS, or 0 without one */
    uint64_t shuffle_rows;
    lw__shift shift;
    bool mask_eos;
    lw__end end;
    lw__policy policy;
    uint64_t bad_limit; /* skip: bad records a lane may pass over in all */
    /* SPEED */
    uint64_t threads;      /* 0: one a core */
    uint64_t memory_bytes; /* the byte budget */
    uint64_t prefetch_steps;
    uint64_t microbatch;  /* rows a batch; 0: all rows of the rank's step */
    uint64_t keep_states; /* steps whose state can still be asked for */
    lw__dtype dtype;
    bool digests;
} lw__settings;

#endif
