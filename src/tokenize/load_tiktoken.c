/* SPDX-License-Identifier: Apache-2.0 */
/*
 * *.tiktoken: a line for each token, its bytes in base64, a space, its rank. The rank is the id.
 *
 * The file holds neither pattern nor special tokens. For the published encodings both follow from
 * the file's name; any other file needs a pattern and has no special tokens.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/vocab.h"

typedef struct special {
    const char *text;
    int32_t id;
} special;

typedef struct encoding {
    const char *file;
    const char *pattern;
    special specials[6]; /* ends at a NULL text */
} encoding;

static const encoding encodings[] = {
    {"gpt2.tiktoken", "gpt2", {{"<|endoftext|>", 50256}}},
    {"r50k_base.tiktoken", "gpt2", {{"<|endoftext|>", 50256}}},
    {"p50k_base.tiktoken", "gpt2", {{"<|endoftext|>", 50256}}},
    {"cl100k_base.tiktoken",
     "cl100k",
     {{"<|endoftext|>", 100257},
      {"<|fim_prefix|>", 100258},
      {"<|fim_middle|>", 100259},
      {"<|fim_suffix|>", 100260},
      {"<|endofprompt|>", 100276}}},
};

static const encoding *encoding_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        if (strcmp(file, encodings[i].file) == 0) {
            return &encodings[i];
        }
    }
    return NULL;
}

static int sextet(unsigned char digit)
{
    if (digit >= 'A' && digit <= 'Z') {
        return digit - 'A';
    }
    if (digit >= 'a' && digit <= 'z') {
        return digit - 'a' + 26;
    }
    if (digit >= '0' && digit <= '9') {
        return digit - '0' + 52;
    }
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

/* Decodes four digits at a time in place; -1 when the text is not padded base64. */
static ptrdiff_t base64_decode(unsigned char *text, size_t count)
{
    if (count == 0 || count % 4 != 0) {
        return -1;
    }
    size_t padding = (size_t)(text[count - 1] == '=') +
                     (size_t)(text[count - 1] == '=' && text[count - 2] == '=');
    size_t out = 0;
    for (size_t in = 0; in < count; in += 4) {
        uint32_t bits = 0;
        for (size_t i = 0; i < 4; i++) {
            int value = in + i < count - padding ? sextet(text[in + i]) : 0;
            if (value < 0) {
                return -1;
            }
            bits = bits << 6 | (uint32_t)value;
        }
        text[out++] = (unsigned char)(bits >> 16);
        text[out++] = (unsigned char)(bits >> 8);
        text[out++] = (unsigned char)bits;
    }
    return (ptrdiff_t)(out - padding);
}

/* The number in [text, end); -1 when it is none or over any limit. */
static int64_t rank_of(const unsigned char *text, const unsigned char *end)
{
    int64_t rank = 0;
    if (text == end || end - text > 12) {
        return -1;
    }
    for (; text < end; text++) {
        if (*text < '0' || *text > '9') {
            return -1;
        }
        rank = rank * 10 + (*text - '0');
    }
    return rank;
}

static lw_status put_line(lw__vocab *vocab, unsigned char *line, unsigned char *end,
                          const lw__place *place, lw_error *err)
{
    unsigned char *space = memchr(line, ' ', (size_t)(end - line));
    if (space == NULL) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place,
                              "no space, expected a token in base64, a space and its rank");
    }
    ptrdiff_t bytes = base64_decode(line, (size_t)(space - line));
    if (bytes <= 0) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "bad base64, expected a token");
    }
    int64_t rank = rank_of(space + 1, end);
    if (rank < 0) {
        lw_str found = {.data = (char *)space + 1, .bytes = (size_t)(end - space - 1)};
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "rank \"%.*s\", expected a number",
                              lw__vocab_shown(found), found.data);
    }
    lw_str text = {.data = (char *)line, .bytes = (size_t)bytes};
    return lw__vocab_put(vocab, rank, text, place, err);
}

static lw_status put_lines(lw__vocab *vocab, lw__bytes *file, lw_error *err)
{
    lw__place place = {.path = vocab->path, .unit = "line"};
    unsigned char *line = file->data;
    unsigned char *end = file->data + file->count;
    while (line < end) {
        unsigned char *newline = memchr(line, '\n', (size_t)(end - line));
        unsigned char *stop = newline == NULL ? end : newline;
        unsigned char *next = newline == NULL ? end : newline + 1;
        stop -= stop > line && stop[-1] == '\r';
        place.at++;
        if (stop > line) {
            LW__TRY(put_line(vocab, line, stop, &place, err));
        }
        line = next;
    }
    return LW_OK;
}

static lw_status put_specials(lw__vocab *vocab, const encoding *known, lw_error *err)
{
    lw__place place = {.path = vocab->path};
    for (const special *s = known->specials; s->text != NULL; s++) {
        lw_str text = {.data = s->text, .bytes = strlen(s->text)};
        lw__added added = {.id = s->id, .special = true};
        LW__TRY(lw__vocab_put_aside(vocab, s->id, text, &place, err));
        LW__TRY(lw__vocab_put_added(vocab, &added, err));
    }
    return LW_OK;
}

static lw_status choose_rules(lw__vocab *vocab, const encoding *known, const char *pattern,
                              lw_error *err)
{
    lw__place place = {.path = vocab->path};
    if (pattern == NULL && known == NULL) {
        return lw__vocab_fail(err, LW_E_INVALID, &place,
                              "no pattern, expected tokenizer.pattern to be gpt2 or cl100k");
    }
    if (pattern != NULL && known != NULL && strcmp(pattern, known->pattern) != 0) {
        return lw__vocab_fail(err, LW_E_INVALID, &place, "pattern \"%.32s\", expected \"%s\"",
                              pattern, known->pattern);
    }
    if (!lw__split_rules_named(known != NULL ? known->pattern : pattern, &vocab->rules)) {
        return lw__vocab_fail(err, LW_E_INVALID, &place,
                              "pattern \"%.32s\", expected gpt2 or cl100k", pattern);
    }
    return LW_OK;
}

/* Whether a token holds a line end and then the first byte of another white space character. */
static bool joins_newline_and_space(const lw__vocab *vocab)
{
    static const char leads[] = "\t\v\f \xC2\xE1\xE2\xE3";
    for (size_t id = 0; id < vocab->limit; id++) {
        lw_str text = lw__vocab_text(vocab, (int32_t)id);
        for (size_t i = 0; i + 1 < text.bytes; i++) {
            if ((text.data[i] == '\n' || text.data[i] == '\r') && text.data[i + 1] != '\0' &&
                strchr(leads, text.data[i + 1]) != NULL) {
                return true;
            }
        }
    }
    return false;
}

lw_status lw__load_tiktoken(lw__vocab *vocab, const char *pattern, lw_error *err)
{
    const encoding *known = encoding_of(vocab->path);
    LW__TRY(choose_rules(vocab, known, pattern, err));
    lw__bytes file;
    lw__bytes_init(&file);
    lw_status status = lw__vocab_read(vocab->path, &file, err);
    if (status == LW_OK) {
        status = put_lines(vocab, &file, err);
    }
    lw__bytes_reset(&file);
    LW__TRY(status);
    vocab->whole_piece = true;
    vocab->merge_ranks = true;
    /* Where no token could span the cut, the pieces differ from the older pattern's, never the
     * ids; then the older rule is used, so that equal tokenizers have equal fingerprints. */
    vocab->rules.trailing_whole =
        vocab->rules.family == LW__SPLIT_CL100K && joins_newline_and_space(vocab);
    return known == NULL ? LW_OK : put_specials(vocab, known, err);
}
