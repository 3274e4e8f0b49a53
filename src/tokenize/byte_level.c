/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The byte-level alphabet of vocab.json, encoder.json and tokenizer.json files: each byte is
 * written as one printable character. Printable Latin-1 stands for itself; the other 68 bytes
 * are U+0100 and up, in order.
 */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "tokenize/vocab.h"

#define GROUP 32 /* tokens put together */

/*
 * The byte that a code point from U+0080 on stands for; -1 when it is not of the alphabet. Which of the
 * two ranges it is in is not branched on: in the bytes of one character that changes all the time.
 */
static inline int byte_of(uint32_t code)
{
    if (code < 0xA1 || code > 0x143 || code == 0xAD) {
        return -1;
    }
    uint32_t is_late = code >= 0x121; /* 7F-A0; before it are A1-FF, but for AD, and 00-20 */
    return code == 0x143 ? 0xAD : (int)((code & 0xFF) + is_late * (0x7F - 0x21));
}

uint32_t lw__byte_level_code(unsigned char byte)
{
    if (byte >= 0x21 && byte <= 0x7E) {
        return byte;
    }
    uint32_t code = 0xA1;
    while (byte_of(code) != byte) {
        code++;
    }
    return code;
}

bool lw__byte_level_undo(lw_str text, char *to, size_t *bytes)
{
    const unsigned char *p = (const unsigned char *)text.data;
    const unsigned char *end = p + text.bytes;
    char *out = to;
    while (p < end) {
        if (*p >= 0x21 && *p <= 0x7E) {
            *out++ = (char)*p++;
            continue;
        }
        bool is_wide = end - p >= 2 && *p >= 0xC2 && *p < 0xE0 && (p[1] & 0xC0) == 0x80;
        int byte = is_wide ? byte_of((*p & 0x1Fu) << 6 | (p[1] & 0x3Fu)) : -1;
        if (byte < 0) {
            return false;
        }
        *out++ = (char)byte;
        p += 2;
    }
    *bytes = (size_t)(out - to);
    return true;
}

/* ---- an object of tokens ---- */

/* A token on its way into a vocabulary. */
typedef struct named {
    int64_t id;
    uint64_t at;   /* in the file */
    size_t offset; /* of its text in the texts of the group */
    size_t bytes;
    bool is_aside;
} named;

/* Some of them, whose places in the index are asked for before any is put. */
typedef struct group {
    lw__bytes texts;
    named tokens[GROUP];
    size_t count;
} group;

static void group_add(lw__vocab *vocab, group *g, lw_str text, named token)
{
    if (!lw__bytes_reserve(&g->texts, text.bytes + 1)) { /* also for no bytes there is a place */
        return;
    }
    char *to = (char *)g->texts.data + g->texts.count;
    token.offset = g->texts.count;
    token.bytes = text.bytes;
    token.is_aside = !vocab->pieces.used && !lw__byte_level_undo(text, to, &token.bytes);
    if (vocab->pieces.used || token.is_aside) {
        memcpy(to, text.data, text.bytes);
    }
    g->texts.count += token.bytes;
    g->tokens[g->count++] = token;
    lw__vocab_prefetch(vocab, to, token.bytes);
}

static lw_status group_put(lw__vocab *vocab, group *g, lw_error *err)
{
    if (g->texts.failed) {
        return lw__fail_nomem(err, g->texts.count, "a vocabulary");
    }
    for (size_t i = 0; i < g->count; i++) {
        const named *token = &g->tokens[i];
        lw__place place = {.path = vocab->path, .unit = "byte", .at = token->at};
        lw_str text = {.data = (char *)g->texts.data + token->offset, .bytes = token->bytes};
        LW__TRY(token->is_aside ? lw__vocab_put_aside(vocab, token->id, text, &place, err)
                                : lw__vocab_put(vocab, token->id, text, &place, err));
    }
    g->count = 0;
    g->texts.count = 0;
    return LW_OK;
}

static lw_status read_group(lw__vocab *vocab, lw__json *json, group *g, lw_error *err)
{
    while (lw__json_next(json)) {
        named token = {.at = (uint64_t)(json->at - json->begin)};
        lw_str text = lw__json_key(json);
        token.id = lw__json_int(json);
        if (json->fault != NULL) {
            break;
        }
        group_add(vocab, g, text, token);
        if (g->count == GROUP || g->texts.failed) {
            LW__TRY(group_put(vocab, g, err));
        }
    }
    return group_put(vocab, g, err);
}

lw_status lw__load_token_object(lw__vocab *vocab, lw__json *json, lw_error *err)
{
    group g = {.count = 0};
    if (!lw__json_enter(json, '{')) {
        return LW_OK;
    }
    lw__bytes_init(&g.texts);
    lw_status status = read_group(vocab, json, &g, err);
    lw__bytes_reset(&g.texts);
    return status;
}

lw_status lw__load_json_fault(const char *path, const lw__json *json, lw_error *err)
{
    lw__place place = {.path = path, .unit = "byte", .at = (uint64_t)(json->at - json->begin)};
    if (json->fault == NULL) {
        return LW_OK;
    }
    return lw__vocab_fail(err, LW_E_CORRUPT, &place, "%s", json->fault);
}

lw_status lw__load_json_read(const char *path, lw__bytes *out, lw_error *err)
{
    lw__place place = {.path = path, .unit = "byte"};
    LW__TRY(lw__vocab_read(path, out, err));
    place.at = lw__utf8_check(out->data, out->count);
    if (place.at < out->count) {
        return lw__vocab_fail(err, LW_E_CORRUPT, &place, "a byte that is not UTF-8, expected JSON");
    }
    return LW_OK;
}
