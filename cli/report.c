/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures of the command itself, in the form of the library's, and the line that reports either.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "cli.h"

lw_status lw__cli_fail(lw_error *err, lw_status status, const char *format, ...)
{
    va_list list;
    memset(err, 0, sizeof *err);
    err->status = status;
    va_start(list, format);
    vsnprintf(err->message, sizeof err->message, format, list);
    va_end(list);
    return status;
}

lw_status lw__cli_fail_os(lw_error *err, const char *what, const char *path)
{
    int reason = errno;
    char text[128];
    lw__cli_fail(err, LW_E_IO, "%s \"%s\": %s", what, path, strerror_r(reason, text, sizeof text));
    err->os_errno = reason;
    return LW_E_IO;
}

int lw__cli_report(const lw_error *err)
{
    fprintf(stderr, "laneway: %s\n", err->message);
    return LW__CLI_FAILED;
}

double lw__cli_seconds(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
