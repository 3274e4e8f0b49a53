/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding of texts that are cut in steps: pieces are gathered until one does not follow the other, or
 * there is no room, and then encoded together. What a last step cuts as a family does is left to
 * the walk over blocks.
 */
#include "base/error.h"
#include "tokenize/byte_pieces.h"

typedef struct gathered {
    lw__byte_pieces *pieces;
    const unsigned char *start; /* of the first piece */
    const unsigned char *end;   /* of the last */
    const unsigned char *text_end;
    size_t count;
    lw__arena *arena;
} gathered;

static lw_status flush(gathered *all, lw_error *err)
{
    size_t count = all->count;
    all->count = 0;
    return count == 0
               ? LW_OK
               : lw__byte_pieces_take(all->pieces, all->start, (size_t)(all->text_end - all->start),
                                      count, all->arena, err);
}

static lw_status take(void *context, const unsigned char *piece, size_t bytes, lw_error *err)
{
    gathered *all = context;
    if (bytes > UINT32_MAX) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: a piece of %zu bytes without a cut, expected less than %zu",
                        bytes, (size_t)UINT32_MAX);
    }
    if (all->count == LW__PIECE_BATCH || piece != all->end ||
        (size_t)(piece - all->start) + bytes > UINT32_MAX) {
        LW__TRY(flush(all, err));
    }
    if (all->count == 0) {
        all->start = piece;
    }
    all->end = piece + bytes;
    all->pieces->batch.ends[all->count++] = (uint32_t)(all->end - all->start);
    return LW_OK;
}

static lw_status take_by_family(void *context, const unsigned char *piece, size_t bytes,
                                lw_error *err)
{
    const gathered *all = context;
    const lw__steps *steps = &all->pieces->tokenizer->vocab.steps;
    return lw__byte_pieces_encode_by(all->pieces, &steps->items[steps->count - 1].rules, piece,
                                     bytes, all->arena, err);
}

lw_status lw__byte_steps_encode(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                                lw__arena *arena, lw_error *err)
{
    const lw__steps *steps = &pieces->tokenizer->vocab.steps;
    gathered all = {.pieces = pieces, .text_end = text + bytes, .arena = arena};
    if (steps->items[steps->count - 1].regex == NULL) {
        return lw__steps_walk(steps, steps->count - 1, &pieces->steps, text, bytes, take_by_family,
                              &all, err);
    }
    LW__TRY(lw__steps_walk(steps, steps->count, &pieces->steps, text, bytes, take, &all, err));
    return flush(&all, err);
}
