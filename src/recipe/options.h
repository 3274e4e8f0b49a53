/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table and the shape it gives a recipe.
 *
 * Options are named by pattern: dotted keys, with "[]" after the name of a list of maps, as in
 * "sources[].weight". A pattern stands for an option, a map of more keys, or a list of maps.
 */
#ifndef LW__RECIPE_OPTIONS_H
#define LW__RECIPE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Patterns in the table are shorter than this, the end included. */
#define LW__PATTERN_BYTES 64
/* What a weight of 1 is stored as. */
#define LW__WEIGHT_ONE UINT64_C(1000000000)
/* The prefix of the options that each source has. */
#define LW__PER_SOURCE "sources[]."

typedef enum lw__option_type {
    LW__OPTION_WHOLE,        /* uint64_t */
    LW__OPTION_BYTES,        /* uint64_t */
    LW__OPTION_WEIGHT,       /* uint64_t, times 10^9 */
    LW__OPTION_BOOL,         /* bool */
    LW__OPTION_ENUM,         /* unsigned, an index into names */
    LW__OPTION_NAME,         /* const char *, one of names or NULL */
    LW__OPTION_TEXT,         /* const char * */
    LW__OPTION_TEXT_OR_NULL, /* const char * */
    LW__OPTION_TEXTS,        /* paths of a lw__source_settings: one text, or a list of them */
    LW__OPTION_BOOL_OR_TEXT, /* const char *: NULL false, "" true */
    LW__OPTION_ID_OR_NULL,   /* int64_t, -1 for null */
    LW__OPTION_ONLY_NULL,    /* other values are for a later release */
    LW__OPTION_ONLY_EMPTY    /* the same, of lists */
} lw__option_type;

typedef enum lw__option_effect { LW__STREAM, LW__SPEED } lw__option_effect;

typedef struct lw__option {
    const char *key;
    lw__option_type type;
    lw__option_effect effect;
    const char *initial; /* the default as in a recipe; NULL: the option is required */
    uint64_t min;        /* of whole numbers and bytes */
    uint64_t max;
    const char *const *names; /* ends with NULL */
    size_t offset;            /* in lw__settings or lw__source_settings */
    bool stored;              /* has a place there */
    /*
     * A STREAM option whose own text is no part of the fingerprint: a path (the files it names are
     * compared instead) or a source's name (the keys of its other fields hold it).
     */
    bool covered;
    const char *text;
} lw__option;

typedef enum lw__shape_kind {
    LW__SHAPE_NONE,
    LW__SHAPE_OPTION,
    LW__SHAPE_MAP,
    LW__SHAPE_LIST
} lw__shape_kind;

/* The rows in order; the per-source ones follow one another. */
const lw__option *lw__options(size_t *count);
bool lw__option_is_per_source(const lw__option *option);
/* The key below its group: "weight" of "sources[].weight". */
const char *lw__option_leaf(const lw__option *option);

/* What a pattern stands for; "" is the recipe itself. *option is set for an option. */
lw__shape_kind lw__options_shape(const char *pattern, const lw__option **option);
/*
 * Writes the pattern of the member `key` of the map `pattern` to out (LW__PATTERN_BYTES) and gives
 * what it stands for: NONE, and out unset, for a key that is not known there.
 */
lw__shape_kind lw__options_member(const char *pattern, const char *key, size_t key_bytes, char *out,
                                  const lw__option **option);
/* Writes the pattern of the items of the list `pattern` to out (LW__PATTERN_BYTES). */
lw__shape_kind lw__options_item(const char *pattern, char *out);
/* The member of the map `pattern` with the smallest edit distance to key; borrowed, not ended. */
lw_str lw__options_nearest(const char *pattern, const char *key, size_t key_bytes);

/* Appends which values the option takes, as in "a whole number from 1 to 16777216". */
void lw__option_put_expected(const lw__option *option, lw__bytes *out);

#endif
