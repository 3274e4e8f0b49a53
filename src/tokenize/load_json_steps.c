/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pre_tokenizer of a tokenizer.json that is none of the families: each part becomes a step. Those
 * that split by a class of characters are regexes too.
 *
 * ByteLevel cuts as GPT-2 does, or not at all, and what stands behind it sees bytes as characters of
 * its alphabet. A SentencePiece vocabulary has Metaspace in its place, behind all others.
 */
#include "base/error.h"
#include "tokenize/load_json_rules.h"

#define STEP_NAMES "Split, CharDelimiterSplit, Punctuation, Digits, Whitespace or WhitespaceSplit"

/* Digits goes by Unicode 17, unlike regexes: these numbers are new in it. */
#define DIGIT "[\\p{N}\\x{11DE0}-\\x{11DE9}\\x{16FF4}-\\x{16FF6}]"
/* Whitespace has words as fancy-regex has them. */
#define WORD "[\\w\\x{200C}\\x{200D}&&[^\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}]]"

/* Punctuation goes by Unicode 8, with the symbols of ASCII. Two characters were punctuation then and
 * are no more; those behind the second bracket have become it since. */
#define PUNCTUATION                                                                                \
    "[\\p{P}!-/:-@\\[-`{-~\\x{166D}\\x{111C9}&&[^"                                                 \
    "\\x{61D}\\x{9FD}\\x{A76}\\x{C77}\\x{C84}\\x{1B4E}-\\x{1B4F}\\x{1B7D}-\\x{1B7F}"               \
    "\\x{2E43}-\\x{2E4F}\\x{2E52}-\\x{2E5D}\\x{10D6E}\\x{10EAD}\\x{10F55}-\\x{10F59}"              \
    "\\x{10F86}-\\x{10F89}\\x{113D4}-\\x{113D5}\\x{113D7}-\\x{113D8}\\x{1144B}-\\x{1144F}"         \
    "\\x{1145A}-\\x{1145B}\\x{1145D}\\x{11660}-\\x{1166C}\\x{116B9}\\x{1183B}"                     \
    "\\x{11944}-\\x{11946}\\x{119E2}\\x{11A3F}-\\x{11A46}\\x{11A9A}-\\x{11A9C}"                    \
    "\\x{11A9E}-\\x{11AA2}\\x{11B00}-\\x{11B09}\\x{11BE1}\\x{11C41}-\\x{11C45}"                    \
    "\\x{11C70}-\\x{11C71}\\x{11EF7}-\\x{11EF8}\\x{11F43}-\\x{11F4F}\\x{11FFF}"                    \
    "\\x{12FF1}-\\x{12FF2}\\x{16D6D}-\\x{16D6F}\\x{16E97}-\\x{16E9A}\\x{16FE2}\\x{1E5FF}"          \
    "\\x{1E95E}-\\x{1E95F}]]"

typedef lw__json_part part;

/* The steps so far of a file. */
typedef struct building {
    lw__vocab *vocab;
    bool mapped; /* behind ByteLevel */
} building;

static lw_status refuse(const building *b, const char *field, lw_str found, const char *expected,
                        lw_error *err)
{
    return lw__load_json_refuse(b->vocab, field, found, expected, err);
}

static lw_status put_step(building *b, const lw__step *step, lw_str text, lw_error *err)
{
    static const lw_str many = {.data = "more than 8", .bytes = 11};
    return lw__steps_put(&b->vocab->steps, step, text)
               ? LW_OK
               : refuse(b, "pre_tokenizer.pretokenizers", many, "8 at most", err);
}

static lw_status put_regex(building *b, lw_str regex, lw__step step, lw_error *err)
{
    const char *wrong = NULL;
    LW__TRY(lw__regex_compile(regex, LW__REGEX_ONIGURUMA, b->mapped, &step.regex, &wrong, err));
    return step.regex != NULL ? put_step(b, &step, regex, err)
                              : refuse(b, "pre_tokenizer.pattern", regex, wrong, err);
}

static lw_status put_class(building *b, const char *regex, lw__step step, lw_error *err)
{
    return put_regex(b, (lw_str){.data = regex, .bytes = strlen(regex)}, step, err);
}

/* A plain text is a regex with a backslash before each symbol. */
static lw_status put_string(building *b, lw_str string, lw__step step, lw_error *err)
{
    lw__bytes regex;
    lw__bytes_init(&regex);
    for (size_t i = 0; i < string.bytes; i++) {
        if (memchr("\\.+*?()|[]{}^$-&~# /", string.data[i], 20) != NULL) {
            lw__bytes_put_u8(&regex, '\\');
        }
        lw__bytes_put(&regex, string.data + i, 1);
    }
    lw_str text = {.data = (const char *)regex.data, .bytes = regex.count};
    lw_status status = regex.failed ? lw__fail_nomem(err, string.bytes, "a pattern")
                                    : put_regex(b, text, step, err);
    lw__bytes_reset(&regex);
    return status;
}

static lw_status read_behavior(const building *b, const part *item, lw__step *step, lw_error *err)
{
    static const char *const names[] = {
        [LW__STEP_ISOLATED] = "Isolated",        [LW__STEP_REMOVED] = "Removed",
        [LW__STEP_CONTIGUOUS] = "Contiguous",    [LW__STEP_WITH_PREVIOUS] = "MergedWithPrevious",
        [LW__STEP_WITH_NEXT] = "MergedWithNext",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (lw__json_is(item->behavior, names[i])) {
            step->behavior = (lw__step_behavior)i;
            step->inverted = item->invert == 1;
            return LW_OK;
        }
    }
    return refuse(b, "pre_tokenizer.behavior", item->behavior,
                  "Isolated, Removed, Contiguous, MergedWithPrevious or MergedWithNext", err);
}

