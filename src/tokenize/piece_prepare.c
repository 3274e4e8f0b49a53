/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a text to its canonical form, part by part. Mostly that is a copy with a space before it;
 * only a character map, the dropping of spaces or a cut into words needs a walk over all characters.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/piece_model.h"
#include "tokenize/scan.h"

static lw_status reserve(lw__pieces_scratch *scratch, size_t extra, lw_error *err)
{
    if (extra <= scratch->text_capacity - scratch->text_count) {
        return LW_OK;
    }
    size_t wanted = scratch->text_count + extra + scratch->text_count / 2;
    unsigned char *text = lw__resize_array(scratch->text, wanted, 1);
    if (text == NULL) {
        return lw__fail_nomem(err, wanted, "a prepared text");
    }
    scratch->text = text;
    scratch->text_capacity = wanted;
    return LW_OK;
}

static lw_status put_space(lw__pieces_scratch *scratch, lw_error *err)
{
    LW__TRY(reserve(scratch, 1, err));
    scratch->text[scratch->text_count++] = ' ';
    return LW_OK;
}

/* Appends a text with U+2581 made canonical when spaces are escaped. */
static lw_status put_text(const lw__pieces *pieces, lw__pieces_scratch *scratch, lw_str text,
                          lw_error *err)
{
    LW__TRY(reserve(scratch, text.bytes, err));
    const char *end = text.data + text.bytes;
    const char *at = text.data;
    while (at < end) {
        const char *lead = pieces->rules->escaped ? memchr(at, 0xE2, (size_t)(end - at)) : NULL;
        const char *stop = lead == NULL ? end : lead;
        memcpy(scratch->text + scratch->text_count, at, (size_t)(stop - at));
        scratch->text_count += (size_t)(stop - at);
        at = stop;
        if (lead != NULL) {
            bool is_space = end - at >= 3 && memcmp(at, LW__ESCAPED_SPACE, 3) == 0;
            scratch->text[scratch->text_count++] = is_space ? ' ' : 0xE2;
            at += is_space ? 3 : 1;
        }
    }
    return LW_OK;
}

static bool starts_with_space(const lw__pieces *pieces, lw_str text)
{
    return pieces->rules->escaped &&
           (text.data[0] == ' ' ||
            (text.bytes >= 3 && memcmp(text.data, LW__ESCAPED_SPACE, 3) == 0));
}

static bool wants_prefix(const lw__pieces *pieces, lw_str text, bool first)
{
    switch (pieces->rules->prefix) {
    case LW__PREFIX_ALWAYS:
        return true;
    case LW__PREFIX_MISSING:
        return !starts_with_space(pieces, text);
    case LW__PREFIX_FIRST:
        return first && !starts_with_space(pieces, text);
    default:
        return false;
    }
}

/* ---- the walk ---- */

/* What the start of a text becomes, and its byte count in the text. */
static lw_str next_part(const lw__pieces *pieces, lw_str text, size_t *bytes)
{
    const unsigned char *p = (const unsigned char *)text.data;
    lw__trie_key atom = lw__trie_longest(&pieces->raw_atoms, p, text.bytes);
    if (atom.bytes > 0) {
        *bytes = atom.bytes;
        return (lw_str){.data = text.data, .bytes = atom.bytes};
    }
    lw_str becomes;
    *bytes = lw__charsmap_longest(&pieces->charsmap, p, text.bytes, &becomes);
    if (*bytes > 0) {
        return becomes;
    }
    (void)lw__piece_char(p, bytes);
    return (lw_str){.data = text.data, .bytes = *bytes};
}

static lw_str without(lw_str text, size_t bytes)
{
    return (lw_str){.data = text.data + bytes, .bytes = text.bytes - bytes};
}

static lw_str skip_leading(const lw__pieces *pieces, lw_str text)
{
    while (pieces->rules->collapsed && text.bytes > 0) {
        size_t bytes;
        lw_str part = next_part(pieces, text, &bytes);
        if (part.bytes != 1 || part.data[0] != ' ') {
            break;
        }
        text = without(text, bytes);
    }
    return text;
}

