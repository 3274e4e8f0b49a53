/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grapheme clusters: what a reader takes for one character, by the extended rules of UAX #29.
 *
 * Whether a cluster ends depends on no character before it, so a walk from its start is enough.
 */
#ifndef LW__TOKENIZE_GRAPHEMES_H
#define LW__TOKENIZE_GRAPHEMES_H

#include <stddef.h>

/* The byte count of the cluster that starts at p (p < end), in a text of valid UTF-8. */
size_t lw__grapheme_bytes(const unsigned char *p, const unsigned char *end);

#endif
