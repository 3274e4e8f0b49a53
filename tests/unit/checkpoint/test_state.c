/* SPDX-License-Identifier: Apache-2.0 */
/* The blob of a state, whole and damaged; its pieces, apart and together; merging. */
#include <xxhash.h>

#include "support/state_testing.h"

static void test_state__a_blob_comes_back(void **state)
{
    (void)state;
    lw_state *made = made_state(17, 0, 12);
    lw_str blob = lw_state_bytes(made);
    lw_state *again = made_parse(blob.data, blob.bytes);
    made_same(made, again);
    assert_int_equal(lw_state_step(again), 17);
    assert_int_equal(lw_state_piece_count(again), 13);
    lw_state_close(made);
    lw_state_close(again);
    lw_state_close(NULL);
}

static void test_state__pieces_are_in_order_whatever_order_they_were_added_in(void **state)
{
    (void)state;
    lw_state *made = made_state(1, 0, 12);
    assert_string_equal(lw_state_piece_name(made, 0).data, "global");
    for (size_t i = 0; i < 12; i++) {
        char name[32];
        lw__lane_piece_name(i, name);
        assert_string_equal(lw_state_piece_name(made, i + 1).data, name);
        assert_int_equal(lw_state_piece_name(made, i + 1).bytes, strlen(name));
    }
    lw_state_close(made);
}

static void refuse(const unsigned char *data, size_t bytes, lw_status expected)
{
    lw_state *parsed = (lw_state *)1;
    lw_error err = {0};
    assert_int_equal(lw_state_parse(data, bytes, &parsed, &err), expected);
    assert_null(parsed);
    assert_int_equal(err.status, expected);
}

static unsigned char *copy_blob(const lw_state *made, size_t extra, size_t *bytes)
{
    lw_str blob = lw_state_bytes(made);
    unsigned char *copy = lw__alloc(blob.bytes + extra);
    assert_non_null(copy);
    memcpy(copy, blob.data, blob.bytes);
    *bytes = blob.bytes;
    return copy;
}

static void test_state__a_blob_cut_anywhere_is_refused(void **state)
{
    (void)state;
    lw_state *made = made_state(17, 0, 4);
    lw_str blob = lw_state_bytes(made);
    for (size_t bytes = 0; bytes < blob.bytes; bytes++) {
        unsigned char *copy = lw__alloc(bytes + 1); /* of just its size: a read beyond is seen */
        assert_non_null(copy);
        memcpy(copy + 1, blob.data, bytes);
        refuse(copy + 1, bytes, LW_E_CORRUPT);
        lw__free(copy);
    }
    lw_state_close(made);
}

static void test_state__a_blob_with_any_flipped_bit_is_refused(void **state)
{
    (void)state;
    lw_state *made = made_state(17, 0, 4);
    size_t bytes;
    unsigned char *copy = copy_blob(made, 0, &bytes);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        refuse(copy, bytes, LW_E_CORRUPT);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    lw__free(copy);
    lw_state_close(made);
}

static void test_state__bytes_after_a_blob_are_refused(void **state)
{
    (void)state;
    lw_state *made = made_state(17, 0, 4);
    size_t bytes;
    unsigned char *copy = copy_blob(made, 1, &bytes);
    copy[bytes] = 0;
    refuse(copy, bytes + 1, LW_E_CORRUPT);
    lw__free(copy);
    lw_state_close(made);
}

/* Makes the checksum right again after a change. */
static void seal(unsigned char *blob, size_t bytes)
{
    uint64_t check = XXH3_64bits(blob, bytes - 8);
    for (size_t i = 0; i < 8; i++) {
        blob[bytes - 8 + i] = (unsigned char)(check >> 8 * i);
    }
}

static void test_state__a_newer_format_is_told_from_damage(void **state)
{
    (void)state;
    lw_state *made = made_state(17, 0, 4);
    size_t bytes;
    unsigned char *copy = copy_blob(made, 0, &bytes);
    copy[8] = LW__STATE_FORMAT + 1;
    seal(copy, bytes);
    refuse(copy, bytes, LW_E_UNSUPPORTED);
    lw__free(copy);
    lw_state_close(made);
}

