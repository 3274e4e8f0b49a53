/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a tokenizer.json that was made from a SentencePiece model: a pre_tokenizer that is
 * null, Metaspace or a Split at spaces, and pieces with scores.
 *
 * Which kind a file is decides how its vocabulary is read, so it is found out before all else.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/load_json.h"
#include "tokenize/piece_fold.h"

/* ---- which kind of file it is ---- */

typedef struct signs {
    bool has_normalizer; /* one with Prepend or Replace */
    bool has_other;      /* a pre_tokenizer of another kind */
    bool has_metaspace;
    bool is_unigram;
    bool has_fallback;
} signs;

lw_str lw__load_json_text(lw__json *json)
{
    if (lw__json_peek(json) == LW__JSON_STRING) {
        return lw__json_string(json);
    }
    lw__json_skip(json);
    return (lw_str){.data = "", .bytes = 0};
}

static void note_normalizer(lw__json *json, signs *found)
{
    if (lw__json_peek(json) != LW__JSON_OBJECT || !lw__json_enter(json, '{')) {
        lw__json_skip(json);
        return;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "type")) {
            lw_str type = lw__load_json_text(json);
            found->has_normalizer = found->has_normalizer || lw__json_is(type, "Prepend") ||
                                    lw__json_is(type, "Replace");
        } else if (lw__json_is(key, "normalizers") && lw__json_peek(json) == LW__JSON_ARRAY &&
                   lw__json_enter(json, '[')) {
            while (lw__json_next(json)) {
                note_normalizer(json, found);
            }
        } else {
            lw__json_skip(json);
        }
    }
}

/* A Split at a plain text belongs to this kind; one by a regex does not. */
static void note_pre_tokenizer(lw__json *json, signs *found)
{
    bool is_split = false;
    bool has_string = false;
    if (lw__json_peek(json) == LW__JSON_NULL || !lw__json_enter(json, '{')) {
        lw__json_skip(json);
        return;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "type")) {
            lw_str type = lw__load_json_text(json);
            found->has_metaspace = lw__json_is(type, "Metaspace");
            is_split = lw__json_is(type, "Split");
        } else if (lw__json_is(key, "pattern") && lw__json_peek(json) == LW__JSON_OBJECT &&
                   lw__json_enter(json, '{')) {
            while (lw__json_next(json)) {
                has_string = lw__json_is(lw__json_key(json), "String");
                lw__json_skip(json);
            }
        } else {
            lw__json_skip(json);
        }
    }
    found->has_other = !found->has_metaspace && !(is_split && has_string);
}

static void note_model(lw__json *json, signs *found)
{
    if (lw__json_peek(json) != LW__JSON_OBJECT || !lw__json_enter(json, '{')) {
        lw__json_skip(json);
        return;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        lw__json_type type = lw__json_peek(json);
        if (lw__json_is(key, "type")) {
            found->is_unigram = lw__json_is(lw__load_json_text(json), "Unigram");
        } else if (lw__json_is(key, "byte_fallback") && type == LW__JSON_TRUE) {
            found->has_fallback = lw__json_bool(json);
        } else {
            lw__json_skip(json);
        }
    }
}

static bool is_pieces(const signs *found)
{
    return !found->has_other && (found->has_metaspace || found->is_unigram || found->has_fallback ||
                                 found->has_normalizer);
}

bool lw__load_json_is_pieces(void *bytes, size_t count, bool *sure)
{
    lw__json json;
    signs found = {.has_other = false};
    lw__json_open(&json, bytes, count);
    *sure = false;
    if (!lw__json_enter(&json, '{')) {
        return false;
    }
    /* The model is most of the file, and mostly the last field: what is sure before is enough. */
    while (!found.has_other && !found.has_metaspace && lw__json_next(&json)) {
        lw_str key = lw__json_key(&json);
        if (lw__json_is(key, "normalizer")) {
            note_normalizer(&json, &found);
        } else if (lw__json_is(key, "pre_tokenizer")) {
            note_pre_tokenizer(&json, &found);
        } else if (lw__json_is(key, "model")) {
            note_model(&json, &found);
        } else {
            lw__json_skip(&json);
        }
    }
    *sure = json.fault == NULL;
    return *sure && is_pieces(&found);
}

