/* SPDX-License-Identifier: Apache-2.0 */
/* Every form of the block splitter cuts where lw__split does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "tokenize/blocks.h"
#include "tokenize/unicode.h"

#define TEXT_ROOM 4096
#define ROOM      (TEXT_ROOM + LW__BLOCK_ROOM)

static lw__pair_classes pairs; /* filled before the tests */

static const lw__split_rules all_rules[] = {
    {.family = LW__SPLIT_GPT2},
    {.family = LW__SPLIT_CL100K, .digits = 3},
    {.family = LW__SPLIT_CL100K, .digits = 1},
    {.family = LW__SPLIT_CL100K, .digits = 3, .trailing_whole = true},
    {.family = LW__SPLIT_CL100K, .digits = 2},
    {.family = LW__SPLIT_PAIRS, .pairs = &pairs},
    {.family = LW__SPLIT_O200K, .digits = 3},
    {.family = LW__SPLIT_TEKKEN, .digits = 1},
    {.family = LW__SPLIT_QWEN3_6, .digits = 1},
    {.family = LW__SPLIT_DEEPSEEK, .digits = 3},
};

static const char *const constructs[] = {
    "a",
    "word",
    "Hello",
    " the",
    " ",
    "  ",
    "    ",
    "\n",
    "\r\n",
    "\n\n",
    " \n",
    "\n  ",
    " \n \n ",
    "\t",
    "\x0B",
    "1",
    "12",
    "123",
    "1234567",
    " 1",
    "'s",
    "'S",
    "'re",
    "'LL",
    "'ve",
    "'l",
    "'r",
    "'",
    "''",
    "it's",
    "don'tx",
    "'\xC5\xBF",
    "'s's",
    "!",
    "!!",
    " !",
    "?!\n",
    "!\n\n",
    "!\r\n x",
    "...",
    "(a)",
    "\xC3\xA9",
    "\xD0\xB6\xD1\x83",
    "\xE4\xB8\xAD\xE6\x96\x87",
    "\xE3\x81\x82",
    "\xE3\x80\x80",
    "\xC2\xA0",
    "\xE2\x80\xA8",
    "\xE1\x9A\x80",
    "\xC2\x85",
    "\xE2\x80\x8D",
    "\xC2\xBD",
    "\xEF\xBC\x91",
    "\xE0\xA5\xA7\xE0\xA5\xA8\xE0\xA5\xA9\xE0\xA5\xAA",
    "\xCC\x81",
    "\xE2\x80\x99s",
    "\xF0\x9F\x8E\x89",
    "\xF0\x9D\x92\x9C",
    "\xEA\xB0\x80",
    "\xCE\xB1",
    "_",
    "\x1C",
    "A",
    "WORD",
    "xY",
    "X\xE4\xB8\xADY",
    "\xC3\x89",
    "\xD0\x96",
    "\xC7\x85",
    "\xCA\xB0",
    "e\xCC\x81",
    "!\xCC\x81",
    "\xE0\xA4\xB9\xE0\xA4\xBF",
    "\xE3\x83\xBC",
    "\xE3\x83\xBB",
    "\xE3\x82\x99",
    "\xE9\xBE\xA6",
    "/",
    "\n/",
    "+",
    "\xC2\xBB",
    "\xC2\xAD",
    "\x01",
};

#define CONSTRUCTS (sizeof constructs / sizeof constructs[0])

/* A sanitizer makes this slow; there fewer texts come by the same places. */
#ifdef __SANITIZE_ADDRESS__
enum { OFFSET_STEP = 32, CODE_STEP = 61 };
#else
enum { OFFSET_STEP = 4, CODE_STEP = 1 };
#endif

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t x = (*state ^ *state >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Any classes: some bytes are cut behind nearly always, some hardly ever. */
static int fill_pairs(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (size_t byte = 0; byte < 256; byte++) {
        pairs.class[byte] = (uint8_t)(1u << next_random(&random) % 8);
        pairs.joined[byte] = (uint8_t)(next_random(&random) & next_random(&random));
    }
    return 0;
}

static void show_difference(const char *form, size_t rules, const unsigned char *text, size_t bytes)
{
    print_error("%s, rules %zu:", form, rules);
    for (size_t i = 0; i < bytes; i++) {
        print_error(" %02X", text[i]);
    }
    print_error("\n");
}

/* All pieces of the text by one form, in calls that have no more room than they must. */
static size_t walk_all(const lw__blocks_form *form, const lw__split_rules *rules,
                       const unsigned char *text, size_t bytes, size_t *ends)
{
    static uint32_t found[ROOM];
    size_t count = 0;
    for (size_t at = 0; at < bytes;) {
        size_t room = count % 2 == 0 ? LW__BLOCK_ROOM : ROOM;
        size_t more = form->walk(rules, text + at, bytes - at, found, room);
        assert_true(more > 0 && more <= room);
        for (size_t i = 0; i < more; i++) {
            ends[count++] = at + found[i];
        }
        at = ends[count - 1];
    }
    return count;
}

static void same_cuts(const unsigned char *text, size_t bytes)
{
    static size_t wanted[ROOM];
    static size_t found[ROOM];
    lw__blocks_form forms[3];
    size_t form_count = lw__blocks_forms(forms);
    for (size_t r = 0; r < sizeof all_rules / sizeof all_rules[0]; r++) {
        size_t count = lw__split(&all_rules[r], text, bytes, 0, wanted, ROOM);
        for (size_t f = 0; f < form_count; f++) {
            size_t more = walk_all(&forms[f], &all_rules[r], text, bytes, found);
            if (more != count || memcmp(found, wanted, count * sizeof *found) != 0) {
                show_difference(forms[f].name, r, text, bytes);
                fail();
            }
        }
    }
}

static size_t put(unsigned char *text, size_t at, const char *construct)
{
    size_t bytes = strlen(construct);
    memcpy(text + at, construct, bytes);
    return at + bytes;
}

/* Two constructs, after letters, white space or nothing that matters. Each pair is at some offsets of
 * a block, and each construct at all of them, as the first and as the second. */
static void test_blocks__constructs_at_every_offset(void **state)
{
    (void)state;
    static const char *const fillers[] = {"a", " ", "!", "1", "\n"};
    unsigned char text[256];
    for (size_t i = 0; i < CONSTRUCTS * CONSTRUCTS; i++) {
        size_t first = (i / CONSTRUCTS + i % CONSTRUCTS) % OFFSET_STEP;
        for (size_t offset = first; offset <= LW__BLOCK_BYTES; offset += OFFSET_STEP) {
            const char *filler = fillers[(i + offset) % 5];
            size_t bytes = 0;
            while (bytes < offset) {
                bytes = put(text, bytes, bytes % 7 == 3 ? filler : "b");
            }
            bytes = put(text, bytes, constructs[i / CONSTRUCTS]);
            bytes = put(text, bytes, constructs[i % CONSTRUCTS]);
            same_cuts(text, bytes);
            bytes = put(text, bytes, "x y, z");
            same_cuts(text, bytes);
        }
    }
}

static void test_blocks__random_mixtures(void **state)
{
    (void)state;
    static unsigned char text[TEXT_ROOM];
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        size_t wanted = next_random(&random) % 400;
        size_t few = 1 + next_random(&random) % CONSTRUCTS;
        size_t bytes = 0;
        while (bytes < wanted) {
            bytes = put(text, bytes, constructs[next_random(&random) % few]);
        }
        same_cuts(text, bytes);
    }
}

