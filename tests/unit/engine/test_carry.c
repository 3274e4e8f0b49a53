/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries: records of every shape come back as they were saved, and a carry that is cut anywhere,
 * or damaged, is refused without harm.
 */
#include "op/builtin.h"
#include "support/chain_testing.h"
#include "support/holder.h"

static const lw__op_best_fit_options rows_open = {.open_rows = 16};
static const lw__operator holding[] = {{&hold_type, NULL}, {&lw__op_wrap, NULL}};
static const lw__operator packing[] = {{&lw__op_best_fit, &rows_open}};

/* Places on both sides of every boundary of the coding. */
static const uint32_t sources[] = {0, 1, 62, 63, 64, 65, 1000, 65535};
static const uint32_t parts[] = {0, 1, 127, 128, 70000};
static const uint64_t blocks[] = {0, 5, 3, 1u << 20, 7, UINT64_C(1) << 40, 0};

static lw_segment place_of(size_t i)
{
    return (lw_segment){.source = sources[i % 8],
                        .part = parts[i % 5],
                        .epoch = 9,
                        .block = 11,
                        .document = i * i * 37};
}

static lw_record *document_at(bench *b, size_t i, uint64_t length)
{
    lw_record *rec = bench_document(b, i % 20, length);
    rec->u.doc.place = place_of(i);
    rec->u.doc.j = blocks[i % 7];
    return rec;
}

static void fill_holder(bench *b)
{
    bench_open(b, holding, 2, 16, LW_SHIFT_DOCUMENT);
    for (size_t i = 0; i < HELD; i++) {
        assert_int_equal(lw__chain_push(&b->chain, document_at(b, i, 1 + i), NULL), LW_OK);
    }
}

static void fill_packer(bench *b)
{
    bench_open(b, packing, 1, 16, LW_SHIFT_STREAM);
    for (size_t i = 0; i < 30; i++) {
        /* Long ones leave a part of themselves, middling ones fill a row alone, short ones join. */
        uint64_t length = i % 3 == 0 ? 25 + i % 4 : i % 3 == 1 ? 10 + i % 4 : 1 + i % 2;
        assert_int_equal(lw__chain_push(&b->chain, document_at(b, i, length), NULL), LW_OK);
    }
    b->chain.out_head = NULL; /* the store still has them */
}

static void check_place(const lw_segment *found, uint64_t j, size_t i)
{
    lw_segment place = place_of(i);
    assert_int_equal(found->source, place.source);
    assert_int_equal(found->part, place.part);
    assert_int_equal(found->document, place.document);
    assert_true(j == blocks[i % 7]);
}

static void test_carry__held_documents_come_back(void **state)
{
    (void)state;
    static bench saved;
    static bench loaded;
    lw__bytes carry;
    lw_error err = {0};
    fill_holder(&saved);
    bench_save(&saved, &carry);
    bench_open(&loaded, holding, 2, 16, LW_SHIFT_DOCUMENT);
    lw__reader from = lw__reader_of(carry.data, carry.count);
    assert_int_equal(lw__chain_load(&loaded.chain, &from, &loaded.remake, &err), LW_OK);
    assert_ptr_equal(from.at, from.end);
    assert_int_equal(loaded.remake.count, HELD);
    assert_int_equal(loaded.chain.stages[0].held, HELD);
    for (size_t i = 0; i < HELD; i++) {
        const lw_record *rec = loaded.remake.items[i];
        assert_int_equal(rec->kind, LW__DOCUMENT);
        assert_int_equal(rec->u.doc.length, 1 + i);
        assert_int_equal(rec->u.doc.token_count, 2 + i);
        check_place(&rec->u.doc.place, rec->u.doc.j, i);
    }
    lw__bytes_reset(&carry);
    bench_close(&saved);
    bench_close(&loaded);
}

static void check_row(const lw__row *found, const lw__row *row)
{
    assert_int_equal(found->fill, row->fill);
    assert_int_equal(found->piece_count, row->piece_count);
    for (size_t i = 0; i < row->piece_count; i++) {
        const lw__piece *a = &found->pieces[i];
        const lw__piece *b = &row->pieces[i];
        assert_int_equal(a->whole, b->whole);
        assert_true(a->j == b->j);
        assert_int_equal(a->segment.source, b->segment.source);
        assert_int_equal(a->segment.part, b->segment.part);
        assert_int_equal(a->segment.document, b->segment.document);
        if (!b->whole) {
            assert_int_equal(a->segment.first, b->segment.first);
            assert_int_equal(a->segment.count, b->segment.count);
        }
    }
}

