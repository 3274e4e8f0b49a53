/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normalizer of a tokenizer.json: null, one of those that normalize.h has, or a Sequence.
 */
#include "base/error.h"
#include "tokenize/load_json.h"

#define NAMES                                                                                      \
    "null, NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Replace or a Sequence "  \
    "of them"
#define DEEPEST 4 /* Sequences in each other */

/* One normalizer as it stands in the file. */
typedef struct part {
    lw_str type;
    lw_str prepend;
    lw_str content;
    lw_str string;
    lw_str regex;
    lw_str unknown; /* the first field that is not known */
    bool left;
    bool right;
    bool is_sequence;
} part;

static lw_status read_one(lw__vocab *vocab, lw__json *json, size_t depth, lw_error *err);

static void read_pattern(lw__json *json, part *out)
{
    if (!lw__json_enter(json, '{')) {
        return;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "String")) {
            out->string = lw__json_string(json);
        } else if (lw__json_is(key, "Regex")) {
            out->regex = lw__json_string(json);
        } else {
            out->unknown = out->unknown.bytes == 0 ? key : out->unknown;
            lw__json_skip(json);
        }
    }
}

static lw_status read_members(lw__vocab *vocab, lw__json *json, size_t depth, lw_error *err)
{
    static const lw_str deep = {.data = "more than 4 in each other", .bytes = 25};
    if (depth == DEEPEST) {
        return lw__load_json_refuse(vocab, "normalizer.normalizers", deep, "fewer", err);
    }
    if (lw__json_enter(json, '[')) {
        while (lw__json_next(json)) {
            LW__TRY(read_one(vocab, json, depth + 1, err));
        }
    }
    return LW_OK;
}

static void read_field(lw__json *json, lw_str key, part *out)
{
    if (lw__json_is(key, "type")) {
        out->type = lw__json_string(json);
    } else if (lw__json_is(key, "prepend")) {
        out->prepend = lw__json_string(json);
    } else if (lw__json_is(key, "content")) {
        out->content = lw__json_string(json);
    } else if (lw__json_is(key, "pattern")) {
        read_pattern(json, out);
    } else if (lw__json_is(key, "strip_left")) {
        out->left = lw__json_bool(json);
    } else if (lw__json_is(key, "strip_right")) {
        out->right = lw__json_bool(json);
    } else {
        out->unknown = out->unknown.bytes == 0 ? key : out->unknown;
        lw__json_skip(json);
    }
}

static bool kind_of(lw_str type, lw__normal *out)
{
    static const struct {
        const char *name;
        lw__normal_kind kind;
        lw__nfc_form form;
    } kinds[] = {
        {"NFC", LW__NORMAL_FORM, LW__NFC_C},    {"NFD", LW__NORMAL_FORM, LW__NFC_D},
        {"NFKC", LW__NORMAL_FORM, LW__NFC_KC},  {"NFKD", LW__NORMAL_FORM, LW__NFC_KD},
        {"Lowercase", LW__NORMAL_LOWER, 0},     {"Strip", LW__NORMAL_STRIP, 0},
        {"StripAccents", LW__NORMAL_UNMARK, 0}, {"Prepend", LW__NORMAL_PREPEND, 0},
        {"Replace", LW__NORMAL_REPLACE, 0},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (lw__json_is(type, kinds[i].name)) {
            out->kind = kinds[i].kind;
            out->form = kinds[i].form;
            return true;
        }
    }
    return false;
}

static lw_status fill(const lw__vocab *vocab, const part *item, lw__normal *step, lw_error *err)
{
    const char *wrong = NULL;
    lw_str text = step->kind == LW__NORMAL_PREPEND ? item->prepend : item->content;
    lw_str pattern = item->regex.bytes > 0 ? item->regex : item->string;
    lw__bytes_put(&step->text, text.data, text.bytes);
    lw__bytes_put(&step->pattern, pattern.data, pattern.bytes);
    if (step->text.failed || step->pattern.failed) {
        return lw__fail_nomem(err, text.bytes + pattern.bytes, "a normalizer");
    }
    if (step->kind != LW__NORMAL_REPLACE) {
        return LW_OK;
    }
    if (pattern.bytes == 0) {
        return lw__load_json_refuse(vocab, "normalizer.pattern", pattern, "a String or a Regex",
                                    err);
    }
    if (item->regex.bytes == 0) {
        return LW_OK;
    }
    LW__TRY(lw__regex_compile(pattern, LW__REGEX_ONIGURUMA, false, &step->regex, &wrong, err));
    return step->regex != NULL
               ? LW_OK
               : lw__load_json_refuse(vocab, "normalizer.pattern", pattern, wrong, err);
}

static lw_status put_step(lw__vocab *vocab, const part *item, lw__normal step, lw_error *err)
{
    static const lw_str many = {.data = "more than 16", .bytes = 12};
    lw_status status = fill(vocab, item, &step, err);
    if (status < 0) {
        lw__normal_reset(&step);
        return status;
    }
    return lw__normalizer_put(&vocab->normalizer, &step)
               ? LW_OK
               : lw__load_json_refuse(vocab, "normalizer.normalizers", many, "16 at most", err);
}

static lw_status use(lw__vocab *vocab, const part *item, lw_error *err)
{
    lw__normal step = {.left = item->left, .right = item->right};
    if (item->is_sequence != lw__json_is(item->type, "Sequence") ||
        (!item->is_sequence && !kind_of(item->type, &step))) {
        return lw__load_json_refuse(vocab, "normalizer", item->type, NAMES, err);
    }
    if (item->unknown.bytes > 0) {
        return lw__load_json_refuse(vocab, "normalizer: field", item->unknown,
                                    "no field but those of its type", err);
    }
    return item->is_sequence ? LW_OK : put_step(vocab, item, step, err);
}

static lw_status read_one(lw__vocab *vocab, lw__json *json, size_t depth, lw_error *err)
{
    part item = {.is_sequence = false};
    if (!lw__json_enter(json, '{')) {
        return LW_OK;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "normalizers")) {
            item.is_sequence = true;
            LW__TRY(read_members(vocab, json, depth, err));
        } else {
            read_field(json, key, &item);
        }
    }
    return json->fault != NULL ? LW_OK : use(vocab, &item, err);
}

lw_status lw__load_json_normalizer(lw__vocab *vocab, lw__json *json, lw_error *err)
{
    lw__normalizer_reset(&vocab->normalizer);
    return lw__json_peek(json) == LW__JSON_OBJECT
               ? read_one(vocab, json, 0, err)
               : lw__load_json_null(vocab, json, "normalizer", err);
}
