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

/* The first character from p on that is perhaps no wall. */
static cursor pass_walls(lw__nfc_form form, cursor p, cursor end)
{
    for (uint64_t word = 0; end - p >= (ptrdiff_t)sizeof word; p += sizeof word) {
        memcpy(&word, p, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0) {
            for (size_t i = 0; i < sizeof word; i++) {
                if (may_join(form, p[i])) {
                    return p + i;
                }
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
        if (!may_join(form, *p)) {
            last = 0;
            p = pass_walls(form, p, end);
            continue;
        }
        lw__code next = lw__scan_code(p, end);
        lw__nfc_value value = lw__unicode_nfc(form, next.code);
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
