/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding what is not in normal form.
 *
 * A stretch begins at the last wall before the character that is out of form and ends at the next
 * wall: no character outside has to do with one inside.
 */
#include "tokenize/nfc.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/nfc_stretch.h"
#include "tokenize/unicode_nfc.h"

typedef const unsigned char *cursor;

/*
 * Bytes that may begin something else than a wall: not those that go on with a character, and not
 * those that begin U+4000-U+9FFF, most of the ideographs. In form C neither those below U+0300, nor
 * those of U+03C0-U+047F, the most of Cyrillic.
 */
static inline bool may_join(lw__nfc_form form, unsigned char byte)
{
    if (form != LW__NFC_C) {
        return byte >= 0xC2 && !(byte >= 0xE4 && byte <= 0xE9);
    }
    return byte >= 0xCC && !(byte >= 0xCF && byte <= 0xD1) && !(byte >= 0xE4 && byte <= 0xE9);
}

void lw__nfc_reset(lw__nfc *nfc)
{
    lw__bytes_reset(&nfc->out);
    lw__free(nfc->units);
    lw__free(nfc->spare);
    *nfc = (lw__nfc){.capacity = 0};
}

#if defined(__SSE2__)
enum { STEP = 16 };

/* The bytes from `first` to `last`. */
static inline __m128i within(__m128i v, unsigned char first, unsigned char last)
{
    __m128i above = _mm_sub_epi8(v, _mm_set1_epi8((char)first));
    return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8((char)(last - first))), above);
}

/* One bit for each of the bytes from p on that may join. */
static inline unsigned joining(lw__nfc_form form, cursor p)
{
    __m128i v = _mm_loadu_si128((const __m128i_u *)p);
    __m128i passed = within(v, 0xE4, 0xE9);
    __m128i may = within(v, form == LW__NFC_C ? 0xCC : 0xC2, 0xFF);
    if (form == LW__NFC_C) {
        passed = _mm_or_si128(passed, within(v, 0xCF, 0xD1));
    }
    return (unsigned)_mm_movemask_epi8(_mm_andnot_si128(passed, may));
}
#else
enum { STEP = 8 };

static inline unsigned joining(lw__nfc_form form, cursor p)
{
    uint64_t word;
    unsigned found = 0;
    memcpy(&word, p, sizeof word);
    if ((word & UINT64_C(0x8080808080808080)) != 0) {
        for (unsigned i = 0; i < STEP; i++) {
            found |= (unsigned)may_join(form, p[i]) << i;
        }
    }
    return found;
}
#endif

/* The character from p on; at least four bytes are there. */
static inline uint32_t code_at(cursor p)
{
    uint32_t low = (p[1] & 0x3Fu);
    if (*p < 0xE0) {
        return (*p & 0x1Fu) << 6 | low;
    }
    low = low << 6 | (p[2] & 0x3Fu);
    return *p < 0xF0 ? (*p & 0xFu) << 12 | low : (*p & 7u) << 18 | low << 6 | (p[3] & 0x3Fu);
}

/* The first character from p on that is no wall, or is near the end and perhaps none. */
static cursor pass_walls(lw__nfc_form form, cursor p, cursor end)
{
    for (; end - p >= STEP + 4; p += STEP) {
        for (unsigned left = joining(form, p); left != 0; left &= left - 1) {
            cursor next = p + __builtin_ctz(left);
            if (lw__unicode_nfc(form, code_at(next)) != LW__NFC_WALL) {
                return next;
            }
        }
    }
    while (p < end && !may_join(form, *p)) {
        p++;
    }
    return p;
}

/* The first character from p on that is out of form; end when there is none. `p` is at a wall. */
static cursor find_wrong(lw__nfc_form form, cursor p, cursor end)
{
    uint32_t last = 0;
    while (p < end) {
        lw__code next = may_join(form, *p) ? lw__scan_code(p, end) : (lw__code){.bytes = 0};
        lw__nfc_value value = lw__unicode_nfc(form, next.code);
        if (value == LW__NFC_WALL) {
            last = 0;
            p = pass_walls(form, p + next.bytes, end);
            continue;
        }
        uint32_t class = value == LW__NFC_MARK ? lw__nfc_class_of(next.code) : 0;
        if (value == LW__NFC_TOUCHY || (class != 0 && class < last)) {
            return p;
        }
        last = class;
        p += next.bytes;
    }
    return end;
}

/* The last wall before p; start when there is none. */
static cursor wall_before(lw__nfc_form form, cursor start, cursor p, cursor end)
{
    while (p > start) {
        do {
            p--;
        } while (p > start && (*p & 0xC0) == 0x80);
        if (lw__unicode_nfc(form, lw__nfc_code(p, end).code) == LW__NFC_WALL) {
            break;
        }
    }
    return p;
}

static cursor wall_behind(lw__nfc_form form, cursor p, cursor end)
{
    while (p < end) {
        lw__code next = lw__nfc_code(p, end);
        if (lw__unicode_nfc(form, next.code) == LW__NFC_WALL) {
            break;
        }
        p += next.bytes;
    }
    return p;
}

lw_status lw__nfc_normalize(lw__nfc *nfc, lw_str text, lw_str *out, lw_error *err)
{
    cursor done = (cursor)text.data;
    cursor end = done + text.bytes;
    cursor wrong = find_wrong(nfc->form, done, end);
    if (wrong == end) {
        *out = text;
        return LW_OK;
    }
    nfc->out.count = 0;
    while (wrong < end) {
        cursor start = wall_before(nfc->form, done, wrong, end);
        cursor stop = wall_behind(nfc->form, wrong, end);
        lw__bytes_put(&nfc->out, done, (size_t)(start - done));
        LW__TRY(lw__nfc_stretch(nfc, start, stop, err));
        done = stop;
        wrong = find_wrong(nfc->form, done, end);
    }
    lw__bytes_put(&nfc->out, done, (size_t)(end - done));
    if (nfc->out.failed) {
        return lw__fail_nomem(err, nfc->out.count, "a normalized text");
    }
    *out = (lw_str){.data = (const char *)nfc->out.data, .bytes = nfc->out.count};
    return LW_OK;
}
