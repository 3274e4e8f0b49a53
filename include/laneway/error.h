/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes and the error a failing call fills.
 *
 * Every fallible function returns an lw_status and takes an optional lw_error as its last
 * argument. The error is written only on failure, once, by the place that knows most.
 */
#ifndef LANEWAY_ERROR_H
#define LANEWAY_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LW_API        __attribute__((visibility("default")))
#define LW_MUST_CHECK __attribute__((warn_unused_result))
#else
#define LW_API
#define LW_MUST_CHECK
#endif

/** Zero: done. Positive: fine, but no value. Negative: failed. Values are pinned. */
typedef int32_t lw_status;

#define LW_OK            0
#define LW_END           1     /* the stream has ended; so will every later call */
#define LW_AGAIN         2     /* the time-out passed first, or the caller's memory is too small */
#define LW_E_INVALID     (-1)  /* an argument or a recipe is wrong */
#define LW_E_NOMEM       (-2)  /* memory, or the byte budget, does not suffice */
#define LW_E_UNSUPPORTED (-3)  /* right in itself, but not in this build */
#define LW_E_NOT_FOUND   (-4)  /* a file, a field or a step is not there */
#define LW_E_IO          (-5)  /* the operating system or a store refused */
#define LW_E_CORRUPT     (-6)  /* bytes are not what their format says */
#define LW_E_OPERATOR    (-7)  /* an operator failed or broke its contract */
#define LW_E_MISMATCH    (-8)  /* a state belongs to another recipe, file set or library */
#define LW_E_CANCELLED   (-9)  /* lw_pipeline_cancel was called */
#define LW_E_BUSY        (-10) /* not now: something is still held */
#define LW_E_INTERNAL    (-11) /* a fault of this library */

#define LW_ERROR_RETRIABLE 1u /* flag: the same call can succeed later */

/** Filled by a failing call; 512 bytes, frozen. The message is one line of UTF-8. */
typedef struct lw_error {
    int32_t status;
    int32_t os_errno; /* 0 if the operating system had no part in it */
    uint32_t flags;   /* LW_ERROR_* */
    uint32_t tag;     /* a program's operator's own, kept with its failure; 0 elsewhere */
    char message[496];
} lw_error;

/** Bytes that may hold NUL; borrowed. */
typedef struct lw_str {
    const char *data;
    size_t bytes;
} lw_str;

/** The name of a status, as in "LW_E_IO"; "unknown" for a value that is none. Shared. Since 0.1. */
LW_API const char *lw_status_name(lw_status status);

#ifdef __cplusplus
}
#endif

#endif
