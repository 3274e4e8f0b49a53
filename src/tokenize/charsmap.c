/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking the double array of a character map. A unit has a label, the distance to its children,
 * and says whether a text ends at it; the child by byte 0 of such a unit holds the text's value.
 * All distances are checked, as the file may be wrong.
 */
#include "tokenize/charsmap.h"

#include <string.h>

#define TRIE_BLOCK 1024 /* a double array is a whole number of these */
#define RULES      32   /* of the texts that start at one place the reference looks at no more */

static uint32_t read_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The unit at a place; one without label, children and value outside of the array. */
static uint32_t unit_at(const lw__charsmap *map, uint32_t at)
{
    return at < map->unit_count ? read_u32(map->units + (size_t)at * 4) : UINT32_C(1) << 31;
}

static uint32_t offset_of(uint32_t unit)
{
    return (unit >> 10) << ((unit & UINT32_C(0x200)) >> 6);
}

static uint32_t label_of(uint32_t unit)
{
    return unit & UINT32_C(0x800000FF);
}

static bool has_text(uint32_t unit)
{
    return (unit >> 8 & 1) != 0;
}

bool lw__charsmap_open(lw__charsmap *map, const unsigned char *bytes, size_t count)
{
    memset(map, 0, sizeof *map);
    if (count < 4) {
        return false;
    }
    size_t trie_bytes = read_u32(bytes);
    if (trie_bytes == 0 || trie_bytes % TRIE_BLOCK != 0 || trie_bytes >= count - 4 ||
        bytes[count - 1] != 0) {
        return false;
    }
    map->units = bytes + 4;
    map->unit_count = trie_bytes / 4;
    map->texts = (const char *)bytes + 4 + trie_bytes;
    map->text_bytes = count - 4 - trie_bytes;
    uint32_t root = offset_of(unit_at(map, 0));
    for (uint32_t byte = 0; byte < 256; byte++) {
        map->starts[byte] = label_of(unit_at(map, root ^ byte)) == byte;
    }
    for (unsigned char byte = 0; byte < 128; byte++) {
        lw_str becomes;
        map->alone[byte] = lw__charsmap_first(map, &byte, 1, &becomes);
    }
    return true;
}

/* Goes from a node to its child by a byte; false when there is none. */
static bool go_down(const lw__charsmap *map, uint32_t *node, unsigned char byte, bool *ends_text)
{
    uint32_t unit = unit_at(map, *node ^ byte);
    *node ^= byte ^ offset_of(unit);
    *ends_text = has_text(unit);
    return label_of(unit) == byte;
}

/* What the text that ends at a node becomes; false when that is none. */
static bool text_of(const lw__charsmap *map, uint32_t node, lw_str *out)
{
    size_t value = unit_at(map, node) & UINT32_C(0x7FFFFFFF);
    if (value >= map->text_bytes || ((unsigned char)map->texts[value] & 0xC0) == 0x80) {
        return false;
    }
    *out = (lw_str){.data = map->texts + value, .bytes = strlen(map->texts + value)};
    return true;
}

size_t lw__charsmap_longest(const lw__charsmap *map, const unsigned char *p, size_t bytes,
                            lw_str *becomes)
{
    if (map->units == NULL || bytes == 0 || !map->starts[*p]) {
        return 0;
    }
    size_t longest = 0;
    size_t found = 0;
    uint32_t last = 0;
    uint32_t node = offset_of(unit_at(map, 0));
    bool ends_text;
    for (size_t i = 0; i < bytes && found < RULES && go_down(map, &node, p[i], &ends_text); i++) {
        if (ends_text) {
            last = node;
            longest = i + 1;
            found++;
        }
    }
    return longest > 0 && text_of(map, last, becomes) ? longest : 0;
}

bool lw__charsmap_first(const lw__charsmap *map, const unsigned char *p, size_t bytes,
                        lw_str *becomes)
{
    uint32_t node = offset_of(unit_at(map, 0));
    bool ends_text;
    if (bytes == 0 || !map->starts[*p]) {
        return false;
    }
    for (size_t i = 0; i < bytes && p[i] != 0 && go_down(map, &node, p[i], &ends_text); i++) {
        if (ends_text) {
            return text_of(map, node, becomes);
        }
    }
    return false;
}

bool lw__charsmap_has_ascii(const lw__charsmap *map, unsigned char byte)
{
    if (map->units == NULL || !map->starts[byte]) {
        return false;
    }
    uint32_t at = offset_of(unit_at(map, 0)) ^ byte;
    uint32_t unit = unit_at(map, at);
    bool found = has_text(unit);
    at ^= offset_of(unit);
    for (uint32_t next = 0; next < 0x80 && !found; next++) {
        found = label_of(unit_at(map, at ^ next)) == next;
    }
    return found;
}
