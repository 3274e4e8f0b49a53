/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The byte-level alphabet of vocab.json, encoder.json and tokenizer.json files: each byte is
 * written as one printable character. Printable Latin-1 stands for itself; the other 68 bytes
 * are U+0100 and up, in order.
 */
#include "base/error.h"
#include "base/utf8.h"
#include "tokenize/vocab.h"

/* The byte that a code point from U+0080 on stands for; -1 when it is not of the alphabet. */
static inline int byte_of(uint32_t code)
{
    if (code >= 0x100 && code <= 0x120) {
        return (int)(code - 0x100); /* 00-20 */
    }
    if (code >= 0xA1 && code <= 0xFF && code != 0xAD) {
        return (int)code;
    }
    if (code >= 0x121 && code <= 0x142) {
        return (int)(code - 0x121 + 0x7F); /* 7F-A0 */
    }
    return code == 0x143 ? 0xAD : -1;
}

/* The byte of the character at p, and the bytes it takes; -1 when it is not of the alphabet. */
static inline int next_byte(const char *p, size_t room, size_t *taken)
{
    unsigned char lead = (unsigned char)*p;
    if (lead < 0x80) {
        *taken = 1;
        return lead >= 0x21 && lead <= 0x7E ? lead : -1;
    }
    *taken = 2;
    if (room < 2 || lead >= 0xE0) {
        return -1;
    }
    return byte_of((lead & 0x1Fu) << 6 | ((unsigned char)p[1] & 0x3Fu));
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

bool lw__byte_level_undo(lw_str *text)
{
    /* A character of the alphabet has one or two bytes, so output never passes input; the first
     * pass checks, so that a text which is not of the alphabet stays as it is. */
    char *data = (char *)text->data; /* the file's bytes, which loading may change */
    size_t taken = 0;
    size_t plain = 0; /* the characters at the start that stand for themselves */
    for (size_t in = 0; in < text->bytes; in += taken) {
        if (next_byte(data + in, text->bytes - in, &taken) < 0) {
            return false;
        }
        plain += plain == in && taken == 1;
    }
    size_t out = plain;
    for (size_t in = plain; in < text->bytes; in += taken) {
        data[out++] = (char)next_byte(data + in, text->bytes - in, &taken);
    }
    text->bytes = out;
    return true;
}

lw_status lw__load_token_object(lw__vocab *vocab, lw__json *json, lw_error *err)
{
    lw__place place = {.path = vocab->path, .unit = "byte"};
    if (!lw__json_enter(json, '{')) {
        return LW_OK;
    }
    while (lw__json_next(json)) {
        place.at = (uint64_t)(json->at - json->begin);
        lw_str text = lw__json_key(json);
        int64_t id = lw__json_int(json);
        if (json->fault != NULL) {
            break;
        }
        if (vocab->pieces.used || lw__byte_level_undo(&text)) {
            LW__TRY(lw__vocab_put(vocab, id, text, &place, err));
        } else {
            LW__TRY(lw__vocab_put_aside(vocab, id, text, &place, err));
        }
    }
    return LW_OK;
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
