/* SPDX-License-Identifier: Apache-2.0 */
/* A character map written by hand, alone and in a model. */
#include "tiny_charsmap.h"
#include "tiny_pieces.h"
#include "tokenize/charsmap.h"

static void becomes(const lw__charsmap *map, const char *text, size_t bytes, const char *expected)
{
    lw_str found = {.data = "", .bytes = 0};
    assert_int_equal(lw__charsmap_longest(map, (const unsigned char *)text, strlen(text), &found),
                     bytes);
    assert_int_equal(found.bytes, strlen(expected));
    assert_memory_equal(found.data, expected, found.bytes);
}

static void test_charsmap__takes_the_longest(void **state)
{
    (void)state;
    lw__charsmap map;
    tiny_map_fill();
    assert_true(lw__charsmap_open(&map, tiny_map, TINY_MAP_BYTES));
    becomes(&map, "Ax", 1, "ab");
    becomes(&map, "ABx", 2, "");
    becomes(&map, "\tA", 1, " ");
    becomes(&map, "x", 0, "");
    becomes(&map, "", 0, "");
}

static void test_charsmap__takes_the_first(void **state)
{
    (void)state;
    lw__charsmap map;
    lw_str found = {.data = "", .bytes = 0};
    tiny_map_fill();
    assert_true(lw__charsmap_open(&map, tiny_map, TINY_MAP_BYTES));
    assert_true(lw__charsmap_first(&map, (const unsigned char *)"AB", 2, &found));
    assert_int_equal(found.bytes, 2); /* of "A", not of "AB" */
    assert_memory_equal(found.data, "ab", 2);
    assert_false(lw__charsmap_first(&map, (const unsigned char *)"BA", 2, &found));
    assert_false(lw__charsmap_first(&map, (const unsigned char *)"A", 0, &found));
    assert_true(map.alone['A'] && map.alone['\t']);
    assert_false(map.alone['B']);
}

/* The reference ends a search at NUL, also where the units go on. */
static void test_charsmap__a_search_ends_at_nul(void **state)
{
    (void)state;
    lw__charsmap map;
    lw_str found = {.data = "", .bytes = 0};
    tiny_map_fill();
    tiny_map_unit('x', tiny_map_label('x', 'x' ^ 0xD0, false));
    tiny_map_unit(0xD0, tiny_map_label(0, 0xD0 ^ 0xE0, true));
    tiny_map_unit(0xE0, 1u << 31);
    assert_true(lw__charsmap_open(&map, tiny_map, TINY_MAP_BYTES));
    assert_false(lw__charsmap_first(&map, (const unsigned char *)"x\0", 2, &found));
    assert_int_equal(lw__charsmap_longest(&map, (const unsigned char *)"x\0", 2, &found), 2);
}

static void test_charsmap__texts_begin_with_a_character(void **state)
{
    (void)state;
    lw__charsmap map;
    lw_str found;
    tiny_map_fill();
    memcpy(tiny_map + 4 + TINY_MAP_UNITS * 4, "\xC3\xA9\0 \0", TINY_MAP_TEXTS);
    tiny_map_unit(0x90, 1u << 31 | 1);
    assert_true(lw__charsmap_open(&map, tiny_map, TINY_MAP_BYTES));
    becomes(&map, "A", 1, "\xC3\xA9");
    becomes(&map, "AB", 0, "");
    assert_true(lw__charsmap_first(&map, (const unsigned char *)"A", 1, &found));
}

