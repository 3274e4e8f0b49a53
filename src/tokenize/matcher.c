/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The targets are sorted, so those that agree with the text up to some byte are a range; each
 * further byte of the text narrows it by two binary searches. No text can make that slow: a
 * position costs at most the length of the longest target times the logarithm of their number.
 */
#include "tokenize/matcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/scan.h"

#define ZWNJ 0x200C
#define ZWJ  0x200D

static int by_text(const void *a, const void *b)
{
    const lw_str *x = &((const lw__target *)a)->text;
    const lw_str *y = &((const lw__target *)b)->text;
    size_t common = x->bytes < y->bytes ? x->bytes : y->bytes;
    int order = memcmp(x->data, y->data, common);
    return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool is_wanted(const lw__vocab *vocab, const lw__added *added, bool normalized)
{
    return added->normalized == normalized && lw__vocab_text(vocab, added->id).bytes > 0;
}

/* What fancy-regex calls a word, as the reference asks it for single_word. */
static lw_status find_words(lw__matcher *matcher, lw_error *err)
{
    lw__code_set *words = &matcher->words;
    lw__code_set_put_words(words);
    lw__code_set_put(words, ZWNJ, ZWJ);
    lw__code_set_order(words);
    return words->failed ? lw__fail_nomem(err, sizeof *words, "added tokens") : LW_OK;
}

static lw_status normalized_text(const lw__vocab *vocab, lw__normal_scratch *scratch, lw_str *text,
                                 lw_error *err)
{
    lw__place place = {.path = vocab->path};
    lw_str given = *text;
    LW__TRY(lw__normalize(&vocab->normalizer, scratch, given, text, err));
    return text->bytes > 0
               ? LW_OK
               : lw__vocab_fail(err, LW_E_UNSUPPORTED, &place,
                                "added_tokens: normalized of \"%.*s\", of which the normalizer "
                                "leaves nothing, is true, expected false",
                                lw__vocab_shown(given), given.data);
}

static lw_status put_target(lw__matcher *matcher, lw__target *target, lw_error *err)
{
    char *copy = lw__copy_text(target->text.data, target->text.bytes);
    if (copy == NULL) {
        return lw__fail_nomem(err, target->text.bytes, "an added token");
    }
    target->text.data = copy;
    matcher->starts[(unsigned char)copy[0]] = true;
    matcher->targets[matcher->count++] = *target;
    return LW_OK;
}

static lw_status put_targets(lw__matcher *matcher, const lw__vocab *vocab, bool normalized,
                             bool special_text, lw_error *err)
{
    lw_status status = LW_OK;
    lw__normal_scratch *scratch = lw__alloc_zero(1, sizeof *scratch);
    if (scratch == NULL) {
        return lw__fail_nomem(err, sizeof *scratch, "added tokens");
    }
    for (size_t i = 0; i < vocab->added_count && status == LW_OK; i++) {
        const lw__added *added = &vocab->added[i];
        if (!is_wanted(vocab, added, normalized)) {
            continue;
        }
        lw__target target = {.text = lw__vocab_text(vocab, added->id),
                             .token = *added,
                             .ignored = added->special && !special_text};
        if (added->single_word && matcher->words.count == 0) {
            status = find_words(matcher, err);
        }
        if (status == LW_OK && normalized) {
            status = normalized_text(vocab, scratch, &target.text, err);
        }
        status = status == LW_OK ? put_target(matcher, &target, err) : status;
    }
    lw__normal_scratch_reset(scratch);
    lw__free(scratch);
    return status;
}

/* Of two that are the same once normalized the reference takes either. */
static lw_status check_apart(const lw__matcher *matcher, const lw__vocab *vocab, lw_error *err)
{
    lw__place place = {.path = vocab->path};
    for (size_t i = 1; i < matcher->count; i++) {
        lw_str text = matcher->targets[i].text;
        if (by_text(&matcher->targets[i - 1], &matcher->targets[i]) == 0) {
            return lw__vocab_fail(err, LW_E_UNSUPPORTED, &place,
                                  "added_tokens: normalized of two that become \"%.*s\" is true, "
                                  "expected of one",
                                  lw__vocab_shown(text), text.data);
        }
    }
    return LW_OK;
}

lw_status lw__matcher_fill(lw__matcher *matcher, const lw__vocab *vocab, bool normalized,
                           bool special_text, lw_error *err)
{
    bool can_match = false;
    memset(matcher, 0, sizeof *matcher);
    for (size_t i = 0; i < vocab->added_count; i++) {
        can_match = can_match || (is_wanted(vocab, &vocab->added[i], normalized) &&
                                  (special_text || !vocab->added[i].special));
    }
    if (!can_match) {
        return LW_OK;
    }
    matcher->targets = lw__alloc_array(vocab->added_count, sizeof *matcher->targets);
    if (matcher->targets == NULL) {
        return lw__fail_nomem(err, vocab->added_count * sizeof *matcher->targets, "added tokens");
    }
    LW__TRY(put_targets(matcher, vocab, normalized, special_text, err));
    qsort(matcher->targets, matcher->count, sizeof *matcher->targets, by_text);
    return check_apart(matcher, vocab, err);
}

void lw__matcher_reset(lw__matcher *matcher)
{
    for (size_t i = 0; i < matcher->count; i++) {
        lw__free((void *)(uintptr_t)matcher->targets[i].text.data);
    }
    lw__free(matcher->targets);
    lw__code_set_reset(&matcher->words);
    memset(matcher, 0, sizeof *matcher);
}

/* The byte of a target at depth, one more than it is; 0 when the target ends before. */
static unsigned byte_at(const lw__target *target, size_t depth)
{
    return depth < target->text.bytes ? (unsigned char)target->text.data[depth] + 1u : 0;
}

/* The first target of [low, high) whose byte at depth is `byte` or more. */
static size_t lower_bound(const lw__matcher *matcher, size_t low, size_t high, size_t depth,
                          unsigned byte)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (byte_at(&matcher->targets[middle], depth) < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The longest target that text starts with; NULL when there is none. */
static const lw__target *longest_at(const lw__matcher *matcher, const unsigned char *text,
                                    size_t bytes)
{
    const lw__target *longest = NULL;
    size_t low = 0;
    size_t high = matcher->count;
    for (size_t depth = 0; depth < bytes && low < high; depth++) {
        unsigned byte = text[depth] + 1u;
        low = lower_bound(matcher, low, high, depth, byte);
        high = lower_bound(matcher, low, high, depth, byte + 1);
        if (low < high && matcher->targets[low].text.bytes == depth + 1) {
            longest = &matcher->targets[low];
        }
    }
    return longest;
}

/* The start of the white space that ends at `from`, not before `taken`. */
static size_t spaces_before(const unsigned char *text, size_t from, size_t taken)
{
    while (from > taken) {
        size_t start = from - 1;
        while (start > taken && (text[start] & 0xC0) == 0x80) {
            start--;
        }
        if (lw__scan_char(text + start, text + from).class != LW__CLASS_SPACE) {
            break;
        }
        from = start;
    }
    return from;
}

static size_t spaces_after(const unsigned char *text, size_t bytes, size_t from)
{
    return (size_t)(lw__scan_spaces(text + from, text + bytes).end - text);
}

static bool is_word(const lw__matcher *matcher, const unsigned char *p, const unsigned char *end)
{
    uint32_t code = *p < 0x80 ? *p : lw__scan_code(p, end).code;
    return lw__code_set_has(&matcher->words, code);
}

/* Whether no word goes on into text[start, stop). */
static bool stands_alone(const lw__matcher *matcher, const unsigned char *text, size_t bytes,
                         size_t start, size_t stop)
{
    size_t before = start;
    while (before > 0 && (before == start || (text[before] & 0xC0) == 0x80)) {
        before--;
    }
    return !(before < start && is_word(matcher, text + before, text + start)) &&
           !(stop < bytes && is_word(matcher, text + stop, text + bytes));
}

bool lw__matcher_next(const lw__matcher *matcher, const unsigned char *text, size_t bytes,
                      size_t *at, size_t taken, lw__match *match)
{
    while (*at < bytes) {
        if (!matcher->starts[text[*at]]) {
            ++*at;
            continue;
        }
        const lw__target *target = longest_at(matcher, text + *at, bytes - *at);
        if (target == NULL) {
            ++*at;
            continue;
        }
        size_t start = *at;
        *at += target->text.bytes;
        if (target->ignored ||
            (target->token.single_word && !stands_alone(matcher, text, bytes, start, *at))) {
            continue;
        }
        match->id = target->token.id;
        match->start = target->token.lstrip ? spaces_before(text, start, taken) : start;
        match->end = target->token.rstrip ? spaces_after(text, bytes, *at) : *at;
        return true;
    }
    return false;
}
