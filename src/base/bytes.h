/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer and the varint coding of everything that is saved.
 *
 * A writer remembers the first failure and ignores later writes; a reader likewise and returns
 * zeros. So callers check once, at the end. Integers are LEB128 (7 bits a byte, low first);
 * signed ones are zigzag-coded; text is its byte count, then its bytes.
 */
#ifndef LW__BASE_BYTES_H
#define LW__BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

typedef struct lw__bytes {
    unsigned char *data;
    size_t count;
    size_t capacity;
    bool failed; /* memory ran out */
} lw__bytes;

void lw__bytes_init(lw__bytes *bytes);
void lw__bytes_reset(lw__bytes *bytes); /* frees; ready for use again */
/* Room for `extra` more bytes; returns false (and sets failed) when memory is out. */
bool lw__bytes_reserve(lw__bytes *bytes, size_t extra);
void lw__bytes_put(lw__bytes *bytes, const void *data, size_t count);
void lw__bytes_put_u8(lw__bytes *bytes, uint8_t value);
void lw__bytes_put_u32le(lw__bytes *bytes, uint32_t value);
void lw__bytes_put_u64le(lw__bytes *bytes, uint64_t value);
void lw__bytes_put_varint(lw__bytes *bytes, uint64_t value);
void lw__bytes_put_signed(lw__bytes *bytes, int64_t value);
void lw__bytes_put_text(lw__bytes *bytes, const char *text, size_t count);
void lw__bytes_printf(lw__bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

typedef struct lw__reader {
    const unsigned char *at;
    const unsigned char *end;
    bool failed; /* cut short, or a number too long */
} lw__reader;

lw__reader lw__reader_of(const void *data, size_t count);
uint8_t lw__reader_u8(lw__reader *reader);
uint32_t lw__reader_u32le(lw__reader *reader);
uint64_t lw__reader_u64le(lw__reader *reader);
uint64_t lw__reader_varint(lw__reader *reader);
int64_t lw__reader_signed(lw__reader *reader);
/* Borrowed from the reader's bytes. */
lw_str lw__reader_text(lw__reader *reader);

#endif
