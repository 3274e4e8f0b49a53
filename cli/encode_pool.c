/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes batches of documents on several threads and hands them back in the order they were put.
 *
 * A ring of slots: the one thread that reads documents fills them in turn, each worker takes the
 * next full one, and the reader prints and reuses a slot when it comes round to it again. With one
 * thread nothing is started: the reader encodes where it stands.
 */
#include "encode_pool.h"

#include <stdlib.h>
#include <string.h>

static void put_ids(lw__cli_output *out, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            lw__cli_put_char(out, ' ');
        }
        lw__cli_put_int(out, ids[i]);
    }
    lw__cli_put_char(out, '\n');
}

static void encode_slot(const lw__cli_encode_pool *pool, lw_encoder *encoder,
                        lw__cli_encode_slot *slot)
{
    size_t begin = 0;
    for (size_t i = 0; i < slot->count && slot->status == LW_OK; i++) {
        const int32_t *ids = NULL;
        size_t count = 0;
        slot->status = lw_encoder_encode(encoder, slot->texts.data + begin, slot->ends[i] - begin,
                                         &ids, &count, &slot->err);
        if (slot->status == LW_OK) {
            slot->tokens += count;
            if (!pool->count_only) {
                put_ids(&slot->lines, ids, count);
            }
        }
        begin = slot->ends[i];
    }
}

static void *run_worker(void *ctx)
{
    lw__cli_encode_worker *worker = ctx;
    lw__cli_encode_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->next_encode == pool->next_put && !pool->stopping) {
            pthread_cond_wait(&pool->filled, &pool->lock);
        }
        if (pool->next_encode == pool->next_put) {
            break;
        }
        lw__cli_encode_slot *slot = &pool->slots[pool->next_encode++ % pool->slot_count];
        pthread_mutex_unlock(&pool->lock);
        encode_slot(pool, worker->encoder, slot);
        pthread_mutex_lock(&pool->lock);
        slot->done = true;
        pthread_cond_signal(&pool->finished);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static lw_status start_workers(lw__cli_encode_pool *pool, lw_tokenizer *tokenizer, lw_error *err)
{
    for (size_t i = 0; i < pool->threads; i++) {
        lw__cli_encode_worker *worker = &pool->workers[i];
        worker->pool = pool;
        lw_status status = lw_encoder_create(tokenizer, &worker->encoder, err);
        if (status != LW_OK) {
            return status;
        }
        if (pool->threads > 1 && pthread_create(&worker->thread, NULL, run_worker, worker) != 0) {
            return lw__cli_fail(err, LW_E_NOMEM, "tokenize: no thread %zu of %zu", i,
                                pool->threads);
        }
        worker->started = pool->threads > 1;
    }
    return LW_OK;
}

lw_status lw__cli_encode_pool_open(lw__cli_encode_pool *pool, lw_tokenizer *tokenizer,
                                   size_t threads, bool count_only, lw_error *err)
{
    memset(pool, 0, sizeof *pool);
    pool->count_only = count_only;
    pool->threads = threads;
    pool->slot_count = threads > 1 ? 2 * threads + 1 : 1;
    pool->slots = calloc(pool->slot_count, sizeof *pool->slots);
    pool->workers = calloc(threads, sizeof *pool->workers);
    if (pool->slots == NULL || pool->workers == NULL) {
        pool->threads = 0;
        return lw__cli_fail(err, LW_E_NOMEM, "tokenize: no memory for %zu threads", threads);
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->filled, NULL);
    pthread_cond_init(&pool->finished, NULL);
    pool->ready = true;
    return start_workers(pool, tokenizer, err);
}

/* Waits for the oldest slot, prints it, and leaves it empty. */
static lw_status take_slot(lw__cli_encode_pool *pool, lw_error *err)
{
    lw__cli_encode_slot *slot = &pool->slots[pool->next_take++ % pool->slot_count];
    pthread_mutex_lock(&pool->lock);
    while (!slot->done) {
        pthread_cond_wait(&pool->finished, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    pool->tokens += slot->tokens;
    lw_status status = lw__cli_flush(&slot->lines, err);
    if (status == LW_OK && slot->status != LW_OK) {
        *err = slot->err;
        status = slot->status;
    }
    if (status == LW_OK && slot->texts.no_memory) {
        status = lw__cli_fail(err, LW_E_NOMEM, "tokenize: no memory for documents");
    }
    pool->failed = status != LW_OK;
    slot->texts.bytes = slot->count = 0;
    slot->tokens = 0;
    slot->done = false;
    return status;
}

/* Hands the slot being filled to the workers, or encodes it here. */
static lw_status put_slot(lw__cli_encode_pool *pool, lw_error *err)
{
    lw__cli_encode_slot *slot = &pool->slots[pool->next_put % pool->slot_count];
    if (pool->threads == 1) {
        encode_slot(pool, pool->workers[0].encoder, slot);
        slot->done = true;
        pool->next_put++;
        return take_slot(pool, err);
    }
    pthread_mutex_lock(&pool->lock);
    pool->next_put++;
    pthread_cond_signal(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
    return pool->next_put - pool->next_take == pool->slot_count ? take_slot(pool, err) : LW_OK;
}

lw_status lw__cli_encode_pool_add(lw__cli_encode_pool *pool, lw_str text, lw_error *err)
{
    lw__cli_encode_slot *slot = &pool->slots[pool->next_put % pool->slot_count];
    lw__cli_put(&slot->texts, text.data, text.bytes);
    slot->ends[slot->count++] = slot->texts.bytes;
    pool->documents++;
    pool->text_bytes += text.bytes;
    if (slot->count < LW__CLI_SLOT_DOCUMENTS && slot->texts.bytes < LW__CLI_SLOT_BYTES) {
        return slot->texts.no_memory
                   ? lw__cli_fail(err, LW_E_NOMEM, "tokenize: no memory for documents")
                   : LW_OK;
    }
    return put_slot(pool, err);
}

lw_status lw__cli_encode_pool_finish(lw__cli_encode_pool *pool, lw_error *err)
{
    lw_status status = LW_OK;
    if (pool->failed) {
        return LW_OK;
    }
    if (pool->slots[pool->next_put % pool->slot_count].count > 0) {
        status = put_slot(pool, err);
    }
    while (status == LW_OK && pool->next_take < pool->next_put) {
        status = take_slot(pool, err);
    }
    return status;
}

void lw__cli_encode_pool_close(lw__cli_encode_pool *pool)
{
    if (pool->ready) {
        pthread_mutex_lock(&pool->lock);
        pool->stopping = true;
        pthread_cond_broadcast(&pool->filled);
        pthread_mutex_unlock(&pool->lock);
    }
    for (size_t i = 0; i < pool->threads; i++) {
        if (pool->workers[i].started) {
            pthread_join(pool->workers[i].thread, NULL);
        }
        lw_encoder_destroy(pool->workers[i].encoder);
    }
    for (size_t i = 0; pool->slots != NULL && i < pool->slot_count; i++) {
        lw__cli_output_reset(&pool->slots[i].texts);
        lw__cli_output_reset(&pool->slots[i].lines);
    }
    if (pool->ready) {
        pthread_cond_destroy(&pool->finished);
        pthread_cond_destroy(&pool->filled);
        pthread_mutex_destroy(&pool->lock);
    }
    free(pool->slots);
    free(pool->workers);
    memset(pool, 0, sizeof *pool);
}
