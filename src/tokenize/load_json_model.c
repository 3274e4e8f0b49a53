/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of a tokenizer.json: a byte-level BPE.
 *
 * The merges may stand before the vocabulary that they refer to: then they are passed, and read once
 * the object has ended.
 */
#include "base/error.h"
#include "tokenize/load_json.h"
#include "tokenize/load_merges.h"

typedef struct model {
    lw_str type;
    bool has_vocab;
    bool has_merges;
    bool has_scores;        /* "vocab" is a list of pieces */
    lw_str unknown;         /* of pieces: unk_token; its data is NULL without one */
    lw__json passed_merges; /* where they are when there was no vocabulary yet */
    bool has_passed_merges;
} model;

static lw_status bad_merge(const lw__vocab *vocab, uint64_t index, lw_str found, lw_error *err)
{
    lw__place place = {.path = vocab->path, .unit = "merge", .at = index};
    return lw__vocab_fail(err, LW_E_CORRUPT, &place,
                          "\"%.*s\", expected two tokens of the byte-level alphabet",
                          lw__vocab_shown(found), found.data);
}

/* One merge, "left right" or ["left", "right"]. */
static bool read_merge(lw__json *json, lw_str *left, lw_str *right)
{
    if (lw__json_peek(json) == LW__JSON_ARRAY) {
        size_t count = 0;
        if (lw__json_enter(json, '[')) {
            while (lw__json_next(json)) {
                lw_str text = lw__json_string(json);
                *(count == 0 ? left : right) = text;
                count++;
            }
        }
        return count == 2;
    }
    lw_str text = lw__json_string(json);
    *left = text;
    const char *space = text.bytes == 0 ? NULL : memchr(text.data, ' ', text.bytes);
    if (space == NULL) {
        return false;
    }
    left->bytes = (size_t)(space - text.data);
    *right = (lw_str){.data = space + 1, .bytes = text.bytes - left->bytes - 1};
    return memchr(right->data, ' ', right->bytes) == NULL;
}

static lw_status read_each_merge(lw__load_merges *loading, lw__json *json, lw_error *err)
{
    const lw__vocab *vocab = loading->vocab;
    uint64_t index = 0;
    for (; lw__json_next(json); index++) {
        lw_str left = {.data = "", .bytes = 0};
        lw_str right = left;
        bool good = read_merge(json, &left, &right);
        if (json->fault != NULL) {
            return LW_OK;
        }
        if (!good) {
            LW__TRY(lw__load_merges_put(loading, err));
            return bad_merge(vocab, index, left, err);
        }
        LW__TRY(lw__load_merges_add(loading, left, right, &good, err));
        if (!good) {
            return bad_merge(vocab, index, left, err);
        }
    }
    return lw__load_merges_put(loading, err);
}

static lw_status read_merges(lw__vocab *vocab, lw__json *json, lw_error *err)
{
    if (!lw__json_enter(json, '[')) {
        return LW_OK;
    }
    LW__TRY(lw__vocab_expect_merges(vocab, err));
    lw__load_merges loading;
    lw__place first = {.path = vocab->path, .unit = "merge"};
    lw__load_merges_init(&loading, vocab, &first);
    lw_status status = read_each_merge(&loading, json, err);
    lw__load_merges_reset(&loading);
    return status;
}

/* The merges of a list that was passed; a fault in it becomes one of the file. */
static lw_status read_passed_merges(lw__vocab *vocab, lw__json *json, const model *found,
                                    lw_error *err)
{
    lw__json merges = found->passed_merges;
    LW__TRY(read_merges(vocab, &merges, err));
    if (merges.fault != NULL) {
        *json = merges;
    }
    return LW_OK;
}

/* null and "" say the same here. */
static lw_status read_affix(const lw__vocab *vocab, lw__json *json, const char *field,
                            lw_error *err)
{
    if (lw__json_peek(json) != LW__JSON_STRING) {
        return lw__load_json_null(vocab, json, field, err);
    }
    lw_str found = lw__json_string(json);
    return found.bytes == 0 ? LW_OK
                            : lw__load_json_refuse(vocab, field, found, "null or \"\"", err);
}

static lw_status read_dropout(const lw__vocab *vocab, lw__json *json, lw_error *err)
{
    if (lw__json_peek(json) != LW__JSON_NUMBER) {
        return lw__load_json_null(vocab, json, "model.dropout", err);
    }
    static const lw_str found = {.data = "a number above 0", .bytes = 16};
    double dropout = lw__json_number(json);
    return dropout >= 0 && dropout <= 0
               ? LW_OK
               : lw__load_json_refuse(vocab, "model.dropout", found, "null or 0", err);
}

/* Fields of no effect here: every byte is a token, so nothing is ever unknown. */
static bool is_about_unknown(lw_str key)
{
    return lw__json_is(key, "unk_token") || lw__json_is(key, "fuse_unk") ||
           lw__json_is(key, "byte_fallback");
}

