/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of lanes: names, round trip, and pieces that are missing, cut or of another lane. */
#include "support/state_testing.h"

static void test_lane_piece__names_have_five_digits_or_more(void **state)
{
    (void)state;
    char name[32];
    lw__lane_piece_name(0, name);
    assert_string_equal(name, "lane_00000");
    lw__lane_piece_name(99999, name);
    assert_string_equal(name, "lane_99999");
    lw__lane_piece_name(UINT64_MAX, name);
    assert_string_equal(name, "lane_18446744073709551615");
}

static void test_lane_piece__it_comes_back(void **state)
{
    (void)state;
    lw__lane_piece piece;
    lw_state *made = made_state(1000000, 2, 6);
    assert_int_equal(lw__lane_piece_find(made, 4, &piece, NULL), LW_OK);
    assert_int_equal(piece.lane, 4);
    assert_int_equal(piece.taken, 3000000);
    assert_int_equal(piece.marker.bytes, strlen("\tmarker of 4"));
    assert_memory_equal(piece.marker.data, "\tmarker of 4", piece.marker.bytes);
    lw_state_close(made);
}

static void find_fails(const lw_state *made, uint64_t lane, lw_status expected, const char *message)
{
    lw__lane_piece piece;
    lw_error err = {0};
    assert_int_equal(lw__lane_piece_find(made, lane, &piece, &err), expected);
    assert_string_equal(err.message, message);
}

static void test_lane_piece__a_missing_one_is_named(void **state)
{
    (void)state;
    lw_state *made = made_state(1, 2, 6);
    find_fails(
        made, 6, LW_E_NOT_FOUND,
        "state: no piece \"lane_00006\", expected one for every lane of this rank (merge the "
        "states of all ranks)");
    lw_state_close(made);
}

static void test_lane_piece__one_of_another_lane_or_size_is_refused(void **state)
{
    (void)state;
    lw_state *made = made_state(1, 0, 1);
    lw__lane_piece piece;
    lw_str whole = lw_state_piece_bytes(made, 1);
    for (size_t bytes = LW__PIECE_CHECK; bytes < whole.bytes; bytes++) {
        lw__state_piece cut = {.name = "lane_00000", .data = made->pieces[1].data, .bytes = bytes};
        assert_int_equal(lw__lane_piece_parse(&cut, &piece, NULL), LW_E_CORRUPT);
    }
    made_add(made, "lane_00001", whole.data, whole.bytes - LW__PIECE_CHECK);
    made_finish(made);
    find_fails(made, 1, LW_E_CORRUPT, "state: piece \"lane_00001\" is of lane 0");
    lw_state_close(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lane_piece__names_have_five_digits_or_more),
        cmocka_unit_test(test_lane_piece__it_comes_back),
        cmocka_unit_test(test_lane_piece__a_missing_one_is_named),
        cmocka_unit_test(test_lane_piece__one_of_another_lane_or_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
