/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output: text is collected in memory and written when it is flushed, so that a step that
 * fails half-way leaves nothing behind, and every write error is seen and reported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Room for so many more bytes, or no_memory. */
static bool reserve_bytes(lw__cli_output *out, size_t more)
{
    if (out->no_memory || more > SIZE_MAX / 4 - out->bytes) {
        out->no_memory = true;
        return false;
    }
    if (out->bytes + more <= out->capacity) {
        return true;
    }
    size_t capacity = (out->bytes + more) * 2 + 4096;
    char *data = realloc(out->data, capacity);
    if (data == NULL) {
        out->no_memory = true;
        return false;
    }
    out->data = data;
    out->capacity = capacity;
    return true;
}

void lw__cli_put(lw__cli_output *out, const char *data, size_t bytes)
{
    if (bytes > 0 && reserve_bytes(out, bytes)) {
        memcpy(out->data + out->bytes, data, bytes);
        out->bytes += bytes;
    }
}

void lw__cli_put_text(lw__cli_output *out, const char *text)
{
    lw__cli_put(out, text, strlen(text));
}

void lw__cli_put_char(lw__cli_output *out, char character)
{
    lw__cli_put(out, &character, 1);
}

void lw__cli_put_uint(lw__cli_output *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    lw__cli_put(out, digits + at, sizeof digits - at);
}

void lw__cli_put_int(lw__cli_output *out, int64_t value)
{
    if (value < 0) {
        lw__cli_put_char(out, '-');
    }
    lw__cli_put_uint(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void lw__cli_put_hex(lw__cli_output *out, const uint8_t *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes; i++) {
        char pair[2] = {digits[data[i] >> 4], digits[data[i] & 15]};
        lw__cli_put(out, pair, sizeof pair);
    }
}

void lw__cli_put_json(lw__cli_output *out, const char *text)
{
    lw__cli_put_char(out, '"');
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\') {
            lw__cli_put_char(out, '\\');
            lw__cli_put_char(out, *at);
        } else if (byte < 0x20) {
            lw__cli_put_text(out, "\\u00");
            lw__cli_put_hex(out, &byte, 1);
        } else {
            lw__cli_put_char(out, *at);
        }
    }
    lw__cli_put_char(out, '"');
}

lw_status lw__cli_flush(lw__cli_output *out, lw_error *err)
{
    size_t done = 0;
    if (out->no_memory) {
        return lw__cli_fail(err, LW_E_NOMEM, "output: no memory for the text");
    }
    while (done < out->bytes) {
        ssize_t written = write(STDOUT_FILENO, out->data + done, out->bytes - done);
        if (written < 0 && errno != EINTR) {
            return lw__cli_fail_os(err, "output: write to", "standard output");
        }
        done += written > 0 ? (size_t)written : 0;
    }
    out->bytes = 0;
    return LW_OK;
}

void lw__cli_output_reset(lw__cli_output *out)
{
    free(out->data);
    memset(out, 0, sizeof *out);
}

int lw__cli_print(const char *text)
{
    lw__cli_output out = {0};
    lw_error err;
    lw__cli_put_text(&out, text);
    if (out.bytes == 0 || out.data[out.bytes - 1] != '\n') {
        lw__cli_put_char(&out, '\n');
    }
    lw_status status = lw__cli_flush(&out, &err);
    lw__cli_output_reset(&out);
    return status == LW_OK ? LW__CLI_DONE : lw__cli_report(&err);
}
