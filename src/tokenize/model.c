/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a vocabulary to what encoding needs: the byte tokens and the table of merges.
 *
 * Of the merges of a file only those that can happen are used (settle.h). A .tiktoken file has no
 * merges, only ranks: any two neighbours whose bytes together are a token merge, at that token's
 * rank. Where the merges that can happen can not be told, every split of every token is one.
 */
#include "tokenize/model.h"

#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/error.h"
#include "tokenize/settle.h"

static lw_status find_bytes(lw__tokenizer *tokenizer, lw_error *err)
{
    lw__place place = {.path = tokenizer->vocab.path};
    for (int byte = 0; byte < 256; byte++) {
        unsigned char text = (unsigned char)byte;
        int32_t id = lw__vocab_find(&tokenizer->vocab, &text, 1);
        if (id < 0) {
            return lw__vocab_fail(err, LW_E_UNSUPPORTED, &place,
                                  "no token for byte 0x%02X, expected one for each of 256 bytes",
                                  (unsigned)byte);
        }
        tokenizer->bpe.byte_ids[byte] = id;
    }
    return LW_OK;
}

static lw_status put_merges(lw__tokenizer *tokenizer, lw_error *err)
{
    const lw__vocab *vocab = &tokenizer->vocab;
    for (size_t i = 0; i < vocab->merge_count; i++) {
        LW__TRY(lw__bpe_put(&tokenizer->bpe, &vocab->merges[i], err));
    }
    return LW_OK;
}

static lw_status put_splits(lw__vocab *vocab, int32_t id, lw_error *err)
{
    lw_str text = lw__vocab_text(vocab, id);
    if (text.bytes < 2 || lw__vocab_find(vocab, text.data, text.bytes) != id) {
        return LW_OK;
    }
    for (size_t cut = 1; cut < text.bytes; cut++) {
        lw__merge merge = {.left = lw__vocab_find(vocab, text.data, cut),
                           .right = lw__vocab_find(vocab, text.data + cut, text.bytes - cut),
                           .id = id,
                           .rank = (uint32_t)id};
        if (merge.left >= 0 && merge.right >= 0) {
            LW__TRY(lw__vocab_push_merge(vocab, &merge, err));
        }
    }
    return LW_OK;
}

/* The merges of a vocabulary as they stand, when not all that can not happen can be told. */
static lw_status put_all(lw__tokenizer *tokenizer, lw_error *err)
{
    lw__vocab *vocab = &tokenizer->vocab;
    if (vocab->merge_ranks) {
        vocab->merge_count = 0;
        for (int32_t id = 0; (size_t)id < vocab->limit; id++) {
            LW__TRY(put_splits(vocab, id, err));
        }
    }
    lw__bpe_clear(&tokenizer->bpe);
    return put_merges(tokenizer, err);
}

static lw_status build_merges(lw__tokenizer *tokenizer, lw_error *err)
{
    lw__vocab *vocab = &tokenizer->vocab;
    lw__settled settled;
    LW__TRY(vocab->merge_ranks ? lw__settle_ranks(vocab, &tokenizer->bpe, &settled, err)
                               : lw__settle_merges(vocab, &tokenizer->bpe, &settled, err));
    vocab->whole_piece = vocab->whole_piece && !settled.makes_all;
    return settled.is_sound ? LW_OK : put_all(tokenizer, err);
}

lw_status lw__model_build(lw__tokenizer *tokenizer, lw_error *err)
{
    if (tokenizer->vocab.pieces.used) {
        return lw__pieces_build(&tokenizer->vocab, &tokenizer->pieces, err);
    }
    LW__TRY(find_bytes(tokenizer, err));
    LW__TRY(build_merges(tokenizer, err));
    LW__TRY(lw__bpe_finish(&tokenizer->bpe, err));
    return lw__cuts_build(&tokenizer->cuts, &tokenizer->vocab, err);
}

static void write_tokens(lw__bytes *out, const lw__tokenizer *tokenizer)
{
    lw__bytes_put_varint(out, (uint64_t)tokenizer->vocabulary);
    for (int32_t id = 0; (size_t)id < tokenizer->vocab.limit; id++) {
        lw_str text = lw__vocab_text(&tokenizer->vocab, id);
        lw__bytes_put_text(out, text.data, text.bytes);
    }
}

/* In order of rank, which is the order of the list; ranks themselves may have holes. */
static void write_merges(lw__bytes *out, const lw__vocab *vocab)
{
    lw__bytes_put_varint(out, vocab->merge_count);
    for (size_t i = 0; i < vocab->merge_count; i++) {
        const lw__merge *merge = &vocab->merges[i];
        lw__bytes_put_varint(out, (uint64_t)merge->left);
        lw__bytes_put_varint(out, (uint64_t)merge->right);
        lw__bytes_put_u8(out, i > 0 && vocab->merges[i - 1].rank == merge->rank);
    }
}

static void write_matcher(lw__bytes *out, const lw__matcher *matcher)
{
    lw__bytes_put_varint(out, matcher->count);
    for (size_t i = 0; i < matcher->count; i++) {
        const lw__target *target = &matcher->targets[i];
        lw__bytes_put_text(out, target->text.data, target->text.bytes);
        lw__bytes_put_varint(out, (uint64_t)target->token.id);
        lw__bytes_put_u8(out, target->token.lstrip);
        lw__bytes_put_u8(out, (uint8_t)(target->token.rstrip | target->token.single_word << 1));
        lw__bytes_put_u8(out, target->ignored);
    }
}

lw_status lw__model_fingerprint(lw__tokenizer *tokenizer, lw_error *err)
{
    lw__bytes out;
    const lw__vocab *vocab = &tokenizer->vocab;
    lw__bytes_init(&out);
    lw__bytes_put_u8(&out, 1); /* the form of what follows */
    lw__bytes_put_u8(&out, tokenizer->is_bytes);
    write_tokens(&out, tokenizer);
    write_merges(&out, vocab);
    lw__bytes_put_u8(&out, (uint8_t)vocab->rules.family);
    lw__bytes_put_varint(&out, vocab->rules.digits);
    lw__bytes_put_u8(&out, vocab->rules.trailing_whole);
    lw__bytes_put_u8(&out, vocab->add_prefix_space);
    lw__bytes_put_u8(&out, vocab->whole_piece);
    lw__bytes_put_u8(&out, tokenizer->special_text);
    lw__bytes_put_signed(&out, tokenizer->bos);
    lw__bytes_put_signed(&out, tokenizer->eos);
    for (size_t i = 0; i < LW__ROUNDS; i++) {
        write_matcher(&out, &tokenizer->matchers[i]);
    }
    lw__normalizer_write(&vocab->normalizer, &out);
    if (vocab->steps.count > 0) {
        lw__bytes_put(&out, vocab->steps.text.data, vocab->steps.text.count);
    }
    if (vocab->pieces.used) {
        lw__piece_rules_write(&vocab->pieces, &out);
    }
    size_t bytes = out.count;
    bool failed = out.failed;
    tokenizer->fingerprint = failed ? 0 : (uint64_t)XXH3_64bits(out.data, out.count);
    lw__bytes_reset(&out);
    return failed ? lw__fail_nomem(err, bytes, "a fingerprint") : LW_OK;
}
