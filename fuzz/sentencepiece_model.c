/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A .model file of any bytes: it is refused with a line, or encodes. The last bytes of an input,
 * made valid UTF-8, are also the text; what came out must have come from the cache as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenize/tokenize.h"

enum { TEXT_BYTES = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

/* The one file of this process, written anew for each input. */
static const char *write_model(const uint8_t *data, size_t size)
{
    static char path[64];
    if (path[0] == '\0') {
        const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir;
        (void)snprintf(path, sizeof path, "%s/fuzz.%ld.model", folder, (long)getpid());
    }
    FILE *file = fopen(path, "wb");
    require(file != NULL && fwrite(data, 1, size, file) == size, "the model can not be written");
    require(fclose(file) == 0, "the model can not be written");
    return path;
}

static void encode_twice(const lw__tokenizer *tokenizer, const char *text, size_t bytes)
{
    lw_error err = {.status = LW_OK};
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    require(lw__encoder_create(tokenizer, &encoder, &err) == LW_OK, "no encoder");
    for (int pass = 0; pass < 2; pass++) {
        require(lw__encoder_encode(encoder, text, bytes, &arena, &err) == LW_OK, "no ids");
    }
    size_t count = arena.count / 2;
    require(arena.count == count * 2 &&
                memcmp(arena.ids, arena.ids + count, count * sizeof *arena.ids) == 0,
            "the second pass gave other ids");
    for (size_t i = 0; i < count; i++) {
        require(arena.ids[i] >= 0 && arena.ids[i] < lw__tokenizer_vocabulary(tokenizer),
                "an id that is outside of the vocabulary");
    }
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lw_error err = {.status = LW_OK};
    lw__tokenizer *tokenizer = NULL;
    lw__tokenizer_options options = {.path = write_model(data, size)};
    if (lw__tokenizer_open(&options, &tokenizer, &err) < 0) {
        require(err.message[0] != '\0' && strchr(err.message, '\n') == NULL, "not one line");
    } else {
        char text[3 * TEXT_BYTES];
        size_t taken = size < TEXT_BYTES ? size : TEXT_BYTES;
        size_t bytes = lw__utf8_repair(data + size - taken, taken, text);
        encode_twice(tokenizer, text, bytes);
        lw__tokenizer_close(tokenizer);
    }
    (void)unlink(options.path);
    return 0;
}
