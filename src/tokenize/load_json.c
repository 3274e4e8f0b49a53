/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokenizer.json: the one-file form of Hugging Face. Here are its top level and added tokens.
 *
 * Added tokens that the model does not know get ids by the rule of that library, which reads its
 * own file so: behind the vocabulary, in order. A file that lists other ids means different things
 * to different readers and is refused.
 */
#include "tokenize/load_json.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"

#define KIND_BYTES  ((size_t)1 << 18) /* of a file, in which its kind is looked for first */
#define ADDED_LIMIT 16384             /* each is looked for among all others */

typedef struct listed {
    int64_t id;
    lw_str content;
    lw__added flags;
} listed;

typedef struct document {
    bool has_model;
    bool has_rules;
    lw__ends ends;
    size_t added_count;
    lw__bytes storage; /* of type listed */
    lw__json_pieces pieces;
} document;

lw_status lw__load_json_refuse(const lw__vocab *vocab, const char *field, lw_str found,
                               const char *expected, lw_error *err)
{
    lw__place place = {.path = vocab->path};
    return lw__vocab_fail(err, LW_E_UNSUPPORTED, &place, "%s: %.*s, expected %s", field,
                          lw__vocab_shown(found), found.data == NULL ? "" : found.data, expected);
}

static const char *type_name(lw__json_type type)
{
    switch (type) {
    case LW__JSON_FALSE:
    case LW__JSON_TRUE:
        return "true or false";
    case LW__JSON_NUMBER:
        return "a number";
    case LW__JSON_STRING:
        return "a string";
    case LW__JSON_ARRAY:
        return "an array";
    case LW__JSON_OBJECT:
        return "an object";
    default:
        return "nothing";
    }
}

/* What to call a value in a refusal: its "type" when it is an object that has one. */
static lw_str value_name(lw__json *json)
{
    lw__json_type type = lw__json_peek(json);
    lw_str name = {.data = type_name(type), .bytes = strlen(type_name(type))};
    if (type != LW__JSON_OBJECT || !lw__json_enter(json, '{')) {
        lw__json_skip(json);
        return name;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "type") && lw__json_peek(json) == LW__JSON_STRING) {
            name = lw__json_string(json);
        } else {
            lw__json_skip(json);
        }
    }
    return name;
}

lw_status lw__load_json_null(const lw__vocab *vocab, lw__json *json, const char *field,
                             lw_error *err)
{
    if (lw__json_peek(json) == LW__JSON_NULL) {
        lw__json_skip(json);
        return LW_OK;
    }
    lw_str found = value_name(json);
    return json->fault != NULL ? LW_OK : lw__load_json_refuse(vocab, field, found, "null", err);
}

static lw_status read_added_field(const lw__vocab *vocab, lw__json *json, listed *out,
                                  lw_error *err)
{
    lw_str key = lw__json_key(json);
    if (json->fault != NULL) {
        return LW_OK;
    }
    if (lw__json_is(key, "id")) {
        out->id = lw__json_int(json);
    } else if (lw__json_is(key, "content")) {
        out->content = lw__json_string(json);
    } else if (lw__json_is(key, "special")) {
        out->flags.special = lw__json_bool(json);
    } else if (lw__json_is(key, "lstrip")) {
        out->flags.lstrip = lw__json_bool(json);
    } else if (lw__json_is(key, "rstrip")) {
        out->flags.rstrip = lw__json_bool(json);
    } else if (lw__json_is(key, "single_word")) {
        out->flags.single_word = lw__json_bool(json);
    } else if (lw__json_is(key, "normalized")) {
        out->flags.normalized = lw__json_bool(json);
    } else {
        return lw__load_json_refuse(vocab, "added_tokens: field", key,
                                    "no field but those of an added token", err);
    }
    return LW_OK;
}

static lw_status read_added(lw__vocab *vocab, lw__json *json, document *out, lw_error *err)
{
    if (!lw__json_enter(json, '[')) {
        return LW_OK;
    }
    while (lw__json_next(json)) {
        static const lw_str many = {.data = "more than 16384", .bytes = 15};
        listed item = {.id = -1};
        if (out->added_count == ADDED_LIMIT) {
            return lw__load_json_refuse(vocab, "added_tokens", many, "fewer", err);
        }
        if (!lw__json_enter(json, '{')) {
            return LW_OK;
        }
        while (lw__json_next(json)) {
            LW__TRY(read_added_field(vocab, json, &item, err));
        }
        lw__bytes_put(&out->storage, &item, sizeof item);
        if (out->storage.failed) {
            return lw__fail_nomem(err, sizeof item, "added tokens");
        }
        out->added_count++;
    }
    return LW_OK;
}

