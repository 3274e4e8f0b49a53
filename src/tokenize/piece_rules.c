/* SPDX-License-Identifier: Apache-2.0 */
/* The store of piece_rules.h, and what all files of this family do with texts of pieces. */
#include "tokenize/piece_rules.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

void lw__piece_rules_reset(lw__piece_rules *rules)
{
    lw__free(rules->items);
    lw__bytes_reset(&rules->charsmap);
    memset(rules, 0, sizeof *rules);
}

lw_status lw__piece_rules_put(lw__piece_rules *rules, int32_t id, lw__piece piece, lw_error *err)
{
    size_t count = (size_t)id + 1;
    if (count > rules->capacity) {
        size_t wanted = count < 1024 ? 1024 : count + count / 2;
        lw__piece *items = lw__resize_array(rules->items, wanted, sizeof *items);
        if (items == NULL) {
            return lw__fail_nomem(err, wanted * sizeof *items, "pieces");
        }
        rules->items = items;
        rules->capacity = wanted;
    }
    if (count > rules->count) {
        memset(rules->items + rules->count, 0, (count - rules->count) * sizeof *rules->items);
        rules->count = count;
    }
    rules->items[id] = piece;
    return LW_OK;
}

lw__piece_kind lw__piece_rules_kind(const lw__piece_rules *rules, int32_t id)
{
    return id < 0 || (size_t)id >= rules->count ? LW__PIECE_NONE
                                                : (lw__piece_kind)rules->items[id].kind;
}

void lw__piece_rules_write(const lw__piece_rules *rules, lw__bytes *out)
{
    const bool flags[] = {rules->unigram, rules->scored,    rules->byte_fallback, rules->fused,
                          rules->escaped, rules->collapsed, rules->split};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        lw__bytes_put_u8(out, flags[i]);
    }
    lw__bytes_put_varint(out, (uint64_t)rules->prefix);
    lw__bytes_put_signed(out, rules->unknown);
    lw__bytes_put_varint(out, rules->count);
    for (size_t i = 0; i < rules->count; i++) {
        uint64_t score = 0;
        memcpy(&score, &rules->items[i].score, sizeof score);
        lw__bytes_put_u8(out, (uint8_t)rules->items[i].kind);
        lw__bytes_put_u64le(out, score);
    }
    lw__bytes_put_text(out, (const char *)rules->charsmap.data, rules->charsmap.count);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int lw__piece_byte(lw_str text)
{
    if (text.bytes != 6 || memcmp(text.data, "<0x", 3) != 0 || text.data[5] != '>') {
        return -1;
    }
    int high = hex_digit(text.data[3]);
    int low = hex_digit(text.data[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool lw__piece_canonical(const lw__piece_rules *rules, lw_str text, unsigned char *out,
                         size_t *bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        if (rules->escaped && text.data[i] == ' ') {
            return false;
        }
        if (rules->escaped && text.bytes - i >= 3 &&
            memcmp(text.data + i, LW__ESCAPED_SPACE, 3) == 0) {
            out[count++] = ' ';
            i += 2;
        } else {
            out[count++] = (unsigned char)text.data[i];
        }
    }
    *bytes = count;
    return true;
}