/* ---- pre_tokenizer ---- */

/* One pre-tokenizer as it stands in the file. */
typedef struct part {
    lw_str type;
    lw_str text; /* of Metaspace: what spaces become */
    lw_str pattern;
    lw_str scheme;
    lw_str unknown; /* the first field that is not known */
    int split;      /* -1: not there */
    int add_prefix_space;
    bool invert;
} part;

static void read_pattern(lw__json *json, part *out)
{
    if (!lw__json_enter(json, '{')) {
        return;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "String")) {
            out->pattern = lw__json_string(json);
        } else {
            out->unknown = key;
            lw__json_skip(json);
        }
    }
}

static void read_part_field(lw__json *json, lw_str key, part *out)
{
    if (lw__json_is(key, "type")) {
        out->type = lw__json_string(json);
    } else if (lw__json_is(key, "replacement")) {
        out->text = lw__json_string(json);
    } else if (lw__json_is(key, "pattern")) {
        read_pattern(json, out);
    } else if (lw__json_is(key, "prepend_scheme")) {
        out->scheme = lw__json_string(json);
    } else if (lw__json_is(key, "split")) {
        out->split = lw__json_bool(json);
    } else if (lw__json_is(key, "add_prefix_space")) {
        out->add_prefix_space = lw__json_bool(json);
    } else if (lw__json_is(key, "invert")) {
        out->invert = lw__json_bool(json);
    } else if (lw__json_is(key, "behavior") || lw__json_is(key, "str_rep")) {
        lw__json_skip(json); /* of a Split that finds nothing; the replacement once more */
    } else {
        out->unknown = key;
        lw__json_skip(json);
    }
}

static lw_status use_scheme(const lw__vocab *vocab, const part *item, lw__json_pieces *out,
                            lw_error *err)
{
    static const struct {
        const char *name;
        lw__prefix prefix;
    } schemes[] = {
        {"always", LW__PREFIX_MISSING}, {"first", LW__PREFIX_FIRST}, {"never", LW__PREFIX_NEVER}};

    lw_str scheme = item->scheme;
    if (scheme.data == NULL) {
        scheme = (lw_str){.data = "always", .bytes = 6};
    }
    if (item->add_prefix_space == 0 && !lw__json_is(scheme, "never")) {
        return lw__load_json_refuse(vocab, "pre_tokenizer.prepend_scheme", scheme,
                                    "never without add_prefix_space", err);
    }
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (lw__json_is(scheme, schemes[i].name)) {
            out->scheme = schemes[i].prefix;
            return LW_OK;
        }
    }
    return lw__load_json_refuse(vocab, "pre_tokenizer.prepend_scheme", scheme,
                                "always, first or never", err);
}

static lw_status use_pre_tokenizer(lw__vocab *vocab, const part *item, lw__json_pieces *out,
                                   lw_error *err)
{
    if (item->unknown.bytes != 0) {
        return lw__load_json_refuse(vocab, "pre_tokenizer: field", item->unknown,
                                    "no field but those of Metaspace and Split", err);
    }
    if (lw__json_is(item->type, "Metaspace")) {
        out->metaspace = true;
        vocab->pieces.split = item->split != 0;
        if (!lw__json_is(item->text, LW__ESCAPED_SPACE)) {
            return lw__load_json_refuse(vocab, "pre_tokenizer.replacement", item->text, "U+2581",
                                        err);
        }
        return use_scheme(vocab, item, out, err);
    }
    if (!lw__json_is(item->type, "Split")) {
        return lw__load_json_refuse(vocab, "pre_tokenizer", item->type,
                                    "null, Metaspace, or Split at a space", err);
    }
    out->splits_spaces = true;
    if (!lw__json_is(item->pattern, " ") || item->invert) {
        return lw__load_json_refuse(vocab, "pre_tokenizer.pattern", item->pattern,
                                    "the String of one space, not inverted", err);
    }
    return LW_OK;
}