/* Damage that a checksum does not show (a forger's) is refused or harmless. */
static void test_state__no_payload_with_a_right_checksum_does_harm(void **state)
{
    (void)state;
    lw_state *made = made_state(17, 0, 4);
    size_t bytes;
    unsigned char *copy = copy_blob(made, 0, &bytes);
    for (size_t bit = 8 * 9; bit < 8 * (bytes - 8); bit++) {
        lw_state *parsed = NULL;
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        seal(copy, bytes);
        lw_status status = lw_state_parse(copy, bytes, &parsed, NULL);
        assert_true(status == LW_OK || status == LW_E_CORRUPT || status == LW_E_UNSUPPORTED ||
                    status == LW_E_INVALID || status == LW_E_NOMEM);
        lw_state_close(parsed);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    lw__free(copy);
    lw_state_close(made);
}

static void test_state__it_comes_apart_and_together(void **state)
{
    (void)state;
    lw_state *made = made_state(5, 0, 3);
    lw_state *again = NULL;
    lw_str names[4];
    lw_str pieces[4];
    for (size_t i = 0; i < 4; i++) {
        names[3 - i] = lw_state_piece_name(made, i);
        pieces[3 - i] = lw_state_piece_bytes(made, i);
    }
    assert_int_equal(lw_state_from_pieces(names, pieces, 4, &again, NULL), LW_OK);
    made_same(made, again);
    lw_state_close(again);
    lw_state_close(made);
}

static void from_pieces_fails(const lw_state *made, const size_t *picked, size_t count,
                              lw_status expected, const char *message)
{
    lw_str names[4] = {{0}};
    lw_str pieces[4] = {{0}};
    lw_state *again = (lw_state *)1;
    lw_error err = {0};
    for (size_t i = 0; i < count; i++) {
        names[i] = lw_state_piece_name(made, picked[i]);
        pieces[i] = lw_state_piece_bytes(made, picked[i]);
    }
    assert_int_equal(lw_state_from_pieces(names, pieces, count, &again, &err), expected);
    assert_null(again);
    assert_string_equal(err.message, message);
}

static void test_state__pieces_that_are_no_state_are_refused(void **state)
{
    (void)state;
    lw_state *made = made_state(5, 0, 3);
    from_pieces_fails(made, (const size_t[]){1, 0, 1}, 3, LW_E_INVALID,
                      "state: piece \"lane_00000\" twice, expected once");
    from_pieces_fails(made, (const size_t[]){1, 2}, 2, LW_E_CORRUPT,
                      "state: no piece \"global\", expected one");
    lw_state_close(made);
}

/* Puts the state together again with other bytes for one of its pieces. */
static lw_status replace_piece(const lw_state *made, size_t index, const void *data, size_t bytes)
{
    lw_str names[4];
    lw_str pieces[4];
    lw_state *again = NULL;
    for (size_t i = 0; i < 4; i++) {
        names[i] = lw_state_piece_name(made, i);
        pieces[i] = lw_state_piece_bytes(made, i);
    }
    pieces[index] = (lw_str){data, bytes};
    lw_status status = lw_state_from_pieces(names, pieces, 4, &again, NULL);
    assert_true((again != NULL) == (status == LW_OK));
    lw_state_close(again);
    return status;
}

static void test_state__a_piece_cut_or_flipped_anywhere_is_refused(void **state)
{
    (void)state;
    lw_state *made = made_state(5, 0, 3);
    for (size_t i = 0; i < 4; i++) {
        lw_str piece = lw_state_piece_bytes(made, i);
        char *copy = lw__copy_text(piece.data, piece.bytes);
        assert_non_null(copy);
        assert_int_equal(replace_piece(made, i, copy, piece.bytes), LW_OK);
        for (size_t bytes = 0; bytes < piece.bytes; bytes++) {
            assert_int_equal(replace_piece(made, i, copy, bytes), LW_E_CORRUPT);
        }
        for (size_t bit = 0; bit < 8 * piece.bytes; bit++) {
            copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
            assert_int_equal(replace_piece(made, i, copy, piece.bytes), LW_E_CORRUPT);
            copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        }
        lw__free(copy);
    }
    lw_state_close(made);
}

static void test_state__states_of_ranks_merge(void **state)
{
    (void)state;
    lw_state *whole = made_state(9, 0, 8);
    lw_state *parts[] = {made_state(9, 4, 8), made_state(9, 0, 3), made_state(9, 2, 6)};
    lw_state *merged = NULL;
    const lw_state *given[] = {parts[0], parts[1], parts[2]};
    assert_int_equal(lw_state_merge(given, 3, &merged, NULL), LW_OK);
    made_same(merged, whole);
    for (size_t i = 0; i < 3; i++) {
        lw_state_close(parts[i]);
    }
    lw_state_close(merged);
    lw_state_close(whole);
}

static void merge_fails(const lw_state *a, const lw_state *b, const char *piece)
{
    char message[160];
    const lw_state *given[] = {a, b};
    lw_state *merged = (lw_state *)1;
    lw_error err = {0};
    snprintf(
        message, sizeof message,
        "state: piece \"%s\" differs between the states to merge, expected parts of one run at "
        "one step",
        piece);
    assert_int_equal(lw_state_merge(given, 2, &merged, &err), LW_E_MISMATCH);
    assert_null(merged);
    assert_string_equal(err.message, message);
}

static void test_state__states_that_differ_do_not_merge(void **state)
{
    (void)state;
    lw_state *one = made_state(9, 0, 4);
    lw_state *later = made_state(10, 4, 8);
    merge_fails(one, later, "global");

    lw__identity identity;
    lw_state *other = NULL;
    made_identity(&identity, "32");
    assert_int_equal(lw__state_create(&other, NULL), LW_OK);
    made_add_global(other, &identity, 9);
    made_add_lane(other, 3, 27, "another marker");
    made_finish(other);
    merge_fails(one, other, "lane_00003");
    lw__identity_reset(&identity);
    lw_state_close(other);
    lw_state_close(later);
    lw_state_close(one);
}

static void test_state__a_file_is_whole_or_not_there(void **state)
{
    (void)state;
    lw_state *made = made_state(3, 0, 2);
    lw_state *again = NULL;
    lw_error err = {0};
    char expected[9000];
    assert_int_equal(lw_state_write(made, scratch_path("s"), NULL), LW_OK);
    assert_int_equal(lw_state_open(scratch_path("s"), &again, NULL), LW_OK);
    made_same(made, again);
    lw_state_close(again);

    assert_int_equal(lw_state_write(made, scratch_path("none/s"), &err), LW_E_IO);
    assert_int_equal(lw_state_open(scratch_path("absent"), &again, &err), LW_E_NOT_FOUND);
    assert_null(again);
    scratch_write("cut", lw_state_bytes(made).data, 20);
    assert_int_equal(lw_state_open(scratch_path("cut"), &again, &err), LW_E_CORRUPT);
    snprintf(expected, sizeof expected, "state: \"%s\": 20 bytes", scratch_path("cut"));
    assert_memory_equal(err.message, expected, strlen(expected));
    lw_state_close(made);
}

static void test_state__running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    lw_state *made = made_state(3, 0, 3);
    const lw_state *given[] = {made, made};
    lw_status status = LW_E_NOMEM;
    unsigned long calls = 1;
    for (; status == LW_E_NOMEM; calls++) {
        lw_error err = {0};
        lw_state *parsed = NULL;
        lw_state *merged = NULL;
        char *text = NULL;
        lw__alloc_fail_after(calls);
        status =
            lw_state_parse(lw_state_bytes(made).data, lw_state_bytes(made).bytes, &parsed, &err);
        status = status == LW_OK ? lw_state_merge(given, 2, &merged, &err) : status;
        status = status == LW_OK ? lw_state_describe(merged, 1, &text, &err) : status;
        lw__alloc_fail_after(0);
        assert_true(status == LW_OK || err.status == LW_E_NOMEM);
        lw_text_free(text);
        lw_state_close(parsed);
        lw_state_close(merged);
    }
    assert_int_equal(status, LW_OK);
    assert_true(calls > 20);
    lw_state_close(made);
}

