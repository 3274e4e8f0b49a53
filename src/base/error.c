/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wording of failures. A message is cut at the room that lw_error has, never inside a character,
 * and is made one line of UTF-8 whatever its parts were (a path may hold any bytes).
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Cuts the character that the end of the room went through. */
static void cut_broken_end(char *message, size_t count)
{
    size_t begin = count;
    while (begin > 0 && count - begin < 3 && ((unsigned char)message[begin - 1] & 0xC0) == 0x80) {
        begin--;
    }
    if (begin > 0 && lw__utf8_check(message + begin - 1, count - begin + 1) == 0) {
        message[begin - 1] = '\0';
    }
}

static void make_one_line(char *message)
{
    size_t count = strlen(message);
    for (size_t at = 0; at < count; at++) {
        at += lw__utf8_check(message + at, count - at);
        if (at < count) {
            message[at] = '?';
        }
    }
    for (char *c = message; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F) {
            *c = '?';
        }
    }
}

static uint32_t flags_of(int os_errno)
{
    switch (os_errno) {
    case EAGAIN:
    case EBUSY:
    case EINTR:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ETIMEDOUT:
        return LW_ERROR_RETRIABLE;
    default:
        return 0;
    }
}

__attribute__((format(printf, 4, 0))) static void fill(lw_error *err, lw_status status,
                                                       int os_errno, const char *format,
                                                       va_list args)
{
    memset(err, 0, sizeof *err);
    err->status = status;
    err->os_errno = os_errno;
    err->flags = flags_of(os_errno);
    size_t room = sizeof err->message;
    int wanted = vsnprintf(err->message, room, format, args);
    size_t used = strlen(err->message);
    if (os_errno != 0 && used + 1 < room) {
        char text[128];
        wanted = snprintf(err->message + used, room - used, ": %s",
                          strerror_r(os_errno, text, sizeof text));
        room -= used;
    }
    if (wanted < 0 || (size_t)wanted >= room) {
        cut_broken_end(err->message, strlen(err->message));
    }
    make_one_line(err->message);
}

lw_status lw__fail(lw_error *err, lw_status status, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        fill(err, status, 0, format, args);
        va_end(args);
    }
    return status;
}

lw_status lw__fail_os(lw_error *err, lw_status status, int os_errno, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        fill(err, status, os_errno, format, args);
        va_end(args);
    }
    return status;
}

lw_status lw__fail_nomem(lw_error *err, size_t bytes, const char *what)
{
    return lw__fail(err, LW_E_NOMEM, "memory: %zu bytes for %s are not to be had", bytes, what);
}

const char *lw_status_name(lw_status status)
{
    switch (status) {
    case LW_OK:
        return "LW_OK";
    case LW_END:
        return "LW_END";
    case LW_AGAIN:
        return "LW_AGAIN";
    case LW_E_INVALID:
        return "LW_E_INVALID";
    case LW_E_NOMEM:
        return "LW_E_NOMEM";
    case LW_E_UNSUPPORTED:
        return "LW_E_UNSUPPORTED";
    case LW_E_NOT_FOUND:
        return "LW_E_NOT_FOUND";
    case LW_E_IO:
        return "LW_E_IO";
    case LW_E_CORRUPT:
        return "LW_E_CORRUPT";
    case LW_E_OPERATOR:
        return "LW_E_OPERATOR";
    case LW_E_MISMATCH:
        return "LW_E_MISMATCH";
    case LW_E_CANCELLED:
        return "LW_E_CANCELLED";
    case LW_E_BUSY:
        return "LW_E_BUSY";
    case LW_E_INTERNAL:
        return "LW_E_INTERNAL";
    default:
        return "unknown";
    }
}
