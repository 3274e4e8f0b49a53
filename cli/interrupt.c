/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT and SIGTERM: noted, so that a run ends after its present step with its state saved.
 *
 * The handler sets a flag; whoever waits does so with a time-out and looks at it. The first signal
 * also brings the default action back, so that a second one ends a program that hangs.
 */
#include <signal.h>
#include <string.h>

#include "cli.h"

static volatile sig_atomic_t noted_signal;

static void note_signal(int number)
{
    noted_signal = number;
    signal(number, SIG_DFL);
}

void lw__cli_interrupt_watch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int lw__cli_interrupted(void)
{
    return (int)noted_signal;
}
