/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps those are, and whether an added token sees them. */
#include "tokenize/piece_fold.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

static bool is_text(const lw__bytes *bytes, const char *text)
{
    return bytes->count == strlen(text) && memcmp(bytes->data, text, bytes->count) == 0;
}

static bool is_escape(const lw__normal *step)
{
    return step->kind == LW__NORMAL_REPLACE && step->regex == NULL &&
           is_text(&step->pattern, " ") && is_text(&step->text, LW__ESCAPED_SPACE);
}

static bool is_prefix(const lw__normal *step)
{
    return step->kind == LW__NORMAL_PREPEND && is_text(&step->text, LW__ESCAPED_SPACE);
}

/* Whether a step may put a space into a text that has none. */
static bool makes_space(const lw__normal *step)
{
    switch (step->kind) {
    case LW__NORMAL_FORM:
        return lw__nfc_is_compatible(step->form);
    case LW__NORMAL_MAP:
        return true;
    case LW__NORMAL_PREPEND:
    case LW__NORMAL_REPLACE:
        return step->text.count > 0 && memchr(step->text.data, ' ', step->text.count) != NULL;
    default:
        return false;
    }
}

bool lw__piece_fold_escapes(const lw__normalizer *normalizer)
{
    for (size_t i = normalizer->count; i > 0; i--) {
        const lw__normal *step = &normalizer->steps[i - 1];
        if (is_escape(step) || makes_space(step)) {
            return is_escape(step);
        }
    }
    return false;
}

/* Whether the steps change a text that the others leave, or what stands beside it. */
static bool is_seen(const lw__added *token, lw_str text, bool prefixed)
{
    return prefixed || token->lstrip || token->rstrip ||
           memchr(text.data, ' ', text.bytes) != NULL ||
           memmem(text.data, text.bytes, LW__ESCAPED_SPACE, 3) != NULL;
}

/* Whether an added token is looked for in what the steps from `kept` on leave. */
static lw_status find_seen(const lw__vocab *vocab, bool special_text, size_t kept, bool prefixed,
                           bool *out, lw_error *err)
{
    lw__normalizer head = vocab->normalizer;
    lw__normal_scratch *scratch = lw__alloc_zero(1, sizeof *scratch);
    lw_status status =
        scratch == NULL ? lw__fail_nomem(err, sizeof *scratch, "added tokens") : LW_OK;
    bool can_match = false;
    bool seen = false;
    head.count = kept;
    for (size_t i = 0; i < vocab->added_count && status == LW_OK; i++) {
        const lw__added *token = &vocab->added[i];
        lw_str text = lw__vocab_text(vocab, token->id);
        if (token->normalized) {
            status = lw__normalize(&head, scratch, text, &text, err);
            can_match = can_match || special_text || !token->special;
            seen = seen || (status == LW_OK && is_seen(token, text, prefixed));
        }
    }
    if (scratch != NULL) {
        lw__normal_scratch_reset(scratch);
    }
    lw__free(scratch);
    *out = can_match && seen;
    return status;
}

lw_status lw__piece_fold(lw__vocab *vocab, bool special_text, lw_error *err)
{
    lw__normalizer *normalizer = &vocab->normalizer;
    size_t kept = normalizer->count;
    bool prefixed = false;
    bool escaped = false;
    bool seen = false;
    bool is_whole = vocab->pieces.used && vocab->pieces.escaped && vocab->steps.count == 0 &&
                    vocab->pieces.prefix != LW__PREFIX_WORDS;
    while (is_whole && kept > 0) {
        const lw__normal *last = &normalizer->steps[kept - 1];
        if ((prefixed || !is_prefix(last)) && (escaped || !is_escape(last))) {
            break;
        }
        prefixed = prefixed || is_prefix(last);
        escaped = escaped || is_escape(last);
        kept--;
    }
    if (kept == normalizer->count) {
        return LW_OK;
    }
    LW__TRY(find_seen(vocab, special_text, kept, prefixed, &seen, err));
    while (!seen && normalizer->count > kept) {
        lw__normal_reset(&normalizer->steps[--normalizer->count]);
    }
    if (!seen && prefixed) {
        vocab->pieces.prefix = LW__PREFIX_ALWAYS;
    }
    return LW_OK;
}
