/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values on their way out of the tree: into the settings, and as canonical text.
 */
#include <string.h>

#include "recipe/value.h"

void lw__value_store(const lw__option *option, const lw__value *value, void *base)
{
    unsigned char *at = (unsigned char *)base + option->offset;
    unsigned index = (unsigned)value->number;
    bool flag = value->number != 0;
    int64_t id = value->is_null ? -1 : (int64_t)value->number;
    switch (option->type) {
    case LW__OPTION_WHOLE:
    case LW__OPTION_BYTES:
    case LW__OPTION_WEIGHT:
        memcpy(at, &value->number, sizeof(value->number));
        return;
    case LW__OPTION_BOOL:
        memcpy(at, &flag, sizeof(flag));
        return;
    case LW__OPTION_ENUM:
        memcpy(at, &index, sizeof(index));
        return;
    case LW__OPTION_NAME:
    case LW__OPTION_TEXT:
    case LW__OPTION_TEXT_OR_NULL:
    case LW__OPTION_BOOL_OR_TEXT:
        memcpy(at, &value->text, sizeof(value->text));
        return;
    case LW__OPTION_ID_OR_NULL:
        memcpy(at, &id, sizeof(id));
        return;
    case LW__OPTION_TEXTS: /* needs memory, see build.c */
    case LW__OPTION_ONLY_NULL:
    case LW__OPTION_ONLY_EMPTY:
        return;
    }
}

/* Decodes the well-formed character at `at`. */
static uint32_t decode(const unsigned char *at, size_t *bytes)
{
    if (at[0] < 0x80) {
        *bytes = 1;
        return at[0];
    }
    *bytes = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    uint32_t character = at[0] & (0x7Fu >> *bytes);
    for (size_t i = 1; i < *bytes; i++) {
        character = (character << 6) | (at[i] & 0x3Fu);
    }
    return character;
}

/* YAML takes these only escaped, or as line breaks. */
static bool is_escaped(uint32_t character)
{
    return character < 0x20 || (character >= 0x7F && character < 0xA0) || character == 0x2028 ||
           character == 0x2029 || character == 0xFEFF || character == 0xFFFE || character == 0xFFFF;
}

void lw__value_put_quoted(const char *text, lw__bytes *out)
{
    const unsigned char *at = (const unsigned char *)text;
    lw__bytes_put_u8(out, '"');
    while (*at != '\0') {
        size_t bytes = 0;
        uint32_t character = decode(at, &bytes);
        if (is_escaped(character)) {
            lw__bytes_printf(out, "\\u%04x", (unsigned)character);
        } else {
            if (character == '"' || character == '\\') {
                lw__bytes_put_u8(out, '\\');
            }
            lw__bytes_put(out, at, bytes);
        }
        at += bytes;
    }
    lw__bytes_put_u8(out, '"');
}

static void put_text_or(const char *text, const char *without, lw__bytes *out)
{
    if (text == NULL) {
        lw__bytes_printf(out, "%s", without);
    } else {
        lw__value_put_quoted(text, out);
    }
}

/* Without trailing zeros after the point. */
static void put_weight(uint64_t weight, lw__bytes *out)
{
    uint64_t fraction = weight % LW__WEIGHT_ONE;
    int digits = 9;
    lw__bytes_printf(out, "%llu", (unsigned long long)(weight / LW__WEIGHT_ONE));
    if (fraction == 0) {
        return;
    }
    while (fraction % 10 == 0) {
        fraction /= 10;
        digits--;
    }
    lw__bytes_printf(out, ".%0*llu", digits, (unsigned long long)fraction);
}

static void put_texts(const lw__node *list, lw__bytes *out)
{
    if (list->kind == LW__NODE_SCALAR || list->count == 1) {
        const lw__node *only = list->kind == LW__NODE_SCALAR ? list : list->children[0];
        lw__value_put_quoted(only->text, out);
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        lw__bytes_printf(out, i == 0 ? "[" : ", ");
        lw__value_put_quoted(list->children[i]->text, out);
    }
    lw__bytes_put_u8(out, ']');
}

void lw__value_put(const lw__option *option, const lw__value *value, lw__bytes *out)
{
    switch (option->type) {
    case LW__OPTION_WHOLE:
    case LW__OPTION_BYTES:
        lw__bytes_printf(out, "%llu", (unsigned long long)value->number);
        return;
    case LW__OPTION_WEIGHT:
        put_weight(value->number, out);
        return;
    case LW__OPTION_BOOL:
        lw__bytes_printf(out, value->number != 0 ? "true" : "false");
        return;
    case LW__OPTION_ENUM:
    case LW__OPTION_NAME:
        lw__bytes_printf(out, "%s", value->text == NULL ? "null" : value->text);
        return;
    case LW__OPTION_TEXT:
    case LW__OPTION_TEXT_OR_NULL:
        put_text_or(value->text, "null", out);
        return;
    case LW__OPTION_TEXTS:
        put_texts(value->list, out);
        return;
    case LW__OPTION_BOOL_OR_TEXT:
        put_text_or(value->text != NULL && value->text[0] == '\0' ? NULL : value->text,
                    value->text == NULL ? "false" : "true", out);
        return;
    case LW__OPTION_ID_OR_NULL:
        if (!value->is_null) {
            lw__bytes_printf(out, "%llu", (unsigned long long)value->number);
            return;
        }
        lw__bytes_printf(out, "null");
        return;
    case LW__OPTION_ONLY_NULL:
        lw__bytes_printf(out, "null");
        return;
    case LW__OPTION_ONLY_EMPTY:
        lw__bytes_printf(out, "[]");
        return;
    }
}
