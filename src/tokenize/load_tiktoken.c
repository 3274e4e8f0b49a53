/* SPDX-License-Identifier: Apache-2.0 */
/*
 * *.tiktoken: a line for each token, its bytes in base64, a space, its rank. The rank is the id. Some
 * models bring this form under the name tokenizer.model.
 *
 * The file holds neither pattern nor special tokens: encodings.h says where they come from.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "tokenize/base64.h"
#include "tokenize/encodings.h"

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
    ptrdiff_t bytes = lw__base64_decode(line, (size_t)(space - line));
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

/* Names of patterns have nothing in them that a regex needs. */
static bool is_regex(const char *pattern)
{
    return pattern[strspn(pattern, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0';
}

/* A pattern given as a regex: its matches are the pieces, and what lies between is dropped. */
static lw_status use_regex(lw__vocab *vocab, const char *pattern, const lw__place *place,
                           lw_error *err)
{
    const char *wrong = NULL;
    lw_str regex = {.data = pattern, .bytes = strlen(pattern)};
    lw__step step = {.behavior = LW__STEP_REMOVED, .inverted = true};
    if (lw__utf8_check((const unsigned char *)pattern, regex.bytes) < regex.bytes) {
        return lw__vocab_fail(err, LW_E_INVALID, place, "a pattern that is not UTF-8, expected it");
    }
    LW__TRY(lw__regex_compile(regex, LW__REGEX_FANCY, false, &step.regex, &wrong, err));
    if (step.regex == NULL) {
        return lw__vocab_fail(err, LW_E_UNSUPPORTED, place, "pattern \"%.*s\", expected %s",
                              lw__vocab_shown(regex), pattern, wrong);
    }
    (void)lw__steps_put(&vocab->steps, &step, regex);
    vocab->rules = (lw__split_rules){.family = LW__SPLIT_STEPS};
    return vocab->steps.text.failed ? lw__fail_nomem(err, regex.bytes, "a pattern") : LW_OK;
}

/* Settles the pattern and the rules; *known is the encoding that brings special tokens, if any. */
static lw_status choose(lw__vocab *vocab, const char **pattern, const lw__encoding **known,
                        lw_error *err)
{
    lw__place place = {.path = vocab->path};
    *known = lw__encoding_of_file(vocab->path);
    if (*pattern == NULL && *known == NULL) {
        return lw__vocab_fail(err, LW_E_INVALID, &place,
                              "no pattern, expected tokenizer.pattern to be " LW__SPLIT_NAMES
                              ", or a regex");
    }
    if (*pattern != NULL && *known != NULL && strcmp(*pattern, (*known)->pattern) != 0) {
        return lw__vocab_fail(err, LW_E_INVALID, &place, "pattern \"%.32s\", expected \"%s\"",
                              *pattern, (*known)->pattern);
    }
    if (is_regex(*pattern == NULL ? "" : *pattern)) {
        return use_regex(vocab, *pattern, &place, err);
    }
    if (*known == NULL) {
        *known = lw__encoding_of_pattern(*pattern);
    } else {
        *pattern = (*known)->pattern;
    }
    return lw__split_rules_named(*pattern, &vocab->rules)
               ? LW_OK
               : lw__vocab_fail(err, LW_E_INVALID, &place,
                                "pattern \"%.32s\", expected " LW__SPLIT_NAMES ", or a regex",
                                *pattern);
}

bool lw__load_tiktoken_is(const char *path)
{
    lw_error ignored;
    lw__bytes file;
    lw__bytes_init(&file);
    bool is = false;
    if (lw__vocab_read(path, &file, &ignored) == LW_OK && file.count > 0) {
        unsigned char *end = memchr(file.data, '\n', file.count);
        end = end == NULL ? file.data + file.count : end;
        unsigned char *space = memchr(file.data, ' ', (size_t)(end - file.data));
        is = space != NULL && lw__base64_decode(file.data, (size_t)(space - file.data)) > 0;
    }
    lw__bytes_reset(&file);
    return is;
}

lw_status lw__load_tiktoken(lw__vocab *vocab, const char *pattern, lw_error *err)
{
    const lw__encoding *known = NULL;
    LW__TRY(choose(vocab, &pattern, &known, err));
    lw__bytes file;
    lw__bytes_init(&file);
    lw_status status = lw__vocab_read(vocab->path, &file, err);
    if (status == LW_OK) {
        status = lw__vocab_expect(vocab, file.count, err);
    }
    if (status == LW_OK) {
        status = put_lines(vocab, &file, err);
    }
    lw__bytes_reset(&file);
    LW__TRY(status);
    vocab->whole_piece = true;
    vocab->merge_ranks = true;
    vocab->rules.trailing_whole = strcmp(pattern, "cl100k") == 0;
    return known == NULL ? LW_OK : lw__encoding_put_specials(vocab, known, err);
}
