/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting in steps: each cuts every piece of the one before, which is a text of its own to it. For
 * vocabularies whose pre_tokenizer or pattern is none of the families in split.h.
 *
 * A step finds matches, by a regex or as a family does, and says what becomes of them and of what
 * lies between. Steps are part of a vocabulary and never change; a walk belongs to one thread.
 */
#ifndef LW__TOKENIZE_SPLIT_STEPS_H
#define LW__TOKENIZE_SPLIT_STEPS_H

#include "tokenize/regex.h"
#include "tokenize/split.h"

#define LW__STEPS 8 /* most of them */

typedef enum lw__step_behavior {
    LW__STEP_ISOLATED,      /* each match and each gap is a piece */
    LW__STEP_REMOVED,       /* each gap is one */
    LW__STEP_CONTIGUOUS,    /* neighbours that match are one */
    LW__STEP_WITH_PREVIOUS, /* a match belongs to the gap before it */
    LW__STEP_WITH_NEXT      /* or to the gap behind it */
} lw__step_behavior;

typedef struct lw__step {
    lw__regex *regex; /* owned; NULL: cuts as the family does */
    lw__split_rules rules;
    lw__step_behavior behavior;
    bool inverted; /* gaps are what matches */
} lw__step;

typedef struct lw__steps {
    lw__step items[LW__STEPS];
    size_t count;
    lw__bytes text; /* all that they say, for a fingerprint */
} lw__steps;

void lw__steps_reset(lw__steps *steps);
/* Takes the regex, also when there is no room; false then. `text` is what makes the step. */
bool lw__steps_put(lw__steps *steps, const lw__step *step, lw_str text);

/* What one thread needs. All zeros is ready for lw__steps_scratch_create. */
typedef struct lw__steps_scratch {
    lw__regex_scratch *regex;
    lw__bytes classes[LW__STEPS];
} lw__steps_scratch;

lw_status lw__steps_scratch_create(lw__steps_scratch *scratch, lw_error *err);
void lw__steps_scratch_reset(lw__steps_scratch *scratch);

/* Takes a piece; when the last step is a family alone, it still has to be cut by that. */
typedef lw_status lw__steps_taker(void *context, const unsigned char *piece, size_t bytes,
                                  lw_error *err);

/* Cuts a text by the first `count` steps and gives the pieces to the taker, in order. */
lw_status lw__steps_walk(const lw__steps *steps, size_t count, lw__steps_scratch *scratch,
                         const unsigned char *text, size_t bytes, lw__steps_taker *taker,
                         void *context, lw_error *err);

#endif
