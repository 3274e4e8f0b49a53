/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges in an array: put at its end, and brought into order when that is asked for. */
#include "tokenize/code_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tokenize/unicode_categories.h"

void lw__code_set_reset(lw__code_set *set)
{
    lw__free(set->ranges);
    *set = (lw__code_set){.count = 0};
}

void lw__code_set_put(lw__code_set *set, uint32_t first, uint32_t last)
{
    if (set->failed) {
        return;
    }
    if (set->count == set->capacity) {
        size_t capacity = set->capacity == 0 ? 8 : set->capacity * 2;
        lw__code_range *ranges = lw__resize_array(set->ranges, capacity, sizeof *ranges);
        if (ranges == NULL) {
            set->failed = true;
            return;
        }
        set->ranges = ranges;
        set->capacity = capacity;
    }
    set->ranges[set->count++] = (lw__code_range){.first = first, .last = last};
}

void lw__code_set_put_all(lw__code_set *set, const lw__code_set *other)
{
    set->failed = set->failed || other->failed;
    for (size_t i = 0; i < other->count; i++) {
        lw__code_set_put(set, other->ranges[i].first, other->ranges[i].last);
    }
}

static int by_first(const void *a, const void *b)
{
    uint32_t x = ((const lw__code_range *)a)->first;
    uint32_t y = ((const lw__code_range *)b)->first;
    return (x > y) - (x < y);
}

void lw__code_set_order(lw__code_set *set)
{
    if (set->count == 0) {
        return;
    }
    size_t kept = 0;
    qsort(set->ranges, set->count, sizeof *set->ranges, by_first);
    for (size_t i = 1; i < set->count; i++) {
        lw__code_range next = set->ranges[i];
        lw__code_range *last = &set->ranges[kept];
        if (next.first > last->last + 1) {
            set->ranges[++kept] = next;
        } else if (next.last > last->last) {
            last->last = next.last;
        }
    }
    set->count = kept + 1;
}

/* Takes the ranges of `other`, which is empty then, and keeps whether memory ran out. */
static void replace(lw__code_set *set, lw__code_set *other)
{
    other->failed = other->failed || set->failed;
    lw__free(set->ranges);
    *set = *other;
    *other = (lw__code_set){.count = 0};
}

void lw__code_set_negate(lw__code_set *set)
{
    lw__code_set rest = {.count = 0};
    uint32_t from = 0;
    lw__code_set_order(set);
    for (size_t i = 0; i < set->count; i++) {
        if (set->ranges[i].first > from) {
            lw__code_set_put(&rest, from, set->ranges[i].first - 1);
        }
        from = set->ranges[i].last + 1;
    }
    if (from <= LW__LAST_CODE) {
        lw__code_set_put(&rest, from, LW__LAST_CODE);
    }
    replace(set, &rest);
}

void lw__code_set_intersect(lw__code_set *set, lw__code_set *other)
{
    lw__code_set both = {.failed = other->failed};
    lw__code_set_order(set);
    lw__code_set_order(other);
    for (size_t i = 0, j = 0; i < set->count && j < other->count;) {
        lw__code_range a = set->ranges[i];
        lw__code_range b = other->ranges[j];
        uint32_t first = a.first > b.first ? a.first : b.first;
        uint32_t last = a.last < b.last ? a.last : b.last;
        if (first <= last) {
            lw__code_set_put(&both, first, last);
        }
        if (a.last < b.last) {
            i++;
        } else {
            j++;
        }
    }
    replace(set, &both);
}

bool lw__code_set_has(const lw__code_set *set, uint32_t code)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->ranges[middle].last < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < set->count && set->ranges[low].first <= code;
}

static void put_ranges(lw__code_set *set, const lw__code_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lw__code_set_put(set, ranges[i].first, ranges[i].last);
    }
}

#define PUT_RANGES(set, ranges) put_ranges(set, ranges, sizeof(ranges) / sizeof(ranges)[0])

