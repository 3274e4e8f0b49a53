/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding. What does not fit into the caller's buffer is counted and not written, so one pass
 * gives the bytes or says how many there are.
 */
#include "tokenize/decode.h"

#include <string.h>

#include "base/error.h"
#include "tokenize/model.h"

typedef struct sink {
    char *out;
    size_t capacity;
    size_t bytes;      /* of the text so far, whether they fit or not */
    bool strips_space; /* the next byte, if it is a space, is one that encoding put there */
} sink;

void lw__decode_rules_reset(lw__decode_rules *rules)
{
    lw__bytes_reset(&rules->surface);
    memset(rules, 0, sizeof *rules);
}

static void put(sink *to, const char *text, size_t bytes)
{
    if (bytes == 0) {
        return;
    }
    if (to->strips_space) {
        to->strips_space = false;
        size_t gone = text[0] == ' ';
        text += gone;
        bytes -= gone;
    }
    size_t room = to->bytes < to->capacity ? to->capacity - to->bytes : 0;
    size_t fits = bytes < room ? bytes : room;
    if (fits > 0) {
        memcpy(to->out + to->bytes, text, fits);
    }
    to->bytes += bytes;
}

/* A piece with its escaped spaces as spaces, or without any. */
static void put_spaces(sink *to, lw_str text, bool keeps_spaces)
{
    size_t begin = 0;
    for (size_t i = 0; i + 3 <= text.bytes;) {
        if (memcmp(text.data + i, LW__ESCAPED_SPACE, 3) != 0) {
            i++;
            continue;
        }
        put(to, text.data + begin, i - begin);
        put(to, " ", keeps_spaces);
        i += 3;
        begin = i;
    }
    put(to, text.data + begin, text.bytes - begin);
}

static bool starts_with_space(lw_str text)
{
    return text.bytes >= 3 && memcmp(text.data, LW__ESCAPED_SPACE, 3) == 0;
}

/* What decoding remembers from one piece to the next. */
typedef struct progress {
    size_t written; /* tokens that were not passed over */
    bool stripped;  /* the last piece gave its space away */
    bool is_inside; /* past the start of the text */
} progress;

static bool is_byte(const lw__vocab *vocab, int32_t id, lw_str text, int *byte)
{
    *byte = vocab->decode.bytes ? lw__piece_byte(text) : -1;
    return *byte >= 0 &&
           (!vocab->decode.hidden || lw__piece_rules_kind(&vocab->pieces, id) == LW__PIECE_BYTE);
}

static lw_str without_first_space(const lw__decode_rules *rules, progress *state, lw_str text)
{
    bool may = rules->strip == LW__STRIP_FIRST_PIECE || rules->strip == LW__STRIP_PIECES;
    bool strips = may && !state->is_inside && starts_with_space(text);
    state->stripped = strips && rules->strip == LW__STRIP_FIRST_PIECE;
    return strips ? (lw_str){.data = text.data + 3, .bytes = text.bytes - 3} : text;
}

static void put_piece(const lw__vocab *vocab, int32_t id, lw_str text, progress *state, sink *to)
{
    const lw__decode_rules *rules = &vocab->decode;
    int byte = -1;
    if (is_byte(vocab, id, text, &byte)) {
        char one = (char)byte;
        put(to, &one, 1);
        return;
    }
    state->is_inside = state->is_inside || state->stripped || to->bytes > 0;
    state->stripped = false;
    lw__piece_kind kind =
        rules->hidden ? lw__piece_rules_kind(&vocab->pieces, id) : LW__PIECE_NORMAL;
    if (kind == LW__PIECE_CONTROL) {
        return;
    }
    if (kind == LW__PIECE_UNKNOWN) {
        put(to, (const char *)rules->surface.data, rules->surface.count);
        return;
    }
    text = without_first_space(rules, state, text);
    if (rules->spaces) {
        put_spaces(to, text, rules->strip != LW__STRIP_FIRST_TOKEN || state->written > 0);
    } else {
        put(to, text.data, text.bytes);
    }
}

static bool is_special(const lw__tokenizer *tokenizer, int32_t id)
{
    const lw__vocab *vocab = &tokenizer->vocab;
    if ((size_t)id >= vocab->limit) {
        return true; /* BOS and EOS of "bytes" */
    }
    return vocab->tokens[id].special != 0;
}

bool lw__tokenizer_has(const lw__tokenizer *tokenizer, int32_t id)
{
    const lw__vocab *vocab = &tokenizer->vocab;
    return id >= 0 && id < tokenizer->vocabulary &&
           ((size_t)id >= vocab->limit || vocab->tokens[id].present != 0);
}

static lw_status no_such_id(const lw__tokenizer *tokenizer, int32_t id, size_t at, lw_error *err)
{
    return lw__fail(err, LW_E_INVALID,
                    "tokenizer: id %ld at %zu: no token has it, expected one of the vocabulary, "
                    "which ends at %ld",
                    (long)id, at, (long)tokenizer->vocabulary - 1);
}

lw_status lw__tokenizer_decode(const lw__tokenizer *tokenizer, const int32_t *ids, size_t count,
                               bool skip_special, lw__decoded *out, lw_error *err)
{
    const lw__vocab *vocab = &tokenizer->vocab;
    sink to = {.out = out->data,
               .capacity = out->capacity,
               .strips_space = vocab->decode.strip == LW__STRIP_FIRST_SPACE};
    progress state = {.written = 0};
    out->bytes = 0;
    if (vocab->decode.refused[0] != '\0') {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: decoder: %s, expected one that docs/tokenizers.md lists",
                        vocab->decode.refused);
    }
    for (size_t i = 0; i < count; i++) {
        if (!lw__tokenizer_has(tokenizer, ids[i])) {
            return no_such_id(tokenizer, ids[i], i, err);
        }
        if (skip_special && is_special(tokenizer, ids[i])) {
            continue;
        }
        lw_str text = lw__vocab_text(vocab, ids[i]);
        if (vocab->decode.pieces) {
            put_piece(vocab, ids[i], text, &state, &to);
        } else {
            put(&to, text.data, text.bytes);
        }
        state.written++;
    }
    out->bytes = to.bytes;
    return LW_OK;
}
