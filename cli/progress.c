/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of progress on standard error, rewritten in place; only on a terminal, so that a log or a
 * pipe never sees it.
 */
#include <inttypes.h>
#include <unistd.h>

#include "cli.h"

#define SECONDS_BETWEEN 0.1 /* a person reads no faster */

void lw__cli_progress_begin(lw__cli_progress *progress, bool prints)
{
    *progress = (lw__cli_progress){0};
    progress->shown = isatty(STDERR_FILENO) == 1 && !(prints && isatty(STDOUT_FILENO) == 1);
    progress->begin = lw__cli_seconds();
}

void lw__cli_progress_step(lw__cli_progress *progress, uint64_t step, uint64_t tokens)
{
    progress->steps++;
    progress->tokens += tokens;
    if (!progress->shown) {
        return;
    }
    double now = lw__cli_seconds();
    if (now - progress->last < SECONDS_BETWEEN) {
        return;
    }
    progress->last = now;
    double seconds = now - progress->begin + 1e-9;
    fprintf(stderr, "\r\033[Kstep %" PRIu64 "  %.1f steps/s  %.0f tokens/s", step,
            (double)progress->steps / seconds, (double)progress->tokens / seconds);
    fflush(stderr);
}

void lw__cli_progress_end(lw__cli_progress *progress)
{
    if (progress->shown && progress->last > 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
