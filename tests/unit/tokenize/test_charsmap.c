/* SPDX-License-Identifier: Apache-2.0 */
/* A character map written by hand, alone and in a model. */
#include "tiny_pieces.h"
#include "tokenize/charsmap.h"

enum { UNITS = 256, TEXTS = 6, MAP_BYTES = 4 + UNITS * 4 + TEXTS };

static unsigned char map_bytes[MAP_BYTES];

static void put_unit(size_t at, uint32_t unit)
{
    for (size_t i = 0; i < 4; i++) {
        map_bytes[4 + at * 4 + i] = (unsigned char)(unit >> 8 * i);
    }
}

/* A unit with a label whose children are found by `offset`. */
static uint32_t labelled(unsigned char label, uint32_t offset, bool has_text)
{
    return offset << 10 | (has_text ? 1u << 8 : 0) | label;
}

/* "A" becomes "ab", "AB" becomes "" and "\t" a space. */
static void fill_map(void)
{
    memset(map_bytes, 0, sizeof map_bytes);
    map_bytes[1] = 4; /* 1024 bytes of units */
    put_unit('A', labelled('A', 'A' ^ 0x80, true));
    put_unit(0x80, 1u << 31 | 0);
    put_unit(0x80 ^ 'B', labelled('B', 0x80 ^ 'B' ^ 0x90, true));
    put_unit(0x90, 1u << 31 | 2);
    put_unit('\t', labelled('\t', '\t' ^ 0xA0, true));
    put_unit(0xA0, 1u << 31 | 3);
    memcpy(map_bytes + 4 + UNITS * 4, "ab\0 \0", TEXTS);
}

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
    fill_map();
    assert_true(lw__charsmap_open(&map, map_bytes, MAP_BYTES));
    becomes(&map, "Ax", 1, "ab");
    becomes(&map, "ABx", 2, "");
    becomes(&map, "\tA", 1, " ");
    becomes(&map, "x", 0, "");
    becomes(&map, "", 0, "");
}

static void test_charsmap__tells_which_ascii_it_has(void **state)
{
    (void)state;
    lw__charsmap map;
    fill_map();
    put_unit('x', labelled('x', 'x' ^ 0xD0, false)); /* only what goes on with a byte CC */
    put_unit(0xD0, 1u << 31);
    put_unit(0xD0 ^ 0xCC, labelled(0xCC, 0, true));
    put_unit('y', labelled('y', 'y' ^ 0xF0, false)); /* only what goes on with a z */
    put_unit(0xF0, 1u << 31);
    put_unit(0xF0 ^ 'z', labelled('z', 0, true));
    assert_true(lw__charsmap_open(&map, map_bytes, MAP_BYTES));
    assert_true(lw__charsmap_has_ascii(&map, 'A'));
    assert_true(lw__charsmap_has_ascii(&map, '\t'));
    assert_false(lw__charsmap_has_ascii(&map, 'B'));
    assert_false(lw__charsmap_has_ascii(&map, 'x'));
    assert_true(lw__charsmap_has_ascii(&map, 'y'));
    map.units = NULL;
    assert_false(lw__charsmap_has_ascii(&map, 'A'));
}

static void test_charsmap__refuses_what_is_cut_short(void **state)
{
    (void)state;
    lw__charsmap map;
    fill_map();
    for (size_t count = 0; count <= MAP_BYTES - TEXTS; count++) {
        assert_false(lw__charsmap_open(&map, map_bytes, count));
    }
    map_bytes[0] = 4;
    assert_false(lw__charsmap_open(&map, map_bytes, MAP_BYTES));
}

static void test_charsmap__places_outside_are_nothing(void **state)
{
    (void)state;
    lw__charsmap map;
    fill_map();
    put_unit('A', labelled('A', 0x1FFFFF, true));
    put_unit('\t', labelled('\t', '\t' ^ 0xA0, true));
    put_unit(0xA0, 1u << 31 | 1000);
    assert_true(lw__charsmap_open(&map, map_bytes, MAP_BYTES));
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
    fill_map();
    tiny_model model = {.pieces = pieces,
                        .count = sizeof pieces / sizeof pieces[0],
                        .type = TINY_BPE,
                        .prefix = true,
                        .collapsed = true,
                        .charsmap = map_bytes,
                        .charsmap_bytes = MAP_BYTES};
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
        cmocka_unit_test(test_charsmap__tells_which_ascii_it_has),
        cmocka_unit_test(test_charsmap__refuses_what_is_cut_short),
        cmocka_unit_test(test_charsmap__places_outside_are_nothing),
        cmocka_unit_test(test_charsmap__in_a_model),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