/* The id that the next added token gets which the model does not know. */
static int64_t next_added_id(const lw__vocab *vocab, size_t model_tokens)
{
    int64_t next = (int64_t)model_tokens;
    for (size_t i = 0; i < vocab->added_count; i++) {
        next = vocab->added[i].id >= next ? vocab->added[i].id + 1 : next;
    }
    return next;
}

static lw_status wrong_id(const lw__place *place, const listed *item, int64_t expected,
                          lw_error *err)
{
    return lw__vocab_fail(err, LW_E_CORRUPT, place, "\"%.*s\" has id %lld, expected %lld",
                          lw__vocab_shown(item->content), item->content.data, (long long)item->id,
                          (long long)expected);
}

static bool is_content(const listed *item, lw_str text)
{
    return text.bytes == item->content.bytes &&
           memcmp(text.data, item->content.data, text.bytes) == 0;
}

/*
 * The id of the model's token that is written like the content; -1 when there is none. Model
 * tokens are written in the byte-level alphabet, so " a" and its token "\u0120a" differ.
 */
static lw_status find_in_model(const lw__vocab *vocab, const listed *item, int32_t *id,
                               lw_error *err)
{
    if (vocab->pieces.used) {
        *id = lw__vocab_find(vocab, item->content.data, item->content.bytes);
        return LW_OK;
    }
    size_t bytes = 0;
    char *written = lw__alloc(item->content.bytes);
    if (written == NULL) {
        return lw__fail_nomem(err, item->content.bytes, "an added token");
    }
    int32_t same = item->id >= 0 && item->id < LW__VOCAB_LIMIT ? (int32_t)item->id : -1;
    lw_str there = lw__vocab_text(vocab, same);
    if (lw__byte_level_undo(item->content, written, &bytes)) {
        *id = lw__vocab_find(vocab, written, bytes);
    } else {
        bool is_aside =
            is_content(item, there) && lw__vocab_find(vocab, there.data, there.bytes) != same;
        *id = is_aside ? same : -1;
    }
    lw__free(written);
    return LW_OK;
}

static lw_status use_added(lw__vocab *vocab, const listed *item, size_t model_tokens,
                           const lw__place *place, lw_error *err)
{
    if (item->content.bytes == 0) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "no content, expected the token's text");
    }
    if (lw__vocab_find_added(vocab, item->content) >= 0) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "\"%.*s\" is there twice, expected one",
                              lw__vocab_shown(item->content), item->content.data);
    }
    int32_t known = -1;
    LW__TRY(find_in_model(vocab, item, &known, err));
    int64_t expected = known >= 0 ? known : next_added_id(vocab, model_tokens);
    if (item->id != expected) {
        return wrong_id(place, item, expected, err);
    }
    if (known < 0) {
        LW__TRY(lw__vocab_put_aside(vocab, item->id, item->content, place, err));
    } else if (!is_content(item, lw__vocab_text(vocab, known))) {
        return lw__vocab_fail(err, LW_E_UNSUPPORTED, place,
                              "\"%.*s\" is a byte of the model too, expected ASCII text",
                              lw__vocab_shown(item->content), item->content.data);
    }
    lw__added added = item->flags;
    added.id = (int32_t)item->id;
    return lw__vocab_put_added(vocab, &added, err);
}

static size_t present_count(const lw__vocab *vocab)
{
    size_t count = 0;
    for (size_t id = 0; id < vocab->limit; id++) {
        count += vocab->tokens[id].present;
    }
    return count;
}

static lw_status read_version(const lw__vocab *vocab, lw__json *json, lw_error *err)
{
    if (lw__json_peek(json) != LW__JSON_STRING) {
        lw_str found = value_name(json);
        return json->fault != NULL
                   ? LW_OK
                   : lw__load_json_refuse(vocab, "version", found, "the string 1.0", err);
    }
    lw_str found = lw__json_string(json);
    return json->fault != NULL || lw__json_is(found, "1.0")
               ? LW_OK
               : lw__load_json_refuse(vocab, "version", found, "1.0", err);
}

