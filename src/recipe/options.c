/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table: every option of a recipe, once.
 *
 * Reading, checking, defaults, canonical text, the fingerprint's fields and docs/recipe.md all
 * follow it. The order of the rows is the order of all these; adding an option is adding a row.
 */
#include "recipe/options.h"

#include <assert.h>
#include <string.h>

#include "plan/settings.h"

/* Bounds rows and lanes, so that rows times context times 8 bytes fits 64 bits. */
#define COUNT_MAX UINT32_MAX
/* Bounds sizes in bytes, so that sums of two fit 64 bits. */
#define BYTES_MAX INT64_MAX

static_assert(sizeof(lw__unit) == sizeof(unsigned), "enums are stored as unsigned");

/* Indexed by the enums of plan/settings.h. */
static const char *const order_names[] = {"permuted", "file", NULL};
static const char *const unit_names[] = {"tokens", "documents", "supervised", NULL};
static const char *const algorithm_names[] = {"wrap", "best_fit", NULL};
static const char *const overflow_names[] = {"split", "truncate", "drop", NULL};
static const char *const shift_names[] = {"stream", "document", NULL};
static const char *const end_names[] = {"repeat", "drop", "pad", NULL};
static const char *const policy_names[] = {"fail", "skip", "replace", NULL};
static const char *const dtype_names[] = {"int32", "int64", NULL};
static const char *const device_names[] = {"cpu", NULL};
static const char *const format_names[] = {"jsonl", NULL};
static const char *const tokenizer_names[] = {"bytes", NULL};

#define IN(field)        .stored = true, .offset = offsetof(lw__settings, field)
#define IN_SOURCE(field) .stored = true, .offset = offsetof(lw__source_settings, field)

