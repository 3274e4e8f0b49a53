/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tokenizer behind a pipe, for tests in other languages.
 *
 * Standard input is texts, each a 32-bit little-endian byte count and its bytes. Standard output
 * is, for each, a 32-bit count of ids and the ids, 32 bits each. With --decode the input is ids in
 * that form, and the output texts; --skip-special passes over special tokens. With --time nothing but
 * JSON comes out: a line for what opening and the first text of one byte took, and one a pass with its
 * bytes, ids and seconds of processor time. A pass takes the texts from memory or, with --jsonl, from
 * a file of records, which it reads anew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <laneway/tokenizer.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "tokenize/tokenize.h"

typedef struct arguments {
    lw__tokenizer_options options;
    const char *jsonl; /* a file with the texts; NULL: standard input has them */
    long passes;       /* 0: write ids */
    bool decodes;
    bool skips_special;
} arguments;

static const char usage[] =
    "usage: encode_driver (--path FILE [--pattern NAME] | --name bytes) [--bos TOKEN] "
    "[--eos TOKEN]\n                     [--special-text] [--time PASSES [--jsonl FILE] | --decode "
    "[--skip-special]]\n"
    "TOKEN is a token's text, or empty for the vocabulary's own.\n";

static int misuse(void)
{
    (void)fputs(usage, stderr);
    return 2;
}

static int failed(const lw_error *err)
{
    (void)fprintf(stderr, "%s\n", err->message);
    return 1;
}

static const char **option_of(arguments *args, const char *name)
{
    lw__tokenizer_options *options = &args->options;
    if (strcmp(name, "--path") == 0) {
        return &options->path;
    }
    if (strcmp(name, "--name") == 0) {
        return &options->name;
    }
    if (strcmp(name, "--pattern") == 0) {
        return &options->pattern;
    }
    if (strcmp(name, "--bos") == 0) {
        return &options->bos;
    }
    if (strcmp(name, "--jsonl") == 0) {
        return &args->jsonl;
    }
    return strcmp(name, "--eos") == 0 ? &options->eos : NULL;
}

static int parse(int count, char **texts, arguments *args)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(texts[i], "--special-text") == 0) {
            args->options.special_text = true;
            continue;
        }
        if (strcmp(texts[i], "--decode") == 0 || strcmp(texts[i], "--skip-special") == 0) {
            args->decodes = true;
            args->skips_special = args->skips_special || texts[i][2] == 's';
            continue;
        }
        if (i + 1 == count) {
            return -1;
        }
        const char **option = option_of(args, texts[i]);
        if (option != NULL) {
            *option = texts[++i];
        } else if (strcmp(texts[i], "--time") == 0) {
            args->passes = strtol(texts[++i], NULL, 10);
        } else {
            return -1;
        }
    }
    return 0;
}

static int read_input(lw__bytes *input)
{
    size_t count = 0;
    do {
        if (!lw__bytes_reserve(input, 1 << 20)) {
            return -1;
        }
        count = fread(input->data + input->count, 1, 1 << 20, stdin);
        input->count += count;
    } while (count > 0);
    return 0;
}

static uint32_t number_at(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* The next text of the input; false at its end. */
static bool next_text(const lw__bytes *input, size_t *at, lw_str *text)
{
    if (input->count - *at < 4) {
        return false;
    }
    uint32_t bytes = number_at(input->data + *at);
    *at += 4;
    if (input->count - *at < bytes) {
        return false;
    }
    *text = (lw_str){.data = (const char *)input->data + *at, .bytes = bytes};
    *at += bytes;
    return true;
}

static void write_number(uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        (void)putchar((int)(value >> (8 * i) & 0xFF));
    }
}

static lw_status write_ids(lw__encoder *encoder, const lw__bytes *input, lw_error *err)
{
    lw__arena arena = {.ids = NULL};
    lw_status status = LW_OK;
    lw_str text;
    for (size_t at = 0; status == LW_OK && next_text(input, &at, &text);) {
        arena.count = 0;
        status = lw__encoder_encode(encoder, text.data, text.bytes, &arena, err);
        write_number((uint32_t)arena.count);
        for (size_t i = 0; i < arena.count; i++) {
            write_number((uint32_t)arena.ids[i]);
        }
    }
    lw__arena_reset(&arena);
    return status;
}

/* The next ids of the input, of which each has four bytes; false at its end. */
static bool next_ids(lw__bytes *input, size_t *at, int32_t **ids, size_t *count)
{
    lw_str text;
    if (input->count - *at < 4) {
        return false;
    }
    uint32_t bytes = number_at(input->data + *at) * 4;
    for (int i = 0; i < 4; i++) {
        input->data[*at + (size_t)i] = (unsigned char)(bytes >> (8 * i) & 0xFF);
    }
    if (!next_text(input, at, &text)) {
        return false;
    }
    *count = text.bytes / 4;
    *ids = lw__alloc_array(*count + 1, sizeof **ids);
    for (size_t i = 0; *ids != NULL && i < *count; i++) {
        (*ids)[i] = (int32_t)number_at((const unsigned char *)text.data + i * 4);
    }
    return *ids != NULL;
}