static void test_charsmap__tells_which_ascii_it_has(void **state)
{
    (void)state;
    lw__charsmap map;
    tiny_map_fill();
    tiny_map_unit('x',
                  tiny_map_label('x', 'x' ^ 0xD0, false)); /* only what goes on with a byte CC */
    tiny_map_unit(0xD0, 1u << 31);
    tiny_map_unit(0xD0 ^ 0xCC, tiny_map_label(0xCC, 0, true));
    tiny_map_unit('y', tiny_map_label('y', 'y' ^ 0xF0, false)); /* only what goes on with a z */
    tiny_map_unit(0xF0, 1u << 31);
    tiny_map_unit(0xF0 ^ 'z', tiny_map_label('z', 0, true));
    assert_true(lw__charsmap_open(&map, tiny_map, TINY_MAP_BYTES));
    assert_true(lw__charsmap_has_ascii(&map, 'A'));
    assert_true(lw__charsmap_has_ascii(&map, '\t'));
    assert_false(lw__charsmap_has_ascii(&map, 'B'));
    assert_false(lw__charsmap_has_ascii(&map, 'x'));
    assert_true(lw__charsmap_has_ascii(&map, 'y'));
    assert_true(map.starts['x'] && !map.alone['x']);
    map.units = NULL;
    assert_false(lw__charsmap_has_ascii(&map, 'A'));
}

static void test_charsmap__refuses_what_is_cut_short(void **state)
{
    (void)state;
    lw__charsmap map;
    tiny_map_fill();
    for (size_t count = 0; count <= TINY_MAP_BYTES - TINY_MAP_TEXTS; count++) {
        assert_false(lw__charsmap_open(&map, tiny_map, count));
    }
    tiny_map[0] = 4;
    assert_false(lw__charsmap_open(&map, tiny_map, TINY_MAP_BYTES));
}

static void test_charsmap__places_outside_are_nothing(void **state)
{
    (void)state;
    lw__charsmap map;
    tiny_map_fill();
    tiny_map_unit('A', tiny_map_label('A', 0x1FFFFF, true));
    tiny_map_unit('\t', tiny_map_label('\t', '\t' ^ 0xA0, true));
    tiny_map_unit(0xA0, 1u << 31 | 1000);
    assert_true(lw__charsmap_open(&map, tiny_map, TINY_MAP_BYTES));
    becomes(&map, "\t", 0, "");
    lw_str found;
    (void)lw__charsmap_longest(&map, (const unsigned char *)"AB", 2, &found);
}

static void test_charsmap__in_a_model(void **state)
{
    (void)state;
    static const tiny_piece pieces[] = {
        {"<unk>", 0, LW__PIECE_UNKNOWN}, {"_a", -1, LW__PIECE_NORMAL},
        {"_", -2, LW__PIECE_NORMAL},     {"a", -3, LW__PIECE_NORMAL},
        {"b", -4, LW__PIECE_NORMAL},     {"\tA", 0, LW__PIECE_USER_DEFINED}};
    tiny_map_fill();
    tiny_model model = {.pieces = pieces,
                        .count = sizeof pieces / sizeof pieces[0],
                        .type = TINY_BPE,
                        .prefix = true,
                        .collapsed = true,
                        .charsmap = tiny_map,
                        .charsmap_bytes = TINY_MAP_BYTES};
    lw__tokenizer *tokenizer = tiny_open_model(&model);
    tiny_encodes(tokenizer, "Ab", 2, 1, 4, 4, -1);
    tiny_encodes(tokenizer, "\tb\t \taAB", 8, 2, 4, 1, -1);
    tiny_encodes(tokenizer, "b\tA", 3, 2, 4, 5, -1); /* what a user named is not replaced */
    tiny_encodes(tokenizer, "AB", 2, -1);
    lw__tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charsmap__takes_the_longest),
        cmocka_unit_test(test_charsmap__takes_the_first),
        cmocka_unit_test(test_charsmap__a_search_ends_at_nul),
        cmocka_unit_test(test_charsmap__texts_begin_with_a_character),
        cmocka_unit_test(test_charsmap__tells_which_ascii_it_has),
        cmocka_unit_test(test_charsmap__refuses_what_is_cut_short),
        cmocka_unit_test(test_charsmap__places_outside_are_nothing),
        cmocka_unit_test(test_charsmap__in_a_model),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
