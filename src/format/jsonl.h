/* SPDX-License-Identifier: Apache-2.0 */
/* The record format "jsonl": lines of a part in, documents out. Inside the format layer only. */
#ifndef LW__FORMAT_JSONL_H
#define LW__FORMAT_JSONL_H

#include "format/format.h"

typedef struct lw__jsonl_key {
    char *data;
    size_t bytes;
} lw__jsonl_key;

typedef struct lw__jsonl_options {
    char *field;         /* as the recipe has it, for messages */
    lw__jsonl_key *keys; /* the field's path, split at its dots */
    size_t key_count;    /* 0: the field is the record itself */
    lw__bad_policy bad_policy;
} lw__jsonl_options;

/* Splits field at dots ("\." is a dot in a key); "." alone is the whole record. options must be empty; reset frees them. */
lw_status lw__jsonl_init(lw__jsonl_options *options, const char *source, const char *field,
                         lw__bad_policy bad_policy, lw_error *err);
void lw__jsonl_reset(lw__jsonl_options *options);

lw_status lw__jsonl_parse(const lw__jsonl_options *options, lw__text *text,
                          lw__documents *documents, lw_error *err);

/* The number of lines that are records, good or bad. */
uint64_t lw__jsonl_count(const unsigned char *lines, size_t count);

/* Where a bad record is. */
typedef struct lw__record_place {
    const char *path;
    bool is_counted; /* record and byte are known; otherwise block says where */
    uint64_t record; /* in the shard */
    uint64_t byte;   /* of the fault, in the decoded shard */
    uint64_t block;
} lw__record_place;

/* Fills err with the line for a bad record and returns LW_E_CORRUPT. */
lw_status lw__jsonl_fail(const lw__jsonl_options *options, const lw__record_place *place,
                         const lw__fault *fault, lw_error *err);

#endif
