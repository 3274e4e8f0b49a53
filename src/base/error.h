/* SPDX-License-Identifier: Apache-2.0 */
/* Filling an lw_error: the one way failures are worded. */
#ifndef LW__BASE_ERROR_H
#define LW__BASE_ERROR_H

#include <laneway/error.h>

/* Returns early with the status of expr when it is a failure. The only control-flow macro. */
#define LW__TRY(expr)                                                                              \
    do {                                                                                           \
        lw_status try_status_ = (expr);                                                            \
        if (try_status_ < 0) {                                                                     \
            return try_status_;                                                                    \
        }                                                                                          \
    } while (0)

/*
 * Writes one line "<layer>: <object>: <found>, expected <what>" into err (which may be NULL) and
 * returns status. Control characters in the finished line become '?', so it stays one line.
 */
lw_status lw__fail(lw_error *err, lw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed system call; appends ": " and the text of os_errno. */
lw_status lw__fail_os(lw_error *err, lw_status status, int os_errno, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Out of memory: "memory: <bytes> bytes for <what> are not to be had". */
lw_status lw__fail_nomem(lw_error *err, size_t bytes, const char *what);

#endif
