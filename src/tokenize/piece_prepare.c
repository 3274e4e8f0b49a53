/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a text to its canonical form. Mostly that is the text itself, or a copy with a space before
 * it; only a character map or the dropping of spaces needs a walk over all characters.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/piece_model.h"

typedef struct writer {
    lw__pieces_scratch *scratch;
    size_t count;
} writer;

static lw_status reserve(writer *out, size_t extra, lw_error *err)
{
    lw__pieces_scratch *scratch = out->scratch;
    if (extra <= scratch->text_capacity - out->count) {
        return LW_OK;
    }
    size_t wanted = out->count + extra + out->count / 2;
    unsigned char *text = lw__resize_array(scratch->text, wanted, 1);
    if (text == NULL) {
        return lw__fail_nomem(err, wanted, "a prepared text");
    }
    scratch->text = text;
    scratch->text_capacity = wanted;
    return LW_OK;
}

static lw_status put_space(writer *out, lw_error *err)
{
    LW__TRY(reserve(out, 1, err));
    out->scratch->text[out->count++] = ' ';
    return LW_OK;
}

/* Appends a text with U+2581 made canonical when spaces are escaped. */
static lw_status put_text(const lw__pieces *pieces, writer *out, lw_str text, lw_error *err)
{
    LW__TRY(reserve(out, text.bytes, err));
    const char *end = text.data + text.bytes;
    const char *at = text.data;
    while (at < end) {
        const char *lead = pieces->rules->escaped ? memchr(at, 0xE2, (size_t)(end - at)) : NULL;
        const char *stop = lead == NULL ? end : lead;
        memcpy(out->scratch->text + out->count, at, (size_t)(stop - at));
        out->count += (size_t)(stop - at);
        at = stop;
        if (lead != NULL) {
            bool is_space = end - at >= 3 && memcmp(at, LW__ESCAPED_SPACE, 3) == 0;
            out->scratch->text[out->count++] = is_space ? ' ' : 0xE2;
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

static lw_status walk(const lw__pieces *pieces, writer *out, lw_str text, lw_error *err)
{
    bool after_space = pieces->rules->collapsed;
    while (text.bytes > 0) {
        size_t bytes;
        lw_str part = next_part(pieces, text, &bytes);
        while (after_space && part.bytes > 0 && part.data[0] == ' ') {
            part = without(part, 1);
        }
        if (part.bytes > 0) {
            LW__TRY(put_text(pieces, out, part, err));
            after_space = pieces->rules->collapsed && part.data[part.bytes - 1] == ' ';
        }
        text = without(text, bytes);
    }
    return LW_OK;
}

static lw_status prepare_walking(const lw__pieces *pieces, writer *out, lw_str text, bool first,
                                 lw_error *err)
{
    text = skip_leading(pieces, text);
    if (text.bytes == 0) {
        return LW_OK;
    }
    if (wants_prefix(pieces, text, first)) {
        LW__TRY(put_space(out, err));
    }
    LW__TRY(walk(pieces, out, text, err));
    while (pieces->rules->collapsed && out->count > 0 &&
           out->scratch->text[out->count - 1] == ' ') {
        out->count--;
    }
    return LW_OK;
}

static bool has_escaped_space(lw_str text)
{
    return memmem(text.data, text.bytes, LW__ESCAPED_SPACE, 3) != NULL;
}

lw_status lw__pieces_prepare(const lw__pieces *pieces, lw__pieces_scratch *scratch, lw_str text,
                             bool first, lw_str *prepared, lw_error *err)
{
    writer out = {.scratch = scratch};
    *prepared = text;
    if (text.bytes == 0) {
        return LW_OK;
    }
    bool prefixed = wants_prefix(pieces, text, first);
    if (pieces->plain && !prefixed && !(pieces->rules->escaped && has_escaped_space(text))) {
        return LW_OK;
    }
    if (pieces->plain) {
        LW__TRY(reserve(&out, text.bytes + 1, err));
        LW__TRY(prefixed ? put_space(&out, err) : LW_OK);
        LW__TRY(put_text(pieces, &out, text, err));
    } else {
        LW__TRY(prepare_walking(pieces, &out, text, first, err));
    }
    *prepared = (lw_str){.data = (const char *)scratch->text, .bytes = out.count};
    return LW_OK;
}
