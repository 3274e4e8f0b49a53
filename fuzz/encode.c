/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text with small vocabularies of every pattern: the ids are those of the plain splitter, and of
 * merging each piece alone; they decode to the text. The first byte chooses the pattern, and whether what
 * follows is text or runs of a few characters.
 */
#include "opening.h"
#include "tokenize/bpe_pairs.h"
#include "tokenize/model.h"

static const char *const patterns[] = {"gpt2",   "cl100k", "o200k",  "llama3",
                                       "llama4", "qwen",   "qwen3_6"};

enum { PATTERNS = sizeof patterns / sizeof patterns[0], RUNS_BYTES = 1500 };

static void put_token(FILE *file, const char *text, size_t bytes, int rank)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (i + k < bytes ? (unsigned char)text[i + k] : 0);
        }
        for (size_t k = 0; k < 4; k++) {
            (void)putc(i + k > bytes ? '=' : digits[bits >> (18 - 6 * k) & 63], file);
        }
    }
    (void)fprintf(file, " %d\n", rank);
}

static void write_ranks(const char *path)
{
    static const char *const tokens[] = {"  ",   "\n\n", " t",  "he",       " the",     "th",
                                         "'s",   "11",   "111", "\xC3\xA9", "aa",       "aaaa",
                                         "\r\n", "..",   "ab",  "abab",     "A\xCC\x81"};
    FILE *file = fopen(path, "wb");
    fuzz_require(file != NULL, "the file can not be written");
    for (int byte = 0; byte < 256; byte++) {
        char text = (char)byte;
        put_token(file, &text, 1, byte);
    }
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        put_token(file, tokens[i], strlen(tokens[i]), 256 + (int)i);
    }
    fuzz_require(fclose(file) == 0, "the file can not be written");
}

static void open_all(lw__tokenizer *tokenizers[static PATTERNS],
                     lw__encoder *encoders[static PATTERNS])
{
    char path[FUZZ_PATH_BYTES];
    lw_error err;
    fuzz_path(path, "encode.tiktoken");
    write_ranks(path);
    for (size_t i = 0; i < PATTERNS; i++) {
        lw__tokenizer_options options = {.path = path, .pattern = patterns[i]};
        fuzz_require(lw__tokenizer_open(&options, &tokenizers[i], &err) == LW_OK, err.message);
        fuzz_require(lw__encoder_create(tokenizers[i], &encoders[i], &err) == LW_OK, err.message);
    }
    (void)unlink(path);
}

/* Merging as plainly as it can be said: the lowest rank, the leftmost of equals. */
static size_t merge_plainly(const lw__tokenizer *tokenizer, const unsigned char *piece,
                            size_t bytes, int32_t *out)
{
    const lw__bpe *bpe = &tokenizer->bpe;
    size_t count = bytes;
    for (size_t i = 0; i < bytes; i++) {
        out[i] = bpe->byte_ids[piece[i]];
    }
    for (;;) {
        uint32_t least = LW__RANK_NONE;
        size_t best = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            uint32_t rank = lw__pair_rank(bpe, (uint32_t)out[i], (uint32_t)out[i + 1]);
            best = rank < least ? i : best;
            least = rank < least ? rank : least;
        }
        if (least == LW__RANK_NONE) {
            return count;
        }
        out[best] = bpe->ids[least];
        memmove(out + best + 1, out + best + 2, (count - best - 2) * sizeof *out);
        count--;
    }
}

/* Merges each piece of the plain splitter; `out` has room for an id a byte. */
static size_t encode_plainly(const lw__tokenizer *tokenizer, const unsigned char *text,
                             size_t bytes, int32_t *out)
{
    size_t count = 0;
    for (size_t at = 0; at < bytes;) {
        size_t end = 0;
        fuzz_require(lw__split(&tokenizer->vocab.rules, text, bytes, at, &end, 1) == 1, "no piece");
        lw_str piece = {.data = (const char *)text + at, .bytes = end - at};
        int32_t whole = tokenizer->vocab.whole_piece
                            ? lw__vocab_find(&tokenizer->vocab, piece.data, piece.bytes)
                            : -1;
        if (whole >= 0) {
            out[count++] = whole;
        } else {
            count += merge_plainly(tokenizer, text + at, piece.bytes, out + count);
        }
        at = end;
    }
    return count;
}

static void compare(const lw__tokenizer *tokenizer, lw__encoder *encoder, const char *text,
                    size_t bytes)
{
    lw_error err;
    lw__arena arena = {.ids = NULL};
    int32_t *expected = malloc((bytes + 1) * sizeof *expected);
    char *back = malloc(bytes + 1);
    lw__decoded decoded = {.data = back, .capacity = bytes};
    fuzz_require(expected != NULL && back != NULL, "no memory");
    size_t count = encode_plainly(tokenizer, (const unsigned char *)text, bytes, expected);
    fuzz_require(lw__encoder_encode(encoder, text, bytes, &arena, &err) == LW_OK, "no ids");
    fuzz_require(arena.count == count &&
                     (count == 0 || memcmp(arena.ids, expected, count * sizeof *expected) == 0),
                 "other ids than the plain way");
    fuzz_require(lw__tokenizer_decode(tokenizer, arena.ids, count, false, &decoded, &err) ==
                         LW_OK &&
                     decoded.bytes == bytes && memcmp(back, text, bytes) == 0,
                 "another text than the one encoded");
    lw__arena_reset(&arena);
    free(expected);
    free(back);
}

/* Runs of a few characters: long pieces, in which the same comes again and again. */
static size_t put_runs(const uint8_t *data, size_t size, char *out)
{
    static const char few[] = "abthe .1";
    size_t bytes = 0;
    for (size_t i = 0; i < size && bytes < RUNS_BYTES; i++) {
        size_t count = (size_t)1 << (data[i] >> 4) / 2;
        memset(out + bytes, few[data[i] % 8], count);
        bytes += count;
    }
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lw__tokenizer *tokenizers[PATTERNS];
    static lw__encoder *encoders[PATTERNS];
    if (tokenizers[0] == NULL) {
        open_all(tokenizers, encoders);
    }
    if (size == 0) {
        return 0;
    }
    /* Of its own size, so that a read behind the end is seen. */
    bool has_runs = data[0] / PATTERNS % 2 != 0;
    char *repaired = malloc(has_runs ? RUNS_BYTES + 128 : size * 3);
    fuzz_require(repaired != NULL, "no memory");
    size_t bytes = has_runs ? put_runs(data + 1, size - 1, repaired)
                            : lw__utf8_repair(data + 1, size - 1, repaired);
    char *text = malloc(bytes + (bytes == 0));
    fuzz_require(text != NULL, "no memory");
    memcpy(text, repaired, bytes);
    compare(tokenizers[data[0] % PATTERNS], encoders[data[0] % PATTERNS], text, bytes);
    free(text);
    free(repaired);
    return 0;
}
