/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads on encoding that have no text to read, for benchmarks.
 *
 * words: a stream of words of which no two are equal. threads: texts of such words from a small
 * vocabulary, in one thread and then in several, each with an encoder of its own. One JSON line
 * comes out: seconds of wall-clock time and the growth of the process's peak memory.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "tokenize/tokenize.h"

#define TEXT_WORDS   10000
#define WORD_BYTES   10    /* with the space before it */
#define VOCABULARY   20000 /* words of the texts that threads encode */
#define MOST_THREADS 16

typedef struct job {
    const lw__tokenizer *tokenizer;
    uint64_t first; /* the number of the first word */
    uint64_t words;
    uint64_t distinct; /* word numbers are taken modulo this */
    uint64_t ids;
    lw_status status;
    lw_error err;
} job;

/* Letters that name a number, none twice: its digits to the base 26. */
static void put_word(char *out, uint64_t number)
{
    *out++ = ' ';
    for (int i = 1; i < WORD_BYTES; i++) {
        *out++ = (char)('a' + number % 26);
        number /= 26;
    }
}

static lw_status encode_words(job *j, lw__encoder *encoder, lw__arena *arena)
{
    static const uint64_t scatter = 2654435761u; /* neighbours should not share their letters */
    char text[TEXT_WORDS * WORD_BYTES];
    for (uint64_t done = 0; done < j->words; done += TEXT_WORDS) {
        for (uint64_t i = 0; i < TEXT_WORDS; i++) {
            put_word(text + i * WORD_BYTES, (j->first + done + i) % j->distinct * scatter);
        }
        arena->count = 0;
        lw_status status = lw__encoder_encode(encoder, text, sizeof text, arena, &j->err);
        if (status < 0) {
            return status;
        }
        j->ids += arena->count;
    }
    return LW_OK;
}

static void *run_job(void *argument)
{
    job *j = argument;
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    j->status = lw__encoder_create(j->tokenizer, &encoder, &j->err);
    if (j->status == LW_OK) {
        j->status = encode_words(j, encoder, &arena);
    }
    lw__encoder_destroy(encoder);
    lw__arena_reset(&arena);
    return NULL;
}

/* All of the words in each of the threads. */
static int run_threads(const job *model, unsigned long threads)
{
    pthread_t handles[MOST_THREADS];
    job jobs[MOST_THREADS];
    for (unsigned long i = 0; i < threads; i++) {
        jobs[i] = *model;
        if (pthread_create(&handles[i], NULL, run_job, &jobs[i]) != 0) {
            (void)fprintf(stderr, "a thread can not be started\n");
            exit(1);
        }
    }
    int code = 0;
    for (unsigned long i = 0; i < threads; i++) {
        (void)pthread_join(handles[i], NULL);
        if (jobs[i].status < 0) {
            (void)fprintf(stderr, "%s\n", jobs[i].err.message);
            code = 1;
        }
    }
    return code;
}

static long peak_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

static int load(const lw__tokenizer *tokenizer, unsigned long threads, uint64_t words,
                uint64_t distinct)
{
    job model = {.tokenizer = tokenizer, .words = words, .distinct = distinct};
    long before = peak_kib();
    uint64_t start = lw__clock_ns();
    int code = run_threads(&model, threads);
    (void)printf(
        "{\"threads\": %lu, \"words\": %llu, \"seconds\": %.6f, \"peak_growth_kib\": %ld}\n",
        threads, (unsigned long long)words, (double)(lw__clock_ns() - start) * 1e-9,
        peak_kib() - before);
    return code;
}

int main(int count, char **texts)
{
    if (count != 5) {
        (void)fprintf(stderr, "usage: encode_load_driver TOKENIZER THREADS WORDS all|few\n");
        return 2;
    }
    lw__tokenizer_options options = {.path = texts[1]};
    unsigned long threads = strtoul(texts[2], NULL, 10);
    uint64_t words = strtoull(texts[3], NULL, 10);
    lw__tokenizer *tokenizer = NULL;
    lw_error err;
    if (threads == 0 || threads > MOST_THREADS) {
        (void)fprintf(stderr, "%lu threads, expected 1 to %d\n", threads, MOST_THREADS);
        return 2;
    }
    if (lw__tokenizer_open(&options, &tokenizer, &err) != LW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    int code =
        load(tokenizer, threads, words, strcmp(texts[4], "all") == 0 ? UINT64_MAX : VOCABULARY);
    lw__tokenizer_close(tokenizer);
    return code;
}
