/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a recipe, read off the keys of the option table: which keys a map takes, and which
 * of them is meant by one that it does not take.
 */
#include <stdio.h>
#include <string.h>

#include "recipe/options.h"

/* Keys are compared up to this many bytes; all known ones are shorter. */
#define COMPARED_BYTES 48

lw__shape_kind lw__options_shape(const char *pattern, const lw__option **option)
{
    size_t count = 0;
    size_t bytes = strlen(pattern);
    const lw__option *options = lw__options(&count);
    if (bytes == 0) {
        return LW__SHAPE_MAP;
    }
    for (size_t i = 0; i < count; i++) {
        if (strncmp(options[i].key, pattern, bytes) != 0) {
            continue;
        }
        char next = options[i].key[bytes];
        if (next == '\0') {
            *option = &options[i];
            return LW__SHAPE_OPTION;
        }
        if (next == '.' || next == '[') {
            return next == '.' ? LW__SHAPE_MAP : LW__SHAPE_LIST;
        }
    }
    return LW__SHAPE_NONE;
}

lw__shape_kind lw__options_member(const char *pattern, const char *key, size_t key_bytes, char *out,
                                  const lw__option **option)
{
    /* A dot or bracket in a key would reach past its own level. */
    if (key_bytes == 0 || key_bytes >= COMPARED_BYTES || memchr(key, '.', key_bytes) != NULL ||
        memchr(key, '[', key_bytes) != NULL) {
        return LW__SHAPE_NONE;
    }
    int wanted = snprintf(out, LW__PATTERN_BYTES, "%s%s%.*s", pattern,
                          pattern[0] == '\0' ? "" : ".", (int)key_bytes, key);
    if (wanted < 0 || wanted >= LW__PATTERN_BYTES) {
        return LW__SHAPE_NONE;
    }
    return lw__options_shape(out, option);
}

lw__shape_kind lw__options_item(const char *pattern, char *out)
{
    const lw__option *ignored = NULL;
    int wanted = snprintf(out, LW__PATTERN_BYTES, "%s[]", pattern);
    return wanted > 0 && wanted < LW__PATTERN_BYTES ? lw__options_shape(out, &ignored)
                                                    : LW__SHAPE_NONE;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein's: single bytes put in, taken out or changed. */
static size_t edit_distance(lw_str a, lw_str b)
{
    size_t row[COMPARED_BYTES + 1];
    for (size_t j = 0; j <= b.bytes; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.bytes; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.bytes; j++) {
            size_t changed = diagonal + (a.data[i - 1] != b.data[j - 1]);
            diagonal = row[j];
            row[j] = smallest(changed, row[j] + 1, row[j - 1] + 1);
        }
    }
    return row[b.bytes];
}

/* The next part of an option's key below the map `pattern`; no bytes if it is not below it. */
static lw_str member_of(const lw__option *option, const char *pattern)
{
    size_t bytes = strlen(pattern);
    const char *rest = option->key;
    if (bytes > 0) {
        if (strncmp(rest, pattern, bytes) != 0 || rest[bytes] != '.') {
            return (lw_str){NULL, 0};
        }
        rest += bytes + 1;
    }
    return (lw_str){rest, strcspn(rest, ".[")};
}

lw_str lw__options_nearest(const char *pattern, const char *key, size_t key_bytes)
{
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    lw_str given = {key, key_bytes < COMPARED_BYTES ? key_bytes : COMPARED_BYTES};
    lw_str nearest = {NULL, 0};
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        lw_str member = member_of(&options[i], pattern);
        size_t distance = member.bytes == 0 ? SIZE_MAX : edit_distance(given, member);
        if (distance < least) {
            least = distance;
            nearest = member;
        }
    }
    return nearest;
}
