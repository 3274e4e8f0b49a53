/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the value of one option from its node.
 *
 * Only the forms that every YAML reader agrees on are taken: numbers in plain decimal digits
 * without leading zeros, true and false, null. A scalar in quotes is text, whatever it spells.
 */
#include "recipe/value.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define WEIGHT_DIGITS 9 /* after the point; a weight is stored times 10^9 */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

static bool is_null(const lw__node *node)
{
    return node->kind == LW__NODE_SCALAR && node->plain &&
           (is_one_of(node->text, "null", "Null", "NULL") || is_one_of(node->text, "~", "", ""));
}

/* Whether the scalar is a boolean, and which. */
static bool read_bool(const lw__node *node, bool *out)
{
    if (node->kind != LW__NODE_SCALAR || !node->plain) {
        return false;
    }
    *out = is_one_of(node->text, "true", "True", "TRUE");
    return *out || is_one_of(node->text, "false", "False", "FALSE");
}

static bool is_text(const lw__node *node)
{
    bool ignored = false;
    return node->kind == LW__NODE_SCALAR && node->text[0] != '\0' && !is_null(node) &&
           !read_bool(node, &ignored);
}

/* Reads the digits at *at and moves behind them; false for none, a leading zero or too many. */
static bool read_digits(const char **at, uint64_t *out)
{
    const char *begin = *at;
    uint64_t number = 0;
    for (; is_digit(**at); (*at)++) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *out = number;
    return *at > begin && (*begin != '0' || *at == begin + 1);
}

static bool read_whole(const lw__option *option, const lw__node *node, uint64_t *out)
{
    if (node->kind != LW__NODE_SCALAR || !node->plain) {
        return false;
    }
    const char *at = node->text;
    return read_digits(&at, out) && *at == '\0' && *out >= option->min && *out <= option->max;
}

/* The bytes of a unit; 0 for a text that is none. */
static uint64_t unit_bytes(const char *unit)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"", 1},
                 {"KB", 1000},
                 {"MB", 1000000},
                 {"GB", 1000000000},
                 {"TB", 1000000000000},
                 {"KiB", UINT64_C(1) << 10},
                 {"MiB", UINT64_C(1) << 20},
                 {"GiB", UINT64_C(1) << 30},
                 {"TiB", UINT64_C(1) << 40}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].name) == 0) {
            return units[i].bytes;
        }
    }
    return 0;
}

static bool read_bytes(const lw__option *option, const lw__node *node, uint64_t *out)
{
    if (node->kind != LW__NODE_SCALAR) {
        return false;
    }
    const char *at = node->text;
    uint64_t number = 0;
    if (!read_digits(&at, &number)) {
        return false;
    }
    uint64_t unit = unit_bytes(at);
    if (unit == 0 || number > option->max / unit || number * unit < option->min) {
        return false;
    }
    *out = number * unit;
    return true;
}

/* At most nine digits after the point, scaled to exactly nine. */
static bool read_fraction(const char **at, uint64_t *out)
{
    uint64_t fraction = 0;
    int digits = 0;
    for (; is_digit(**at) && digits < WEIGHT_DIGITS; digits++) {
        fraction = fraction * 10 + (uint64_t)(*(*at)++ - '0');
    }
    for (int i = digits; i < WEIGHT_DIGITS; i++) {
        fraction *= 10;
    }
    *out = fraction;
    return digits > 0;
}

static bool read_weight(const lw__node *node, uint64_t *out)
{
    if (node->kind != LW__NODE_SCALAR || !node->plain) {
        return false;
    }
    const char *at = node->text;
    uint64_t whole = 0;
    uint64_t fraction = 0;
    if (!read_digits(&at, &whole) || whole >= LW__WEIGHT_ONE) {
        return false;
    }
    if (*at == '.') {
        at++;
        if (!read_fraction(&at, &fraction)) {
            return false;
        }
    }
    *out = whole * LW__WEIGHT_ONE + fraction;
    return *at == '\0' && *out > 0;
}

static bool read_name(const lw__option *option, const lw__node *node, lw__value *out)
{
    if (node->kind != LW__NODE_SCALAR) {
        return false;
    }
    for (size_t i = 0; option->names[i] != NULL; i++) {
        if (strcmp(node->text, option->names[i]) == 0) {
            out->number = i;
            out->text = option->names[i];
            return true;
        }
    }
    return false;
}

static bool read_texts(const lw__node *node, lw__value *out)
{
    bool right = node->kind == LW__NODE_LIST ? node->count > 0 : is_text(node);
    for (size_t i = 0; i < node->count; i++) {
        right = right && is_text(node->children[i]);
    }
    out->list = node;
    return right;
}

static bool read_text(const lw__node *node, lw__value *out)
{
    out->text = node->text;
    return is_text(node);
}

static bool read_bool_or_text(const lw__node *node, lw__value *out)
{
    bool flag = false;
    if (read_bool(node, &flag)) {
        out->text = flag ? "" : NULL;
        return true;
    }
    return read_text(node, out);
}

