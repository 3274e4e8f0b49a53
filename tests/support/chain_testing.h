/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of accumulators outside a lane, fed with documents made by hand.
 *
 * Document n is called 'a' + n and has the tokens 1000 n + 0, 1, 2 ...; so a row's text, as
 * "a[0..3) b[0..1) >b1;", says all there is: its segments, and the token its last label is.
 */
#ifndef LW__TEST_CHAIN_TESTING_H
#define LW__TEST_CHAIN_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "engine/chain.h"

enum { BENCH_TEXT = 1 << 16, BENCH_TOKENS = 512, BENCH_STRIDE = 1000 };

typedef struct bench {
    lw__store store;
    lw__chain chain;
    lw__remake_list remake;
    int32_t tokens[BENCH_TOKENS]; /* of the document being pushed */
    char text[BENCH_TEXT];        /* rows that have left */
    size_t used;
} bench;

static inline lw_status bench_try_open(bench *b, const lw__operator *operators, size_t count,
                                       uint64_t context, uint32_t shift, lw_error *err)
{
    lw_op_context given = {
        .struct_size = sizeof given, .seed = 5, .lane = 3, .context = context, .shift = shift};
    memset(b, 0, sizeof *b);
    b->store = (lw__store){.context = context, .shift = shift};
    return lw__chain_open(&b->chain, operators, count, &given, &b->store, err);
}

static inline void bench_open(bench *b, const lw__operator *operators, size_t count,
                              uint64_t context, uint32_t shift)
{
    assert_int_equal(bench_try_open(b, operators, count, context, shift, NULL), LW_OK);
}

static inline void bench_close(bench *b)
{
    lw__chain_close(&b->chain);
    lw__store_reset(&b->store);
    lw__free(b->remake.items);
}

__attribute__((format(printf, 2, 3))) static inline void bench_print(bench *b, const char *format,
                                                                     ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(b->text + b->used, BENCH_TEXT - b->used, format, arguments);
    va_end(arguments);
    assert_in_range(count, 0, BENCH_TEXT - b->used - 1);
    b->used += (size_t)count;
}

static inline char bench_letter(uint64_t document)
{
    return (char)('a' + document);
}

static inline void bench_print_row(bench *b, const lw_record *rec)
{
    const lw__row *row = &rec->u.row;
    int32_t label = lw__row_last_label(row);
    uint64_t fill = 0;
    for (size_t i = 0; i < row->piece_count; i++) {
        const lw_segment *s = &row->pieces[i].segment;
        for (uint64_t k = 0; k < s->count; k++) {
            assert_int_equal(row->tokens[fill + k], s->document * BENCH_STRIDE + s->first + k);
        }
        fill += s->count;
        bench_print(b, "%c[%u..%u) ", bench_letter(s->document), (unsigned)s->first,
                    (unsigned)(s->first + s->count));
    }
    assert_int_equal(fill, row->fill);
    if (label == LW__NO_TOKEN) {
        bench_print(b, ">-;");
    } else {
        bench_print(b, ">%c%d;", bench_letter((uint64_t)label / BENCH_STRIDE),
                    label % BENCH_STRIDE);
    }
}

/* Writes down the rows that have left, and gives them back to the store. */
static inline void bench_take(bench *b)
{
    lw_record *row = b->chain.out_head;
    b->chain.out_head = NULL;
    b->chain.out_tail = NULL;
    while (row != NULL) {
        lw_record *next = row->next;
        bench_print_row(b, row);
        lw__store_put(&b->store, row);
        row = next;
    }
}

/* What left since the last call. */
static inline const char *bench_left(bench *b)
{
    static char text[BENCH_TEXT];
    bench_take(b);
    memcpy(text, b->text, b->used + 1);
    b->used = 0;
    b->text[0] = 0;
    return text;
}

/* Tokens of a document of some length: with the document shift one more than inputs. */
static inline size_t bench_token_count(const bench *b, uint64_t length)
{
    return (size_t)length + (b->store.shift == LW_SHIFT_DOCUMENT ? 1 : 0);
}

static inline lw_record *bench_document(bench *b, uint64_t number, uint64_t length)
{
    lw_record *rec = NULL;
    size_t count = bench_token_count(b, length);
    assert_true(count <= BENCH_TOKENS);
    assert_int_equal(lw__store_doc(&b->store, &rec, NULL), LW_OK);
    for (size_t i = 0; i < count; i++) {
        b->tokens[i] = (int32_t)(number * BENCH_STRIDE + i);
    }
    rec->u.doc = (lw__doc){.place = {.source = (uint32_t)(number % 3),
                                     .part = (uint32_t)(number % 2),
                                     .block = number / 4,
                                     .document = number},
                           .j = number / 4,
                           .tokens = b->tokens,
                           .token_count = count,
                           .length = length};
    return rec;
}

