/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents in, their ids on standard output in the same order, encoded on several threads
 * (laneway tokenize). Used by one thread; the workers are the pool's own.
 */
#ifndef LW__CLI_ENCODE_POOL_H
#define LW__CLI_ENCODE_POOL_H

#include <pthread.h>

#include "cli.h"

#define LW__CLI_SLOT_DOCUMENTS 1024
#define LW__CLI_SLOT_BYTES     ((size_t)1 << 20) /* enough to make a hand-over cost nothing */

/* Some documents, from reader to worker and back. */
typedef struct lw__cli_encode_slot {
    lw__cli_output texts; /* one after the other */
    size_t ends[LW__CLI_SLOT_DOCUMENTS];
    size_t count;
    lw__cli_output lines; /* the result */
    uint64_t tokens;
    lw_status status;
    lw_error err;
    bool done; /* under the pool's lock */
} lw__cli_encode_slot;

typedef struct lw__cli_encode_pool lw__cli_encode_pool;

typedef struct lw__cli_encode_worker {
    lw__cli_encode_pool *pool;
    lw_encoder *encoder;
    pthread_t thread;
    bool started;
} lw__cli_encode_worker;

struct lw__cli_encode_pool {
    /* set when it is opened */
    bool count_only, ready;
    size_t threads, slot_count;
    lw__cli_encode_slot *slots; /* a ring */
    lw__cli_encode_worker *workers;
    /* the reader's */
    uint64_t next_take;
    bool failed; /* nothing is printed any more */
    uint64_t documents, text_bytes, tokens;
    /* under lock */
    pthread_mutex_t lock;
    pthread_cond_t filled, finished;
    uint64_t next_put, next_encode; /* next_take <= next_encode <= next_put */
    bool stopping;
};

lw_status lw__cli_encode_pool_open(lw__cli_encode_pool *pool, lw_tokenizer *tokenizer,
                                   size_t threads, bool count_only, lw_error *err);
lw_status lw__cli_encode_pool_add(lw__cli_encode_pool *pool, lw_str text, lw_error *err);
/* Encodes and prints what is left; nothing after a failure. */
lw_status lw__cli_encode_pool_finish(lw__cli_encode_pool *pool, lw_error *err);
void lw__cli_encode_pool_close(lw__cli_encode_pool *pool);

#endif