static lw_status read_field(lw__vocab *vocab, lw__json *json, document *out, lw_error *err)
{
    lw_str key = lw__json_key(json);
    if (json->fault != NULL) {
        return LW_OK;
    }
    if (lw__json_is(key, "version")) {
        return read_version(vocab, json, err);
    }
    if (lw__json_is(key, "truncation")) {
        return lw__load_json_null(vocab, json, "truncation", err);
    }
    if (lw__json_is(key, "padding")) {
        return lw__load_json_null(vocab, json, "padding", err);
    }
    if (lw__json_is(key, "normalizer")) {
        return lw__load_json_normalizer(vocab, json, err);
    }
    if (lw__json_is(key, "added_tokens")) {
        return read_added(vocab, json, out, err);
    }
    if (lw__json_is(key, "pre_tokenizer")) {
        out->has_rules = true;
        if (vocab->pieces.used) {
            return lw__load_json_piece_pre_tokenizer(vocab, json, &out->pieces, err);
        }
        return lw__load_json_pre_tokenizer(vocab, json, err);
    }
    if (lw__json_is(key, "model") && !out->has_model) {
        out->has_model = true;
        return lw__load_json_model(vocab, json, err);
    }
    if (lw__json_is(key, "post_processor")) {
        lw__load_json_post_processor(json, &out->ends);
        return LW_OK;
    }
    if (lw__json_is(key, "decoder")) {
        lw__load_json_decoder(vocab, json);
        return LW_OK;
    }
    return lw__load_json_refuse(vocab, "field", key, "no field but those of a tokenizer", err);
}

static lw_status finish(lw__vocab *vocab, const document *found, lw_error *err)
{
    static const lw_str missing = {.data = "missing", .bytes = 7};
    if (vocab->pieces.used && found->has_model) {
        LW__TRY(lw__load_json_finish_pieces(vocab, &found->pieces, err));
    } else if (!found->has_model || !found->has_rules) {
        return lw__load_json_refuse(vocab, found->has_model ? "pre_tokenizer" : "model", missing,
                                    "that of a byte-level BPE", err);
    }
    lw__place place = {.path = vocab->path, .unit = "added token"};
    size_t model_tokens = present_count(vocab);
    for (; place.at < found->added_count; place.at++) {
        listed item;
        memcpy(&item, found->storage.data + place.at * sizeof item, sizeof item);
        LW__TRY(use_added(vocab, &item, model_tokens, &place, err));
    }
    LW__TRY(lw__load_json_check_first(vocab, err));
    lw__load_json_use_ends(vocab, &found->ends);
    lw__load_json_finish_decoder(vocab);
    return LW_OK;
}

/* On a copy, as reading decodes strings in place. */
static lw_status look(lw__vocab *vocab, const lw__bytes *file, size_t count, bool *sure,
                      lw_error *err)
{
    char *copy = lw__copy_text((const char *)file->data, count);
    if (copy == NULL) {
        return lw__fail_nomem(err, count, "a tokenizer.json");
    }
    vocab->pieces.used = lw__load_json_is_pieces(copy, count, sure);
    vocab->pieces.unknown = -1;
    lw__free(copy);
    return LW_OK;
}

/* The start of a file mostly tells. */
static lw_status find_kind(lw__vocab *vocab, const lw__bytes *file, lw_error *err)
{
    bool sure = false;
    if (file->count > KIND_BYTES) {
        LW__TRY(look(vocab, file, KIND_BYTES, &sure, err));
    }
    return sure ? LW_OK : look(vocab, file, file->count, &sure, err);
}

static lw_status load(lw__vocab *vocab, lw__bytes *file, document *found, lw_error *err)
{
    LW__TRY(lw__load_json_read(vocab->path, file, err));
    LW__TRY(find_kind(vocab, file, err));
    LW__TRY(lw__vocab_expect(vocab, file->count, err));
    lw__json json;
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

lw_status lw__load_tokenizer_json(lw__vocab *vocab, lw_error *err)
{
    lw__bytes file;
    document found = {.has_model = false};
    lw__bytes_init(&file);
    lw__bytes_init(&found.storage);
    lw_status status = load(vocab, &file, &found, err);
    lw__bytes_reset(&found.storage);
    lw__bytes_reset(&file);
    return status;
}
