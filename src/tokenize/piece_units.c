/* SPDX-License-Identifier: Apache-2.0 */
/* Building and asking the two tables of piece_units.h. */
#include "tokenize/piece_units.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define LOOK_BACK 4096 /* bytes that are searched for a last cut */

lw_status lw__piece_units_create(lw__piece_units *units, lw_error *err)
{
    units->pairs = lw__alloc_zero(1, sizeof *units->pairs);
    if (units->pairs == NULL) {
        return lw__fail_nomem(err, sizeof *units->pairs, "merges");
    }
    units->rules = (lw__split_rules){.family = LW__SPLIT_PAIRS, .pairs = &units->classes};
    return lw__cuts_create(&units->cuts, err);
}

static unsigned first_byte(uint32_t code)
{
    if (code < 0x80) {
        return code;
    }
    return code < 0x800 ? 0xC0 | code >> 6 : code < 0x10000 ? 0xE0 | code >> 12 : 0xF0 | code >> 18;
}

static unsigned last_byte(uint32_t code)
{
    return code < 0x80 ? code : 0x80 | (code & 0x3F);
}

void lw__piece_units_join(lw__piece_units *units, uint32_t before, uint32_t behind)
{
    lw__byte_pairs_join(units->pairs, last_byte(before), first_byte(behind));
    if (units->cuts.joined != NULL) {
        lw__cuts_join(&units->cuts, before, behind);
    }
}

void lw__piece_units_join_bytes(lw__piece_units *units, unsigned before, unsigned behind)
{
    lw__byte_pairs_join(units->pairs, before, behind);
    lw__cuts_reset(&units->cuts);
}

lw_status lw__piece_units_finish(lw__piece_units *units, lw_error *err)
{
    lw_status status = lw__pair_classes_build(&units->classes, units->pairs, err);
    lw__free(units->pairs);
    units->pairs = NULL;
    return status;
}

void lw__piece_units_reset(lw__piece_units *units)
{
    lw__free(units->pairs);
    units->pairs = NULL;
    lw__cuts_reset(&units->cuts);
}

/* The same by characters, from a place that may be inside one. */
static size_t last_by_characters(const lw__piece_units *units, const unsigned char *text,
                                 size_t bytes, size_t from, int but)
{
    size_t last = 0;
    while (from < bytes && (text[from] & 0xC0) == 0x80) {
        from++;
    }
    while (from < bytes) {
        from = lw__cuts_next(&units->cuts, text, bytes, from);
        last = from < bytes && text[from - 1] != but ? from : last;
    }
    return last;
}

size_t lw__piece_units_last(const lw__piece_units *units, const unsigned char *text, size_t bytes,
                            int but)
{
    size_t from = bytes > LOOK_BACK ? bytes - LOOK_BACK : 0;
    for (size_t at = bytes; at-- > from + 1;) {
        if (lw__pair_classes_cut(&units->classes, text[at - 1], text[at]) && text[at - 1] != but) {
            return at;
        }
    }
    return last_by_characters(units, text, bytes, from, but);
}
