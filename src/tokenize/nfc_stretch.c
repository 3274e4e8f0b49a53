/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalizing a stretch: its characters are taken apart, marks are put in the order of their
 * classes, and in the C forms what can be joined is joined.
 */
#include "tokenize/nfc_stretch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/unicode_nfc.h"

#define DEEPEST 4 /* steps that take a character apart */
#define UNITS   2 /* that a byte of UTF-8 can come to, at most, and in the K forms */
#define UNITS_K 6
#define FEW     32 /* marks in a row that are sorted by insertion */

/* Hangul: a syllable is a leading consonant, a vowel and perhaps a trailing consonant. */
enum {
    SYLLABLE = 0xAC00,
    LEADING = 0x1100,
    VOWEL = 0x1161,
    TRAILING = 0x11A7, /* one before the first, which stands for none */
    LEADINGS = 19,
    VOWELS = 21,
    TRAILINGS = 28,
    SYLLABLES = LEADINGS * VOWELS * TRAILINGS
};

/* Each mark of a text is looked for here: a search whose steps do not depend on what is found. */
uint32_t lw__nfc_class_of(uint32_t code)
{
    if (lw__unicode_nfc(LW__NFC_C, code) == LW__NFC_WALL) {
        return 0;
    }
    size_t at = 0;
    for (size_t left = LW__NFC_CLASSES; left > 1; left -= left / 2) {
        at += lw__nfc_classes[at + left / 2].code <= code ? left / 2 : 0;
    }
    return lw__nfc_classes[at].code == code ? lw__nfc_classes[at].class : 0;
}

static int compare_first(const void *key, const void *item)
{
    uint32_t code = *(const uint32_t *)key;
    uint32_t other = ((const lw__nfc_three *)item)->first;
    return (code > other) - (code < other);
}

static int compare_pair(const void *key, const void *item)
{
    const lw__nfc_three *pair = key;
    const lw__nfc_three *other = item;
    if (pair->first != other->first) {
        return pair->first > other->first ? 1 : -1;
    }
    return (pair->second > other->second) - (pair->second < other->second);
}

/* What two characters become; 0 when they do not join. */
static uint32_t join(uint32_t first, uint32_t second)
{
    if (first - LEADING < LEADINGS && second - VOWEL < VOWELS) {
        return SYLLABLE + ((first - LEADING) * VOWELS + second - VOWEL) * TRAILINGS;
    }
    if (first - SYLLABLE < SYLLABLES && (first - SYLLABLE) % TRAILINGS == 0 &&
        second - TRAILING - 1 < TRAILINGS - 1) {
        return first + second - TRAILING;
    }
    lw__nfc_three key = {.first = first, .second = second};
    const lw__nfc_three *found =
        bsearch(&key, lw__nfc_joined, LW__NFC_JOINED, sizeof key, compare_pair);
    return found == NULL ? 0 : found->third;
}

static lw_status reserve(lw__nfc *nfc, size_t count, lw_error *err)
{
    if (count <= nfc->capacity) {
        return LW_OK;
    }
    size_t wanted = count + count / 2 + 64;
    uint32_t *units = lw__resize_array(nfc->units, wanted, sizeof *units);
    nfc->units = units != NULL ? units : nfc->units;
    uint32_t *spare = lw__resize_array(nfc->spare, wanted, sizeof *spare);
    nfc->spare = spare != NULL ? spare : nfc->spare;
    if (units == NULL || spare == NULL) {
        return lw__fail_nomem(err, wanted * sizeof *units, "a text to normalize");
    }
    nfc->capacity = wanted;
    return LW_OK;
}

/* Long rows of marks are mostly of one: its class is in the unit before. */
static size_t put_unit(lw__nfc *nfc, size_t count, uint32_t code)
{
    uint32_t before = count > 0 ? nfc->units[count - 1] : 0;
    nfc->units[count] = before >> 8 == code ? before : code << 8 | lw__nfc_class_of(code);
    return count + 1;
}

static size_t put_syllable(lw__nfc *nfc, size_t count, uint32_t index)
{
    count = put_unit(nfc, count, LEADING + index / (VOWELS * TRAILINGS));
    count = put_unit(nfc, count, VOWEL + index / TRAILINGS % VOWELS);
    return index % TRAILINGS == 0 ? count : put_unit(nfc, count, TRAILING + index % TRAILINGS);
}

static int compare_whole(const void *key, const void *item)
{
    uint32_t code = *(const uint32_t *)key;
    uint32_t other = ((const lw__nfc_whole *)item)->code;
    return (code > other) - (code < other);
}

static const lw__nfc_whole *find_whole(lw__nfc_form form, uint32_t code)
{
    return lw__nfc_is_compatible(form) ? bsearch(&code, lw__nfc_compatible, LW__NFC_COMPATIBLE,
                                                 sizeof lw__nfc_compatible[0], compare_whole)
                                       : NULL;
}