void lw__code_set_put_spaces(lw__code_set *set)
{
    static const lw__code_range spaces[] = {
        {0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
        {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

    PUT_RANGES(set, spaces);
}

/* Every category whose bit is in the mask. */
static void put_categories(lw__code_set *set, uint32_t mask)
{
    for (size_t i = 0; i < LW__CATEGORY_RUNS; i++) {
        uint32_t run = lw__category_runs[i];
        uint32_t next = i + 1 < LW__CATEGORY_RUNS ? lw__category_runs[i + 1] >> LW__CATEGORY_BITS
                                                  : LW__LAST_CODE + 1;
        if ((mask >> (run & ((1u << LW__CATEGORY_BITS) - 1)) & 1) != 0) {
            lw__code_set_put(set, run >> LW__CATEGORY_BITS, next - 1);
        }
    }
}

/* The categories that a name of one or two letters stands for. */
static uint32_t mask_of(lw_str name)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LW__CATEGORIES; i++) {
        if (name.bytes >= 1 && name.bytes <= 2 &&
            memcmp(name.data, LW__CATEGORY_NAMES + (size_t)i * 2, name.bytes) == 0) {
            mask |= 1u << i;
        }
    }
    return mask;
}

static uint32_t named(const char *name)
{
    return mask_of((lw_str){.data = name, .bytes = strlen(name)});
}

void lw__code_set_put_words(lw__code_set *set)
{
    /* Symbols that are alphabetic: circled and squared letters. */
    static const lw__code_range letters[] = {
        {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};

    put_categories(set, named("L") | named("M") | named("Nd") | named("Nl") | named("Pc"));
    PUT_RANGES(set, letters);
}

/* clang-format off */
static const lw__code_range han[] = {
    {0x2E80, 0x2E99}, {0x2E9B, 0x2EF3}, {0x2F00, 0x2FD5}, {0x3005, 0x3005}, {0x3007, 0x3007},
    {0x3021, 0x3029}, {0x3038, 0x303B}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFA6D},
    {0xFA70, 0xFAD9}, {0x16FE2, 0x16FE3}, {0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF},
    {0x2A700, 0x2B739}, {0x2B740, 0x2B81D}, {0x2B820, 0x2CEA1}, {0x2CEB0, 0x2EBE0},
    {0x2EBF0, 0x2EE5D}, {0x2F800, 0x2FA1D}, {0x30000, 0x3134A}, {0x31350, 0x323AF}};
static const lw__code_range hiragana[] = {
    {0x3041, 0x3096}, {0x309D, 0x309F}, {0x1B001, 0x1B11F}, {0x1B132, 0x1B132},
    {0x1B150, 0x1B152}, {0x1F200, 0x1F200}};
static const lw__code_range katakana[] = {
    {0x30A1, 0x30FA}, {0x30FD, 0x30FF}, {0x31F0, 0x31FF}, {0x32D0, 0x32FE}, {0x3300, 0x3357},
    {0xFF66, 0xFF6F}, {0xFF71, 0xFF9D}, {0x1AFF0, 0x1AFF3}, {0x1AFF5, 0x1AFFB},
    {0x1AFFD, 0x1AFFE}, {0x1B000, 0x1B000}, {0x1B120, 0x1B122}, {0x1B155, 0x1B155},
    {0x1B164, 0x1B167}};
static const lw__code_range hangul[] = {
    {0x1100, 0x11FF}, {0x302E, 0x302F}, {0x3131, 0x318E}, {0x3200, 0x321E}, {0x3260, 0x327E},
    {0xA960, 0xA97C}, {0xAC00, 0xD7A3}, {0xD7B0, 0xD7C6}, {0xD7CB, 0xD7FB}, {0xFFA0, 0xFFBE},
    {0xFFC2, 0xFFC7}, {0xFFCA, 0xFFCF}, {0xFFD2, 0xFFD7}, {0xFFDA, 0xFFDC}};
/* clang-format on */

#define SCRIPT(name, ranges)                                                                       \
    {                                                                                              \
        name, ranges, sizeof(ranges) / sizeof(ranges)[0]                                           \
    }

static bool put_script(lw__code_set *set, lw_str name)
{
    static const struct {
        const char *name;
        const lw__code_range *ranges;
        size_t count;
    } scripts[] = {SCRIPT("Han", han), SCRIPT("Hiragana", hiragana), SCRIPT("Katakana", katakana),
                   SCRIPT("Hangul", hangul)};

    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        if (name.bytes == strlen(scripts[i].name) &&
            memcmp(name.data, scripts[i].name, name.bytes) == 0) {
            put_ranges(set, scripts[i].ranges, scripts[i].count);
            return true;
        }
    }
    return false;
}

bool lw__code_set_put_property(lw__code_set *set, lw_str name)
{
    static const struct {
        const char *name;
        const char *category;
    } long_names[] = {{"Letter", "L"}, {"Mark", "M"},      {"Number", "N"}, {"Punctuation", "P"},
                      {"Symbol", "S"}, {"Separator", "Z"}, {"Other", "C"}};

    uint32_t mask = mask_of(name);
    for (size_t i = 0; i < sizeof long_names / sizeof long_names[0]; i++) {
        if (name.bytes == strlen(long_names[i].name) &&
            memcmp(name.data, long_names[i].name, name.bytes) == 0) {
            mask = named(long_names[i].category);
        }
    }
    if (mask != 0) {
        put_categories(set, mask);
        return true;
    }
    return put_script(set, name);
}
