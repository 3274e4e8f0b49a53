/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normalizer of a tokenizer.json: none or NFC, either of them alone or in a Sequence.
 */
#include "base/error.h"
#include "tokenize/load_json.h"

typedef struct normalizer {
    lw_str type;
    lw_str inner; /* the type of the first of a Sequence that is not NFC */
    bool has_nfc;
    lw_str unknown;
    bool is_sequence;
} normalizer;

static lw_str read_type(lw__json *json)
{
    lw_str type = {.data = "an object", .bytes = 9};
    if (!lw__json_enter(json, '{')) {
        return type;
    }
    while (lw__json_next(json)) {
        if (lw__json_is(lw__json_key(json), "type")) {
            type = lw__json_string(json);
        } else {
            lw__json_skip(json);
        }
    }
    return type;
}

static void read_members(lw__json *json, normalizer *out)
{
    out->is_sequence = true;
    if (lw__json_enter(json, '[')) {
        while (lw__json_next(json)) {
            lw_str type = read_type(json);
            bool is_nfc = lw__json_is(type, "NFC");
            out->has_nfc = out->has_nfc || is_nfc;
            out->inner = out->inner.bytes == 0 && !is_nfc ? type : out->inner;
        }
    }
}

static void read_normalizer(lw__json *json, normalizer *out)
{
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "type")) {
            out->type = lw__json_string(json);
        } else if (lw__json_is(key, "normalizers")) {
            read_members(json, out);
        } else {
            out->unknown = key;
            lw__json_skip(json);
        }
    }
}

lw_status lw__load_json_normalizer(lw__vocab *vocab, lw__json *json, lw_error *err)
{
    if (lw__json_peek(json) != LW__JSON_OBJECT || !lw__json_enter(json, '{')) {
        return lw__load_json_null(vocab, json, "normalizer", err);
    }
    normalizer found = {.is_sequence = false};
    read_normalizer(json, &found);
    if (json->fault != NULL) {
        return LW_OK;
    }
    bool is_nfc = lw__json_is(found.type, "NFC") && !found.is_sequence;
    if (!is_nfc && (!lw__json_is(found.type, "Sequence") || !found.is_sequence)) {
        return lw__load_json_refuse(vocab, "normalizer", found.type, "null or NFC", err);
    }
    lw_str wrong = found.inner.bytes > 0 ? found.inner : found.unknown;
    vocab->nfc = is_nfc || found.has_nfc;
    return wrong.bytes == 0
               ? LW_OK
               : lw__load_json_refuse(vocab, "normalizer.normalizers", wrong, "NFC or none", err);
}
