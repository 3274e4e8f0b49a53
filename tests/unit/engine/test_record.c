/* SPDX-License-Identifier: Apache-2.0 */
/* Records: a store that uses them again, documents that outlive their block, last labels. */
#include "support/chain_testing.h"

static lw__store store_of(bool counts_only)
{
    return (lw__store){.context = 8, .shift = LW_SHIFT_STREAM, .counts_only = counts_only};
}

static lw_record *new_row(lw__store *store)
{
    lw_record *row = NULL;
    assert_int_equal(lw__store_row(store, &row, NULL), LW_OK);
    return row;
}

static lw_record *new_document(lw__store *store, const int32_t *tokens, size_t count)
{
    lw_record *rec = NULL;
    assert_int_equal(lw__store_doc(store, &rec, NULL), LW_OK);
    rec->u.doc = (lw__doc){.tokens = tokens, .token_count = count, .length = count};
    return rec;
}

/* As in a stage that holds both. */
static void append(lw_record *row, lw_record *document, uint64_t first, uint64_t count)
{
    row->holder = 0;
    document->holder = 0;
    assert_int_equal(lw_row_append(row, document, first, count, NULL), LW_OK);
}

static void test_record__a_store_gives_records_again_emptied(void **state)
{
    (void)state;
    static const int32_t tokens[] = {1, 2, 3};
    lw__store store = store_of(false);
    lw_record *row = new_row(&store);
    lw_record *document = new_document(&store, tokens, 3);
    append(row, document, 0, 3);
    assert_int_equal(lw_row_follow(row, document, 1, NULL), LW_OK);
    assert_int_equal(lw__doc_detach(document, NULL), LW_OK);
    lw__store_put(&store, document);
    lw__store_put(&store, row);
    assert_ptr_equal(new_row(&store), row);
    assert_int_equal(lw_row_fill(row), 0);
    assert_int_equal(lw_row_segment_count(row), 0);
    assert_int_equal(lw__row_last_label(&row->u.row), LW__NO_TOKEN);
    assert_true(row->holder == LW__NO_HOLDER);
    lw_record *again = NULL;
    assert_int_equal(lw__store_doc(&store, &again, NULL), LW_OK);
    assert_ptr_equal(again, document);
    assert_int_equal(lw_document_length(again), 0);
    assert_null(again->u.doc.own);
    assert_ptr_not_equal(new_row(&store), row);
    lw__store_reset(&store);
}

static void test_record__a_detached_document_has_tokens_of_its_own(void **state)
{
    (void)state;
    int32_t tokens[] = {4, 5, 6};
    size_t count;
    lw__store store = store_of(false);
    lw_record *document = new_document(&store, tokens, 3);
    assert_int_equal(lw__doc_detach(document, NULL), LW_OK);
    const int32_t *own = lw_document_tokens(document, &count);
    assert_int_equal(lw__doc_detach(document, NULL), LW_OK); /* once is enough */
    assert_ptr_equal(lw_document_tokens(document, &count), own);
    tokens[1] = 99;
    assert_int_equal(count, 3);
    assert_int_equal(own[1], 5);
    lw__store_reset(&store);
}

static void test_record__the_last_label_is_the_follower_or_the_documents_next_token(void **state)
{
    (void)state;
    static const int32_t tokens[] = {4, 5, 6};
    static const int32_t others[] = {7, 8};
    lw__store store = store_of(false);
    lw_record *row = new_row(&store);
    lw_record *document = new_document(&store, tokens, 3);
    append(row, document, 0, 2);
    assert_int_equal(lw__row_last_label(&row->u.row), 6);
    append(row, document, 2, 1);
    assert_int_equal(lw__row_last_label(&row->u.row), LW__NO_TOKEN);
    lw_record *next = new_document(&store, others, 2);
    next->holder = 0;
    assert_int_equal(lw_row_follow(row, next, 1, NULL), LW_OK);
    assert_int_equal(lw__row_last_label(&row->u.row), 8);
    lw__store_reset(&store);
}

static void test_record__segments_say_what_was_appended(void **state)
{
    (void)state;
    static const int32_t tokens[] = {4, 5, 6, 7, 8, 9};
    lw__store store = store_of(false);
    lw_record *row = new_row(&store);
    lw_record *document = new_document(&store, tokens, 6);
    document->u.doc.place =
        (lw_segment){.source = 3, .part = 2, .epoch = 5, .block = 7, .document = 11};
    for (uint64_t i = 0; i < 6; i++) {
        append(row, document, i, 1);
    }
    assert_int_equal(lw_row_segment_count(row), 6);
    for (size_t i = 0; i < 6; i++) {
        lw_segment s = lw_row_segment(row, i);
        assert_int_equal(s.source, 3);
        assert_int_equal(s.part, 2);
        assert_int_equal(s.epoch, 5);
        assert_int_equal(s.block, 7);
        assert_int_equal(s.document, 11);
        assert_int_equal(s.first, i);
        assert_int_equal(s.count, 1);
    }
    assert_memory_equal(row->u.row.tokens, tokens, sizeof tokens);
    lw__store_reset(&store);
}

static void test_record__a_lane_that_only_counts_keeps_no_tokens(void **state)
{
    (void)state;
    static const int32_t tokens[] = {4, 5, 6};
    lw__store store = store_of(true);
    lw_record *row = new_row(&store);
    append(row, new_document(&store, tokens, 3), 1, 2);
    assert_null(row->u.row.tokens);
    assert_int_equal(lw_row_fill(row), 2);
    lw__store_reset(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record__a_store_gives_records_again_emptied),
        cmocka_unit_test(test_record__a_detached_document_has_tokens_of_its_own),
        cmocka_unit_test(test_record__the_last_label_is_the_follower_or_the_documents_next_token),
        cmocka_unit_test(test_record__segments_say_what_was_appended),
        cmocka_unit_test(test_record__a_lane_that_only_counts_keeps_no_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