/* Takes a character apart. */
static size_t put_apart(lw__nfc *nfc, size_t count, uint32_t code)
{
    uint32_t seconds[DEEPEST];
    size_t depth = 0;
    const lw__nfc_whole *whole = find_whole(nfc->form, code);
    if (whole != NULL) {
        for (size_t i = 0; i < whole->count; i++) {
            count = put_unit(nfc, count, lw__nfc_codes[whole->start + i]);
        }
        return count;
    }
    if (code - SYLLABLE < SYLLABLES) {
        return put_syllable(nfc, count, code - SYLLABLE);
    }
    while (depth < DEEPEST && lw__unicode_nfc(LW__NFC_D, code) == LW__NFC_TOUCHY) {
        const lw__nfc_three *found =
            bsearch(&code, lw__nfc_apart, LW__NFC_APART, sizeof lw__nfc_apart[0], compare_first);
        if (found == NULL) {
            break;
        }
        seconds[depth++] = found->third;
        code = found->second;
    }
    count = put_unit(nfc, count, code);
    while (depth > 0) {
        uint32_t second = seconds[--depth];
        count = second == 0 ? count : put_unit(nfc, count, second);
    }
    return count;
}

static void sort_few(uint32_t *units, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t unit = units[i];
        size_t at = i;
        for (; at > 0 && (units[at - 1] & 0xFF) > (unit & 0xFF); at--) {
            units[at] = units[at - 1];
        }
        units[at] = unit;
    }
}

static void sort_many(uint32_t *units, uint32_t *spare, size_t count)
{
    size_t starts[257] = {0};
    for (size_t i = 0; i < count; i++) {
        starts[(units[i] & 0xFF) + 1]++;
    }
    for (size_t class = 1; class < 257; class ++) {
        starts[class] += starts[class - 1];
    }
    for (size_t i = 0; i < count; i++) {
        spare[starts[units[i] & 0xFF]++] = units[i];
    }
    memcpy(units, spare, count * sizeof *units);
}

/* The end of the marks from `at` on, and whether they are in order. */
static size_t pass_marks(const uint32_t *units, size_t at, size_t count, bool *is_sorted)
{
    uint32_t last = 0;
    *is_sorted = true;
    for (; at < count && (units[at] & 0xFF) != 0; at++) {
        *is_sorted = *is_sorted && (units[at] & 0xFF) >= last;
        last = units[at] & 0xFF;
    }
    return at;
}

/* Puts each run of marks in the order of their classes; equal ones stay as they are. */
static void sort_marks(lw__nfc *nfc, size_t count)
{
    for (size_t at = 0; at < count;) {
        bool is_sorted;
        size_t end = pass_marks(nfc->units, at, count, &is_sorted);
        if (!is_sorted && end - at > FEW) {
            sort_many(nfc->units + at, nfc->spare, end - at);
        } else if (!is_sorted) {
            sort_few(nfc->units + at, end - at);
        }
        at = end + 1;
    }
}

/* Joins what can be joined, in place, and returns the number of units left. A mark joins the
 * character before its run unless one that is left between has its class or a higher one. */
static size_t join_units(uint32_t *units, size_t count)
{
    size_t starter = SIZE_MAX; /* none yet */
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t class = units[i] & 0xFF;
        bool is_free =
            starter != SIZE_MAX && (left == starter + 1 || (units[left - 1] & 0xFF) < class);
        uint32_t joined = is_free ? join(units[starter] >> 8, units[i] >> 8) : 0;
        if (joined != 0) {
            units[starter] = joined << 8;
            continue;
        }
        starter = class == 0 ? left : starter;
        units[left++] = units[i];
    }
    return left;
}

lw_status lw__nfc_stretch(lw__nfc *nfc, const unsigned char *p, const unsigned char *end,
                          lw_error *err)
{
    size_t count = 0;
    if (lw__nfc_code(p, end).code == LW__STRAY) {
        lw__bytes_put(&nfc->out, p++, 1);
    }
    LW__TRY(reserve(nfc, (size_t)(end - p) * (lw__nfc_is_compatible(nfc->form) ? UNITS_K : UNITS),
                    err));
    while (p < end) {
        lw__code next = lw__nfc_code(p, end);
        count = put_apart(nfc, count, next.code);
        p += next.bytes;
    }
    sort_marks(nfc, count);
    count = lw__nfc_joins(nfc->form) ? join_units(nfc->units, count) : count;
    for (size_t i = 0; i < count; i++) {
        lw__scan_put(&nfc->out, nfc->units[i] >> 8);
    }
    return LW_OK;
}