static void test_carry__held_rows_come_back(void **state)
{
    (void)state;
    static bench saved;
    static bench loaded;
    lw__bytes carry;
    lw_error err = {0};
    unsigned cut = 0;
    fill_packer(&saved);
    bench_save(&saved, &carry);
    bench_open(&loaded, packing, 1, 16, LW_SHIFT_STREAM);
    lw__reader from = lw__reader_of(carry.data, carry.count);
    assert_int_equal(lw__chain_load(&loaded.chain, &from, &loaded.remake, &err), LW_OK);
    assert_ptr_equal(from.at, from.end);
    assert_true(loaded.remake.count > 3);
    /* They leave in the order they were opened, which is that of the carry. */
    assert_int_equal(lw__chain_flush(&saved.chain, &err), LW_OK);
    const lw_record *row = saved.chain.out_head;
    for (size_t i = 0; i < loaded.remake.count; i++, row = row->next) {
        check_row(&loaded.remake.items[i]->u.row, &row->u.row);
        for (size_t k = 0; k < row->u.row.piece_count; k++) {
            cut += !row->u.row.pieces[k].whole;
        }
    }
    assert_null(row);
    assert_true(cut > 0);
    lw__bytes_reset(&carry);
    bench_close(&saved);
    bench_close(&loaded);
}

/* Loads bytes from a buffer of just their size, so that a read beyond is seen. */
static lw_status load_exactly(const lw__operator *operators, size_t count, uint32_t shift,
                              const unsigned char *data, size_t bytes, lw_error *err)
{
    static bench b;
    unsigned char *copy = lw__alloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy + 1, data, bytes);
    lw__reader from = lw__reader_of(copy + 1, bytes);
    bench_open(&b, operators, count, 16, shift);
    lw_status status = lw__chain_load(&b.chain, &from, &b.remake, err);
    if (status == LW_OK && from.at != from.end) {
        status = LW_E_CORRUPT; /* as the marker would say */
    }
    bench_close(&b);
    lw__free(copy);
    return status;
}

static void check_damage(const lw__operator *operators, size_t count, uint32_t shift,
                         const lw__bytes *carry)
{
    lw_error err = {0};
    assert_int_equal(load_exactly(operators, count, shift, carry->data, carry->count, &err), LW_OK);
    for (size_t bytes = 0; bytes < carry->count; bytes++) {
        err = (lw_error){0};
        assert_int_equal(load_exactly(operators, count, shift, carry->data, bytes, &err),
                         LW_E_CORRUPT);
        assert_int_equal(err.status, LW_E_CORRUPT);
    }
    for (size_t bit = 0; bit < 8 * carry->count; bit++) {
        carry->data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        lw_status status = load_exactly(operators, count, shift, carry->data, carry->count, &err);
        assert_true(status == LW_OK || status == LW_E_CORRUPT);
        carry->data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static void test_carry__a_cut_or_damaged_carry_of_rows_is_refused_or_harmless(void **state)
{
    (void)state;
    static bench b;
    lw__bytes carry;
    fill_packer(&b);
    bench_save(&b, &carry);
    check_damage(packing, 1, LW_SHIFT_STREAM, &carry);
    lw__bytes_reset(&carry);
    bench_close(&b);
}

static void test_carry__a_cut_or_damaged_carry_of_documents_is_refused_or_harmless(void **state)
{
    (void)state;
    static bench b;
    lw__bytes carry;
    fill_holder(&b);
    bench_save(&b, &carry);
    check_damage(holding, 2, LW_SHIFT_DOCUMENT, &carry);
    lw__bytes_reset(&carry);
    bench_close(&b);
}

/* The bound of docs/checkpoints.md: whole short documents near each other take four bytes or less. */
static void test_carry__segments_are_small(void **state)
{
    (void)state;
    static bench b;
    lw__bytes carry;
    bench_open(&b, packing, 1, 256, LW_SHIFT_STREAM);
    for (size_t i = 0; i < 100; i++) {
        lw_record *rec = bench_document(&b, i % 20, 25);
        rec->u.doc.place = (lw_segment){.source = i % 2, .part = 0, .document = i};
        rec->u.doc.j = 100000 + i / 10;
        assert_int_equal(lw__chain_push(&b.chain, rec, NULL), LW_OK);
    }
    bench_save(&b, &carry);
    assert_true(carry.count < 10 * 16 + 100 * 4);
    lw__bytes_reset(&carry);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_carry__held_documents_come_back),
        cmocka_unit_test(test_carry__held_rows_come_back),
        cmocka_unit_test(test_carry__a_cut_or_damaged_carry_of_rows_is_refused_or_harmless),
        cmocka_unit_test(test_carry__a_cut_or_damaged_carry_of_documents_is_refused_or_harmless),
        cmocka_unit_test(test_carry__segments_are_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
