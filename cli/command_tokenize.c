/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway tokenize: the ids of each document of JSONL files, one line a document, in file order; or
 * with --count how many there are and how fast it went. No recipe and no pipeline.
 */
#include <inttypes.h>
#include <string.h>

#include "encode_pool.h"

#define MOST_THREADS 1024

static lw_status open_tokenizer(const lw__cli_args *args, lw_tokenizer **out, lw_error *err)
{
    lw_tokenizer_options options = LW_TOKENIZER_OPTIONS_INIT;
    const char *path = args->text[LW__CLI_TOKENIZER];
    bool is_name = strcmp(path, "bytes") == 0;
    options.path = is_name ? NULL : path;
    options.name = is_name ? path : NULL;
    options.pattern = args->text[LW__CLI_PATTERN];
    options.bos = args->given[LW__CLI_BOS] ? "" : NULL;
    options.eos = args->given[LW__CLI_EOS] ? "" : NULL;
    options.special_text = args->given[LW__CLI_SPECIAL_TEXT] ? 1 : 0;
    return lw_tokenizer_open(&options, out, err);
}

static lw_status add_document(void *ctx, lw_str text, lw_error *err)
{
    return lw__cli_encode_pool_add(ctx, text, err);
}

static lw_status read_files(const lw__cli_args *args, lw__cli_encode_pool *pool, lw_error *err)
{
    lw_status status = LW_OK;
    for (size_t i = 0; i < args->operand_count && status == LW_OK; i++) {
        status = lw_documents_read(args->operands[i], args->text[LW__CLI_FIELD], add_document, pool,
                                   err);
    }
    if (status < 0) {
        /* What was read before comes out before the failure is told, as it would on one thread. */
        lw_error earlier;
        lw_status earlier_status = lw__cli_encode_pool_finish(pool, &earlier);
        if (earlier_status != LW_OK) {
            *err = earlier;
        }
        return status;
    }
    return lw__cli_encode_pool_finish(pool, err);
}

static int print_counts(const lw__cli_encode_pool *pool, double seconds)
{
    char text[256];
    snprintf(text, sizeof text,
             "{\"documents\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"tokens\": %" PRIu64
             ", \"seconds\": %.6f, \"bytes_per_second\": %.0f}\n",
             pool->documents, pool->text_bytes, pool->tokens, seconds,
             seconds > 0 ? (double)pool->text_bytes / seconds : 0.0);
    return lw__cli_print(text);
}

static int encode_files(const lw__cli_args *args, lw_tokenizer *tokenizer)
{
    uint64_t threads = args->number[LW__CLI_THREADS];
    bool count_only = args->given[LW__CLI_COUNT];
    lw__cli_encode_pool pool;
    lw_error err;
    double begin = lw__cli_seconds();
    lw_status status = lw__cli_encode_pool_open(&pool, tokenizer, threads > 0 ? (size_t)threads : 1,
                                                count_only, &err);
    if (status == LW_OK) {
        status = read_files(args, &pool, &err);
    }
    int code = status == LW_OK ? LW__CLI_DONE : lw__cli_report(&err);
    if (status == LW_OK && count_only) {
        code = print_counts(&pool, lw__cli_seconds() - begin);
    }
    lw__cli_encode_pool_close(&pool);
    return code;
}

static int run(const lw__cli_args *args)
{
    lw_tokenizer *tokenizer = NULL;
    lw_error err;
    if (!args->given[LW__CLI_TOKENIZER]) {
        return lw__cli_misused(&lw__cli_command_tokenize,
                               "tokenize: no --tokenizer, expected a path or bytes");
    }
    if (args->number[LW__CLI_THREADS] > MOST_THREADS) {
        return lw__cli_misused(&lw__cli_command_tokenize, "--threads: %s, expected at most %d",
                               args->text[LW__CLI_THREADS], MOST_THREADS);
    }
    if (open_tokenizer(args, &tokenizer, &err) != LW_OK) {
        return lw__cli_report(&err);
    }
    int code = encode_files(args, tokenizer);
    lw_tokenizer_close(tokenizer);
    return code;
}

static const lw__cli_option accepted[] = {
    LW__CLI_TOKENIZER, LW__CLI_PATTERN, LW__CLI_BOS,   LW__CLI_EOS,  LW__CLI_SPECIAL_TEXT,
    LW__CLI_FIELD,     LW__CLI_THREADS, LW__CLI_COUNT, LW__CLI_HELP,
};

const lw__cli_command lw__cli_command_tokenize = {
    "tokenize", "FILE...", "print the ids of each document", accepted, 1, SIZE_MAX, run,
};
