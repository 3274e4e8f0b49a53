/* SPDX-License-Identifier: Apache-2.0 */
/* See load_merges.h. */
#include "tokenize/load_merges.h"

#include <string.h>

#include "base/error.h"

void lw__load_merges_init(lw__load_merges *loading, lw__vocab *vocab, const lw__place *first)
{
    *loading = (lw__load_merges){.vocab = vocab, .place = *first};
    lw__bytes_init(&loading->texts);
}

void lw__load_merges_reset(lw__load_merges *loading)
{
    lw__bytes_reset(&loading->texts);
}

/* Appends the bytes of a token's text, for which there is room; false when it is not of the alphabet. */
static bool put_bytes(lw__load_merges *loading, lw_str text, uint32_t *count)
{
    size_t bytes = text.bytes;
    char *to = (char *)loading->texts.data + loading->texts.count;
    if (loading->vocab->pieces.used) {
        memcpy(to, text.data, bytes);
    } else if (!lw__byte_level_undo(text, to, &bytes)) {
        return false;
    }
    loading->texts.count += bytes;
    *count = (uint32_t)bytes;
    return true;
}

lw_status lw__load_merges_put(lw__load_merges *loading, lw_error *err)
{
    const char *text = (const char *)loading->texts.data;
    size_t count = loading->count;
    for (size_t i = 0; i < count; i++) { /* only now do the texts stay where they are */
        loading->merges[i].text = text;
        text += loading->merges[i].left_bytes + loading->merges[i].right_bytes;
    }
    loading->count = 0;
    loading->texts.count = 0;
    return lw__vocab_put_merges(loading->vocab, loading->merges, count, &loading->place, err);
}

lw_status lw__load_merges_add(lw__load_merges *loading, lw_str left, lw_str right, bool *good,
                              lw_error *err)
{
    size_t start = loading->texts.count;
    if (!lw__bytes_reserve(&loading->texts, left.bytes + right.bytes + 1)) {
        return lw__fail_nomem(err, start + left.bytes + right.bytes, "merges");
    }
    lw__merge_text *merge = &loading->merges[loading->count];
    *good = put_bytes(loading, left, &merge->left_bytes) &&
            put_bytes(loading, right, &merge->right_bytes);
    if (!*good) {
        loading->texts.count = start;
        return lw__load_merges_put(loading, err);
    }
    loading->count++;
    return loading->count == LW__LOAD_MERGES ? lw__load_merges_put(loading, err) : LW_OK;
}
