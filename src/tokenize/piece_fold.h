/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last steps of a normalizer that preparing a text does on its way: spaces that become U+2581,
 * and one that is put before the text. They need no text of their own then.
 */
#ifndef LW__TOKENIZE_PIECE_FOLD_H
#define LW__TOKENIZE_PIECE_FOLD_H

#include "tokenize/vocab.h"

/* Whether no space is left in any text, as each is U+2581. */
bool lw__piece_fold_escapes(const lw__normalizer *normalizer);
/*
 * Takes such steps off the normalizer of a SentencePiece vocabulary, unless added tokens are looked
 * for in what they leave, or that is cut in steps or words.
 */
lw_status lw__piece_fold(lw__vocab *vocab, bool special_text, lw_error *err);

#endif