static const lw__option table[] = {
    {"seed", LW__OPTION_WHOLE, LW__STREAM, "0", .max = UINT64_MAX, IN(seed),
     .text = "All that is random in the stream follows from it."},
    {"lanes", LW__OPTION_WHOLE, LW__STREAM, NULL, 1, COUNT_MAX, IN(lanes),
     .text = "Logical streams with a state of their own; the most ranks that share no work."},
    {"global_batch", LW__OPTION_WHOLE, LW__STREAM, NULL, 1, COUNT_MAX, IN(global_batch),
     .text = "Rows of a step, over all ranks; a multiple of `lanes`."},
    {"context", LW__OPTION_WHOLE, LW__STREAM, NULL, 1, 1u << 24, IN(context),
     .text = "Tokens of a row."},
    {"order", LW__OPTION_ENUM, LW__STREAM, "permuted", .names = order_names, IN(order),
     .text =
         "The order of a source's documents: permuted anew in every epoch, or as in the files."},
    {LW__PER_SOURCE "name", LW__OPTION_TEXT, LW__STREAM, NULL, IN_SOURCE(name), .covered = true,
     .text = "What messages, statistics and the fingerprint call the source; each name once."},
    {LW__PER_SOURCE "path", LW__OPTION_TEXTS, LW__STREAM, NULL, IN_SOURCE(paths), .covered = true,
     .text = "Files, folders or globs. Not the text but the files it names take part in the "
             "fingerprint."},
    {LW__PER_SOURCE "format", LW__OPTION_NAME, LW__STREAM, "null", .names = format_names,
     IN_SOURCE(format), .text = "The format of the files; null: by their names."},
    {LW__PER_SOURCE "text", LW__OPTION_TEXT, LW__STREAM, "text", IN_SOURCE(text),
     .text = "The field of a record that holds the text; dots lead into nested objects, and . "
             "alone is the whole record."},
    {LW__PER_SOURCE "weight", LW__OPTION_WEIGHT, LW__STREAM, "1", IN_SOURCE(weight),
     .text = "The source's share of the mixture, relative to the other weights."},
    {LW__PER_SOURCE "block", LW__OPTION_BYTES, LW__STREAM, "0", .max = BYTES_MAX,
     IN_SOURCE(block_bytes), .text = "The size of a block; 0: chosen from the size of the source."},
    {"mixture.unit", LW__OPTION_ENUM, LW__STREAM, "tokens", .names = unit_names, IN(unit),
     .text = "What weights are shares of: tokens, documents, or tokens that are learnt."},
    {"tokenizer.path", LW__OPTION_TEXT_OR_NULL, LW__STREAM, "null", IN(tokenizer_path),
     .covered = true,
     .text = "A `tokenizer.json`, a `tekken.json`, ranks in `.tiktoken` form, a `vocab.bpe` or "
             "`merges.txt`, or a folder with one of them. Either this or `name` is set. Its "
             "content takes part in the fingerprint."},
    {"tokenizer.name", LW__OPTION_NAME, LW__STREAM, "null", .names = tokenizer_names,
     IN(tokenizer_name), .text = "A tokenizer without a file. `bytes`: one token a byte."},
    {"tokenizer.pattern", LW__OPTION_TEXT_OR_NULL, LW__STREAM, "null", IN(tokenizer_pattern),
     .text = "How text is split into words, for ranks in `.tiktoken` form: gpt2, cl100k, o200k, "
             "llama3, llama4, qwen, qwen3_6, or a regex. Only with `path`."},
    {"tokenizer.bos", LW__OPTION_BOOL_OR_TEXT, LW__STREAM, "false", IN(tokenizer_bos),
     .text = "Begins every document with a token: the vocabulary's own, or the one named."},
    {"tokenizer.eos", LW__OPTION_BOOL_OR_TEXT, LW__STREAM, "false", IN(tokenizer_eos),
     .text = "Ends every document with a token: the vocabulary's own, or the one named."},
    {"tokenizer.special_text", LW__OPTION_BOOL, LW__STREAM, "false", IN(special_text),
     .text = "Whether text that looks like a special token becomes that token."},
    {"documents", LW__OPTION_ONLY_EMPTY, LW__STREAM, "[]",
     .text = "Operators on documents. In this release a program adds them with "
             "`lw_recipe_add_operator`."},
    {"pack.algorithm", LW__OPTION_ENUM, LW__STREAM, "wrap", .names = algorithm_names, IN(algorithm),
     .text = "How documents become rows: one after the other, or where they fit."},
    {"pack.overflow", LW__OPTION_ENUM, LW__STREAM, "split", .names = overflow_names, IN(overflow),
     .text = "What becomes of a document that is longer than a row."},
    {"pack.open_rows", LW__OPTION_WHOLE, LW__STREAM, "64", 1, 65536, IN(open_rows),
     .text = "Rows that `best_fit` fills at a time."},
    {"pack.pad", LW__OPTION_ID_OR_NULL, LW__STREAM, "null", .max = INT32_MAX, IN(pad),
     .text = "The token of places without one; null: the EOS, or 0 without `tokenizer.eos`."},
    {"shuffle.rows", LW__OPTION_WHOLE, LW__STREAM, "0", 0, 1u << 20, IN(shuffle_rows),
     .text = "Rows of a lane that are shuffled among each other; 0 and 1: none."},
    {"labels.shift", LW__OPTION_ENUM, LW__STREAM, "stream", .names = shift_names, IN(shift),
     .text = "What the label of a document's last token is: the next document's first one, or "
             "none (the last token is then a label only)."},
    {"labels.mask_eos", LW__OPTION_BOOL, LW__STREAM, "false", IN(mask_eos),
     .text = "Whether the EOS gets no label; needs `tokenizer.eos`."},
    {"end", LW__OPTION_ENUM, LW__STREAM, "repeat", .names = end_names, IN(end),
     .text = "At the end of the data: begin again, leave out the incomplete step, or pad it."},
    {"on_bad_record.policy", LW__OPTION_ENUM, LW__STREAM, "fail", .names = policy_names, IN(policy),
     .text = "A record that cannot be read ends the stream, is passed over, or has its ill-formed "
             "UTF-8 replaced."},
    {"on_bad_record.limit", LW__OPTION_WHOLE, LW__STREAM, "0", .max = UINT64_MAX, IN(bad_limit),
     .text = "Bad records that `skip` passes over in each lane, all its sources and epochs "
             "together, before the stream fails; 0: no limit."},
    {"cache.path", LW__OPTION_ONLY_NULL, LW__SPEED, "null",
     .text = "A folder for copies of remote shards."},
    {"cache.limit", LW__OPTION_BYTES, LW__SPEED, "0", .max = BYTES_MAX,
     .text = "The most bytes such a folder takes; without effect while `path` is null."},
    {"runtime.threads", LW__OPTION_WHOLE, LW__SPEED, "0", 0, 1024, IN(threads),
     .text = "Worker threads; 0: one a core."},
    {"runtime.memory", LW__OPTION_BYTES, LW__SPEED, "4GB", 1, BYTES_MAX, IN(memory_bytes),
     .text = "The budget of bytes for all that is read, held and delivered."},
    {"runtime.prefetch_steps", LW__OPTION_WHOLE, LW__SPEED, "2", 0, 1024, IN(prefetch_steps),
     .text = "Steps made ready before they are asked for."},
    {"runtime.device", LW__OPTION_ENUM, LW__SPEED, "cpu", .names = device_names,
     .text = "Where batches are delivered."},
    {"runtime.microbatch", LW__OPTION_WHOLE, LW__SPEED, "0", 0, COUNT_MAX, IN(microbatch),
     .text = "Rows of a batch; 0: all rows of the rank's step."},
    {"runtime.dtype", LW__OPTION_ENUM, LW__SPEED, "int32", .names = dtype_names, IN(dtype),
     .text = "The type of tokens, labels and positions in a batch."},
    {"runtime.digests", LW__OPTION_BOOL, LW__SPEED, "false", IN(digests),
     .text = "Whether each row's digest is computed."},
    {"runtime.keep_states", LW__OPTION_WHOLE, LW__SPEED, "8", 1, 1024, IN(keep_states),
     .text = "Steps back whose state can still be saved."},
};

