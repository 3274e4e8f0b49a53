/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a tokenizer: choose the loader, complete the model, settle BOS and EOS.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/folder.h"
#include "tokenize/model.h"
#include "tokenize/piece_fold.h"

enum { BYTES_BOS = 256, BYTES_EOS = 257, BYTES_VOCABULARY = 258 };

/* A boundary token and the names it goes by, the first that is there wins; one that the file itself
 * puts there comes before all names. */
typedef struct boundary {
    const char *option;
    const char *what;
    const char *names[8]; /* ends at NULL */
} boundary;

/* Written with U+FF5C and U+2581. */
#define DEEPSEEK_BOS                                                                               \
    "<\xEF\xBD\x9C"                                                                                \
    "begin\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"
#define DEEPSEEK_EOS                                                                               \
    "<\xEF\xBD\x9C"                                                                                \
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"

static const boundary eos_boundary = {
    "tokenizer.eos",
    "end-of-text token",
    {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<|eos|>", DEEPSEEK_EOS}};
static const boundary bos_boundary = {
    "tokenizer.bos",
    "begin-of-text token",
    {"<|begin_of_text|>", "<s>", "<bos>", "<|bos|>", "<|startoftext|>", DEEPSEEK_BOS}};
/* GPT-2 was trained with one token as both. */
static const boundary bos_boundary_gpt2 = {
    "tokenizer.bos",
    "begin-of-text token",
    {"<|begin_of_text|>", "<s>", "<bos>", "<|bos|>", "<|startoftext|>", "<|endoftext|>"}};

/* Appends to a line of limited room; what does not fit is cut off. */
__attribute__((format(printf, 3, 4))) static void append(char *line, size_t room,
                                                         const char *format, ...)
{
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line + used, room - used, format, args);
    va_end(args);
}

static void list_specials(const lw__vocab *vocab, char *line, size_t room)
{
    size_t shown = 0;
    for (size_t i = 0; i < vocab->added_count; i++) {
        lw_str text = lw__vocab_text(vocab, vocab->added[i].id);
        if (!vocab->added[i].special) {
            continue;
        }
        if (strlen(line) + text.bytes + 8 > room) {
            append(line, room, ", ...");
            return;
        }
        append(line, room, "%s\"%.*s\"", shown == 0 ? "" : ", ", lw__vocab_shown(text), text.data);
        shown++;
    }
    append(line, room, "%s", shown == 0 ? "none" : "");
}

static lw_status no_boundary(const lw__vocab *vocab, const boundary *wanted, lw_error *err)
{
    char names[128] = "";
    char specials[200] = "";
    for (size_t i = 0; wanted->names[i] != NULL; i++) {
        append(names, sizeof names, "%s%s", i == 0 ? "" : " ", wanted->names[i]);
    }
    list_specials(vocab, specials, sizeof specials - 8);
    return lw__fail(err, LW_E_INVALID,
                    "tokenizer: \"%s\": no %s, expected one of %s (special tokens there: %s); "
                    "name it with %s",
                    vocab->path, wanted->what, names, specials, wanted->option);
}

static lw_status find_boundary(const lw__tokenizer *tokenizer, const boundary *wanted,
                               const char *name, int32_t *id, lw_error *err)
{
    const lw__vocab *vocab = &tokenizer->vocab;
    *id = -1;
    if (name == NULL) {
        return LW_OK;
    }
    if (name[0] != '\0') {
        char specials[200] = "";
        *id = lw__tokenizer_find(tokenizer, name, strlen(name));
        list_specials(vocab, specials, sizeof specials - 8);
        return *id >= 0 ? LW_OK
                        : lw__fail(err, LW_E_INVALID,
                                   "tokenizer: \"%s\": no token \"%.64s\", expected the one that "
                                   "%s names (special tokens there: %s)",
                                   vocab->path, name, wanted->option, specials);
    }
    bool is_bos = wanted != &eos_boundary;
    if (is_bos ? vocab->has_bos : vocab->has_eos) {
        *id = is_bos ? vocab->bos : vocab->eos;
        return LW_OK;
    }
    for (size_t i = 0; wanted->names[i] != NULL && *id < 0; i++) {
        lw_str text = {.data = wanted->names[i], .bytes = strlen(wanted->names[i])};
        *id = lw__vocab_find_added(vocab, text);
    }
    if (vocab->pieces.scored) {
        *id = wanted == &eos_boundary ? vocab->pieces.eos : vocab->pieces.bos;
    }
    return *id >= 0 ? LW_OK : no_boundary(vocab, wanted, err);
}

static bool ends_with(const char *text, const char *end)
{
    size_t bytes = strlen(text);
    size_t end_bytes = strlen(end);
    return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

/* "*.model", and with a version behind it, "*.model.v3". */
static bool is_model_path(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *version = strstr(name == NULL ? path : name, ".model.v");
    return ends_with(path, ".model") || (version != NULL && version[8] != '\0' &&
                                         strspn(version + 8, "0123456789") == strlen(version + 8));
}

/* By the file's name: tekken.json, tekken_240911.json. */
static bool is_tekken(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strstr(slash == NULL ? path : slash, "tekken") != NULL &&
           !ends_with(path, "tokenizer.json");
}

static lw_status load(lw__vocab *vocab, const char *path, const lw__tokenizer_options *options,
                      lw_error *err)
{
    lw__place place = {.path = path};
    vocab->path = path;
    if (ends_with(path, ".tiktoken") || (ends_with(path, ".model") && lw__load_tiktoken_is(path))) {
        return lw__load_tiktoken(vocab, options->pattern, err);
    }
    if (options->pattern != NULL) {
        return lw__vocab_fail(err, LW_E_INVALID, &place,
                              "pattern \"%.32s\", expected none but for ranks in .tiktoken form",
                              options->pattern);
    }
    if (lw__load_bpe_is_half(path)) {
        return lw__load_bpe(vocab, err);
    }
    if (ends_with(path, ".json")) {
        return is_tekken(path) ? lw__load_tekken(vocab, err) : lw__load_tokenizer_json(vocab, err);
    }
    if (is_model_path(path)) {
        return lw__load_sentencepiece(vocab, err);
    }
    return lw__vocab_fail(err, LW_E_INVALID, &place,
                          "an unknown kind of file, expected a tokenizer.json, *.tiktoken, "
                          "*vocab.bpe, *merges.txt or *.model");
}

static lw_status fill_matchers(lw__tokenizer *tokenizer, lw_error *err)
{
    lw__matcher *matchers = tokenizer->matchers;
    for (size_t i = 0; i < LW__ROUNDS; i++) {
        LW__TRY(lw__matcher_fill(&matchers[i], &tokenizer->vocab, i == 1, tokenizer->special_text,
                                 err));
    }
    if (matchers[0].count == 0 && tokenizer->vocab.normalizer.count == 0) {
        /* One round says the same, whichever it is. */
        matchers[0] = matchers[1];
        memset(&matchers[1], 0, sizeof matchers[1]);
    }
    return LW_OK;
}

static lw_status open_file(lw__tokenizer *tokenizer, const char *path,
                           const lw__tokenizer_options *options, lw_error *err)
{
    LW__TRY(load(&tokenizer->vocab, path, options, err));
    LW__TRY(lw__piece_fold(&tokenizer->vocab, options->special_text, err));
    LW__TRY(lw__model_build(tokenizer, err));
    tokenizer->vocabulary = (int32_t)tokenizer->vocab.limit;
    LW__TRY(fill_matchers(tokenizer, err));
    LW__TRY(find_boundary(tokenizer, &eos_boundary, options->eos, &tokenizer->eos, err));
    const boundary *bos =
        tokenizer->vocab.rules.family == LW__SPLIT_GPT2 && !tokenizer->vocab.pieces.used
            ? &bos_boundary_gpt2
            : &bos_boundary;
    return find_boundary(tokenizer, bos, options->bos, &tokenizer->bos, err);
}

static lw_status open_path(lw__tokenizer *tokenizer, const lw__tokenizer_options *options,
                           lw_error *err)
{
    lw__bytes path;
    lw__bytes_init(&path);
    lw_status status = lw__folder_choose(options->path, &path, err);
    if (status == LW_OK) {
        status = open_file(tokenizer, (const char *)path.data, options, err);
    }
    tokenizer->vocab.path = NULL;
    lw__bytes_reset(&path);
    return status;
}

static lw_status open_bytes(lw__tokenizer *tokenizer, const lw__tokenizer_options *options,
                            lw_error *err)
{
    lw__place place = {.path = options->name};
    if (strcmp(options->name, "bytes") != 0) {
        return lw__fail(err, LW_E_INVALID, "tokenizer: name \"%.64s\", expected \"bytes\"",
                        options->name);
    }
    if (options->pattern != NULL) {
        return lw__fail(err, LW_E_INVALID,
                        "tokenizer: pattern \"%.32s\", expected none for \"bytes\"",
                        options->pattern);
    }
    if ((options->bos != NULL && options->bos[0] != '\0') ||
        (options->eos != NULL && options->eos[0] != '\0')) {
        return lw__fail(err, LW_E_INVALID,
                        "tokenizer: \"bytes\": a named BOS or EOS, expected true or false");
    }
    for (int byte = 0; byte < 256; byte++) {
        char text = (char)byte;
        lw_str token = {.data = &text, .bytes = 1};
        LW__TRY(lw__vocab_put(&tokenizer->vocab, byte, token, &place, err));
    }
    tokenizer->is_bytes = true;
    tokenizer->vocabulary = BYTES_VOCABULARY;
    tokenizer->bos = options->bos != NULL ? BYTES_BOS : -1;
    tokenizer->eos = options->eos != NULL ? BYTES_EOS : -1;
    return LW_OK;
}

static lw_status open_any(lw__tokenizer *tokenizer, const lw__tokenizer_options *options,
                          lw_error *err)
{
    if ((options->path == NULL) == (options->name == NULL)) {
        return lw__fail(err, LW_E_INVALID, "tokenizer: %s, expected one of path and name",
                        options->path == NULL ? "neither a path nor a name" : "a path and a name");
    }
    tokenizer->special_text = options->special_text && options->name == NULL;
    LW__TRY(options->path != NULL ? open_path(tokenizer, options, err)
                                  : open_bytes(tokenizer, options, err));
    LW__TRY(lw__model_fingerprint(tokenizer, err));
    lw__free(tokenizer->vocab.merges);
    tokenizer->vocab.merges = NULL;
    tokenizer->vocab.merge_count = 0;
    tokenizer->vocab.merge_capacity = 0;
    return LW_OK;
}

lw_status lw__tokenizer_open(const lw__tokenizer_options *options, lw__tokenizer **out,
                             lw_error *err)
{
    *out = NULL;
    lw__tokenizer *tokenizer = lw__alloc_zero(1, sizeof *tokenizer);
    if (tokenizer == NULL) {
        return lw__fail_nomem(err, sizeof *tokenizer, "a tokenizer");
    }
    tokenizer->bos = -1;
    tokenizer->eos = -1;
    lw_status status = open_any(tokenizer, options, err);
    if (status < 0) {
        lw__tokenizer_close(tokenizer);
        return status;
    }
    *out = tokenizer;
    return LW_OK;
}

void lw__tokenizer_close(lw__tokenizer *tokenizer)
{
    if (tokenizer == NULL) {
        return;
    }
    for (size_t i = 0; i < LW__ROUNDS; i++) {
        lw__matcher_reset(&tokenizer->matchers[i]);
    }
    lw__bpe_reset(&tokenizer->bpe);
    lw__cuts_reset(&tokenizer->cuts);
    lw__whole_tokens_reset(&tokenizer->whole_tokens);
    lw__pieces_destroy(tokenizer->pieces);
    lw__vocab_reset(&tokenizer->vocab);
    lw__free(tokenizer);
}

int32_t lw__tokenizer_vocabulary(const lw__tokenizer *tokenizer)
{
    return tokenizer->vocabulary;
}

int32_t lw__tokenizer_bos(const lw__tokenizer *tokenizer)
{
    return tokenizer->bos;
}

int32_t lw__tokenizer_eos(const lw__tokenizer *tokenizer)
{
    return tokenizer->eos;
}

int32_t lw__tokenizer_find(const lw__tokenizer *tokenizer, const char *text, size_t bytes)
{
    lw_str wanted = {.data = text, .bytes = bytes};
    int32_t id = lw__vocab_find_added(&tokenizer->vocab, wanted);
    return id >= 0 ? id : lw__vocab_find(&tokenizer->vocab, text, bytes);
}

lw_str lw__tokenizer_token(const lw__tokenizer *tokenizer, int32_t id)
{
    return lw__vocab_text(&tokenizer->vocab, id);
}

uint64_t lw__tokenizer_fingerprint(const lw__tokenizer *tokenizer)
{
    return tokenizer->fingerprint;
}
