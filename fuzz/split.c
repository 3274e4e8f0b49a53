/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting and normalizing any bytes: the first byte chooses the rules. Pieces cover the text in
 * order, whatever the room; a normal form of valid UTF-8 is valid and its own normal form.
 */
#include "tokenize/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenize/nfc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const lw__split_rules choices[] = {
    {.family = LW__SPLIT_GPT2},
    {.family = LW__SPLIT_CL100K, .digits = 3},
    {.family = LW__SPLIT_CL100K, .digits = 1, .trailing_whole = true},
    {.family = LW__SPLIT_O200K, .digits = 3},
    {.family = LW__SPLIT_TEKKEN, .digits = 1},
    {.family = LW__SPLIT_QWEN3_6, .digits = 1},
    {.family = LW__SPLIT_DEEPSEEK, .digits = 3},
};

static void demand(bool held)
{
    if (!held) {
        abort();
    }
}

/* A hash of where the cuts are. */
static uint64_t split(const lw__split_rules *rules, const uint8_t *text, size_t bytes, size_t room)
{
    size_t ends[16];
    size_t at = 0;
    uint64_t hash = 0;
    while (at < bytes) {
        size_t count = lw__split(rules, text, bytes, at, ends, room);
        demand(count > 0 && count <= room);
        for (size_t i = 0; i < count; i++) {
            demand(ends[i] > at && ends[i] <= bytes);
            at = ends[i];
            hash = (hash ^ at) * UINT64_C(0x9E3779B97F4A7C15);
        }
    }
    return hash;
}

static void normalize(const uint8_t *text, size_t bytes)
{
    lw_error err;
    lw__nfc nfc = {.capacity = 0};
    lw__nfc again = {.capacity = 0};
    lw_str given = {.data = (const char *)text, .bytes = bytes};
    lw_str first;
    lw_str second;
    bool is_valid = lw__utf8_check(text, bytes) == bytes;
    demand(lw__nfc_normalize(&nfc, given, &first, &err) == LW_OK);
    demand(lw__nfc_normalize(&again, first, &second, &err) == LW_OK);
    if (is_valid) {
        demand(lw__utf8_check(first.data, first.bytes) == first.bytes);
        demand(second.bytes == first.bytes);
        demand(first.bytes == 0 || memcmp(first.data, second.data, first.bytes) == 0);
    }
    lw__nfc_reset(&nfc);
    lw__nfc_reset(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const lw__split_rules *rules = &choices[data[0] % (sizeof choices / sizeof choices[0])];
    /* A copy of its own size, so that a read behind the end is seen. */
    uint8_t *text = malloc(size > 1 ? size - 1 : 1);
    demand(text != NULL);
    memcpy(text, data + 1, size - 1);
    demand(split(rules, text, size - 1, 16) == split(rules, text, size - 1, 1));
    normalize(text, size - 1);
    free(text);
    return 0;
}
