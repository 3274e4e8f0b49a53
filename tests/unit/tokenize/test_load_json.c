/* SPDX-License-Identifier: Apache-2.0 */
/* tokenizer.json: what is honoured, and that all else is refused by name. */
#include "tiny_vocabulary.h"

#define SPLIT(regex, more)                                                                         \
    "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": " \
    "\"" regex "\"}, " more "}, {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "           \
    "\"trim_offsets\": true, \"use_regex\": false}]}"
#define ISOLATED "\"behavior\": \"Isolated\", \"invert\": false"
#define CL100K(digits)                                                                             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}" digits         \
    "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

static lw__tokenizer *open_json(const tiny_json *json, bool special_text)
{
    lw__tokenizer_options options = {.path = tiny_write_json("tokenizer.json", json),
                                     .special_text = special_text};
    return tiny_open(&options);
}

static void fails(const tiny_json *json, lw_status status, const char *message)
{
    lw__tokenizer_options options = {.path = tiny_write_json("bad.json", json),
                                     .special_text = true};
    tiny_open_fails(&options, status, message);
}

static void test_load_json__a_plain_file(void **state)
{
    (void)state;
    tiny_json json = {
        .top = "\"truncation\": null, \"padding\": null, \"normalizer\": null, "
               "\"post_processor\": {\"type\": \"X\"}, \"decoder\": [1], ",
        .model = "\"type\": \"BPE\", \"dropout\": null, \"unk_token\": null, "
                 "\"continuing_subword_prefix\": \"\", \"end_of_word_suffix\": null, "
                 "\"fuse_unk\": false, \"byte_fallback\": false, \"ignore_merges\": false, "};
    lw__tokenizer *tokenizer = open_json(&json, false);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), TINY_COUNT);
    tiny_encodes(tokenizer, "the the12", 9, TINY_THE, TINY_SPACE_THE, TINY_12, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json__merges_as_pairs(void **state)
{
    (void)state;
    tiny_json json = {.merges = "[[\"t\", \"h\"], [\"a\", \"a\"]]"};
    lw__tokenizer *tokenizer = open_json(&json, false);
    tiny_encodes(tokenizer, "theaa", 5, TINY_TH, 'e', TINY_AA, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json__known_patterns(void **state)
{
    (void)state;
    tiny_json json = {.pre_tokenizer = SPLIT(CL100K("{1,3}"), ISOLATED)};
    lw__tokenizer *tokenizer = open_json(&json, false);
    tiny_encodes(tokenizer, "\n\n\n", 3, TINY_NEWLINES, '\n', -1);
    tiny_encodes(tokenizer, "3312", 4, '3', '3', '1', '2', -1);
    lw__tokenizer_close(tokenizer);
    json.pre_tokenizer = SPLIT(CL100K(""), "\"behavior\": \"Removed\", \"invert\": true");
    tokenizer = open_json(&json, false);
    tiny_encodes(tokenizer, "12", 2, '1', '2', -1);
    lw__tokenizer_close(tokenizer);
    json.pre_tokenizer = "{\"type\": \"Sequence\", \"pretokenizers\": [" TINY_BYTE_LEVEL "]}";
    tokenizer = open_json(&json, false);
    tiny_encodes(tokenizer, "12", 2, TINY_12, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json__a_space_before_each_segment(void **state)
{
    (void)state;
    tiny_json json = {
        .pre_tokenizer = "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, "
                         "\"trim_offsets\": true, \"use_regex\": true}",
        .added = "[{\"id\": 265, \"content\": \"<x>\", \"special\": false, \"lstrip\": false, "
                 "\"rstrip\": false, \"single_word\": false, \"normalized\": false}]"};
    lw__tokenizer *tokenizer = open_json(&json, false);
    tiny_encodes(tokenizer, "the<x>the<x> the", 16, TINY_SPACE_THE, 265, TINY_SPACE_THE, 265,
                 TINY_SPACE_THE, -1);
    tiny_encodes(tokenizer, "", 0, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json__ignore_merges_takes_whole_pieces(void **state)
{
    (void)state;
    tiny_json json = {.model = "\"ignore_merges\": true, ", .merges = "[\"t h\"]"};
    lw__tokenizer *tokenizer = open_json(&json, false);
    tiny_encodes(tokenizer, "the thex", 8, TINY_THE, ' ', TINY_TH, 'e', 'x', -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json__added_tokens(void **state)
{
    (void)state;
    tiny_json json = {
        .added = "[{\"id\": 257, \"content\": \"the\", \"special\": false, \"normalized\": false},"
                 "{\"id\": 265, \"content\": \"<m>\", \"special\": true, \"lstrip\": true},"
                 "{\"id\": 266, \"content\": \"<r>\", \"special\": true, \"rstrip\": true},"
                 "{\"id\": 267, \"content\": \"<r>s\", \"special\": true},"
                 "{\"id\": 268, \"content\": \"  \", \"normalized\": true}]"};
    lw__tokenizer *tokenizer = open_json(&json, true);
    tiny_encodes(tokenizer, "athe", 4, 'a', TINY_THE, -1);
    tiny_encodes(tokenizer, "a \xC2\xA0<m> a", 9, 'a', 265, ' ', 'a', -1);
    tiny_encodes(tokenizer, "a <r> \n <m><r>sb", 16, 'a', ' ', 266, 265, 267, 'b', -1);
    tiny_encodes(tokenizer, "a  b", 4, 'a', 268, 'b', -1);
    lw__tokenizer_close(tokenizer);
    tokenizer = open_json(&json, false);
    tiny_encodes(tokenizer, "<m>the", 6, '<', 'm', '>', TINY_THE, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json__a_single_word_stands_alone(void **state)
{
    (void)state;
    tiny_json json = {.added = "[{\"id\": 265, \"content\": \"xy\", \"single_word\": true}]"};
    lw__tokenizer *tokenizer = open_json(&json, true);
    tiny_encodes(tokenizer, "xy", 2, 265, -1);
    tiny_encodes(tokenizer, "xy.xy xyz", 9, 265, '.', 265, ' ', 'x', 'y', 'z', -1);
    tiny_encodes(tokenizer, "xyxy", 4, 'x', 'y', 'x', 'y', -1);
    tiny_encodes(tokenizer, "_xy", 3, '_', 'x', 'y', -1);
    tiny_encodes(tokenizer, "xy\xC3\xA9", 4, 'x', 'y', 0xC3, 0xA9, -1);
    tiny_encodes(tokenizer, "\xE2\x82\xACxy", 5, 0xE2, 0x82, 0xAC, 265, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json__refusals_of_the_top_level(void **state)
{
    (void)state;

    static const struct {
        const char *top;
        const char *message;
    } cases[] = {
        {"\"normalizer\": {\"type\": \"ByteLevel\"}, ",
         "bad.json\": normalizer: ByteLevel, expected null, NFC"},
        {"\"normalizer\": {\"normalizers\": [{\"type\": \"Bert\"}], \"type\": \"Sequence\"}, ",
         "normalizer: Bert, expected null, NFC"},
        {"\"normalizer\": {\"normalizers\": [], \"type\": \"NFC\"}, ", "normalizer: NFC, expected"},
        {"\"normalizer\": {\"type\": \"NFC\", \"deep\": 1}, ", "normalizer: field: deep, expected"},
        {"\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"String\": \"\"}}, ",
         "normalizer.pattern: , expected"},
        {"\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"Regex\": \"(a)\\\\1\"}}, ",
         "normalizer.pattern: (a)\\1, expected"},
        {"\"truncation\": {\"max_length\": 5}, ", "truncation: an object, expected null"},
        {"\"padding\": 3, ", "padding: a number, expected null"},
        {"\"version\": \"2.0\", ", "version: 2.0, expected 1.0"},
        {"\"version\": 1, ", "version: a number, expected"},
        {"\"extra\": 1, ", "field: extra, expected no field but"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny_json json = {.top = cases[i].top};
        fails(&json, LW_E_UNSUPPORTED, cases[i].message);
    }
}

static void test_load_json__refusals_of_the_model(void **state)
{
    (void)state;

    static const struct {
        const char *model;
        const char *message;
    } cases[] = {
        {"\"type\": \"Unigram\", ", "model.type: Unigram, expected BPE"},
        {"\"type\": \"WordPiece\", ", "model.type: WordPiece, expected BPE"},
        {"\"dropout\": 0.1, ", "model.dropout: a number above 0, expected null or 0"},
        {"\"continuing_subword_prefix\": \"##\", ",
         "model.continuing_subword_prefix: ##, expected null or \"\""},
        {"\"end_of_word_suffix\": \"</w>\", ", "model.end_of_word_suffix: </w>"},
        {"\"end_of_word_suffix\": 1, ", "model.end_of_word_suffix: a number, expected null"},
        {"\"scores\": [], ", "model: field: scores"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny_json json = {.model = cases[i].model};
        fails(&json, LW_E_UNSUPPORTED, cases[i].message);
    }
}

static void test_load_json__refusals_of_the_pre_tokenizer(void **state)
{
    (void)state;

    static const struct {
        const char *pre_tokenizer;
        const char *message;
    } cases[] = {
        {"null", "pre_tokenizer: null, expected ByteLevel"},
        {"{\"type\": \"Metaspace\", \"replacement\": \"_\"}", "pre_tokenizer.replacement: _"},
        {"{\"type\": \"Whitespace\"}", "pre_tokenizer: Whitespace, expected ByteLevel"},
        {"{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}",
         "pre_tokenizer.use_regex: false or missing, expected true"},
        {"{\"type\": \"ByteLevel\"}", "pre_tokenizer.add_prefix_space: missing"},
        {"{\"type\": \"Sequence\", \"pretokenizers\": []}", "pre_tokenizer: no ByteLevel"},
        {SPLIT("(a)\\\\1", ISOLATED), "pre_tokenizer.pattern: (a)\\1, expected a regex with no"},
        {SPLIT(CL100K(""), "\"behavior\": \"Dropped\", \"invert\": false"),
         "pre_tokenizer.behavior: Dropped, expected Isolated"},
        {"{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Sequence\", \"pretokenizers\": "
         "[]}]}",
         "pre_tokenizer: field: pretokenizers"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny_json json = {.pre_tokenizer = cases[i].pre_tokenizer};
        fails(&json, LW_E_UNSUPPORTED, cases[i].message);
    }
}

static void test_load_json__broken_added_tokens(void **state)
{
    (void)state;

    static const struct {
        const char *added;
        lw_status status;
        const char *message;
    } cases[] = {
        {"[{\"id\": 270, \"content\": \"<x>\"}]", LW_E_CORRUPT,
         "added token 0: \"<x>\" has id 270, expected 265"},
        {"[{\"id\": 3, \"content\": \"the\"}]", LW_E_CORRUPT, "\"the\" has id 3, expected 257"},
        {"[{\"id\": 265}]", LW_E_CORRUPT, "added token 0: no content"},
        {"[{\"content\": \"<x>\"}]", LW_E_CORRUPT, "has id -1, expected 265"},
        {"[{\"id\": 265, \"content\": \"<x>\"}, {\"id\": 266, \"content\": \"<x>\"}]", LW_E_CORRUPT,
         "added token 1: \"<x>\" is there twice"},
        {"[{\"id\": 265, \"content\": \"<x>\", \"color\": 1}]", LW_E_UNSUPPORTED,
         "added_tokens: field: color"},
        {"[{\"id\": 233, \"content\": \"\xC3\xA9\"}]", LW_E_UNSUPPORTED,
         "is a byte of the model too"},
        {"[{\"id\": 265, \"content\": \"the token\"}, {\"id\": \"x\"}]", LW_E_CORRUPT, "byte "},
        {"[3]", LW_E_CORRUPT, "byte "},
        {"{}", LW_E_CORRUPT, "byte "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny_json json = {.added = cases[i].added};
        fails(&json, cases[i].status, cases[i].message);
    }
}

static void test_load_json__broken_merges(void **state)
{
    (void)state;

    static const struct {
        const char *merges;
        const char *message;
    } cases[] = {
        {"[\"t h\", \"q q\"]", "bad.json\": merge 1: \"q\" + \"q\": what they give is not in"},
        {"[\"th\"]", "merge 0: \"th\", expected two tokens"},
        {"[\"t h e\"]", "merge 0: \"t\", expected two tokens"},
        {"[[\"t\"]]", "merge 0: \"t\", expected two tokens"},
        {"[[\"t\", \"h\", \"e\"]]", "merge 0: "},
        {"[[]]", "merge 0: "},
        {"[1]", "byte "},
        {"{}", "byte "},
        {"[\"\\u4e2d h\"]", "merge 0: "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny_json json = {.merges = cases[i].merges};
        fails(&json, LW_E_CORRUPT, cases[i].message);
        json.merges_first = true;
        fails(&json, LW_E_CORRUPT, cases[i].message);
    }
}

static void test_load_json__merges_before_the_vocabulary(void **state)
{
    (void)state;
    tiny_json json = {.merges_first = true};
    lw__tokenizer *tokenizer = open_json(&json, false);
    tiny_encodes(tokenizer, "the aaab", 8, TINY_THE, ' ', TINY_AA, TINY_AB, -1);
    lw__tokenizer_close(tokenizer);
}

/* Merges are looked up some together: each is still named by its own place. */
static void test_load_json__a_broken_merge_behind_many(void **state)
{
    (void)state;
    for (unsigned place = 0; place < 140; place += 7) {
        char message[64];
        lw__bytes merges;
        lw__bytes_init(&merges);
        for (unsigned i = 0; i < 140; i++) {
            lw__bytes_printf(&merges, "%s\"%s\"", i == 0 ? "[" : ", ", i < place ? "t h" : "q h");
        }
        lw__bytes_printf(&merges, "]%c", '\0');
        assert_false(merges.failed);
        tiny_json json = {.merges = (const char *)merges.data};
        assert_true(snprintf(message, sizeof message, "merge %u: \"q\" + \"h\": what", place) > 0);
        fails(&json, LW_E_CORRUPT, message);
        lw__bytes_reset(&merges);
    }
}

/* Cut anywhere, a file is refused: no crash, no message over more than one line. */
static void test_load_json__a_file_cut_short(void **state)
{
    (void)state;
    lw__bytes whole;
    tiny_json json = {.added = "[{\"id\": 265, \"content\": \"<x>\", \"special\": true}]",
                      .pre_tokenizer = SPLIT(CL100K("{1,3}"), ISOLATED)};
    const char *path = tiny_write_json("whole.json", &json);
    FILE *file = fopen(path, "rb");
    lw__bytes_init(&whole);
    assert_true(lw__bytes_reserve(&whole, 1 << 16));
    whole.count = fread(whole.data, 1, 1 << 16, file);
    assert_int_equal(fclose(file), 0);
    for (size_t count = 0; count + 2 < whole.count; count += count < 700 ? 1 : 13) {
        lw__tokenizer_options options = {.path = tiny_write("cut.json", whole.data, count)};
        tiny_open_fails(&options, LW_E_CORRUPT, "cut.json\": byte ");
    }
    lw__bytes_reset(&whole);
}

static void test_load_json__missing_parts(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_write_text("no.json", "{\"version\": \"1.0\"}")};
    tiny_open_fails(&options, LW_E_UNSUPPORTED, "model: missing");
    options.path = tiny_write_text("no.json", "{\"model\": {\"vocab\": {}}}");
    tiny_open_fails(&options, LW_E_UNSUPPORTED, "model.merges: missing");
    options.path = tiny_write_text("no.json", "{\"model\": {\"vocab\": [[\"a\", 1.5]], "
                                              "\"type\": \"Unigram\"}}");
    tiny_open_fails(&options, LW_E_UNSUPPORTED, "model.unk_id");
    options.path = tiny_write_text("no.json", "{\"model\": {\"vocab\": {}, \"merges\": []}}");
    tiny_open_fails(&options, LW_E_UNSUPPORTED, "pre_tokenizer: missing");
    options.path = tiny_write_text("no.json", "{\"a\xFF");
    tiny_open_fails(&options, LW_E_CORRUPT, "byte 3: a byte that is not UTF-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_json__a_plain_file),
        cmocka_unit_test(test_load_json__merges_as_pairs),
        cmocka_unit_test(test_load_json__known_patterns),
        cmocka_unit_test(test_load_json__a_space_before_each_segment),
        cmocka_unit_test(test_load_json__ignore_merges_takes_whole_pieces),
        cmocka_unit_test(test_load_json__added_tokens),
        cmocka_unit_test(test_load_json__a_single_word_stands_alone),
        cmocka_unit_test(test_load_json__refusals_of_the_top_level),
        cmocka_unit_test(test_load_json__refusals_of_the_model),
        cmocka_unit_test(test_load_json__refusals_of_the_pre_tokenizer),
        cmocka_unit_test(test_load_json__broken_added_tokens),
        cmocka_unit_test(test_load_json__broken_merges),
        cmocka_unit_test(test_load_json__merges_before_the_vocabulary),
        cmocka_unit_test(test_load_json__a_broken_merge_behind_many),
        cmocka_unit_test(test_load_json__a_file_cut_short),
        cmocka_unit_test(test_load_json__missing_parts),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