static inline lw_status bench_try_push(bench *b, uint64_t number, uint64_t length, lw_error *err)
{
    lw_status status = lw__chain_push(&b->chain, bench_document(b, number, length), err);
    memset(b->tokens, 0x55, sizeof b->tokens); /* they need not outlive the call */
    return status;
}

static inline void bench_push(bench *b, uint64_t number, uint64_t length)
{
    lw_error err = {0};
    if (bench_try_push(b, number, length, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    bench_take(b);
}

static inline void bench_flush(bench *b)
{
    lw_error err = {0};
    if (lw__chain_flush(&b->chain, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    bench_take(b);
}

/* What engine/remake.c does, knowing how the documents were made. */
static inline void bench_remake(bench *b, const uint64_t *lengths)
{
    for (size_t i = 0; i < b->remake.count; i++) {
        lw_record *rec = b->remake.items[i];
        if (rec->kind == LW__DOCUMENT) {
            lw__doc *doc = &rec->u.doc;
            doc->own = lw__alloc_array(doc->token_count + 1, sizeof(int32_t));
            assert_non_null(doc->own);
            doc->tokens = doc->own;
            for (size_t k = 0; k < doc->token_count; k++) {
                doc->own[k] = (int32_t)(doc->place.document * BENCH_STRIDE + k);
            }
            continue;
        }
        uint64_t fill = 0;
        for (size_t p = 0; p < rec->u.row.piece_count; p++) {
            lw__piece *piece = &rec->u.row.pieces[p];
            lw_segment *s = &piece->segment;
            s->count = piece->whole ? lengths[s->document] : s->count;
            for (uint64_t k = 0; k < s->count; k++) {
                rec->u.row.tokens[fill++] = (int32_t)(s->document * BENCH_STRIDE + s->first + k);
            }
            uint64_t end = s->first + s->count;
            bool more = end < bench_token_count(b, lengths[s->document]);
            piece->tail = more ? (int32_t)(s->document * BENCH_STRIDE + end) : LW__NO_TOKEN;
        }
        assert_int_equal(fill, rec->u.row.fill);
    }
    b->remake.count = 0;
}

static inline void bench_save(const bench *b, lw__bytes *out)
{
    lw_error err = {0};
    lw__bytes_init(out);
    if (lw__chain_save(&b->chain, out, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
}

/* Loads a carry into a fresh chain and makes the tokens again. */
static inline void bench_load(bench *b, const lw__bytes *carry, const uint64_t *lengths)
{
    lw_error err = {0};
    lw__reader from = lw__reader_of(carry->data, carry->count);
    if (lw__chain_load(&b->chain, &from, &b->remake, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    assert_ptr_equal(from.at, from.end);
    bench_remake(b, lengths);
}

/* Rows of a run that is saved and loaded after `cut` documents (SIZE_MAX: never). */
static inline void bench_run(const lw__operator *operators, size_t operator_count, uint64_t context,
                             uint32_t shift, const uint64_t *lengths, size_t count, size_t cut,
                             char *out)
{
    static bench benches[2];
    bench *b = &benches[0];
    bench_open(b, operators, operator_count, context, shift);
    out[0] = 0;
    for (size_t i = 0; i <= count; i++) {
        if (i == cut) {
            lw__bytes carry;
            lw__bytes again;
            bench_save(b, &carry);
            bench_open(&benches[1], operators, operator_count, context, shift);
            bench_load(&benches[1], &carry, lengths);
            bench_save(&benches[1], &again);
            assert_int_equal(carry.count, again.count);
            assert_memory_equal(carry.data != NULL ? carry.data : (void *)"",
                                again.data != NULL ? again.data : (void *)"", carry.count);
            lw__bytes_reset(&carry);
            lw__bytes_reset(&again);
            strcat(out, bench_left(b));
            bench_close(b);
            b = &benches[1];
        }
        if (i < count) {
            bench_push(b, i, lengths[i]);
        }
    }
    bench_flush(b);
    strcat(out, bench_left(b));
    bench_close(b);
}

/* A save and load after any document leaves the rows as they are. */
static inline void bench_check_cuts(const lw__operator *operators, size_t operator_count,
                                    uint64_t context, uint32_t shift, const uint64_t *lengths,
                                    size_t count)
{
    static char whole[BENCH_TEXT];
    static char cut[BENCH_TEXT];
    bench_run(operators, operator_count, context, shift, lengths, count, SIZE_MAX, whole);
    assert_true(strlen(whole) > 0);
    for (size_t at = 0; at <= count; at++) {
        bench_run(operators, operator_count, context, shift, lengths, count, at, cut);
        assert_string_equal(cut, whole);
    }
}

#endif
