/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pre_tokenizer of a tokenizer.json: ByteLevel with its own pattern, or a Sequence of a Split
 * by a known pattern and ByteLevel without, or that of DeepSeek, which has three Splits. All other
 * Sequences become steps.
 *
 * A pattern is known by its exact text, as read by the engine of that library: the same text can
 * mean something else to another engine ("{1,3}+" is possessive in one, a repeat in the other).
 */
#include "tokenize/load_json_rules.h"

#include "base/error.h"

typedef struct pattern {
    const char *text;
    lw__split_rules rules;
} pattern;

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define WORD_PREFIX  "[^\\r\\n\\p{L}\\p{N}]?"
#define UPPER        "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER        "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define SLASHED      "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"
#define SPACES       "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const pattern patterns[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
     {.family = LW__SPLIT_GPT2}},
    {CONTRACTIONS
     "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES,
     {.family = LW__SPLIT_CL100K, .digits = 3}},
    {CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES,
     {.family = LW__SPLIT_CL100K, .digits = 1}},
    {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| "
     "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
     {.family = LW__SPLIT_CL100K, .digits = 3}},
    {WORD_PREFIX UPPER "*" LOWER "+" CONTRACTIONS "?|" WORD_PREFIX UPPER "+" LOWER "*" CONTRACTIONS
                       "?|\\p{N}{1,3}" SLASHED SPACES,
     {.family = LW__SPLIT_O200K, .digits = 3}},
    {WORD_PREFIX UPPER "*" LOWER "+|" WORD_PREFIX UPPER "+" LOWER "*|\\p{N}" SLASHED SPACES,
     {.family = LW__SPLIT_TEKKEN, .digits = 1}},
    {CONTRACTIONS "|" WORD_PREFIX
                  "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" SPACES,
     {.family = LW__SPLIT_QWEN3_6, .digits = 1}},
};

/* DeepSeek's, one after the other. The line ends in them are characters, and the second is made of
 * U+4E00-9FA5, U+3040-309F and U+30A0-30FF. */
static const char *const deepseek_patterns[] = {
    "\\p{N}{1,3}",
    "[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+",
    "[!\"#$%&'()*+,\\-./"
    ":;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
};

#define DEEPSEEK_SPLITS (sizeof deepseek_patterns / sizeof deepseek_patterns[0])

typedef lw__json_part part;
typedef lw__json_parts parts;

static void read_pattern(lw__json *json, part *out)
{
    if (!lw__json_enter(json, '{')) {
        return;
    }
    while (lw__json_next(json)) {
        lw_str key = lw__json_key(json);
        if (lw__json_is(key, "Regex")) {
            out->regex = lw__json_string(json);
        } else if (lw__json_is(key, "String")) {
            out->string = lw__json_string(json);
        } else {
            out->unknown = key;
            lw__json_skip(json);
        }
    }
}

/* Reads the fields of a part but "pretokenizers", whose key it returns true at. */
static bool read_field(lw__json *json, part *out)
{
    lw_str key = lw__json_key(json);
    if (lw__json_is(key, "type")) {
        out->type = lw__json_string(json);
    } else if (lw__json_is(key, "behavior")) {
        out->behavior = lw__json_string(json);
    } else if (lw__json_is(key, "pattern")) {
        read_pattern(json, out);
    } else if (lw__json_is(key, "add_prefix_space")) {
        out->add_prefix_space = lw__json_bool(json);
    } else if (lw__json_is(key, "use_regex")) {
        out->use_regex = lw__json_bool(json);
    } else if (lw__json_is(key, "invert")) {
        out->invert = lw__json_bool(json);
    } else if (lw__json_is(key, "individual_digits")) {
        out->individual_digits = lw__json_bool(json);
    } else if (lw__json_is(key, "delimiter")) {
        out->string = lw__json_string(json);
    } else if (lw__json_is(key, "replacement")) {
        out->replacement = lw__json_string(json);
    } else if (lw__json_is(key, "prepend_scheme")) {
        out->scheme = lw__json_string(json);
    } else if (lw__json_is(key, "split")) {
        out->split = lw__json_bool(json);
    } else if (lw__json_is(key, "trim_offsets")) {
        (void)lw__json_bool(json); /* moves offsets, never ids */
    } else if (lw__json_is(key, "str_rep")) {
        lw__json_skip(json); /* the replacement once more */
    } else if (lw__json_is(key, "pretokenizers")) {
        return true;
    } else {
        out->unknown = out->unknown.bytes == 0 ? key : out->unknown;
        lw__json_skip(json);
    }
    return false;
}

static part no_part(void)
{
    return (part){.add_prefix_space = LW__UNSET,
                  .use_regex = LW__UNSET,
                  .invert = LW__UNSET,
                  .individual_digits = LW__UNSET,
                  .split = LW__UNSET};
}

static void read_member(lw__json *json, parts *out)
{
    part item = no_part();
    if (lw__json_enter(json, '{')) {
        while (lw__json_next(json)) {
            if (read_field(json, &item)) {
                item.unknown = (lw_str){.data = "pretokenizers", .bytes = 13};
                lw__json_skip(json);
            }
        }
    }
    if (out->count < sizeof out->items / sizeof out->items[0]) {
        out->items[out->count] = item;
    }
    out->count++;
}

