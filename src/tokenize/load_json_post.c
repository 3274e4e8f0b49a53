/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The post_processor of a tokenizer.json: which tokens it puts around a text.
 *
 * They are the vocabulary's own BOS and EOS when a recipe asks for these without a name. Nothing
 * else of a post_processor has an effect on ids, so what is not known here is passed over.
 */
#include "tokenize/load_json.h"

/* Adds a special token of a template to the side of the text that it stands on. */
static void add_token(lw__ends *out, bool behind, lw_str name)
{
    size_t *count = behind ? &out->eos_count : &out->bos_count;
    *(behind ? &out->eos : &out->bos) = name;
    (*count)++;
}

/* The value of "SpecialToken". */
static lw_str read_token(lw__json *json)
{
    lw_str name = {.data = "", .bytes = 0};
    if (!lw__json_enter(json, '{')) {
        return name;
    }
    while (lw__json_next(json)) {
        if (lw__json_is(lw__json_key(json), "id")) {
            name = lw__json_string(json);
        } else {
            lw__json_skip(json);
        }
    }
    return name;
}

/* The template of one text: [{"SpecialToken": ...}, {"Sequence": ...}, ...]. */
static void read_template(lw__json *json, lw__ends *out)
{
    bool behind = false;
    *out = (lw__ends){.bos_count = 0};
    if (!lw__json_enter(json, '[')) {
        return;
    }
    while (lw__json_next(json) && lw__json_enter(json, '{')) {
        while (lw__json_next(json)) {
            if (lw__json_is(lw__json_key(json), "SpecialToken")) {
                add_token(out, behind, read_token(json));
            } else {
                behind = true;
                lw__json_skip(json);
            }
        }
    }
}

/* ["<s>", 0], as the two processors with fixed templates have it. */
static lw_str read_pair(lw__json *json)
{
    lw_str name = {.data = "", .bytes = 0};
    if (!lw__json_enter(json, '[')) {
        return name;
    }
    while (lw__json_next(json)) {
        if (lw__json_peek(json) == LW__JSON_STRING) {
            name = lw__json_string(json);
        } else {
            lw__json_skip(json);
        }
    }
    return name;
}

/* Reads a processor's fields but "processors", whose key it returns true at. */
static bool read_field(lw__json *json, lw__ends *out)
{
    lw_str key = lw__json_key(json);
    lw__json_type type = lw__json_peek(json);
    if (lw__json_is(key, "single") && type == LW__JSON_ARRAY) {
        read_template(json, out);
    } else if (lw__json_is(key, "cls") && type == LW__JSON_ARRAY) {
        add_token(out, false, read_pair(json));
    } else if (lw__json_is(key, "sep") && type == LW__JSON_ARRAY) {
        add_token(out, true, read_pair(json));
    } else if (lw__json_is(key, "processors") && type == LW__JSON_ARRAY) {
        return true;
    } else {
        lw__json_skip(json);
    }
    return false;
}

static void read_processors(lw__json *json, lw__ends *out)
{
    if (!lw__json_enter(json, '[')) {
        return;
    }
    while (lw__json_next(json)) {
        if (lw__json_peek(json) != LW__JSON_OBJECT || !lw__json_enter(json, '{')) {
            lw__json_skip(json);
            continue;
        }
        while (lw__json_next(json)) {
            if (read_field(json, out)) {
                lw__json_skip(json); /* a Sequence in a Sequence is not known of any file */
            }
        }
    }
}

void lw__load_json_post_processor(lw__json *json, lw__ends *out)
{
    if (lw__json_peek(json) != LW__JSON_OBJECT || !lw__json_enter(json, '{')) {
        lw__json_skip(json);
        return;
    }
    while (lw__json_next(json)) {
        if (read_field(json, out)) {
            read_processors(json, out);
        }
    }
}

static int32_t find(const lw__vocab *vocab, lw_str text)
{
    if (text.bytes == 0) {
        return -1;
    }
    int32_t id = lw__vocab_find_added(vocab, text);
    return id >= 0 ? id : lw__vocab_find(vocab, text.data, text.bytes);
}

void lw__load_json_use_ends(lw__vocab *vocab, const lw__ends *ends)
{
    if (ends->bos_count == 1) {
        vocab->bos = find(vocab, ends->bos);
        vocab->has_bos = vocab->bos >= 0;
    }
    if (ends->eos_count == 1) {
        vocab->eos = find(vocab, ends->eos);
        vocab->has_eos = vocab->eos >= 0;
    }
}
