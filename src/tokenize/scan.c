/* SPDX-License-Identifier: Apache-2.0 */
/* The out-of-line half of scan.h: decoding, and runs of white space. */
#include "tokenize/scan.h"

#define X LW__CLASS_OTHER
#define L LW__CLASS_LETTER
#define N LW__CLASS_NUMBER
#define S LW__CLASS_SPACE
#define H 0xFF

/* clang-format off */
const uint8_t lw__scan_ascii[256] = {
    X, X, X, X, X, X, X, X, X, S, S, S, S, S, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    S, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, N, N, N, N, N, N, N, N, N, N, X, X, X, X, X, X,
    X, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, X, X, X, X, X,
    X, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, X, X, X, X, X,
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,
};
/* clang-format on */

#undef X
#undef L
#undef N
#undef S
#undef H

lw__code lw__scan_code(const unsigned char *p, const unsigned char *end)
{
    unsigned lead = *p;
    unsigned bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead < 0xC2 || lead > 0xF4 || (size_t)(end - p) < bytes) {
        return (lw__code){.code = LW__STRAY, .bytes = 1};
    }
    uint32_t code = lead & (0x7Fu >> bytes);
    for (unsigned i = 1; i < bytes; i++) {
        code = code << 6 | (p[i] & 0x3Fu);
    }
    return (lw__code){.code = code, .bytes = bytes};
}

void lw__scan_put(lw__bytes *out, uint32_t code)
{
    if (!lw__bytes_reserve(out, 4)) {
        return;
    }
    unsigned char *to = out->data + out->count;
    size_t bytes = 0;
    if (code < 0x80) {
        to[bytes++] = (unsigned char)code;
    } else if (code < 0x800) {
        to[bytes++] = (unsigned char)(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        to[bytes++] = (unsigned char)(0xE0 | code >> 12);
        to[bytes++] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
    } else {
        to[bytes++] = (unsigned char)(0xF0 | code >> 18);
        to[bytes++] = (unsigned char)(0x80 | (code >> 12 & 0x3F));
        to[bytes++] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
    }
    if (code >= 0x80) {
        to[bytes++] = (unsigned char)(0x80 | (code & 0x3F));
    }
    out->count += bytes;
}

lw__char lw__scan_wide(const unsigned char *p, const unsigned char *end)
{
    lw__code wide = lw__scan_code(p, end);
    return (lw__char){.class = lw__unicode_class(wide.code), .bytes = wide.bytes};
}

lw__spaces lw__scan_spaces(const unsigned char *p, const unsigned char *end)
{
    lw__spaces spaces = {.end = p, .last = p, .after_newline = NULL};
    while (spaces.end < end) {
        lw__char next = lw__scan_char(spaces.end, end);
        if (next.class != LW__CLASS_SPACE) {
            break;
        }
        spaces.last = spaces.end;
        spaces.end += next.bytes;
        if (lw__scan_is_newline(*spaces.last)) {
            spaces.after_newline = spaces.end;
        }
    }
    return spaces;
}
