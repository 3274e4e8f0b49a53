/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a tokenizer.json that was made from a SentencePiece model: a pre_tokenizer that is
 * null, Metaspace, a Sequence with it or a Split at spaces, and pieces with scores.
 *
 * Which kind a file is decides how its vocabulary is read, so it is found out before all else.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/load_json_rules.h"
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

/* What a pre_tokenizer or a member of one is. */
typedef struct pre_tokenizer_signs {
    bool has_metaspace; /* it, or a member of it */
    bool is_split;
    bool has_string;
} pre_tokenizer_signs;

static void note_part(lw__json *json, pre_tokenizer_signs *found, bool is_member)
{
    if (lw__json_peek(json) != LW__JSON_OBJECT || !lw__json_enter(json, '{')) {
        lw__json_skip(json);
        return;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "type")) {
            lw_str type = lw__load_json_text(json);
            found->has_metaspace = found->has_metaspace || lw__json_is(type, "Metaspace");
            found->is_split = lw__json_is(type, "Split");
        } else if (lw__json_is(key, "pattern") && lw__json_peek(json) == LW__JSON_OBJECT &&
                   lw__json_enter(json, '{')) {
            while (lw__json_next(json)) {
                found->has_string = lw__json_is(lw__json_key(json), "String");
                lw__json_skip(json);
            }
        } else if (!is_member && lw__json_is(key, "pretokenizers") &&
                   lw__json_peek(json) == LW__JSON_ARRAY && lw__json_enter(json, '[')) {
            while (lw__json_next(json)) {
                note_part(json, found, true);
            }
        } else {
            lw__json_skip(json);
        }
    }
}

