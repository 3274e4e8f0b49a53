/* SPDX-License-Identifier: Apache-2.0 */
/* pre_tokenizers of no family: each is told by the ids that it gives. */
#include "tiny_vocabulary.h"

#define BYTE_LEVEL "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}"
#define SPLIT_BY(pattern, behavior, invert)                                                        \
    "{\"type\": \"Split\", \"pattern\": {" pattern "}, \"behavior\": \"" behavior                  \
    "\", \"invert\": " invert "}"
#define SPLIT(regex)    SPLIT_BY("\"Regex\": \"" regex "\"", "Isolated", "false")
#define SEQUENCE(parts) "{\"type\": \"Sequence\", \"pretokenizers\": [" parts "]}"

static lw__tokenizer *opened(const char *pre_tokenizer)
{
    tiny_json json = {.pre_tokenizer = pre_tokenizer};
    lw__tokenizer_options options = {.path = tiny_write_json("steps.json", &json)};
    return tiny_open(&options);
}

static void test_load_json_steps__behaviors(void **state)
{
    (void)state;

    static const struct {
        const char *pre_tokenizer;
        int ids[5];
    } cases[] = {
        /* "aab" : where "a", or "b", matches, and what becomes of it. */
        {SEQUENCE(SPLIT_BY("\"Regex\": \"a\"", "Isolated", "false") ", " BYTE_LEVEL),
         {'a', 'a', 'b', -1}},
        {SEQUENCE(SPLIT_BY("\"Regex\": \"a\"", "Removed", "false") ", " BYTE_LEVEL), {'b', -1}},
        {SEQUENCE(SPLIT_BY("\"Regex\": \"a\"", "Removed", "true") ", " BYTE_LEVEL), {'a', 'a', -1}},
        {SEQUENCE(SPLIT_BY("\"Regex\": \"a\"", "Contiguous", "false") ", " BYTE_LEVEL),
         {TINY_AA, 'b', -1}},
        {SEQUENCE(SPLIT_BY("\"String\": \"b\"", "MergedWithPrevious", "false") ", " BYTE_LEVEL),
         {'a', TINY_AB, -1}},
        {SEQUENCE(SPLIT_BY("\"Regex\": \"a\"", "MergedWithNext", "false") ", " BYTE_LEVEL),
         {'a', TINY_AB, -1}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lw__tokenizer *tokenizer = opened(cases[i].pre_tokenizer);
        const int *ids = cases[i].ids;
        tiny_encodes(tokenizer, "aab", 3, ids[0], ids[1], ids[2], ids[3], -1);
        lw__tokenizer_close(tokenizer);
    }
}

static void test_load_json_steps__digits_before_and_behind_byte_level(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer =
        opened(SEQUENCE("{\"type\": \"Digits\", \"individual_digits\": true}, " TINY_BYTE_LEVEL));
    tiny_encodes(tokenizer, "12 the", 6, '1', '2', TINY_SPACE_THE, -1);
    lw__tokenizer_close(tokenizer);
    tokenizer =
        opened(SEQUENCE(TINY_BYTE_LEVEL ", {\"type\": \"Digits\", \"individual_digits\": false}"));
    tiny_encodes(tokenizer, "12 the", 6, TINY_12, TINY_SPACE_THE, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_steps__classes_of_characters(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = opened(SEQUENCE("{\"type\": \"Whitespace\"}, " BYTE_LEVEL));
    tiny_encodes(tokenizer, " the  ab\n", 9, TINY_THE, TINY_AB, -1);
    lw__tokenizer_close(tokenizer);
    tokenizer = opened(SEQUENCE("{\"type\": \"WhitespaceSplit\"}, " BYTE_LEVEL));
    tiny_encodes(tokenizer, " the  12", 8, TINY_THE, TINY_12, -1);
    lw__tokenizer_close(tokenizer);
}

/* A letter of the run would merge with its neighbour, so a cut between them shows. */
static void test_load_json_steps__punctuation_is_that_of_unicode_8(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        bool is_cut;
    } cases[] = {{"a$a", true}, /* symbols of ASCII */
                 {"a`a", true},
                 {"a0a", false},
                 {"a\xE2\x82\xAC"
                  "a",
                  false}, /* no other symbols */
                 {"a\xE1\x99\xAD"
                  "a",
                  true}, /* U+166D, until 9 */
                 {"a\xD8\x9D"
                  "a",
                  false}, /* U+061D, since 14 */
                 {"a\xD8\x9E"
                  "a",
                  true}};

    lw__tokenizer *tokenizer = opened(SEQUENCE("{\"type\": \"Punctuation\"}, " SPLIT_BY(
        "\"Regex\": \"^a$\"", "Removed", "false") ", " BYTE_LEVEL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lw_error err = {.status = LW_OK};
        lw__encoder *encoder = NULL;
        lw__arena arena = {.ids = NULL};
        assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
        size_t bytes = strlen(cases[i].text);
        assert_int_equal(lw__encoder_encode(encoder, cases[i].text, bytes, &arena, &err), LW_OK);
        assert_int_equal(arena.count, cases[i].is_cut ? bytes - 2 : bytes);
        lw__arena_reset(&arena);
        lw__encoder_destroy(encoder);
    }
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_steps__behaviors_of_punctuation(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = opened(SEQUENCE("{\"type\": \"Punctuation\"}, " BYTE_LEVEL));
    tiny_encodes(tokenizer, "ab.ab", 5, TINY_AB, '.', TINY_AB, -1);
    lw__tokenizer_close(tokenizer);
    tokenizer =
        opened(SEQUENCE("{\"type\": \"Punctuation\", \"behavior\": \"Removed\"}, " BYTE_LEVEL));
    tiny_encodes(tokenizer, "ab..ab", 6, TINY_AB, TINY_AB, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_steps__a_delimiter_is_dropped(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer =
        opened(SEQUENCE("{\"type\": \"CharDelimiterSplit\", \"delimiter\": \".\"}, " BYTE_LEVEL));
    tiny_encodes(tokenizer, "a..aa.b", 7, 'a', TINY_AA, 'b', -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_steps__a_prefix_space_comes_first(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer =
        opened(SEQUENCE("{\"type\": \"ByteLevel\", \"add_prefix_space\": true}, " SPLIT("[0-9]")));
    tiny_encodes(tokenizer, "the12", 5, TINY_SPACE_THE, '1', '2', -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_steps__fingerprints_tell_steps_apart(void **state)
{
    (void)state;
    lw__tokenizer *one = opened(SEQUENCE(SPLIT("a") ", " BYTE_LEVEL));
    lw__tokenizer *same = opened(SEQUENCE(SPLIT("a") ", " BYTE_LEVEL));
    lw__tokenizer *other = opened(SEQUENCE(SPLIT("b") ", " BYTE_LEVEL));
    assert_true(lw__tokenizer_fingerprint(one) == lw__tokenizer_fingerprint(same));
    assert_true(lw__tokenizer_fingerprint(one) != lw__tokenizer_fingerprint(other));
    lw__tokenizer_close(one);
    lw__tokenizer_close(same);
    lw__tokenizer_close(other);
}

static void test_load_json_steps__what_can_not_be_honoured(void **state)
{
    (void)state;

    static const struct {
        const char *pre_tokenizer;
        const char *message;
    } cases[] = {
        {SEQUENCE(SPLIT("a") ", " SPLIT("b")), "pre_tokenizer: no ByteLevel, expected one"},
        {SEQUENCE(SPLIT("a") ", " TINY_BYTE_LEVEL ", " BYTE_LEVEL),
         "pre_tokenizer.pretokenizers: ByteLevel, expected one"},
        {SEQUENCE(BYTE_LEVEL ", " BYTE_LEVEL), "pretokenizers: ByteLevel, expected one"},
        {SEQUENCE(SPLIT("a") ", {\"type\": \"ByteLevel\", \"add_prefix_space\": true}"),
         "pre_tokenizer.add_prefix_space: true, expected false"},
        {SEQUENCE("{\"type\": \"BertPreTokenizer\"}, " BYTE_LEVEL),
         "pre_tokenizer: BertPreTokenizer, expected ByteLevel, Split"},
        {SEQUENCE("{\"type\": \"UnicodeScripts\"}, " BYTE_LEVEL),
         "pre_tokenizer: UnicodeScripts, expected ByteLevel, Split"},
        {SEQUENCE("{\"type\": \"Punctuation\", \"behavior\": \"Kept\"}, " BYTE_LEVEL),
         "pre_tokenizer.behavior: Kept, expected"},
        {SEQUENCE("{\"type\": \"Digits\", \"color\": 1}, " BYTE_LEVEL),
         "pre_tokenizer: field: color"},
        {SEQUENCE(SPLIT_BY("\"Regex\": \"a\"", "Kept", "false") ", " BYTE_LEVEL),
         "pre_tokenizer.behavior: Kept, expected"},
        {SEQUENCE(SPLIT_BY("\"String\": \"\"", "Isolated", "false") ", " BYTE_LEVEL),
         "pre_tokenizer.pattern: , expected a regex of 1"},
        {SEQUENCE(SPLIT("a") ", " SPLIT("a") ", " SPLIT("a") ", " SPLIT("a") ", " SPLIT(
             "a") ", " SPLIT("a") ", " SPLIT("a") ", " SPLIT("a") ", " TINY_BYTE_LEVEL),
         "pre_tokenizer.pretokenizers: more than 8"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny_json json = {.pre_tokenizer = cases[i].pre_tokenizer};
        lw__tokenizer_options options = {.path = tiny_write_json("bad.json", &json)};
        tiny_open_fails(&options, LW_E_UNSUPPORTED, cases[i].message);
    }
}

static void test_load_json_steps__a_text_that_is_too_hard_is_an_error(void **state)
{
    (void)state;
    char text[128];
    lw_error err = {.status = LW_OK};
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    lw__tokenizer *tokenizer = opened(SEQUENCE(SPLIT("(?:a|b|ab)*(?:c|d)") ", " BYTE_LEVEL));
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = i % 2 == 0 ? 'a' : 'b';
    }
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
    assert_int_equal(lw__encoder_encode(encoder, text, sizeof text, &arena, &err),
                     LW_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "pattern: more than 10000000 steps"));
    assert_int_equal(arena.count, 0);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_json_steps__behaviors),
        cmocka_unit_test(test_load_json_steps__digits_before_and_behind_byte_level),
        cmocka_unit_test(test_load_json_steps__classes_of_characters),
        cmocka_unit_test(test_load_json_steps__punctuation_is_that_of_unicode_8),
        cmocka_unit_test(test_load_json_steps__behaviors_of_punctuation),
        cmocka_unit_test(test_load_json_steps__a_delimiter_is_dropped),
        cmocka_unit_test(test_load_json_steps__a_prefix_space_comes_first),
        cmocka_unit_test(test_load_json_steps__fingerprints_tell_steps_apart),
        cmocka_unit_test(test_load_json_steps__what_can_not_be_honoured),
        cmocka_unit_test(test_load_json_steps__a_text_that_is_too_hard_is_an_error),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