static void test_state__no_pieces_are_no_state(void **state)
{
    (void)state;
    lw_state *made = made_state(5, 0, 3);
    const lw_state *given[] = {made};
    lw_state *merged = NULL;
    from_pieces_fails(made, NULL, 0, LW_E_CORRUPT, "state: no piece \"global\", expected one");
    assert_int_equal(lw_state_merge(given, 0, &merged, NULL), LW_E_CORRUPT);
    assert_null(merged);
    lw_state_close(made);
}

static void test_state__null_arguments_are_invalid(void **state)
{
    (void)state;
    lw_state *made = made_state(3, 0, 1);
    lw_state *out = NULL;
    lw_str blob = lw_state_bytes(made);
    lw_str name = lw_state_piece_name(made, 0);
    const lw_state *given[] = {made, NULL};
    assert_int_equal(lw_state_parse(NULL, 10, &out, NULL), LW_E_INVALID);
    assert_int_equal(lw_state_parse(blob.data, blob.bytes, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_state_from_pieces(&name, NULL, 1, &out, NULL), LW_E_INVALID);
    assert_int_equal(lw_state_from_pieces(&name, &name, 1, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_state_merge(NULL, 1, &out, NULL), LW_E_INVALID);
    assert_int_equal(lw_state_merge(given, 2, &out, NULL), LW_E_INVALID);
    assert_int_equal(lw_state_merge(given, 1, NULL, NULL), LW_E_INVALID);
    assert_int_equal(lw_state_write(NULL, "x", NULL), LW_E_INVALID);
    assert_int_equal(lw_state_open(NULL, &out, NULL), LW_E_INVALID);
    assert_null(out);
    lw_state_close(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state__a_blob_comes_back),
        cmocka_unit_test(test_state__pieces_are_in_order_whatever_order_they_were_added_in),
        cmocka_unit_test(test_state__a_blob_cut_anywhere_is_refused),
        cmocka_unit_test(test_state__a_blob_with_any_flipped_bit_is_refused),
        cmocka_unit_test(test_state__bytes_after_a_blob_are_refused),
        cmocka_unit_test(test_state__a_newer_format_is_told_from_damage),
        cmocka_unit_test(test_state__no_payload_with_a_right_checksum_does_harm),
        cmocka_unit_test(test_state__it_comes_apart_and_together),
        cmocka_unit_test(test_state__pieces_that_are_no_state_are_refused),
        cmocka_unit_test(test_state__a_piece_cut_or_flipped_anywhere_is_refused),
        cmocka_unit_test(test_state__states_of_ranks_merge),
        cmocka_unit_test(test_state__states_that_differ_do_not_merge),
        cmocka_unit_test(test_state__a_file_is_whole_or_not_there),
        cmocka_unit_test(test_state__running_out_of_memory_leaks_nothing),
        cmocka_unit_test(test_state__no_pieces_are_no_state),
        cmocka_unit_test(test_state__null_arguments_are_invalid),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
