/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normalizer of a tokenizer.json: steps that rewrite the text between added tokens, one after
 * the other.
 *
 * Text that a step leaves as it is, which is nearly all, is only looked at. A normalizer is part of
 * a vocabulary and never changes; a scratch belongs to one thread.
 */
#ifndef LW__TOKENIZE_NORMALIZE_H
#define LW__TOKENIZE_NORMALIZE_H

#include "base/bytes.h"
#include "tokenize/charsmap.h"
#include "tokenize/nfc.h"
#include "tokenize/regex.h"

#define LW__NORMAL_STEPS 16 /* most of them */

typedef enum lw__normal_kind {
    LW__NORMAL_FORM,    /* a normalization form */
    LW__NORMAL_LOWER,   /* each character in its small form, whatever is beside it */
    LW__NORMAL_STRIP,   /* white space at the ends is dropped */
    LW__NORMAL_UNMARK,  /* marks are dropped */
    LW__NORMAL_PREPEND, /* `text` is put before a text that is not empty */
    LW__NORMAL_REPLACE, /* `text` takes the place of `pattern` */
    LW__NORMAL_MAP      /* grapheme clusters become what the map says */
} lw__normal_kind;

typedef struct lw__normal {
    lw__normal_kind kind;
    lw__nfc_form form;
    bool left; /* of STRIP: which ends */
    bool right;
    lw__bytes text;
    lw__bytes pattern; /* not empty */
    lw__regex *regex;  /* owned; of such a pattern; NULL: it is a plain text */
    lw__charsmap *map; /* owned; of MAP: its bytes are the pattern */
} lw__normal;

typedef struct lw__normalizer {
    lw__normal steps[LW__NORMAL_STEPS];
    size_t count;
} lw__normalizer;

void lw__normal_reset(lw__normal *step);
void lw__normalizer_reset(lw__normalizer *normalizer);
/* Takes the step, also when there is no room; false then. */
bool lw__normalizer_put(lw__normalizer *normalizer, lw__normal *step);
/* All that it says, for a fingerprint. */
void lw__normalizer_write(const lw__normalizer *normalizer, lw__bytes *out);

/* What one thread needs. All zeros is ready for use. */
typedef struct lw__normal_scratch {
    lw__nfc forms[LW__NORMAL_STEPS]; /* by step, as is the rest */
    lw__bytes texts[LW__NORMAL_STEPS];
    lw__regex_scratch *regex; /* of all; made when one is run */
    lw__bytes classes;
} lw__normal_scratch;

void lw__normal_scratch_reset(lw__normal_scratch *scratch);

/* What a text of valid UTF-8 becomes: a part of it, or bytes that hold until the next call. */
lw_status lw__normalize(const lw__normalizer *normalizer, lw__normal_scratch *scratch, lw_str text,
                        lw_str *out, lw_error *err);

#endif
