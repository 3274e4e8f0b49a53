/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding base64, four digits at a time. */
#include "tokenize/base64.h"

#include <stdint.h>

static int sextet(unsigned char digit)
{
    if (digit >= 'A' && digit <= 'Z') {
        return digit - 'A';
    }
    if (digit >= 'a' && digit <= 'z') {
        return digit - 'a' + 26;
    }
    if (digit >= '0' && digit <= '9') {
        return digit - '0' + 52;
    }
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

ptrdiff_t lw__base64_decode(unsigned char *text, size_t count)
{
    if (count == 0 || count % 4 != 0) {
        return -1;
    }
    size_t padding = (size_t)(text[count - 1] == '=') +
                     (size_t)(text[count - 1] == '=' && text[count - 2] == '=');
    size_t out = 0;
    for (size_t in = 0; in < count; in += 4) {
        uint32_t bits = 0;
        for (size_t i = 0; i < 4; i++) {
            int value = in + i < count - padding ? sextet(text[in + i]) : 0;
            if (value < 0) {
                return -1;
            }
            bits = bits << 6 | (uint32_t)value;
        }
        text[out++] = (unsigned char)(bits >> 16);
        text[out++] = (unsigned char)(bits >> 8);
        text[out++] = (unsigned char)bits;
    }
    return (ptrdiff_t)(out - padding);
}