static lw_status put_split(building *b, const part *item, lw_error *err)
{
    lw__step step = {.behavior = LW__STEP_ISOLATED};
    LW__TRY(read_behavior(b, item, &step, err));
    if (item->string.data != NULL) {
        return put_string(b, item->string, step, err);
    }
    if (!b->mapped && lw__load_json_keeps_matches(item) &&
        lw__load_json_known_regex(item->regex, &step.rules)) {
        step.behavior = LW__STEP_ISOLATED;
        step.inverted = false;
        return put_step(b, &step, (lw_str){.data = "", .bytes = 0}, err);
    }
    return put_regex(b, item->regex, step, err);
}

static lw_status put_byte_level(building *b, const part *item, lw_error *err)
{
    static const lw_str again = {.data = "ByteLevel", .bytes = 9};
    static const lw_str yes = {.data = "true", .bytes = 4};
    if (b->mapped) {
        return refuse(b, "pre_tokenizer.pretokenizers", again, "one ByteLevel", err);
    }
    if (b->vocab->steps.count > 0 && item->add_prefix_space != 0) {
        return refuse(b, "pre_tokenizer.add_prefix_space", yes, "false behind another part", err);
    }
    b->vocab->add_prefix_space = item->add_prefix_space != 0;
    b->mapped = true;
    const lw__step step = {.rules = {.family = LW__SPLIT_GPT2}};
    return item->use_regex == 0 ? LW_OK : put_step(b, &step, (lw_str){.data = "", .bytes = 0}, err);
}

static lw_status put_punctuation(building *b, const part *item, lw_error *err)
{
    lw__step step = {.behavior = LW__STEP_ISOLATED};
    if (item->behavior.data != NULL) {
        LW__TRY(read_behavior(b, item, &step, err));
    }
    return put_class(b, PUNCTUATION, step, err);
}

static lw_status put_part(building *b, const part *item, lw_error *err)
{
    const lw__step isolated = {.behavior = LW__STEP_ISOLATED};
    const lw__step removed = {.behavior = LW__STEP_REMOVED};
    if (item->unknown.bytes != 0) {
        return refuse(b, "pre_tokenizer: field", item->unknown, "no field but those of " STEP_NAMES,
                      err);
    }
    if (lw__json_is(item->type, "ByteLevel") && !b->vocab->pieces.used) {
        return put_byte_level(b, item, err);
    }
    if (lw__json_is(item->type, "Punctuation")) {
        return put_punctuation(b, item, err);
    }
    if (lw__json_is(item->type, "CharDelimiterSplit")) {
        return put_string(b, item->string, removed, err);
    }
    if (lw__json_is(item->type, "Split")) {
        return put_split(b, item, err);
    }
    if (lw__json_is(item->type, "Digits")) {
        return put_class(b, item->individual_digits == 1 ? DIGIT : DIGIT "+", isolated, err);
    }
    if (lw__json_is(item->type, "WhitespaceSplit")) {
        return put_class(b, "\\s+", removed, err);
    }
    if (lw__json_is(item->type, "Whitespace")) {
        lw__step kept = removed;
        kept.inverted = true;
        return put_class(b, WORD "+|[^\\s" WORD "]+", kept, err);
    }
    return refuse(b, "pre_tokenizer", item->type,
                  b->vocab->pieces.used ? STEP_NAMES " before Metaspace" : "ByteLevel, " STEP_NAMES,
                  err);
}

static lw_status put_parts(building *b, const lw__json_parts *parts, size_t count, lw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        LW__TRY(put_part(b, &parts->items[i], err));
    }
    const lw__bytes *text = &b->vocab->steps.text;
    if (b->vocab->steps.count > 0) {
        b->vocab->rules = (lw__split_rules){.family = LW__SPLIT_STEPS};
    }
    return text->failed ? lw__fail_nomem(err, text->count, "a pattern") : LW_OK;
}

lw_status lw__load_json_steps(lw__vocab *vocab, const lw__json_parts *parts, lw_error *err)
{
    static const lw_str many = {.data = "more than 9", .bytes = 11};
    static const lw_str none = {.data = "no ByteLevel", .bytes = 12};
    building b = {.vocab = vocab};
    if (parts->count > LW__STEPS + 1) {
        return refuse(&b, "pre_tokenizer.pretokenizers", many, "9 at most", err);
    }
    LW__TRY(put_parts(&b, parts, parts->count, err));
    if (!b.mapped) {
        return refuse(&b, "pre_tokenizer", none, "one, which maps bytes to characters", err);
    }
    if (vocab->steps.count == 0) {
        return refuse(&b, "pre_tokenizer.use_regex", (lw_str){.data = "false", .bytes = 5},
                      "true without a Split", err);
    }
    return LW_OK;
}

lw_status lw__load_json_piece_steps(lw__vocab *vocab, const lw__json_parts *parts, lw_error *err)
{
    building b = {.vocab = vocab};
    return put_parts(&b, parts, parts->count - 1, err);
}
