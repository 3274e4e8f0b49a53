/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the targets for files of tokenizers share: a file of any bytes is refused with one line, or it
 * opens, encodes and decodes. The last bytes of an input, made valid UTF-8, are also the text; what
 * comes out the second time, from the cache, must be the same.
 */
#ifndef FUZZ_OPENING_H
#define FUZZ_OPENING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenize/tokenize.h"

enum { FUZZ_TEXT_BYTES = 200, FUZZ_PATH_BYTES = 80 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_require(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

/* The path of a file of this process, in memory where that is possible. */
static inline void fuzz_path(char path[static FUZZ_PATH_BYTES], const char *name)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir;
    (void)snprintf(path, FUZZ_PATH_BYTES, "%s/fuzz.%ld.%s", folder, (long)getpid(), name);
}

static inline void fuzz_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    fuzz_require(file != NULL && (size == 0 || fwrite(data, 1, size, file) == size) &&
                     fclose(file) == 0,
                 "the file can not be written");
}

static inline void fuzz_decode(const lw__tokenizer *tokenizer, const lw__arena *arena, size_t bytes)
{
    lw_error err = {.status = LW_OK};
    lw__decoded out = {.capacity = 0};
    lw_status status = lw__tokenizer_decode(tokenizer, arena->ids, arena->count, false, &out, &err);
    fuzz_require(status == LW_OK || status == LW_E_UNSUPPORTED, "ids that do not decode");
    size_t needed = out.bytes;
    fuzz_require(needed <= (bytes + 1) * 1024 * 1024, "a text that is too long");
    out.data = malloc(needed + 1);
    out.capacity = needed;
    fuzz_require(out.data != NULL, "no memory");
    fuzz_require(lw__tokenizer_decode(tokenizer, arena->ids, arena->count, false, &out, &err) ==
                         status &&
                     out.bytes == needed,
                 "another length with room for it");
    free(out.data);
}

static inline void fuzz_encode(const lw__tokenizer *tokenizer, const char *text, size_t bytes)
{
    lw_error err = {.status = LW_OK};
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    fuzz_require(lw__encoder_create(tokenizer, &encoder, &err) == LW_OK, "no encoder");
    for (int pass = 0; pass < 2; pass++) {
        fuzz_require(lw__encoder_encode(encoder, text, bytes, &arena, &err) == LW_OK, "no ids");
    }
    size_t count = arena.count / 2;
    fuzz_require(arena.count == count * 2 && (count == 0 || memcmp(arena.ids, arena.ids + count,
                                                                   count * sizeof *arena.ids) == 0),
                 "the second pass gave other ids");
    for (size_t i = 0; i < count; i++) {
        fuzz_require(lw__tokenizer_has(tokenizer, arena.ids[i]), "an id that no token has");
    }
    fuzz_decode(tokenizer, &arena, bytes);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
}

/* Opens what options name; `data` is what the text is taken from. */
static inline void fuzz_open(const lw__tokenizer_options *options, const uint8_t *data, size_t size)
{
    lw_error err = {.status = LW_OK};
    lw__tokenizer *tokenizer = NULL;
    if (lw__tokenizer_open(options, &tokenizer, &err) < 0) {
        fuzz_require(err.message[0] != '\0' && strchr(err.message, '\n') == NULL, "not one line");
        return;
    }
    char text[3 * FUZZ_TEXT_BYTES];
    size_t taken = size < FUZZ_TEXT_BYTES ? size : FUZZ_TEXT_BYTES;
    size_t bytes = lw__utf8_repair(data + size - taken, taken, text);
    fuzz_encode(tokenizer, text, bytes);
    lw__tokenizer_close(tokenizer);
}

#endif