/* What only pieces have; false for any other field. */
static bool read_piece_field(lw__vocab *vocab, lw__json *json, lw_str key, model *out)
{
    lw__json_type type = lw__json_peek(json);
    if (lw__json_is(key, "unk_token") && type == LW__JSON_STRING) {
        out->unknown = lw__json_string(json);
    } else if (lw__json_is(key, "unk_id") && type == LW__JSON_NUMBER) {
        int64_t id = lw__json_int(json);
        vocab->pieces.unknown = id >= 0 && id < LW__VOCAB_LIMIT ? (int32_t)id : -1;
    } else if (lw__json_is(key, "fuse_unk")) {
        vocab->pieces.fused = lw__json_bool(json);
    } else if (lw__json_is(key, "byte_fallback")) {
        vocab->pieces.byte_fallback = lw__json_bool(json);
    } else if (lw__json_is(key, "unk_token") || lw__json_is(key, "unk_id")) {
        lw__json_skip(json); /* null */
    } else {
        return false;
    }
    return true;
}

static lw_status read_field(lw__vocab *vocab, lw__json *json, model *out, lw_error *err)
{
    lw_str key = lw__json_key(json);
    if (json->fault != NULL || (vocab->pieces.used && read_piece_field(vocab, json, key, out))) {
        return LW_OK;
    }
    if (lw__json_is(key, "type")) {
        out->type = lw__json_string(json);
    } else if (lw__json_is(key, "dropout")) {
        return read_dropout(vocab, json, err);
    } else if (lw__json_is(key, "continuing_subword_prefix")) {
        return read_affix(vocab, json, "model.continuing_subword_prefix", err);
    } else if (lw__json_is(key, "end_of_word_suffix")) {
        return read_affix(vocab, json, "model.end_of_word_suffix", err);
    } else if (lw__json_is(key, "ignore_merges")) {
        vocab->whole_piece = lw__json_bool(json);
    } else if (lw__json_is(key, "vocab") && !out->has_vocab &&
               lw__json_peek(json) == LW__JSON_OBJECT) {
        out->has_vocab = true;
        return lw__load_token_object(vocab, json, err);
    } else if (lw__json_is(key, "vocab") && !out->has_vocab && vocab->pieces.used &&
               lw__json_peek(json) == LW__JSON_ARRAY) {
        out->has_vocab = true;
        out->has_scores = true;
        return lw__load_json_scored(vocab, json, err);
    } else if (lw__json_is(key, "merges") && !out->has_merges) {
        out->has_merges = true;
        if (out->has_vocab && !out->has_scores) {
            return read_merges(vocab, json, err);
        }
        out->passed_merges = *json;
        out->has_passed_merges = true;
        lw__json_skip(json);
    } else if (is_about_unknown(key) || lw__json_is(key, "vocab")) {
        lw__json_skip(json); /* a vocabulary that is an array belongs to another type */
    } else {
        return lw__load_json_refuse(vocab, "model: field", key, "no field but those of BPE", err);
    }
    return LW_OK;
}

static lw_status finish_unigram(lw__vocab *vocab, const model *found, lw_error *err)
{
    static const lw_str missing = {.data = "missing", .bytes = 7};
    static const lw_str wrong = {.data = "none of its ids", .bytes = 15};
    if (!found->has_scores) {
        return lw__load_json_refuse(vocab, "model.vocab", missing, "a list of pieces", err);
    }
    vocab->pieces.unigram = true;
    vocab->pieces.fused = true;
    return lw__piece_rules_kind(&vocab->pieces, vocab->pieces.unknown) != LW__PIECE_NONE
               ? LW_OK
               : lw__load_json_refuse(vocab, "model.unk_id", wrong, "that of a piece", err);
}

static lw_status finish_pieces(lw__vocab *vocab, const model *found, lw_error *err)
{
    static const lw_str yes = {.data = "true", .bytes = 4};
    if (vocab->whole_piece) {
        return lw__load_json_refuse(vocab, "model.ignore_merges", yes, "false without ByteLevel",
                                    err);
    }
    if (found->unknown.data != NULL) {
        vocab->pieces.unknown = lw__vocab_find(vocab, found->unknown.data, found->unknown.bytes);
        if (vocab->pieces.unknown < 0 && !vocab->pieces.byte_fallback) {
            return lw__load_json_refuse(vocab, "model.unk_token", found->unknown,
                                        "a token of the vocabulary", err);
        }
    }
    return lw__load_json_all_pieces(vocab, err);
}

static lw_status finish(lw__vocab *vocab, lw__json *json, const model *found, lw_error *err)
{
    static const lw_str missing = {.data = "missing", .bytes = 7};
    if (vocab->pieces.used && lw__json_is(found->type, "Unigram")) {
        return finish_unigram(vocab, found, err);
    }
    if (found->type.data != NULL && !lw__json_is(found->type, "BPE")) {
        return lw__load_json_refuse(vocab, "model.type", found->type, "BPE", err);
    }
    if (!found->has_vocab || found->has_scores || !found->has_merges) {
        return lw__load_json_refuse(
            vocab, found->has_vocab && !found->has_scores ? "model.merges" : "model.vocab", missing,
            "those of a BPE model", err);
    }
    LW__TRY(vocab->pieces.used ? finish_pieces(vocab, found, err) : LW_OK);
    return found->has_passed_merges ? read_passed_merges(vocab, json, found, err) : LW_OK;
}

lw_status lw__load_json_model(lw__vocab *vocab, lw__json *json, lw_error *err)
{
    model found = {.has_vocab = false};
    lw_status status = LW_OK;
    if (lw__json_enter(json, '{')) {
        while (status == LW_OK && lw__json_next(json)) {
            status = read_field(vocab, json, &found, err);
        }
    }
    if (status == LW_OK && json->fault == NULL) {
        status = finish(vocab, json, &found, err);
    }
    return status;
}