static void read_members(lw__json *json, parts *out)
{
    out->count = 0;
    if (lw__json_enter(json, '[')) {
        while (lw__json_next(json)) {
            read_member(json, out);
        }
    }
}

static lw_status refuse(const lw__vocab *vocab, const char *field, lw_str found,
                        const char *expected, lw_error *err)
{
    return lw__load_json_refuse(vocab, field, found, expected, err);
}

static lw_status check_unknown(const lw__vocab *vocab, const part *item, lw_error *err)
{
    if (item->unknown.bytes == 0) {
        return LW_OK;
    }
    return refuse(vocab, "pre_tokenizer: field", item->unknown,
                  "no field but those of ByteLevel and Split", err);
}

static lw_status check_byte_level(const lw__vocab *vocab, const part *item, bool use_regex,
                                  lw_error *err)
{
    static const lw_str no = {.data = "false or missing", .bytes = 16};
    static const lw_str yes = {.data = "true or missing", .bytes = 15};
    LW__TRY(check_unknown(vocab, item, err));
    if (!lw__json_is(item->type, "ByteLevel")) {
        return refuse(vocab, "pre_tokenizer", item->type, "ByteLevel, or a Sequence with it", err);
    }
    if (use_regex ? item->use_regex == 0 : item->use_regex != 0) {
        return refuse(vocab, "pre_tokenizer.use_regex", use_regex ? no : yes,
                      use_regex ? "true without a Split" : "false behind a Split", err);
    }
    if (item->add_prefix_space == LW__UNSET || (!use_regex && item->add_prefix_space != 0)) {
        return refuse(vocab, "pre_tokenizer.add_prefix_space",
                      use_regex ? (lw_str){.data = "missing", .bytes = 7} : yes,
                      use_regex ? "true or false" : "false behind a Split", err);
    }
    return LW_OK;
}

bool lw__load_json_keeps_matches(const part *split)
{
    return lw__json_is(split->behavior, "Isolated") ||
           (lw__json_is(split->behavior, "Removed") && split->invert == 1);
}

bool lw__load_json_known_regex(lw_str regex, lw__split_rules *rules)
{
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (lw__json_is(regex, patterns[i].text)) {
            *rules = patterns[i].rules;
            return true;
        }
    }
    return false;
}

static bool is_known_split(const part *split, lw__split_rules *rules)
{
    return split->unknown.bytes == 0 && lw__json_is(split->type, "Split") &&
           lw__load_json_keeps_matches(split) && lw__load_json_known_regex(split->regex, rules);
}

/* These leave gaps, which Removed with invert would drop. */
static bool is_deepseek(const parts *inner)
{
    for (size_t i = 0; i < DEEPSEEK_SPLITS; i++) {
        const part *split = &inner->items[i];
        if (inner->count != DEEPSEEK_SPLITS + 1 || split->unknown.bytes != 0 ||
            !lw__json_is(split->type, "Split") || !lw__json_is(split->behavior, "Isolated") ||
            !lw__json_is(split->regex, deepseek_patterns[i])) {
            return false;
        }
    }
    return true;
}

static lw_status use_parts(lw__vocab *vocab, const part *outer, const parts *inner, lw_error *err)
{
    if (!lw__json_is(outer->type, "Sequence")) {
        LW__TRY(check_byte_level(vocab, outer, true, err));
        vocab->rules = patterns[0].rules;
        vocab->add_prefix_space = outer->add_prefix_space == 1;
        return LW_OK;
    }
    LW__TRY(check_unknown(vocab, outer, err));
    if (inner->count == 1) {
        return use_parts(vocab, &inner->items[0], &(parts){.count = 0}, err);
    }
    const part *last = &inner->items[inner->count == 2 ? 1 : DEEPSEEK_SPLITS];
    bool is_family = inner->count == 2 && is_known_split(&inner->items[0], &vocab->rules);
    if (is_deepseek(inner)) {
        vocab->rules = (lw__split_rules){.family = LW__SPLIT_DEEPSEEK, .digits = 3};
        is_family = true;
    }
    return is_family ? check_byte_level(vocab, last, false, err)
                     : lw__load_json_steps(vocab, inner, err);
}

void lw__load_json_parts(lw__json *json, part *outer, parts *inner)
{
    *outer = no_part();
    inner->count = 0;
    if (!lw__json_enter(json, '{')) {
        return;
    }
    while (lw__json_next(json)) {
        if (read_field(json, outer)) {
            read_members(json, inner);
        }
    }
    if (inner->count > 0 && !lw__json_is(outer->type, "Sequence")) {
        outer->unknown = (lw_str){.data = "pretokenizers", .bytes = 13};
    }
}

lw_status lw__load_json_pre_tokenizer(lw__vocab *vocab, lw__json *json, lw_error *err)
{
    part outer;
    parts inner;
    if (lw__json_peek(json) == LW__JSON_NULL) {
        return refuse(vocab, "pre_tokenizer", (lw_str){.data = "null", .bytes = 4},
                      "ByteLevel, or a Sequence with it", err);
    }
    lw__load_json_parts(json, &outer, &inner);
    return json->fault != NULL ? LW_OK : use_parts(vocab, &outer, &inner, err);
}
