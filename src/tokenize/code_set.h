/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of code points, as regexes write them: ranges, properties, and what is made of them.
 *
 * A set is in order when its ranges ascend and do not touch; lw__code_set_order makes it so. A set
 * remembers that memory ran out and ignores what comes after; callers check once, at the end.
 */
#ifndef LW__TOKENIZE_CODE_SET_H
#define LW__TOKENIZE_CODE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#define LW__LAST_CODE 0x10FFFFu

typedef struct lw__code_range {
    uint32_t first;
    uint32_t last;
} lw__code_range;

/* All zeros is the empty set. */
typedef struct lw__code_set {
    lw__code_range *ranges;
    size_t count;
    size_t capacity;
    bool failed; /* memory ran out */
} lw__code_set;

void lw__code_set_reset(lw__code_set *set);
void lw__code_set_put(lw__code_set *set, uint32_t first, uint32_t last);
void lw__code_set_put_all(lw__code_set *set, const lw__code_set *other);
void lw__code_set_order(lw__code_set *set);
/* The following take sets in any order and leave them in order. */
void lw__code_set_negate(lw__code_set *set);
void lw__code_set_intersect(lw__code_set *set, lw__code_set *other);
/* Of a set in order. */
bool lw__code_set_has(const lw__code_set *set, uint32_t code);

/* The White_Space property. */
void lw__code_set_put_spaces(lw__code_set *set);
/* Letters, marks, decimal digits and what joins words. */
void lw__code_set_put_words(lw__code_set *set);
/* Puts a general category ("Lu"), a group of them ("L") or a script that is known ("Han"). */
bool lw__code_set_put_property(lw__code_set *set, lw_str name);

#endif
