/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator interface. The built-in packers and the row shuffle are written on it, and so are
 * the operators of a program's own (lw_recipe_add_operator, examples/custom_operator.c).
 *
 * An operator has up to two halves:
 *
 *   accumulator  serial, one per lane; is pushed the lane's records one by one, in stream order,
 *                and decides: hands on, drops, holds back, groups. It must depend on nothing but the
 *                records and its options: no clock, no environment, no state shared between lanes.
 *   worker       parallel and stateless; any thread, any order, nothing kept between calls.
 *
 * Its phase says where it stands and what a record is:
 *
 *   LW_PHASE_DOCUMENT  worker: the documents of a part before tokenizing (text);
 *                      accumulator: tokenized documents after the mixer, before the packer
 *   LW_PHASE_PACK      accumulator only: documents in, rows out (the built-in packers)
 *   LW_PHASE_ROW       accumulator: rows between packer and shuffle;
 *                      worker: each finished row before it is delivered
 *
 * Conservation: of every record pushed it must be known where it went: put, dropped, used up
 * (lw_sink_use, every token in a row or dropped), or held and then saved. The engine checks this at
 * every marker and at the end; a violation fails the pipeline with LW_E_OPERATOR.
 *
 * Unstable: the interface may change until 1.0.
 */
#ifndef LANEWAY_OP_H
#define LANEWAY_OP_H

#include <laneway/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LW_PHASE_DOCUMENT 1u
#define LW_PHASE_PACK     2u
#define LW_PHASE_ROW      3u

/* Above a segment's 32 bits of record: which of the documents that workers made of that record. */
#define LW_CHILD_SHIFT 32u

#define LW_SHIFT_STREAM   0u /* labels.shift: stream */
#define LW_SHIFT_DOCUMENT 1u /* labels.shift: document */

#define LW_GROUP_MAX 65536

/*
 * Set in a token that nothing is to be learnt from: the place before it has no label. The rest of
 * such a token is its id. There are none without lw_document_supervise().
 */
#define LW_TOKEN_UNSUPERVISED INT32_MIN
#define LW_TOKEN_ID(token)    ((token)&INT32_MAX)

typedef struct lw_record lw_record; /* a document or a row */
typedef struct lw_sink lw_sink;     /* where records go; valid during the call */
typedef struct lw_writer lw_writer; /* an accumulator's carry, being saved */
typedef struct lw_reader lw_reader; /* the same, being loaded */

/** What an accumulator may know of its surroundings; borrowed for its lifetime. */
typedef struct lw_op_context {
    size_t struct_size;
    uint64_t seed;
    uint64_t lane;
    uint64_t context; /* input tokens a row */
    uint32_t shift;   /* LW_SHIFT_* */
    uint32_t reserved;
} lw_op_context;

/** Some tokens of a document; tokens count its inputs. */
typedef struct lw_segment {
    uint32_t source; /* index in the recipe */
    uint32_t part;   /* of the block */
    uint64_t epoch;
    uint64_t block;    /* index in the source */
    uint64_t document; /* number of the record in the part, in file order; see LW_CHILD_SHIFT */
    uint64_t first;    /* input token of the document */
    uint64_t count;
} lw_segment;

/** Bytes of a text, from `first` up to `end`. */
typedef struct lw_text_span {
    uint64_t first;
    uint64_t end;
} lw_text_span;

/** A finished row, as a worker sees it: `context` values each; all but tokens may be changed. */
typedef struct lw_row_arrays {
    size_t struct_size;
    uint64_t context;
    const int32_t *tokens;
    int32_t *positions;
    int32_t *labels;
    uint8_t *loss_mask;
} lw_row_arrays;

/** The functions of an operator. NULL where a half is not there. */
typedef struct lw_op_type {
    size_t struct_size; /* sizeof(lw_op_type) */
    const char *name;   /* "pack"; part of the fingerprint */
    uint32_t version;   /* +1 whenever the output for the same input changes */
    uint32_t phase;     /* LW_PHASE_* */
    /* Makes a lane's accumulator. acc_create, one way to push, and acc_destroy go together. */
    lw_status (*acc_create)(const void *op, const lw_op_context *context, void **acc,
                            lw_error *err);
    /* Takes one record. What it does not put, drop or use up it holds. */
    lw_status (*acc_push)(void *acc, lw_record *rec, lw_sink *out, lw_error *err);
    /* The lane's data has ended: hands on all that is held. NULL: nothing is ever held. */
    lw_status (*acc_flush)(void *acc, lw_sink *out, lw_error *err);
    /* Writes integers and all held records (lw_writer_record). Both or neither with acc_load. */
    lw_status (*acc_save)(const void *acc, lw_writer *carry, lw_error *err);
    /* Reads them back, in the same order, into a new accumulator. */
    lw_status (*acc_load)(void *acc, lw_reader *carry, lw_error *err);
    void (*acc_destroy)(void *acc);
    /* DOCUMENT: a part's documents, each to be put (in order) or dropped; where it fails, the one
       after those is named. ROW: one row. */
    lw_status (*work)(const void *op, lw_record *const *group, size_t group_count, lw_sink *out,
                      lw_error *err);
    /*
     * In the place of acc_push: takes up to group_count records at a time, fewer at the end. Until
     * then the engine holds them, also over a save. *done, 0 at first, counts those taken: where the
     * call fails it is the record after them that is named.
     */
    lw_status (*acc_push_group)(void *acc, lw_record *const *group, size_t count, size_t *done,
                                lw_sink *out, lw_error *err);
    uint64_t group_count; /* 1 to LW_GROUP_MAX; with acc_push_group only */
} lw_op_type;

