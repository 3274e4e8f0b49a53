/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocab.bpe + encoder.json, also known as merges.txt + vocab.json: a GPT-2 vocabulary in two
 * files. One holds the merges, "left right" a line in order of rank; the other the ids.
 *
 * Neither says which tokens are special: those with a customary name are, when they are there.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "tokenize/load_merges.h"

typedef struct half {
    const char *suffix;
    const char *other;
    bool is_merges;
} half;

static const half halves[] = {{"vocab.bpe", "encoder.json", true},
                              {"merges.txt", "vocab.json", true},
                              {"encoder.json", "vocab.bpe", false},
                              {"vocab.json", "merges.txt", false}};

static const char *const special_names[] = {
    "<|endoftext|>", "<|end_of_text|>", "<|begin_of_text|>", "<|startoftext|>", "<s>",   "</s>",
    "<bos>",         "<eos>",           "<|bos|>",           "<|eos|>",         "<pad>", "<unk>",
    "<mask>",
};

/* The file name is the suffix, or ends with it behind a '.', '-' or '_'. */
static const half *half_of(const char *path)
{
    size_t bytes = strlen(path);
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        size_t suffix = strlen(halves[i].suffix);
        if (bytes >= suffix && strcmp(path + bytes - suffix, halves[i].suffix) == 0 &&
            (bytes == suffix || strchr("/.-_", path[bytes - suffix - 1]) != NULL)) {
            return &halves[i];
        }
    }
    return NULL;
}

bool lw__load_bpe_is_half(const char *path)
{
    return half_of(path) != NULL;
}

static char *other_path(const char *path, const half *given, lw_error *err)
{
    size_t stem = strlen(path) - strlen(given->suffix);
    size_t bytes = stem + strlen(given->other);
    char *other = lw__alloc(bytes + 1);
    if (other == NULL) {
        (void)lw__fail_nomem(err, bytes + 1, "a path");
        return NULL;
    }
    (void)snprintf(other, bytes + 1, "%.*s%s", (int)stem, path, given->other);
    return other;
}

static lw_status put_ids(lw__vocab *vocab, lw__bytes *file, lw_error *err)
{
    lw__json json;
    lw__place place = {.path = vocab->path, .unit = "byte"};
    place.at = lw__utf8_check(file->data, file->count);
    if (place.at < file->count) {
        return lw__vocab_fail(err, LW_E_CORRUPT, &place, "a byte that is not UTF-8, expected JSON");
    }
    lw__json_open(&json, file->data, file->count);
    LW__TRY(lw__load_token_object(vocab, &json, err));
    lw__json_finish(&json);
    return lw__load_json_fault(vocab->path, &json, err);
}

static lw_status put_line(lw__load_merges *loading, const char *line, const char *end, uint64_t at,
                          lw_error *err)
{
    lw__place place = {.path = loading->place.path, .unit = "line", .at = at};
    const char *space = memchr(line, ' ', (size_t)(end - line));
    if (space == NULL || memchr(space + 1, ' ', (size_t)(end - space - 1)) != NULL) {
        LW__TRY(lw__load_merges_put(loading, err));
        lw_str found = {.data = line, .bytes = (size_t)(end - line)};
        return lw__vocab_fail(err, LW_E_CORRUPT, &place,
                              "\"%.*s\", expected two tokens with one space between",
                              lw__vocab_shown(found), found.data);
    }
    lw_str left = {.data = line, .bytes = (size_t)(space - line)};
    lw_str right = {.data = space + 1, .bytes = (size_t)(end - space - 1)};
    bool good = false;
    LW__TRY(lw__load_merges_add(loading, left, right, &good, err));
    return good ? LW_OK
                : lw__vocab_fail(err, LW_E_CORRUPT, &place,
                                 "\"%.*s %.*s\", expected characters of the byte-level alphabet",
                                 lw__vocab_shown(left), left.data, lw__vocab_shown(right),
                                 right.data);
}

static lw_status put_lines(lw__load_merges *loading, const lw__bytes *file, lw_error *err)
{
    const char *line = (const char *)file->data;
    const char *end = line + file->count;
    for (uint64_t at = 1; line < end; at++) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline == NULL ? end : newline;
        const char *next = newline == NULL ? end : newline + 1;
        stop -= stop > line && stop[-1] == '\r';
        bool is_version = (size_t)(stop - line) >= 8 && memcmp(line, "#version", 8) == 0;
        if (stop > line && !is_version) {
            LW__TRY(put_line(loading, line, stop, at, err));
        } else {
            LW__TRY(lw__load_merges_put(loading, err)); /* the next one is not of the next line */
            loading->place.at = at + 1;
        }
        line = next;
    }
    return lw__load_merges_put(loading, err);
}

static lw_status put_merges(lw__vocab *vocab, const char *path, const lw__bytes *file,
                            lw_error *err)
{
    lw__load_merges loading;
    lw__place first = {.path = path, .unit = "line", .at = 1};
    lw__load_merges_init(&loading, vocab, &first);
    lw_status status = put_lines(&loading, file, err);
    lw__load_merges_reset(&loading);
    return status;
}

static lw_status put_specials(lw__vocab *vocab, lw_error *err)
{
    for (size_t i = 0; i < sizeof special_names / sizeof special_names[0]; i++) {
        int32_t id = lw__vocab_find(vocab, special_names[i], strlen(special_names[i]));
        if (id >= 0) {
            lw__added added = {.id = id, .special = true};
            LW__TRY(lw__vocab_put_added(vocab, &added, err));
        }
    }
    return LW_OK;
}

static lw_status load_files(lw__vocab *vocab, const char *ids_path, const char *merges_path,
                            lw__bytes *file, lw_error *err)
{
    vocab->path = ids_path;
    LW__TRY(lw__vocab_read(ids_path, file, err));
    LW__TRY(lw__vocab_expect(vocab, file->count, err));
    LW__TRY(put_ids(vocab, file, err));
    LW__TRY(lw__vocab_expect_merges(vocab, err));
    file->count = 0;
    LW__TRY(lw__vocab_read(merges_path, file, err));
    LW__TRY(put_merges(vocab, merges_path, file, err));
    return put_specials(vocab, err);
}

lw_status lw__load_bpe(lw__vocab *vocab, lw_error *err)
{
    const char *path = vocab->path;
    const half *given = half_of(path);
    if (given == NULL) {
        return lw__fail(err, LW_E_INTERNAL, "tokenizer: \"%s\" is neither merges nor ids", path);
    }
    char *other = other_path(path, given, err);
    if (other == NULL) {
        return LW_E_NOMEM;
    }
    lw__bytes file;
    lw__bytes_init(&file);
    lw_status status = load_files(vocab, given->is_merges ? other : path,
                                  given->is_merges ? path : other, &file, err);
    lw__bytes_reset(&file);
    lw__free(other);
    vocab->path = path;
    vocab->rules = (lw__split_rules){.family = LW__SPLIT_GPT2};
    return status;
}
