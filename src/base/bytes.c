/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The growing buffer and the varint coding. A reader that meets a fault jumps to its end, so every
 * later read fails as well and gives zero.
 */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { FIRST_CAPACITY = 64, VARINT_BYTES = 10 };

void lw__bytes_init(lw__bytes *bytes)
{
    *bytes = (lw__bytes){0};
}

void lw__bytes_reset(lw__bytes *bytes)
{
    lw__free(bytes->data);
    lw__bytes_init(bytes);
}

bool lw__bytes_reserve(lw__bytes *bytes, size_t extra)
{
    if (bytes->failed) {
        return false;
    }
    if (bytes->capacity - bytes->count >= extra) {
        return true;
    }
    size_t needed = 0;
    if (__builtin_add_overflow(bytes->count, extra, &needed)) {
        bytes->failed = true;
        return false;
    }
    size_t capacity = bytes->capacity + bytes->capacity / 2;
    capacity = capacity < FIRST_CAPACITY ? FIRST_CAPACITY : capacity;
    capacity = capacity < needed ? needed : capacity;
    unsigned char *data = lw__resize_array(bytes->data, capacity, 1);
    if (data == NULL) {
        bytes->failed = true;
        return false;
    }
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void lw__bytes_put(lw__bytes *bytes, const void *data, size_t count)
{
    if (count > 0 && lw__bytes_reserve(bytes, count)) {
        memcpy(bytes->data + bytes->count, data, count);
        bytes->count += count;
    }
}

void lw__bytes_put_u8(lw__bytes *bytes, uint8_t value)
{
    if (lw__bytes_reserve(bytes, 1)) {
        bytes->data[bytes->count++] = value;
    }
}

static void put_low_bytes(lw__bytes *bytes, uint64_t value, size_t count)
{
    unsigned char coded[8];
    for (size_t i = 0; i < count; i++) {
        coded[i] = (unsigned char)(value >> (8 * i));
    }
    lw__bytes_put(bytes, coded, count);
}

void lw__bytes_put_u32le(lw__bytes *bytes, uint32_t value)
{
    put_low_bytes(bytes, value, 4);
}

void lw__bytes_put_u64le(lw__bytes *bytes, uint64_t value)
{
    put_low_bytes(bytes, value, 8);
}

void lw__bytes_put_varint(lw__bytes *bytes, uint64_t value)
{
    if (!lw__bytes_reserve(bytes, VARINT_BYTES)) {
        return;
    }
    while (value >= 0x80) {
        bytes->data[bytes->count++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    bytes->data[bytes->count++] = (unsigned char)value;
}

void lw__bytes_put_signed(lw__bytes *bytes, int64_t value)
{
    uint64_t doubled = (uint64_t)value << 1;
    lw__bytes_put_varint(bytes, value < 0 ? ~doubled : doubled);
}

void lw__bytes_put_text(lw__bytes *bytes, const char *text, size_t count)
{
    lw__bytes_put_varint(bytes, count);
    lw__bytes_put(bytes, text, count);
}

void lw__bytes_printf(lw__bytes *bytes, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    int count = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (count < 0) {
        bytes->failed = true;
    } else if (lw__bytes_reserve(bytes, (size_t)count + 1)) {
        vsnprintf((char *)bytes->data + bytes->count, (size_t)count + 1, format, again);
        bytes->count += (size_t)count;
    }
    va_end(again);
}

lw__reader lw__reader_of(const void *data, size_t count)
{
    static const unsigned char nothing[1];
    const unsigned char *begin = data == NULL ? nothing : data;
    return (lw__reader){.at = begin, .end = begin + (data == NULL ? 0 : count)};
}

static void fail(lw__reader *reader)
{
    reader->failed = true;
    reader->at = reader->end;
}

uint8_t lw__reader_u8(lw__reader *reader)
{
    if (reader->at == reader->end) {
        fail(reader);
        return 0;
    }
    return *reader->at++;
}

static uint64_t low_bytes(lw__reader *reader, size_t count)
{
    if ((size_t)(reader->end - reader->at) < count) {
        fail(reader);
        return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value |= (uint64_t)reader->at[i] << (8 * i);
    }
    reader->at += count;
    return value;
}

uint32_t lw__reader_u32le(lw__reader *reader)
{
    return (uint32_t)low_bytes(reader, 4);
}

uint64_t lw__reader_u64le(lw__reader *reader)
{
    return low_bytes(reader, 8);
}

uint64_t lw__reader_varint(lw__reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 7 * VARINT_BYTES; shift += 7) {
        uint8_t byte = lw__reader_u8(reader);
        if (shift == 63 && byte > 1) {
            break; /* more than 64 bits */
        }
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            return reader->failed ? 0 : value;
        }
    }
    fail(reader);
    return 0;
}

int64_t lw__reader_signed(lw__reader *reader)
{
    uint64_t value = lw__reader_varint(reader);
    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

lw_str lw__reader_text(lw__reader *reader)
{
    uint64_t count = lw__reader_varint(reader);
    if (count > (uint64_t)(reader->end - reader->at)) {
        fail(reader);
        return (lw_str){"", 0};
    }
    lw_str text = {(const char *)reader->at, (size_t)count};
    reader->at += count;
    return text;
}
