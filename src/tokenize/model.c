/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a vocabulary to what encoding needs: the byte tokens and the table of merges, of which only
 * those that can happen are used (settle.h).
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

static lw_status build_merges(lw__tokenizer *tokenizer, lw_error *err)
{
    lw__vocab *vocab = &tokenizer->vocab;
    bool makes_all = false;
    LW__TRY(lw__settle(vocab, &tokenizer->bpe, &makes_all, err));
    vocab->whole_piece = vocab->whole_piece && !makes_all;
    return LW_OK;
}

/* Whether a token has white space behind its last line end, or the first byte of such. */
static bool spans_last_line_end(const lw__vocab *vocab)
{
    static const char leads[] = "\t\v\f \xC2\xE1\xE2\xE3";
    for (size_t id = 0; id < vocab->limit; id++) {
        lw_str text = lw__vocab_text(vocab, (int32_t)id);
        size_t at = text.bytes;
        while (at > 0 && text.data[at - 1] != '\n' && text.data[at - 1] != '\r') {
            at--;
        }
        if (at > 0 && at < text.bytes && text.data[at] != '\0' &&
            strchr(leads, text.data[at]) != NULL) {
            return true;
        }
    }
    return false;
}

/*
 * White space that ends a text is one piece, or two that meet behind its last line end. Where no merge
 * goes across and whole pieces need no rule, the ids are the same. Then it is two, so that equal
 * tokenizers have equal fingerprints.
 */
static void settle_trailing(lw__vocab *vocab)
{
    vocab->rules.trailing_whole =
        vocab->rules.trailing_whole && (vocab->whole_piece || spans_last_line_end(vocab));
}

lw_status lw__model_build(lw__tokenizer *tokenizer, lw_error *err)
{
    if (tokenizer->vocab.pieces.used) {
        return lw__pieces_build(&tokenizer->vocab, &tokenizer->pieces, err);
    }
    LW__TRY(find_bytes(tokenizer, err));
    LW__TRY(build_merges(tokenizer, err));
    settle_trailing(&tokenizer->vocab);
    LW__TRY(
        lw__whole_tokens_build(&tokenizer->whole_tokens, &tokenizer->vocab, &tokenizer->bpe, err));
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