const lw__option *lw__options(size_t *count)
{
    *count = sizeof(table) / sizeof(table[0]);
    return table;
}

bool lw__option_is_per_source(const lw__option *option)
{
    return strncmp(option->key, LW__PER_SOURCE, sizeof(LW__PER_SOURCE) - 1) == 0;
}

const char *lw__option_leaf(const lw__option *option)
{
    const char *dot = strrchr(option->key, '.');
    return dot == NULL ? option->key : dot + 1;
}

static void put_names(const lw__option *option, lw__bytes *out)
{
    for (size_t i = 0; option->names[i] != NULL; i++) {
        const char *between = i == 0 ? "" : option->names[i + 1] == NULL ? " or " : ", ";
        lw__bytes_printf(out, "%s%s", between, option->names[i]);
    }
}

static void put_range(const lw__option *option, const char *what, lw__bytes *out)
{
    lw__bytes_printf(out, "%s from %llu to %llu", what, (unsigned long long)option->min,
                     (unsigned long long)option->max);
}

void lw__option_put_expected(const lw__option *option, lw__bytes *out)
{
    switch (option->type) {
    case LW__OPTION_WHOLE:
        put_range(option, "a whole number", out);
        return;
    case LW__OPTION_BYTES:
        put_range(option, "a number of bytes", out);
        lw__bytes_printf(out, ", as in 65536, 64KB or 64KiB");
        return;
    case LW__OPTION_WEIGHT:
        lw__bytes_printf(out, "a decimal number above 0 and below 1000000000 with at most 9 digits "
                              "after the point");
        return;
    case LW__OPTION_BOOL:
        lw__bytes_printf(out, "true or false");
        return;
    case LW__OPTION_ENUM:
        put_names(option, out);
        return;
    case LW__OPTION_NAME:
        lw__bytes_printf(out, option->names[1] == NULL ? "null or " : "null, ");
        put_names(option, out);
        return;
    case LW__OPTION_TEXT:
        lw__bytes_printf(out, "text");
        return;
    case LW__OPTION_TEXT_OR_NULL:
        lw__bytes_printf(out, "text or null");
        return;
    case LW__OPTION_TEXTS:
        lw__bytes_printf(out, "text or a list of texts");
        return;
    case LW__OPTION_BOOL_OR_TEXT:
        lw__bytes_printf(out, "true, false or the text of a token");
        return;
    case LW__OPTION_ID_OR_NULL:
        put_range(option, "null or a token id", out);
        return;
    case LW__OPTION_ONLY_NULL:
        lw__bytes_printf(out, "null in this release");
        return;
    case LW__OPTION_ONLY_EMPTY:
        lw__bytes_printf(out, "[] in this release");
        return;
    }
}
