/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format layer: a source's shards, cut into blocks, read into documents.
 *
 *     dataset   the shards of one source, sorted by path bytes, and their blocks; immutable, Shared
 *     block     a plain shard's byte range, a group of zstd frames, or a whole sequential shard;
 *               numbered 0 .. N-1 over the source
 *     part      a block's lines are handed out in parts of about `block_bytes` of decoded text;
 *               a block of plain lines has exactly one
 *     cursor    decodes the parts of one block, front to back; Confined
 *
 * Which lines make which part is defined in docs/stream.md, "Blocks and parts".
 */
#ifndef LW__FORMAT_H
#define LW__FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

typedef struct lw__dataset lw__dataset;
typedef struct lw__cursor lw__cursor;

typedef enum lw__bad_policy {
    LW__BAD_FAIL,
    LW__BAD_SKIP,
    LW__BAD_REPLACE /* ill-formed UTF-8 becomes U+FFFD; other faults fail */
} lw__bad_policy;

typedef struct lw__dataset_options {
    const char *name;         /* of the source, for messages */
    const char *folder;       /* where relative paths start */
    const char *const *paths; /* each a file, a folder or a glob */
    size_t path_count;
    const char *format;   /* "jsonl", or NULL: by the shards' names */
    const char *text;     /* dotted path of the text field */
    uint64_t block_bytes; /* 0: chosen from the source's size and the lanes */
    uint64_t lanes;
    lw__bad_policy bad_policy;
    bool may_be_empty; /* shards without any block are fine (a source that ends at once) */
} lw__dataset_options;

typedef struct lw__shard {
    const char *path; /* as opened, relative to the working directory or absolute */
    const char *name; /* below the folder or the glob's fixed part: stays when the data move */
    uint64_t bytes;   /* of the file */
    uint64_t first_block;
    uint64_t block_count;
    bool sequential; /* one gzip or zstd stream: a single block */
} lw__shard;

lw_status lw__dataset_open(const lw__dataset_options *options, lw__dataset **out, lw_error *err);
void lw__dataset_close(lw__dataset *dataset);
const char *lw__dataset_name(const lw__dataset *dataset);
uint64_t lw__dataset_block_count(const lw__dataset *dataset);
uint64_t lw__dataset_block_bytes(const lw__dataset *dataset);
size_t lw__dataset_shard_count(const lw__dataset *dataset);
const lw__shard *lw__dataset_shard(const lw__dataset *dataset, size_t index);
/*
 * A hash of a shard's size and of samples of its bytes, taken evenly and up to 16 MiB for the
 * whole source: small sources are read in full. Tells an edited file from a moved one. Shared.
 */
lw_status lw__dataset_sample(const lw__dataset *dataset, size_t shard, uint32_t *out,
                             lw_error *err);
/* The index of the shard that holds a block. */
size_t lw__dataset_shard_of(const lw__dataset *dataset, uint64_t block);
/* Bytes that reading one part may need beyond the documents (buffers, decoder); for the budget. */
uint64_t lw__dataset_read_bytes(const lw__dataset *dataset);

/* The raw lines of one part; reused from part to part by one thread. */
typedef struct lw__text {
    unsigned char *data; /* lw__dataset_parse may change it; 64 readable bytes of slack follow */
    size_t count;
    size_t capacity;
    uint64_t at; /* decoded offset of data[0] from the start of the block */
} lw__text;

void lw__text_reset(lw__text *text);

/* What is wrong with one record. */
typedef struct lw__fault {
    const char *found;    /* static */
    const char *expected; /* static; NULL when found says it too */
    uint64_t at;          /* decoded offset from the start of the block */
} lw__fault;

typedef struct lw__document {
    const char *text; /* valid UTF-8 in the part's text (or its repairs); NULL with a fault */
    size_t bytes;
    const lw__fault *fault; /* NULL: fine */
} lw__document;

/* The records of one part in file order; reused from part to part by one thread. */
typedef struct lw__documents {
    lw__document *items;
    size_t count;
    size_t capacity;
    lw__fault **faults; /* each allocated alone, so pointers stay */
    size_t fault_count;
    size_t fault_capacity;
    char *repairs; /* texts that replacement made longer */
    size_t repair_capacity;
} lw__documents;

void lw__documents_reset(lw__documents *documents);

/* Opens a block and passes over its parts before first_part. */
lw_status lw__cursor_open(const lw__dataset *dataset, uint64_t block, uint64_t first_part,
                          lw__cursor **out, lw_error *err);
/* Reads the next part's lines; *last tells that no part follows. A part may be empty. */
lw_status lw__cursor_read(lw__cursor *cursor, lw__text *text, bool *last, lw_error *err);
void lw__cursor_close(lw__cursor *cursor);

/*
 * Splits the lines of a part into documents, decoding them in place. A bad record is an item
 * with a fault, never a failure of the call.
 */
lw_status lw__dataset_parse(const lw__dataset *dataset, lw__text *text, lw__documents *documents,
                            lw_error *err);

/*
 * The number of a part's first record within its shard (0-based; blank lines do not count).
 * Reads the shard up to there the first time, and remembers. Shared.
 */
lw_status lw__dataset_record_number(lw__dataset *dataset, uint64_t block, uint64_t part,
                                    uint64_t *out, lw_error *err);

/* Fills err with the line for a bad record (item `index` of a part) and returns LW_E_CORRUPT. */
lw_status lw__dataset_fail_record(lw__dataset *dataset, uint64_t block, uint64_t part, size_t index,
                                  const lw__fault *fault, lw_error *err);

/* Appends the shard and the number of a record (item `index` of a part) to the line in err. */
void lw__dataset_name_record(lw__dataset *dataset, uint64_t block, uint64_t part, size_t index,
                             lw_error *err);

#endif
