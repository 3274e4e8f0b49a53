/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tekken.json, the byte-level form of Mistral: ranks with their bytes in base64, a pattern, and so
 * many special tokens that come before the ranks.
 *
 * The id of a token is its rank and the number of special tokens. A file may hold more ranks than
 * the vocabulary has; those behind its end do not count.
 */
#include <stdio.h>

#include "base/error.h"
#include "tokenize/base64.h"
#include "tokenize/load_json.h"

static const char tekken_pattern[] =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|"
    "\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/* Those of files that list none, which are of versions up to 7. */
static const char *const older_specials[] = {"<unk>",
                                             "<s>",
                                             "</s>",
                                             "[INST]",
                                             "[/INST]",
                                             "[AVAILABLE_TOOLS]",
                                             "[/AVAILABLE_TOOLS]",
                                             "[TOOL_RESULTS]",
                                             "[/TOOL_RESULTS]",
                                             "[TOOL_CALLS]",
                                             "[IMG]",
                                             "<pad>",
                                             "[IMG_BREAK]",
                                             "[IMG_END]",
                                             "[PREFIX]",
                                             "[MIDDLE]",
                                             "[SUFFIX]",
                                             "[SYSTEM_PROMPT]",
                                             "[/SYSTEM_PROMPT]",
                                             "[TOOL_CONTENT]"};

/* Each is compared with those before it; files have some 1,000. */
#define SPECIALS_LIMIT (1 << 14)

#define OLDER_SPECIALS (sizeof older_specials / sizeof older_specials[0])

typedef struct entry {
    int64_t rank;
    lw_str text;
} entry;

typedef struct tekken {
    lw_str pattern;
    lw_str version;
    int64_t vocabulary; /* ids in all */
    int64_t specials;   /* those of them that come before the ranks */
    bool lists_specials;
    lw__bytes ranked; /* of type entry */
    lw__bytes listed; /* the same, special tokens */
} tekken;

static void read_config(lw__json *json, tekken *out)
{
    if (!lw__json_enter(json, '{')) {
        return;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "pattern")) {
            out->pattern = lw__json_string(json);
        } else if (lw__json_is(key, "version")) {
            out->version = lw__json_string(json);
        } else if (lw__json_is(key, "default_vocab_size")) {
            out->vocabulary = lw__json_int(json);
        } else if (lw__json_is(key, "default_num_special_tokens")) {
            out->specials = lw__json_int(json);
        } else {
            lw__json_skip(json); /* num_vocab_tokens is the number of ranks in the file */
        }
    }
}

/* The entries of "vocab" or "special_tokens"; `name` is the field that holds the text. */
static lw_status read_entries(lw__json *json, const char *name, lw__bytes *out, lw_error *err)
{
    if (!lw__json_enter(json, '[')) {
        return LW_OK;
    }
    while (lw__json_next(json) && lw__json_enter(json, '{')) {
        entry item = {.rank = -1};
        while (lw__json_next(json)) {
            lw_str key = lw__json_key(json);
            if (lw__json_is(key, "rank")) {
                item.rank = lw__json_int(json);
            } else if (lw__json_is(key, name)) {
                item.text = lw__json_string(json);
            } else {
                lw__json_skip(json);
            }
        }
        lw__bytes_put(out, &item, sizeof item);
    }
    return out->failed ? lw__fail_nomem(err, out->count, "tokens") : LW_OK;
}

/* Settings of other kinds of input, which have no effect on text. */
static bool is_about_other_input(lw_str key)
{
    return lw__json_is(key, "image") || lw__json_is(key, "audio") ||
           lw__json_is(key, "multimodal") || lw__json_is(key, "model_settings_builder");
}

static lw_status read_field(const lw__vocab *vocab, lw__json *json, tekken *out, lw_error *err)
{
    lw_str key = lw__json_key(json);
    if (json->fault != NULL) {
        return LW_OK;
    }
    if (lw__json_is(key, "config")) {
        read_config(json, out);
        return LW_OK;
    }
    if (lw__json_is(key, "vocab")) {
        return read_entries(json, "token_bytes", &out->ranked, err);
    }
    if (lw__json_is(key, "special_tokens") && lw__json_peek(json) == LW__JSON_ARRAY) {
        out->lists_specials = true;
        return read_entries(json, "token_str", &out->listed, err);
    }
    if (is_about_other_input(key) || lw__json_is(key, "special_tokens")) {
        lw__json_skip(json);
        return LW_OK;
    }
    return lw__load_json_refuse(vocab, "field", key, "no field but those of a tekken file", err);
}

static entry entry_at(const lw__bytes *entries, int64_t at)
{
    entry item;
    memcpy(&item, entries->data + (size_t)at * sizeof item, sizeof item);
    return item;
}

static int64_t entry_count(const lw__bytes *entries)
{
    return (int64_t)(entries->count / sizeof(entry));
}

static lw_status wrong_rank(const lw__place *place, const entry *item, lw_error *err)
{
    return lw__vocab_fail(err, LW_E_CORRUPT, place, "rank %lld, expected %llu",
                          (long long)item->rank, (unsigned long long)place->at);
}