/* A Split at a plain text belongs to this kind; one by a regex does not. */
static void note_pre_tokenizer(lw__json *json, signs *found)
{
    pre_tokenizer_signs of = {.has_metaspace = false};
    bool is_null = lw__json_peek(json) == LW__JSON_NULL;
    note_part(json, &of, false);
    found->has_metaspace = of.has_metaspace;
    found->has_other = !is_null && !of.has_metaspace && !(of.is_split && of.has_string);
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

typedef lw__json_part part;

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

static lw_status use_metaspace(lw__vocab *vocab, const part *item, lw__json_pieces *out,
                               lw_error *err)
{
    out->metaspace = true;
    vocab->pieces.split = item->split != 0;
    if (!lw__json_is(item->replacement, LW__ESCAPED_SPACE)) {
        return lw__load_json_refuse(vocab, "pre_tokenizer.replacement", item->replacement, "U+2581",
                                    err);
    }
    return use_scheme(vocab, item, out, err);
}

static lw_status use_part(lw__vocab *vocab, const part *item, lw__json_pieces *out, lw_error *err)
{
    if (item->unknown.bytes != 0) {
        return lw__load_json_refuse(vocab, "pre_tokenizer: field", item->unknown,
                                    "no field but those of Metaspace and Split", err);
    }
    if (lw__json_is(item->type, "Metaspace")) {
        return use_metaspace(vocab, item, out, err);
    }
    if (!lw__json_is(item->type, "Split")) {
        return lw__load_json_refuse(vocab, "pre_tokenizer", item->type,
                                    "null, Metaspace, a Sequence that ends with it, or Split at a "
                                    "space",
                                    err);
    }
    out->splits_spaces = true;
    if (!lw__json_is(item->string, " ") || item->invert == 1) {
        return lw__load_json_refuse(vocab, "pre_tokenizer.pattern", item->string,
                                    "the String of one space, not inverted", err);
    }
    return LW_OK;
}

static bool is_word_split(const lw__json_parts *parts)
{
    return parts->count == 2 && lw__json_is(parts->items[0].type, "WhitespaceSplit") &&
           parts->items[0].unknown.bytes == 0;
}

/*
 * A Sequence: its parts cut the text, and each piece then goes through the last, Metaspace. Words,
 * as most such files have them, are cut on the way when all begin with a space and end before one.
 */
static lw_status use_sequence(lw__vocab *vocab, const lw__json_parts *parts, lw__json_pieces *out,
                              lw_error *err)
{
    static const lw_str many = {.data = "more than 9", .bytes = 11};
    static const lw_str first = {.data = "first", .bytes = 5};
    if (parts->count > LW__STEPS + 1) {
        return lw__load_json_refuse(vocab, "pre_tokenizer.pretokenizers", many, "9 at most", err);
    }
    const part *last = &parts->items[parts->count - 1];
    if (!lw__json_is(last->type, "Metaspace")) {
        return lw__load_json_refuse(vocab, "pre_tokenizer", last->type,
                                    "Metaspace as the last part", err);
    }
    LW__TRY(use_part(vocab, last, out, err));
    if (parts->count > 1 && out->scheme == LW__PREFIX_FIRST) {
        return lw__load_json_refuse(vocab, "pre_tokenizer.prepend_scheme", first,
                                    "always or never behind other parts", err);
    }
    if (is_word_split(parts) && out->scheme == LW__PREFIX_MISSING && vocab->pieces.split) {
        out->scheme = LW__PREFIX_WORDS;
        return LW_OK;
    }
    return lw__load_json_piece_steps(vocab, parts, err);
}

lw_status lw__load_json_piece_pre_tokenizer(lw__vocab *vocab, lw__json *json, lw__json_pieces *out,
                                            lw_error *err)
{
    part outer;
    lw__json_parts inner;
    if (lw__json_peek(json) == LW__JSON_NULL) {
        lw__json_skip(json);
        return LW_OK;
    }
    lw__load_json_parts(json, &outer, &inner);
    if (json->fault != NULL) {
        return LW_OK;
    }
    return lw__json_is(outer.type, "Sequence") && outer.unknown.bytes == 0 && inner.count > 0
               ? use_sequence(vocab, &inner, out, err)
               : use_part(vocab, &outer, out, err);
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

lw_status lw__load_json_finish_pieces(lw__vocab *vocab, const lw__json_pieces *found, lw_error *err)
{
    static const lw_str split = {.data = "Split", .bytes = 5};
    lw__piece_rules *rules = &vocab->pieces;
    bool escapes = lw__piece_fold_escapes(&vocab->normalizer);
    if (found->splits_spaces && !escapes) {
        return lw__load_json_refuse(vocab, "pre_tokenizer", split,
                                    "a normalizer that leaves no spaces before it", err);
    }
    rules->escaped = escapes || found->metaspace;
    rules->prefix = found->scheme;
    return LW_OK;
}

/* ---- prepend_scheme first ---- */

static bool starts_with(const lw__bytes *bytes, const char *text)
{
    return bytes->count >= strlen(text) && memcmp(bytes->data, text, strlen(text)) == 0;
}

static bool is_one_character(const lw__bytes *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->count; i++) {
        count += (text->data[i] & 0xC0) != 0x80;
    }
    return count == 1;
}

/*
 * Whether the start of a text may get lost: to the reference what is left then does not start the
 * document. A Replace loses it where it matches several characters; that does not show when what it
 * puts there starts with a space.
 */
static bool may_lose_start(const lw__normal *step, bool is_last)
{
    switch (step->kind) {
    case LW__NORMAL_UNMARK:
        return true;
    case LW__NORMAL_STRIP:
        return step->left;
    case LW__NORMAL_REPLACE:
        return step->text.count == 0 ||
               ((step->regex != NULL || !is_one_character(&step->pattern)) &&
                !(is_last &&
                  (starts_with(&step->text, " ") || starts_with(&step->text, LW__ESCAPED_SPACE))));
    default:
        return false;
    }
}

/* Whether several characters may come of one: an added token may then end within what the first of
 * a document became, and to the reference the document starts behind it once more. */
static bool may_spread(const lw__normal *step)
{
    return step->kind != LW__NORMAL_UNMARK && step->kind != LW__NORMAL_STRIP &&
           !(step->kind == LW__NORMAL_REPLACE && is_one_character(&step->text));
}

lw_status lw__load_json_check_first(const lw__vocab *vocab, lw_error *err)
{
    static const lw_str first = {.data = "first", .bytes = 5};
    const lw__normalizer *normalizer = &vocab->normalizer;
    bool has_normalized = false;
    for (size_t i = 0; i < vocab->added_count; i++) {
        has_normalized = has_normalized || vocab->added[i].normalized;
    }
    for (size_t i = 0; i < normalizer->count && vocab->pieces.prefix == LW__PREFIX_FIRST; i++) {
        const lw__normal *step = &normalizer->steps[i];
        if (may_lose_start(step, i + 1 == normalizer->count)) {
            return lw__load_json_refuse(vocab, "pre_tokenizer.prepend_scheme", first,
                                        "always or never behind a normalizer that drops text", err);
        }
        if (has_normalized && may_spread(step)) {
            return lw__load_json_refuse(vocab, "pre_tokenizer.prepend_scheme", first,
                                        "always or never with normalized added tokens", err);
        }
    }
    return LW_OK;
}
