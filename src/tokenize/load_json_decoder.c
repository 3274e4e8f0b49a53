/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder of a tokenizer.json. It has no say in encoding, so one that is not known does not
 * keep a file from being opened: its name is kept, and decoding is what is refused.
 */
#include <stdio.h>

#include "tokenize/load_json.h"

/* One decoder as it stands in the file. */
typedef struct step {
    lw_str type;
    lw_str pattern; /* of Replace */
    lw_str content; /* of Replace and Strip */
    lw_str mark;    /* of Metaspace: replacement */
    lw_str scheme;  /* of Metaspace: prepend_scheme */
    double start;   /* of Strip */
    double stop;
    bool never; /* of Metaspace: add_prefix_space is false */
} step;

/* Where in the order of a chain a decoder stands: each may only come behind those before it. */
typedef enum place { PLACE_START, PLACE_REPLACED, PLACE_BYTES, PLACE_FUSED, PLACE_END } place;

static double number_or_zero(lw__json *json)
{
    if (lw__json_peek(json) == LW__JSON_NUMBER) {
        return lw__json_number(json);
    }
    lw__json_skip(json);
    return 0;
}

static lw_str read_pattern(lw__json *json)
{
    lw_str text = {.data = "", .bytes = 0};
    if (lw__json_peek(json) != LW__JSON_OBJECT || !lw__json_enter(json, '{')) {
        lw__json_skip(json);
        return text;
    }
    while (lw__json_next(json)) {
        bool is_string = lw__json_is(lw__json_key(json), "String");
        lw_str found = lw__load_json_text(json);
        text = is_string ? found : text;
    }
    return text;
}

static void read_step_field(lw__json *json, lw_str key, step *out)
{
    if (lw__json_is(key, "type")) {
        out->type = lw__load_json_text(json);
    } else if (lw__json_is(key, "pattern")) {
        out->pattern = read_pattern(json);
    } else if (lw__json_is(key, "content")) {
        out->content = lw__load_json_text(json);
    } else if (lw__json_is(key, "replacement")) {
        out->mark = lw__load_json_text(json);
    } else if (lw__json_is(key, "prepend_scheme")) {
        out->scheme = lw__load_json_text(json);
    } else if (lw__json_is(key, "start")) {
        out->start = number_or_zero(json);
    } else if (lw__json_is(key, "stop")) {
        out->stop = number_or_zero(json);
    } else if (lw__json_is(key, "add_prefix_space")) {
        out->never = lw__json_peek(json) == LW__JSON_FALSE;
        lw__json_skip(json);
    } else {
        lw__json_skip(json);
    }
}

static void refuse(lw__decode_rules *rules, lw_str name)
{
    if (rules->refused[0] == '\0') {
        int shown = name.bytes == 0 ? 7 : lw__vocab_shown(name);
        shown = shown < (int)sizeof rules->refused - 1 ? shown : (int)sizeof rules->refused - 1;
        (void)snprintf(rules->refused, sizeof rules->refused, "%.*s", shown,
                       name.bytes == 0 ? "nothing" : name.data);
    }
}

/* The place of a decoder in a chain, once what it does is in the rules; PLACE_START: not known. */
static place use_piece_step(const step *item, lw__decode_rules *rules)
{
    if (lw__json_is(item->type, "Replace") && lw__json_is(item->pattern, LW__ESCAPED_SPACE) &&
        lw__json_is(item->content, " ")) {
        rules->spaces = true;
        return PLACE_REPLACED;
    }
    if (lw__json_is(item->type, "ByteFallback")) {
        rules->bytes = true;
        return PLACE_BYTES;
    }
    if (lw__json_is(item->type, "Fuse")) {
        return PLACE_FUSED;
    }
    if (lw__json_is(item->type, "Strip") && lw__json_is(item->content, " ") && item->start >= 1 &&
        item->start <= 1 && item->stop >= 0 && item->stop <= 0) {
        rules->strip = LW__STRIP_FIRST_SPACE;
        return PLACE_END;
    }
    if (lw__json_is(item->type, "Metaspace") && lw__json_is(item->mark, LW__ESCAPED_SPACE)) {
        bool keeps = item->never || lw__json_is(item->scheme, "never");
        rules->spaces = true;
        rules->strip = keeps ? LW__STRIP_NOTHING : LW__STRIP_FIRST_TOKEN;
        return PLACE_REPLACED;
    }
    return PLACE_START;
}

static void use_step(lw__vocab *vocab, const step *item, place *last)
{
    lw__decode_rules *rules = &vocab->decode;
    if (!vocab->pieces.used) {
        if (!lw__json_is(item->type, "ByteLevel")) {
            refuse(rules, item->type);
        }
        return;
    }
    place found = use_piece_step(item, rules);
    /* One text is stripped only behind Fuse. */
    if (found <= *last || (found == PLACE_END && *last != PLACE_FUSED)) {
        refuse(rules, item->type);
        return;
    }
    *last = found;
}

static void read_step(lw__vocab *vocab, lw__json *json, bool is_inner, place *last)
{
    step item = {.start = 0};
    bool is_sequence = false;
    if (lw__json_peek(json) != LW__JSON_OBJECT || !lw__json_enter(json, '{')) {
        lw__json_skip(json);
        refuse(&vocab->decode, item.type);
        return;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (is_inner || !lw__json_is(key, "decoders") || lw__json_peek(json) != LW__JSON_ARRAY) {
            read_step_field(json, key, &item);
            continue;
        }
        is_sequence = lw__json_enter(json, '[');
        while (lw__json_next(json)) {
            read_step(vocab, json, true, last);
        }
    }
    if (!is_sequence || !lw__json_is(item.type, "Sequence")) {
        use_step(vocab, &item, last);
    }
}

void lw__load_json_decoder(lw__vocab *vocab, lw__json *json)
{
    place last = PLACE_START;
    lw__decode_rules_reset(&vocab->decode);
    if (lw__json_peek(json) == LW__JSON_NULL) {
        lw__json_skip(json);
        return;
    }
    read_step(vocab, json, false, &last);
    vocab->decode.pieces = vocab->pieces.used;
}

void lw__load_json_finish_decoder(lw__vocab *vocab)
{
    static const lw_str none = {.data = "null", .bytes = 4};
    static const lw_str no_bytes = {.data = "no ByteFallback", .bytes = 15};
    if (vocab->pieces.used && !vocab->decode.pieces) {
        refuse(&vocab->decode, none);
    } else if (vocab->pieces.used && vocab->pieces.byte_fallback && !vocab->decode.bytes) {
        refuse(&vocab->decode, no_bytes);
    }
}