static lw_status write_texts(const lw__tokenizer *tokenizer, bool skips_special, lw__bytes *input,
                             lw_error *err)
{
    lw__bytes text;
    lw_status status = LW_OK;
    int32_t *ids = NULL;
    size_t count = 0;
    lw__bytes_init(&text);
    for (size_t at = 0; status == LW_OK && next_ids(input, &at, &ids, &count);) {
        lw__decoded out = {.capacity = 0};
        status = lw__tokenizer_decode(tokenizer, ids, count, skips_special, &out, err);
        if (status == LW_OK && lw__bytes_reserve(&text, out.bytes)) {
            out = (lw__decoded){.data = (char *)text.data, .capacity = out.bytes};
            status = lw__tokenizer_decode(tokenizer, ids, count, skips_special, &out, err);
        }
        write_number((uint32_t)out.bytes);
        (void)fwrite(out.data, 1, out.bytes, stdout);
        lw__free(ids);
    }
    lw__bytes_reset(&text);
    return status;
}

static double processor_seconds(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* What a pass over the texts has to go on with. */
typedef struct pass {
    lw__encoder *encoder;
    lw__arena arena;
    size_t bytes;
} pass;

static lw_status encode_text(void *ctx, lw_str text, lw_error *err)
{
    pass *now = ctx;
    now->bytes += text.bytes;
    return lw__encoder_encode(now->encoder, text.data, text.bytes, &now->arena, err);
}

static lw_status encode_all(pass *now, const arguments *args, const lw__bytes *input, lw_error *err)
{
    lw_status status = LW_OK;
    lw_str text;
    if (args->jsonl != NULL) {
        return lw_documents_read(args->jsonl, NULL, encode_text, now, err);
    }
    for (size_t at = 0; status == LW_OK && next_text(input, &at, &text);) {
        status = encode_text(now, text, err);
    }
    return status;
}

static lw_status time_passes(lw__encoder *encoder, const arguments *args, const lw__bytes *input,
                             lw_error *err)
{
    pass now = {.encoder = encoder};
    lw_status status = LW_OK;
    for (long i = 0; status == LW_OK && i < args->passes; i++) {
        now.bytes = 0;
        now.arena.count = 0;
        double start = processor_seconds();
        status = encode_all(&now, args, input, err);
        double seconds = processor_seconds() - start;
        (void)printf("{\"pass\": %ld, \"bytes\": %zu, \"ids\": %zu, \"seconds\": %.6f, "
                     "\"megabytes_per_second\": %.1f}\n",
                     i, now.bytes, now.arena.count, seconds, (double)now.bytes / seconds / 1e6);
    }
    lw__arena_reset(&now.arena);
    return status;
}

/* What an encoder does once: making it, and what its first text finds missing. */
static lw_status first_text(const lw__tokenizer *tokenizer, lw__encoder **encoder, lw_error *err)
{
    lw__arena arena = {.ids = NULL};
    LW__TRY(lw__encoder_create(tokenizer, encoder, err));
    lw_status status = lw__encoder_encode(*encoder, "a", 1, &arena, err);
    lw__arena_reset(&arena);
    return status;
}

/* Opens a tokenizer and its encoder, and says what that took when passes are timed. */
static lw_status open_both(const arguments *args, lw__tokenizer **tokenizer, lw__encoder **encoder,
                           lw_error *err)
{
    double start = processor_seconds();
    LW__TRY(lw__tokenizer_open(&args->options, tokenizer, err));
    double opened = processor_seconds();
    LW__TRY(first_text(*tokenizer, encoder, err));
    if (args->passes > 0) {
        (void)printf("{\"open_seconds\": %.6f, \"first_text_seconds\": %.6f, "
                     "\"fingerprint\": \"%016llx\"}\n",
                     opened - start, processor_seconds() - opened,
                     (unsigned long long)lw__tokenizer_fingerprint(*tokenizer));
    }
    return LW_OK;
}

static int run(const arguments *args, lw__bytes *input)
{
    lw_error err;
    lw__tokenizer *tokenizer = NULL;
    lw__encoder *encoder = NULL;
    lw_status status = open_both(args, &tokenizer, &encoder, &err);
    if (status == LW_OK && args->decodes) {
        status = write_texts(tokenizer, args->skips_special, input, &err);
    } else if (status == LW_OK) {
        status = args->passes > 0 ? time_passes(encoder, args, input, &err)
                                  : write_ids(encoder, input, &err);
    }
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
    return status == LW_OK ? 0 : failed(&err);
}

int main(int count, char **texts)
{
    arguments args = {.passes = 0};
    lw__bytes input;
    if (parse(count, texts, &args) != 0) {
        return misuse();
    }
    lw__bytes_init(&input);
    int code = args.jsonl != NULL || read_input(&input) == 0 ? run(&args, &input) : 1;
    lw__bytes_reset(&input);
    return code;
}