static void test_blocks__bytes_that_are_not_utf8(void **state)
{
    (void)state;
    unsigned char text[200];
    uint64_t random = 2;
    for (int round = 0; round < 20000; round++) {
        size_t bytes = 1 + next_random(&random) % sizeof text;
        uint64_t share = next_random(&random) % 100;
        for (size_t i = 0; i < bytes; i++) {
            uint64_t value = next_random(&random);
            unsigned char plain = (unsigned char)"a b!1\n'"[value % 7];
            text[i] = value % 100 < share ? (unsigned char)(value >> 8 | 0x80) : plain;
        }
        same_cuts(text, bytes);
    }
}

/* Long pieces, and texts that are one piece. */
static void test_blocks__pieces_longer_than_a_block(void **state)
{
    (void)state;
    static unsigned char text[TEXT_ROOM];
    static const char *const units[] = {"a", " ", "\n", "!", "1", " \n", "\xE4\xB8\xAD", "'s"};
    for (size_t unit = 0; unit < 8; unit++) {
        for (size_t wanted = 1; wanted < 300; wanted++) {
            size_t bytes = 0;
            while (bytes < wanted) {
                bytes = put(text, bytes, units[unit]);
            }
            same_cuts(text, bytes);
            same_cuts(text, put(text, bytes, "b c"));
        }
    }
}

static void test_blocks__every_character_of_the_tables(void **state)
{
    (void)state;
    unsigned char text[64];
    for (uint32_t code = 0x80; code < LW__UNICODE_LIMIT + 512; code += CODE_STEP) {
        if (code >= 0xD800 && code < 0xE000) {
            continue;
        }
        unsigned char character[4];
        size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t i = 0; i < bytes; i++) {
            unsigned char low = (unsigned char)(0x80 | (code >> 6 * (bytes - 1 - i) & 0x3F));
            character[i] = low;
        }
        static const unsigned char marks[5] = {0, 0, 0xC0, 0xE0, 0xF0};
        character[0] = (unsigned char)(marks[bytes] | code >> 6 * (bytes - 1));
        size_t at = put(text, 0, "a ");
        memcpy(text + at, character, bytes);
        at = put(text, at + bytes, "b!");
        memcpy(text + at, character, bytes);
        memcpy(text + at + bytes, character, bytes);
        same_cuts(text, put(text, at + 2 * bytes, "1 "));
    }
}

/* The page behind the text can not be read. */
static void test_blocks__nothing_behind_the_text_is_read(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    static const char *const tails[] = {"word",         "\xE4\xB8\xAD", "\xE4\xB8",
                                        "\xF0\x9F\x8E", "'s",           "'"};
    for (size_t bytes = 1; bytes < 200; bytes++) {
        for (size_t tail = 0; tail < 6; tail++) {
            size_t tail_bytes = strlen(tails[tail]);
            unsigned char *text = pages + page - bytes;
            memset(text, 'a', bytes);
            for (size_t i = 5; i < bytes; i += 6) {
                text[i] = ' ';
            }
            if (tail_bytes <= bytes) {
                memcpy(pages + page - tail_bytes, tails[tail], tail_bytes);
            }
            same_cuts(text, bytes);
        }
    }
    assert_int_equal(munmap(pages, 2 * page), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks__constructs_at_every_offset),
        cmocka_unit_test(test_blocks__random_mixtures),
        cmocka_unit_test(test_blocks__bytes_that_are_not_utf8),
        cmocka_unit_test(test_blocks__pieces_longer_than_a_block),
        cmocka_unit_test(test_blocks__every_character_of_the_tables),
        cmocka_unit_test(test_blocks__nothing_behind_the_text_is_read),
    };
    return cmocka_run_group_tests(tests, fill_pairs, NULL);
}
