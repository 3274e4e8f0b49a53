/* SPDX-License-Identifier: Apache-2.0 */
/* A character map that is written by hand, unit by unit. */
#ifndef TINY_CHARSMAP_H
#define TINY_CHARSMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    TINY_MAP_UNITS = 256,
    TINY_MAP_TEXTS = 6,
    TINY_MAP_BYTES = 4 + TINY_MAP_UNITS * 4 + TINY_MAP_TEXTS
};

static unsigned char tiny_map[TINY_MAP_BYTES];

static inline void tiny_map_unit(size_t at, uint32_t unit)
{
    for (size_t i = 0; i < 4; i++) {
        tiny_map[4 + at * 4 + i] = (unsigned char)(unit >> 8 * i);
    }
}

/* A unit with a label whose children are found by `offset`. */
static inline uint32_t tiny_map_label(unsigned char label, uint32_t offset, bool has_text)
{
    return offset << 10 | (has_text ? 1u << 8 : 0) | label;
}

/* "A" becomes "ab", "AB" becomes "" and "\t" a space. */
static inline void tiny_map_fill(void)
{
    memset(tiny_map, 0, sizeof tiny_map);
    tiny_map[1] = 4; /* 1024 bytes of units */
    tiny_map_unit('A', tiny_map_label('A', 'A' ^ 0x80, true));
    tiny_map_unit(0x80, 1u << 31 | 0);
    tiny_map_unit(0x80 ^ 'B', tiny_map_label('B', 0x80 ^ 'B' ^ 0x90, true));
    tiny_map_unit(0x90, 1u << 31 | 2);
    tiny_map_unit('\t', tiny_map_label('\t', '\t' ^ 0xA0, true));
    tiny_map_unit(0xA0, 1u << 31 | 3);
    memcpy(tiny_map + 4 + TINY_MAP_UNITS * 4, "ab\0 \0", TINY_MAP_TEXTS);
}

#endif