/* The bytes at the start of a text, up to a limit, that stay as they are. */
static size_t count_as_is(const lw__pieces *pieces, const lw__piece_source *source, size_t limit)
{
    const unsigned char *p = (const unsigned char *)source->left.data;
    const unsigned char *end = p + source->left.bytes;
    const unsigned char *start = p;
    bool after_space = source->after_space;
    limit = limit < source->left.bytes ? limit : source->left.bytes;
    for (; p < start + limit && *p < 0x80 && pieces->as_is[*p]; p++) {
        if ((p + 1 < end && p[1] >= 0x80) || (after_space && *p == ' ')) {
            break;
        }
        after_space = pieces->rules->collapsed && *p == ' ';
    }
    return (size_t)(p - start);
}

static lw_status walk(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                      lw__piece_source *source, size_t wanted, lw_error *err)
{
    while (source->left.bytes > 0 && scratch->text_count < wanted) {
        size_t bytes = count_as_is(pieces, source, wanted - scratch->text_count);
        lw_str part = {.data = source->left.data, .bytes = bytes};
        if (bytes == 0) {
            part = next_part(pieces, source->left, &bytes);
        }
        while (source->after_space && part.bytes > 0 && part.data[0] == ' ') {
            part = without(part, 1);
        }
        if (part.bytes > 0) {
            LW__TRY(put_text(pieces, scratch, part, err));
            source->after_space = pieces->rules->collapsed && part.data[part.bytes - 1] == ' ';
        }
        source->left = without(source->left, bytes);
    }
    return LW_OK;
}

/* A part of whole characters. */
static lw_status copy(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                      lw__piece_source *source, size_t wanted, lw_error *err)
{
    lw_str part = source->left;
    if (scratch->text_count + part.bytes > wanted) {
        part.bytes = wanted > scratch->text_count ? wanted - scratch->text_count : 0;
        while (part.bytes < source->left.bytes &&
               ((unsigned char)part.data[part.bytes] & 0xC0) == 0x80) {
            part.bytes++;
        }
    }
    source->left = without(source->left, part.bytes);
    return put_text(pieces, scratch, part, err);
}

/* ---- words ---- */

/* What the word at the start of a text has up to a limit, in whole characters. */
static lw_str part_of_word(lw_str text, size_t limit)
{
    const unsigned char *start = (const unsigned char *)text.data;
    const unsigned char *end = start + text.bytes;
    const unsigned char *p = start;
    while (p < end && (size_t)(p - start) < limit) {
        lw__char next = lw__scan_char(p, end);
        if (next.class == LW__CLASS_SPACE) {
            break;
        }
        p += next.bytes;
    }
    return (lw_str){.data = text.data, .bytes = (size_t)(p - start)};
}

static lw_status put_words(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                           lw__piece_source *source, size_t wanted, lw_error *err)
{
    while (source->left.bytes > 0 && scratch->text_count < wanted) {
        const unsigned char *p = (const unsigned char *)source->left.data;
        size_t spaces = (size_t)(lw__scan_spaces(p, p + source->left.bytes).end - p);
        source->left = without(source->left, spaces);
        bool is_new = spaces > 0 || !source->in_word;
        if (source->left.bytes > 0 && is_new && !starts_with_space(pieces, source->left)) {
            LW__TRY(put_space(scratch, err));
        }
        lw_str part = part_of_word(source->left, wanted);
        LW__TRY(put_text(pieces, scratch, part, err));
        source->left = without(source->left, part.bytes);
        source->in_word = true;
    }
    return LW_OK;
}

static lw_status put_next(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                          lw__piece_source *source, size_t wanted, lw_error *err)
{
    if (pieces->rules->prefix == LW__PREFIX_WORDS) {
        return put_words(pieces, scratch, source, wanted, err);
    }
    return pieces->plain ? copy(pieces, scratch, source, wanted, err)
                         : walk(pieces, scratch, source, wanted, err);
}

static lw_status start_text(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                            lw__piece_source *source, lw_error *err)
{
    source->started = true;
    source->after_space = pieces->rules->collapsed;
    source->left = skip_leading(pieces, source->left);
    bool prefixed = source->left.bytes > 0 && wants_prefix(pieces, source->left, source->first);
    return prefixed ? put_space(scratch, err) : LW_OK;
}

lw_status lw__pieces_prepare(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                             lw__piece_source *source, size_t wanted, lw_error *err)
{
    LW__TRY(source->started ? LW_OK : start_text(pieces, scratch, source, err));
    LW__TRY(put_next(pieces, scratch, source, wanted, err));
    while (pieces->rules->collapsed && source->left.bytes == 0 && scratch->text_count > 0 &&
           scratch->text[scratch->text_count - 1] == ' ') {
        scratch->text_count--;
    }
    return LW_OK;
}