/* Whether the node holds a value of the option's type and range. */
static bool read_typed(const lw__option *option, const lw__node *node, lw__value *out)
{
    bool flag = false;
    bool right = false;
    switch (option->type) {
    case LW__OPTION_WHOLE:
        return read_whole(option, node, &out->number);
    case LW__OPTION_BYTES:
        return read_bytes(option, node, &out->number);
    case LW__OPTION_WEIGHT:
        return read_weight(node, &out->number);
    case LW__OPTION_BOOL:
        right = read_bool(node, &flag);
        out->number = flag;
        return right;
    case LW__OPTION_ENUM:
        return read_name(option, node, out);
    case LW__OPTION_NAME:
        return is_null(node) || read_name(option, node, out);
    case LW__OPTION_TEXT:
        return read_text(node, out);
    case LW__OPTION_TEXT_OR_NULL:
        return is_null(node) || read_text(node, out);
    case LW__OPTION_TEXTS:
        return read_texts(node, out);
    case LW__OPTION_BOOL_OR_TEXT:
        return read_bool_or_text(node, out);
    case LW__OPTION_ID_OR_NULL:
        out->is_null = is_null(node);
        return out->is_null || read_whole(option, node, &out->number);
    case LW__OPTION_ONLY_NULL:
        return is_null(node);
    case LW__OPTION_ONLY_EMPTY:
        return node->kind == LW__NODE_LIST && node->count == 0;
    }
    return false;
}

/* A value that is right in itself, but not in this release. */
static bool is_for_later(const lw__option *option, const lw__node *node)
{
    return (option->type == LW__OPTION_ONLY_NULL && is_text(node)) ||
           (option->type == LW__OPTION_ONLY_EMPTY && node->kind == LW__NODE_LIST);
}

/* Appends what stands in a node, cut to a length that leaves room for the rest of a message. */
static void put_found(const lw__node *node, lw__bytes *out)
{
    if (node->kind != LW__NODE_SCALAR) {
        bool list = node->kind == LW__NODE_LIST;
        lw__bytes_printf(out, "%s%s", node->count == 0 ? "an empty " : "a ", list ? "list" : "map");
        return;
    }
    if (is_null(node)) {
        lw__bytes_printf(out, "null");
        return;
    }
    size_t count = strlen(node->text);
    size_t shown = count < 60 ? count : 60;
    while (shown < count && ((unsigned char)node->text[shown] & 0xC0) == 0x80) {
        shown--; /* not within a character */
    }
    const char *quote = node->plain ? "" : "\"";
    lw__bytes_printf(out, "%s%.*s%s%s", quote, (int)shown, node->text, shown < count ? "..." : "",
                     quote);
}

lw_status lw__recipe_fail_found(lw_error *err, lw_status status, const lw__origin *origin,
                                const lw__node *node, const char *name, const char *expected)
{
    lw__bytes found;
    lw__bytes_init(&found);
    put_found(node, &found);
    lw__bytes_put_u8(&found, '\0');
    if (found.failed) {
        status = lw__fail_nomem(err, found.count, "a message");
    } else {
        status = lw__recipe_fail(err, status, origin, node->line, "%s is %s, expected %s", name,
                                 (const char *)found.data, expected);
    }
    lw__bytes_reset(&found);
    return status;
}

/* A NULL node is missing. */
static lw_status fail_value(const lw__option *option, const lw__node *node, const char *name,
                            const lw__origin *origin, lw_error *err)
{
    lw_status status = LW_E_INVALID;
    lw__bytes expected;
    lw__bytes_init(&expected);
    lw__option_put_expected(option, &expected);
    lw__bytes_put_u8(&expected, '\0');
    if (expected.failed) {
        status = lw__fail_nomem(err, expected.count, "a message");
    } else if (node == NULL) {
        status = lw__recipe_fail(err, status, origin, 0, "%s is missing, expected %s", name,
                                 (const char *)expected.data);
    } else {
        status = is_for_later(option, node) ? LW_E_UNSUPPORTED : LW_E_INVALID;
        status =
            lw__recipe_fail_found(err, status, origin, node, name, (const char *)expected.data);
    }
    lw__bytes_reset(&expected);
    return status;
}

/* The default, which the table holds as text; a test reads them all. */
static void read_default(const lw__option *option, lw__value *out)
{
    char text[16] = "";
    lw__node node = {.kind = LW__NODE_SCALAR, .plain = true, .text = text};
    if (option->type == LW__OPTION_TEXT) {
        out->text = option->initial;
    } else if (option->type != LW__OPTION_ONLY_EMPTY) {
        snprintf(text, sizeof(text), "%s", option->initial);
        (void)read_typed(option, &node, out);
    }
}

lw_status lw__value_read(const lw__option *option, const lw__node *node, const char *name,
                         const lw__origin *origin, lw__value *out, lw_error *err)
{
    *out = (lw__value){0};
    if (node == NULL && option->initial != NULL) {
        read_default(option, out);
        return LW_OK;
    }
    if (node != NULL && read_typed(option, node, out)) {
        return LW_OK;
    }
    return fail_value(option, node, name, origin, err);
}