lw_status lw__load_json_piece_pre_tokenizer(lw__vocab *vocab, lw__json *json, lw__json_pieces *out,
                                            lw_error *err)
{
    part item = {.split = -1, .add_prefix_space = -1};
    if (lw__json_peek(json) == LW__JSON_NULL) {
        lw__json_skip(json);
        return LW_OK;
    }
    if (!lw__json_enter(json, '{')) {
        return LW_OK;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        read_part_field(json, key, &item);
    }
    return json->fault != NULL ? LW_OK : use_pre_tokenizer(vocab, &item, out, err);
}

/* ---- model ---- */

lw_status lw__load_json_scored(lw__vocab *vocab, lw__json *json, lw_error *err)
{
    lw__place place = {.path = vocab->path, .unit = "piece"};
    if (!lw__json_enter(json, '[')) {
        return LW_OK;
    }
    for (; lw__json_next(json); place.at++) {
        lw_str text = {.data = "", .bytes = 0};
        lw__piece piece = {.kind = LW__PIECE_NORMAL};
        size_t count = 0;
        if (!lw__json_enter(json, '[')) {
            return LW_OK;
        }
        for (; lw__json_next(json); count++) {
            if (count == 0) {
                text = lw__json_string(json);
            } else {
                piece.score = lw__json_number(json);
            }
        }
        if (json->fault != NULL) {
            return LW_OK;
        }
        if (count != 2) {
            return lw__vocab_fail(err, LW_E_CORRUPT, &place, "%zu values, expected text and score",
                                  count);
        }
        LW__TRY(lw__vocab_put(vocab, (int64_t)place.at, text, &place, err));
        LW__TRY(lw__piece_rules_put(&vocab->pieces, (int32_t)place.at, piece, err));
    }
    return LW_OK;
}

lw_status lw__load_json_all_pieces(lw__vocab *vocab, lw_error *err)
{
    for (size_t id = 0; id < vocab->limit; id++) {
        lw__piece piece = {.kind =
                               vocab->tokens[id].present != 0 ? LW__PIECE_NORMAL : LW__PIECE_NONE};
        LW__TRY(lw__piece_rules_put(&vocab->pieces, (int32_t)id, piece, err));
    }
    return LW_OK;
}

/* Whether the start of a text may be dropped: what is left then is not the start of a document. */
static bool may_drop_start(const lw__normalizer *normalizer)
{
    for (size_t i = 0; i < normalizer->count; i++) {
        const lw__normal *step = &normalizer->steps[i];
        if (step->kind == LW__NORMAL_UNMARK || (step->kind == LW__NORMAL_STRIP && step->left) ||
            (step->kind == LW__NORMAL_REPLACE && step->text.count == 0)) {
            return true;
        }
    }
    return false;
}

lw_status lw__load_json_finish_pieces(lw__vocab *vocab, const lw__json_pieces *found, lw_error *err)
{
    static const lw_str split = {.data = "Split", .bytes = 5};
    static const lw_str first = {.data = "first", .bytes = 5};
    lw__piece_rules *rules = &vocab->pieces;
    bool escapes = lw__piece_fold_escapes(&vocab->normalizer);
    if (found->splits_spaces && !escapes) {
        return lw__load_json_refuse(vocab, "pre_tokenizer", split,
                                    "a normalizer that leaves no spaces before it", err);
    }
    if (found->scheme == LW__PREFIX_FIRST && may_drop_start(&vocab->normalizer)) {
        return lw__load_json_refuse(vocab, "pre_tokenizer.prepend_scheme", first,
                                    "always or never behind a normalizer that drops text", err);
    }
    rules->escaped = escapes || found->metaspace;
    rules->prefix = found->scheme;
    return LW_OK;
}
