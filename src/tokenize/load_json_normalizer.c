/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normalizer of a tokenizer.json: null, one of those that normalize.h has, or a Sequence.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "tokenize/base64.h"
#include "tokenize/load_json.h"

#define NAMES                                                                                      \
    "null, NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Replace, Precompiled, "  \
    "Nmt or a Sequence of them"
#define DEEPEST 4 /* Sequences in each other */

/* One normalizer as it stands in the file. */
typedef struct part {
    lw_str type;
    lw_str prepend;
    lw_str content;
    lw_str string;
    lw_str regex;
    lw_str map;     /* of Precompiled, in base64 */
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
    } else if (lw__json_is(key, "precompiled_charsmap")) {
        out->map = lw__load_json_text(json);
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
        {"Replace", LW__NORMAL_REPLACE, 0},     {"Precompiled", LW__NORMAL_MAP, 0},
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

/* All that it maps to is UTF-8, so that a text stays so. */
static lw_status fill_map(const lw__vocab *vocab, const part *item, lw__normal *step, lw_error *err)
{
    static const lw_str bad = {.data = "no map", .bytes = 6};
    lw__bytes *map = &step->pattern;
    lw__bytes_put(map, item->map.data, item->map.bytes);
    step->map = lw__alloc_zero(1, sizeof *step->map);
    if (map->failed || step->map == NULL) {
        return lw__fail_nomem(err, item->map.bytes, "a character map");
    }
    ptrdiff_t bytes = lw__base64_decode(map->data, map->count);
    map->count = bytes < 0 ? 0 : (size_t)bytes;
    return lw__charsmap_open(step->map, map->data, map->count) &&
                   lw__utf8_check(step->map->texts, step->map->text_bytes) == step->map->text_bytes
               ? LW_OK
               : lw__load_json_refuse(vocab, "normalizer.precompiled_charsmap", bad,
                                      "one of SentencePiece, whole and in base64", err);
}

static lw_status fill(const lw__vocab *vocab, const part *item, lw__normal *step, lw_error *err)
{
    const char *wrong = NULL;
    if (step->kind == LW__NORMAL_MAP) {
        return fill_map(vocab, item, step, err);
    }
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

/* Drops controls, and makes spaces of what is blank or invisible: two steps. */
static lw_status put_nmt(lw__vocab *vocab, lw_error *err)
{
    static const struct {
        const char *regex;
        const char *content;
    } steps[] = {{"[\\x{1}-\\x{8}\\x{B}\\x{E}-\\x{1F}\\x{7F}\\x{8F}\\x{9F}]", ""},
                 {"[\\t\\n\\f\\r\\x{1680}\\x{200B}-\\x{200F}\\x{2028}\\x{2029}\\x{2581}\\x{FEFF}"
                  "\\x{FFFD}]",
                  " "}};

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        part item = {.regex = {.data = steps[i].regex, .bytes = strlen(steps[i].regex)},
                     .content = {.data = steps[i].content, .bytes = strlen(steps[i].content)}};
        LW__TRY(put_step(vocab, &item, (lw__normal){.kind = LW__NORMAL_REPLACE}, err));
    }
    return LW_OK;
}

static lw_status use(lw__vocab *vocab, const part *item, lw_error *err)
{
    lw__normal step = {.left = item->left, .right = item->right};
    bool is_nmt = lw__json_is(item->type, "Nmt");
    if (item->is_sequence != lw__json_is(item->type, "Sequence") ||
        (!item->is_sequence && !is_nmt && !kind_of(item->type, &step))) {
        return lw__load_json_refuse(vocab, "normalizer", item->type, NAMES, err);
    }
    if (item->unknown.bytes > 0) {
        return lw__load_json_refuse(vocab, "normalizer: field", item->unknown,
                                    "no field but those of its type", err);
    }
    if (item->is_sequence) {
        return LW_OK;
    }
    return is_nmt ? put_nmt(vocab, err) : put_step(vocab, item, step, err);
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