static lw_status put_ranked(lw__vocab *vocab, const tekken *found, lw_error *err)
{
    lw__place place = {.path = vocab->path, .unit = "token"};
    int64_t count = found->vocabulary - found->specials;
    for (int64_t rank = 0; rank < count; rank++) {
        entry item = entry_at(&found->ranked, rank);
        place.at = (uint64_t)rank;
        if (item.rank != rank) {
            return wrong_rank(&place, &item, err);
        }
        ptrdiff_t bytes = lw__base64_decode((unsigned char *)item.text.data, item.text.bytes);
        if (bytes <= 0) {
            return lw__vocab_fail(err, LW_E_CORRUPT, &place, "bad base64, expected a token");
        }
        lw_str text = {.data = item.text.data, .bytes = (size_t)bytes};
        LW__TRY(lw__vocab_put(vocab, rank + found->specials, text, &place, err));
    }
    return LW_OK;
}

static lw_status put_special(lw__vocab *vocab, int64_t id, lw_str text, const lw__place *place,
                             lw_error *err)
{
    lw__added added = {.id = (int32_t)id, .special = true};
    if (text.bytes == 0) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "no token_str, expected the token's text");
    }
    if (lw__vocab_find_added(vocab, text) >= 0) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "\"%.*s\" is there twice, expected one",
                              lw__vocab_shown(text), text.data);
    }
    LW__TRY(lw__vocab_put_aside(vocab, id, text, place, err));
    return lw__vocab_put_added(vocab, &added, err);
}

/* Listed ones, or those of older files; ids that are left over get numbered names. */
static lw_status put_specials(lw__vocab *vocab, const tekken *found, lw_error *err)
{
    lw__place place = {.path = vocab->path, .unit = "special token"};
    int64_t named = found->lists_specials ? entry_count(&found->listed) : (int64_t)OLDER_SPECIALS;
    for (int64_t id = 0; id < found->specials; id++) {
        char filler[32];
        int bytes = snprintf(filler, sizeof filler, "<SPECIAL_%lld>", (long long)id);
        entry item = {.rank = id, .text = {.data = filler, .bytes = (size_t)bytes}};
        place.at = (uint64_t)id;
        if (id < named && found->lists_specials) {
            item = entry_at(&found->listed, id);
        } else if (id < named) {
            item.text = (lw_str){.data = older_specials[id], .bytes = strlen(older_specials[id])};
        }
        if (item.rank != id) {
            return wrong_rank(&place, &item, err);
        }
        LW__TRY(put_special(vocab, id, item.text, &place, err));
    }
    return LW_OK;
}

static bool may_list_none(lw_str version)
{
    return lw__json_is(version, "v1") || lw__json_is(version, "v2") || lw__json_is(version, "v3") ||
           lw__json_is(version, "v7");
}

static lw_status check_counts(const lw__vocab *vocab, const tekken *found, lw_error *err)
{
    lw__place place = {.path = vocab->path};
    int64_t named = found->lists_specials ? entry_count(&found->listed) : (int64_t)OLDER_SPECIALS;
    if (found->specials < named || found->specials > SPECIALS_LIMIT ||
        found->specials > found->vocabulary || found->vocabulary > LW__VOCAB_LIMIT) {
        return lw__vocab_fail(err, LW_E_CORRUPT, &place,
                              "config: %lld special tokens of %lld, expected %lld to %d of at most "
                              "%d",
                              (long long)found->specials, (long long)found->vocabulary,
                              (long long)named, SPECIALS_LIMIT, LW__VOCAB_LIMIT);
    }
    if (found->vocabulary - found->specials > entry_count(&found->ranked)) {
        return lw__vocab_fail(err, LW_E_CORRUPT, &place, "vocab: %lld tokens, expected %lld",
                              (long long)entry_count(&found->ranked),
                              (long long)(found->vocabulary - found->specials));
    }
    return LW_OK;
}

static lw_status finish(lw__vocab *vocab, const tekken *found, lw_error *err)
{
    static const lw_str missing = {.data = "missing", .bytes = 7};
    if (!lw__json_is(found->pattern, tekken_pattern)) {
        return lw__load_json_refuse(vocab, "config.pattern",
                                    found->pattern.data == NULL ? missing : found->pattern,
                                    "that of tekken", err);
    }
    if (!found->lists_specials && !may_list_none(found->version)) {
        return lw__load_json_refuse(vocab, "special_tokens", missing, "a list behind v7", err);
    }
    LW__TRY(check_counts(vocab, found, err));
    vocab->rules = (lw__split_rules){.family = LW__SPLIT_TEKKEN, .digits = 1};
    vocab->whole_piece = true;
    vocab->merge_ranks = true;
    LW__TRY(put_specials(vocab, found, err));
    return put_ranked(vocab, found, err);
}

static lw_status load(lw__vocab *vocab, lw__bytes *file, tekken *found, lw_error *err)
{
    lw__json json;
    LW__TRY(lw__load_json_read(vocab->path, file, err));
    lw__json_open(&json, file->data, file->count);
    if (lw__json_enter(&json, '{')) {
        while (lw__json_next(&json)) {
            LW__TRY(read_field(vocab, &json, found, err));
        }
    }
    lw__json_finish(&json);
    LW__TRY(lw__load_json_fault(vocab->path, &json, err));
    return finish(vocab, found, err);
}

lw_status lw__load_tekken(lw__vocab *vocab, lw_error *err)
{
    lw__bytes file;
    tekken found = {.vocabulary = -1};
    lw__bytes_init(&file);
    lw__bytes_init(&found.ranked);
    lw__bytes_init(&found.listed);
    lw_status status = load(vocab, &file, &found, err);
    lw__bytes_reset(&found.listed);
    lw__bytes_reset(&found.ranked);
    lw__bytes_reset(&file);
    return status;
}