/* ---- documents ---------------------------------------------------------------------------- */

/** Input tokens (with LW_SHIFT_DOCUMENT one fewer than tokens). Not for workers. Since 0.1. */
LW_API uint64_t lw_document_length(const lw_record *document);
/** All tokens (LW_TOKEN_ID); borrowed while the record is. Not for workers. Since 0.1. */
LW_API const int32_t *lw_document_tokens(const lw_record *document, size_t *count);
/** Index of its source in the recipe. Since 0.1. */
LW_API uint32_t lw_document_source(const lw_record *document);
/** The text; for workers only; borrowed during the call. Since 0.1. */
LW_API lw_str lw_document_text(const lw_record *document);
/** Replaces the text (copied; must be UTF-8); for workers only. Errors NOMEM, OPERATOR. Since 0.1. */
LW_API lw_status lw_document_set_text(lw_record *document, const char *data, size_t bytes,
                                      lw_error *err) LW_MUST_CHECK;
/**
 * Says which bytes of the text are to be learnt: of the tokens those that hold one of them, or a part
 * of one. The labels of all others are left out, also of a BOS and an EOS around the text. The text
 * may not change after that. Without this call all tokens are learnt.
 *
 * @param spans  in order, apart, within the text and of whole characters; copied; may be NULL when count is 0
 * Errors   NOMEM, OPERATOR (no text of a worker, spans that are none, said before)
 * Threads  the worker's
 * Since    0.1, unstable
 */
LW_API lw_status lw_document_supervise(lw_record *document, const lw_text_span *spans, size_t count,
                                       lw_error *err) LW_MUST_CHECK;

/* ---- rows --------------------------------------------------------------------------------- */

/** Input tokens the row holds. Since 0.1. */
LW_API uint64_t lw_row_fill(const lw_record *row);
LW_API size_t lw_row_segment_count(const lw_record *row);
LW_API lw_segment lw_row_segment(const lw_record *row, size_t index);
/** The row's values, for ROW workers only; struct_size is set by the caller. Since 0.1. */
LW_API lw_status lw_row_get(lw_record *row, lw_row_arrays *out, lw_error *err) LW_MUST_CHECK;

/** Adds `count` input tokens of a document, from `first` on, to a row made by lw_sink_row. */
LW_API lw_status lw_row_append(lw_record *row, lw_record *document, uint64_t first, uint64_t count,
                               lw_error *err) LW_MUST_CHECK;
/**
 * Says which token follows the row's last one: token `first` of a document. Without this call it is
 * the next token of the last segment's document, if there is one.
 */
LW_API lw_status lw_row_follow(lw_record *row, const lw_record *document, uint64_t first,
                               lw_error *err) LW_MUST_CHECK;

/* ---- sinks -------------------------------------------------------------------------------- */

/** Hands a record on; it belongs to the engine again. */
LW_API lw_status lw_sink_put(lw_sink *sink, lw_record *rec, lw_error *err) LW_MUST_CHECK;
/** Gives a record up; it is counted as dropped. */
LW_API lw_status lw_sink_drop(lw_sink *sink, lw_record *rec, lw_error *err) LW_MUST_CHECK;
/**
 * Hands on a further document, made of `parent`, which must be the next of the group to be put or
 * dropped: it comes before the parent. The text is copied and must be UTF-8. A parent that is dropped
 * then does not count as dropped. DOCUMENT workers only. Errors NOMEM, OPERATOR. Since 0.1.
 */
LW_API lw_status lw_sink_make(lw_sink *sink, const lw_record *parent, const char *data,
                              size_t bytes, lw_error *err) LW_MUST_CHECK;
/** Says that every token of a document has been appended to rows. PACK only. */
LW_API lw_status lw_sink_use(lw_sink *sink, lw_record *document, lw_error *err) LW_MUST_CHECK;
/** A new empty row, held by the accumulator until it puts it. PACK only. */
LW_API lw_status lw_sink_row(lw_sink *sink, lw_record **row, lw_error *err) LW_MUST_CHECK;

/* ---- carries ------------------------------------------------------------------------------ */

/** Writes one integer. Failures are kept and reported when the carry is complete. */
LW_API void lw_writer_put(lw_writer *carry, uint64_t value);
/** Writes one held record, as references. */
LW_API void lw_writer_record(lw_writer *carry, const lw_record *rec);
/** Writes bytes and their count. */
LW_API void lw_writer_bytes(lw_writer *carry, const void *data, size_t count);
LW_API uint64_t lw_reader_get(lw_reader *carry);
/** Reads bytes back; borrowed during the call of acc_load; none when the carry ends early. */
LW_API lw_str lw_reader_bytes(lw_reader *carry);
/** Reads one held record back; its tokens are there when acc_push is next called. */
LW_API lw_status lw_reader_record(lw_reader *carry, lw_record **rec, lw_error *err) LW_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
