/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vocabulary that a person can check by hand, in every form of file that can be opened.
 *
 * Ids 0-255 are the bytes; then come the tokens of tiny_merges, in order of rank.
 */
#ifndef TINY_VOCABULARY_H
#define TINY_VOCABULARY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "tokenize/tokenize.h"

typedef struct tiny_merge {
    const char *left;
    const char *right;
} tiny_merge;

static const tiny_merge tiny_merges[] = {{"t", "h"}, {"th", "e"},  {" ", "the"},
                                         {"a", "b"}, {"a", "a"},   {"aa", "aa"},
                                         {"1", "2"}, {"\n", "\n"}, {" ", " "}};

enum {
    TINY_TH = 256,
    TINY_THE,
    TINY_SPACE_THE,
    TINY_AB,
    TINY_AA,
    TINY_AAAA,
    TINY_12,
    TINY_NEWLINES,
    TINY_SPACES,
    TINY_COUNT
};

#define TINY_BYTE_LEVEL                                                                            \
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true}"

/* The parts of a tokenizer.json that a test may replace; NULL: as usual. */
typedef struct tiny_json {
    const char *top;           /* more fields of the file, each with a comma behind it */
    const char *added;         /* the added_tokens */
    const char *pre_tokenizer; /* the pre_tokenizer */
    const char *model;         /* more fields of the model, each with a comma behind it */
    const char *merges;        /* the merges */
    bool merges_first;         /* they stand before the vocabulary */
} tiny_json;

static char tiny_paths[64][256];
static size_t tiny_path_count;
static char tiny_folder[200];

static inline int tiny_setup(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    (void)snprintf(tiny_folder, sizeof tiny_folder, "%s/tiny.XXXXXX",
                   parent != NULL ? parent : P_tmpdir);
    return mkdtemp(tiny_folder) == NULL ? -1 : 0;
}

static inline int tiny_teardown(void **state)
{
    (void)state;
    while (tiny_path_count > 0) {
        (void)unlink(tiny_paths[--tiny_path_count]);
    }
    return rmdir(tiny_folder);
}

/* Writes a file of the folder and returns its path, which holds until the teardown. */
static inline const char *tiny_write(const char *name, const void *data, size_t count)
{
    assert_true(tiny_path_count < sizeof tiny_paths / sizeof tiny_paths[0]);
    char *path = tiny_paths[tiny_path_count];
    (void)snprintf(path, sizeof tiny_paths[0], "%s/%s", tiny_folder, name);
    for (size_t i = 0; i < tiny_path_count; i++) {
        path = strcmp(tiny_paths[i], path) == 0 ? tiny_paths[i] : path;
    }
    tiny_path_count += path == tiny_paths[tiny_path_count];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(count == 0 || fwrite(data, 1, count, file) == count);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *tiny_write_text(const char *name, const char *text)
{
    return tiny_write(name, text, strlen(text));
}

/* One byte in the byte-level alphabet, fit for a JSON string. */
static inline void tiny_put_byte(lw__bytes *out, unsigned byte)
{
    unsigned code = byte;
    if (byte <= 0x20) {
        code = 0x100 + byte;
    } else if (byte >= 0x7F && byte <= 0xA0) {
        code = 0x121 + byte - 0x7F;
    } else if (byte == 0xAD) {
        code = 0x143;
    }
    if (code == '"' || code == '\\') {
        lw__bytes_printf(out, "\\%c", (int)code);
    } else if (code < 0x80) {
        lw__bytes_printf(out, "%c", (int)code);
    } else {
        lw__bytes_printf(out, "%c%c", (int)(0xC0 | code >> 6), (int)(0x80 | (code & 0x3F)));
    }
}

static inline void tiny_put_text(lw__bytes *out, const char *text)
{
    for (; *text != '\0'; text++) {
        tiny_put_byte(out, (unsigned char)*text);
    }
}

static inline void tiny_put_vocabulary(lw__bytes *out)
{
    lw__bytes_printf(out, "{");
    for (unsigned byte = 0; byte < 256; byte++) {
        lw__bytes_printf(out, "%s\"", byte == 0 ? "" : ", ");
        tiny_put_byte(out, byte);
        lw__bytes_printf(out, "\": %u", byte);
    }
    for (int id = 256; id < TINY_COUNT; id++) {
        lw__bytes_printf(out, ", \"");
        tiny_put_text(out, tiny_merges[id - 256].left);
        tiny_put_text(out, tiny_merges[id - 256].right);
        lw__bytes_printf(out, "\": %d", id);
    }
    lw__bytes_printf(out, "}");
}

static inline void tiny_put_merges(lw__bytes *out, const char *before, const char *after)
{
    for (int id = 256; id < TINY_COUNT; id++) {
        lw__bytes_printf(out, "%s", before);
        tiny_put_text(out, tiny_merges[id - 256].left);
        lw__bytes_printf(out, " ");
        tiny_put_text(out, tiny_merges[id - 256].right);
        lw__bytes_printf(out, "%s", id + 1 < TINY_COUNT || *after == '\n' ? after : "\"");
    }
}

static inline const char *tiny_write_bytes(const char *name, lw__bytes *out)
{
    assert_false(out->failed);
    const char *path = tiny_write(name, out->data, out->count);
    lw__bytes_reset(out);
    return path;
}

static inline void tiny_put_json_merges(lw__bytes *out, const tiny_json *json)
{
    lw__bytes_printf(out, "\"merges\": ");
    if (json->merges != NULL) {
        lw__bytes_printf(out, "%s", json->merges);
    } else {
        lw__bytes_printf(out, "[");
        tiny_put_merges(out, "\"", "\", ");
        lw__bytes_printf(out, "]");
    }
}

static inline const char *tiny_write_json(const char *name, const tiny_json *json)
{
    lw__bytes out;
    lw__bytes_init(&out);
    lw__bytes_printf(&out,
                     "{\"version\": \"1.0\", %s\"added_tokens\": %s, \"pre_tokenizer\": %s,\n",
                     json->top != NULL ? json->top : "", json->added != NULL ? json->added : "[]",
                     json->pre_tokenizer != NULL ? json->pre_tokenizer : TINY_BYTE_LEVEL);
    lw__bytes_printf(&out, "\"model\": {%s", json->model != NULL ? json->model : "");
    if (json->merges_first) {
        tiny_put_json_merges(&out, json);
        lw__bytes_printf(&out, ", ");
    }
    lw__bytes_printf(&out, "\"vocab\": ");
    tiny_put_vocabulary(&out);
    if (!json->merges_first) {
        lw__bytes_printf(&out, ", ");
        tiny_put_json_merges(&out, json);
    }
    lw__bytes_printf(&out, "}}\n");
    return tiny_write_bytes(name, &out);
}

/* Writes both halves and returns the path of the merges. */
static inline const char *tiny_write_bpe(const char *merges, const char *vocabulary)
{
    lw__bytes out;
    lw__bytes_init(&out);
    tiny_put_vocabulary(&out);
    (void)tiny_write_bytes(vocabulary, &out);
    lw__bytes_init(&out);
    lw__bytes_printf(&out, "#version: 0.2\n");
    tiny_put_merges(&out, "", "\n");
    return tiny_write_bytes(merges, &out);
}

static inline void tiny_put_base64(lw__bytes *out, const char *text, size_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (i + k < bytes ? (unsigned char)text[i + k] : 0);
        }
        for (size_t k = 0; k < 4; k++) {
            char digit = i + k > bytes ? '=' : digits[bits >> (18 - 6 * k) & 63];
            lw__bytes_put(out, &digit, 1);
        }
    }
}

