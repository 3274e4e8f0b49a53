/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States as folders of pieces (laneway state split, merge): one file <name>.piece for each.
 */
#ifndef LW__CLI_PIECES_H
#define LW__CLI_PIECES_H

#include "cli.h"

/* Makes the folder if it is not there. */
lw_status lw__cli_pieces_write(const lw_state *state, const char *folder, lw_error *err);
lw_status lw__cli_pieces_read(const char *folder, lw_state **out, lw_error *err);

#endif