static inline const char *tiny_write_tiktoken(const char *name)
{
    lw__bytes out;
    lw__bytes_init(&out);
    for (int id = 0; id < TINY_COUNT; id++) {
        char text[16] = {(char)id};
        size_t bytes = 1;
        if (id >= 256) {
            bytes = (size_t)snprintf(text, sizeof text, "%s%s", tiny_merges[id - 256].left,
                                     tiny_merges[id - 256].right);
        }
        tiny_put_base64(&out, text, bytes);
        lw__bytes_printf(&out, " %d\n", id);
    }
    return tiny_write_bytes(name, &out);
}

static inline lw__tokenizer *tiny_open(const lw__tokenizer_options *options)
{
    lw_error err = {.status = LW_OK};
    lw__tokenizer *tokenizer = NULL;
    if (lw__tokenizer_open(options, &tokenizer, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return tokenizer;
}

/* Opening fails with the status; the message holds the text and the file's name, on one line. */
static inline void tiny_open_fails(const lw__tokenizer_options *options, lw_status status,
                                   const char *text)
{
    lw_error err = {.status = LW_OK};
    lw__tokenizer *tokenizer = NULL;
    assert_int_equal(lw__tokenizer_open(options, &tokenizer, &err), status);
    assert_null(tokenizer);
    assert_null(strchr(err.message, '\n'));
    if (strstr(err.message, text) == NULL) {
        fail_msg("\"%s\", expected \"%s\" in it", err.message, text);
    }
}

/* The ids of a text equal those given, which end at -1. */
static inline void tiny_encodes(const lw__tokenizer *tokenizer, const char *text, size_t bytes, ...)
{
    lw_error err = {.status = LW_OK};
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
    assert_int_equal(lw__encoder_encode(encoder, text, bytes, &arena, &err), LW_OK);
    va_list expected;
    va_start(expected, bytes);
    size_t at = 0;
    for (int id = va_arg(expected, int); id >= 0; id = va_arg(expected, int)) {
        assert_true(at < arena.count);
        assert_int_equal(arena.ids[at++], id);
    }
    va_end(expected);
    assert_int_equal(at, arena.count);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
}

#endif
