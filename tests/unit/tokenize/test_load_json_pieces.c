/* SPDX-License-Identifier: Apache-2.0 */
/* tokenizer.json files made from SentencePiece models: every field, taken or refused by name. */
#include "tiny_charsmap.h"
#include "tiny_pieces.h"

#define U "\xE2\x96\x81"

/* 0 <unk>, 1 U, 2 a, 3 b, 4 Ua, 5 ab, 6 <s>, then the bytes from 7 on when there are some. */
#define VOCAB      "\"<unk>\": 0, \"" U "\": 1, \"a\": 2, \"b\": 3, \"" U "a\": 4, \"ab\": 5, \"<s>\": 6"
#define MERGES     "\"" U " a\", [\"a\", \"b\"]"
#define FIRST_BYTE 7

#define PREPEND "{\"type\": \"Prepend\", \"prepend\": \"" U "\"}"
#define REPLACE "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"" U "\"}"
#define LLAMA   "{\"type\": \"Sequence\", \"normalizers\": [" PREPEND ", " REPLACE "]}"
#define SPLIT                                                                                      \
    "{\"type\": \"Split\", \"pattern\": {\"String\": \" \"}, \"behavior\": "                       \
    "\"MergedWithPrevious\", \"invert\": false}"
#define META(more)      "{\"type\": \"Metaspace\", \"replacement\": \"" U "\"" more "}"
#define SEQUENCE(parts) "{\"type\": \"Sequence\", \"pretokenizers\": [" parts "]}"
#define WORDS           "{\"type\": \"WhitespaceSplit\"}"
#define BPE(more)       "\"type\": \"BPE\", \"byte_fallback\": true" more
#define NO_BYTES        "\"type\": \"BPE\", \"byte_fallback\": false, \"unk_token\": \"<unk>\""
#define SCORED                                                                                     \
    "\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"<unk>\", 0], [\"" U                      \
    "\", -2], [\"a\", -3], "                                                                       \
    "[\"b\", -4], [\"" U "a\", -1.5], [\"ab\", -2.5]], \"byte_fallback\": false"

typedef struct shape {
    const char *normalizer;
    const char *pre_tokenizer;
    const char *model; /* its fields but vocab and merges; a unigram model has all of them */
    const char *added;
} shape;

static const char *write_shape(const shape *from)
{
    lw__bytes out;
    lw__bytes_init(&out);
    lw__bytes_printf(&out, "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null, ");
    lw__bytes_printf(&out, "\"added_tokens\": [%s], ", from->added != NULL ? from->added : "");
    lw__bytes_printf(&out, "\"normalizer\": %s, \"pre_tokenizer\": %s, ",
                     from->normalizer != NULL ? from->normalizer : "null",
                     from->pre_tokenizer != NULL ? from->pre_tokenizer : "null");
    lw__bytes_printf(&out, "\"model\": {%s", from->model);
    if (strstr(from->model, "Unigram") == NULL) {
        lw__bytes_printf(&out, ", \"vocab\": {" VOCAB);
        for (unsigned byte = 0; byte < 256; byte++) {
            lw__bytes_printf(&out, ", \"<0x%02X>\": %u", byte, FIRST_BYTE + byte);
        }
        lw__bytes_printf(&out, "}, \"merges\": [" MERGES "]");
    }
    lw__bytes_printf(&out, "}}");
    return tiny_write_bytes("pieces.json", &out);
}

static lw__tokenizer *open_shape(const shape *from)
{
    lw__tokenizer_options options = {.path = write_shape(from)};
    return tiny_open(&options);
}

static void shape_fails(const shape *from, lw_status status, const char *text)
{
    lw__tokenizer_options options = {.path = write_shape(from)};
    tiny_open_fails(&options, status, text);
}

static void test_load_json_pieces__prepend_and_replace(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_shape(&(shape){LLAMA, NULL, BPE(""), NULL});
    tiny_encodes(tokenizer, "ab ab", 5, 4, 3, 4, 3, -1);
    tiny_encodes(tokenizer, " a", 2, 1, 4, -1);
    tiny_encodes(tokenizer, "c", 1, 1, FIRST_BYTE + 'c', -1);
    tiny_encodes(tokenizer, "", 0, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_pieces__replace_and_split(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_shape(&(shape){REPLACE, SPLIT, BPE(""), NULL});
    tiny_encodes(tokenizer, "ab ab", 5, 5, 4, 3, -1);
    lw__tokenizer_close(tokenizer);
    shape_fails(&(shape){NULL, SPLIT, BPE(""), NULL}, LW_E_UNSUPPORTED,
                "pre_tokenizer: Split, expected a normalizer that leaves no spaces");
}

static void test_load_json_pieces__other_normalizers(void **state)
{
    (void)state;
    shape from = {"{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFKC\"}, " PREPEND
                  ", " REPLACE "]}",
                  NULL, BPE(""), NULL};
    lw__tokenizer *tokenizer = open_shape(&from);
    tiny_encodes(tokenizer, "a\xC2\xA0\xEF\xBD\x81", 6, 4, 4,
                 -1); /* what is compatible with "a a" */
    lw__tokenizer_close(tokenizer);
    from.normalizer = "{\"type\": \"Lowercase\"}";
    from.pre_tokenizer = META("");
    tokenizer = open_shape(&from);
    tiny_encodes(tokenizer, "A B", 3, 4, 1, 3, -1);
    lw__tokenizer_close(tokenizer);
}

/* Each is looked for as the normalizer leaves it: with a space before it that Prepend put there. */
static void test_load_json_pieces__normalized_tokens(void **state)
{
    (void)state;
    shape from = {LLAMA, NULL, BPE(""),
                  "{\"id\": 6, \"content\": \"<s>\", \"special\": false, \"normalized\": true}"};
    lw__tokenizer *tokenizer = open_shape(&from);
    tiny_encodes(tokenizer, "<s>a <s>", 8, 6, 2, 6, -1);
    tiny_encodes(tokenizer, "a<s>", 4, 4, FIRST_BYTE + '<', FIRST_BYTE + 's', FIRST_BYTE + '>', -1);
    lw__tokenizer_close(tokenizer);
    from.normalizer = REPLACE;
    tokenizer = open_shape(&from);
    tiny_encodes(tokenizer, "a<s> a", 6, 2, 6, 4, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_pieces__metaspace(void **state)
{
    (void)state;

    static const struct {
        const char *pre_tokenizer;
        int ids[4]; /* of "ab", then of "<s>ab" with <s> a token */
    } cases[] = {{META(""), {4, 3, 4, 3}},
                 {META(", \"prepend_scheme\": \"first\", \"split\": false"), {4, 3, 5, -1}},
                 {META(", \"prepend_scheme\": \"never\""), {5, -1, 5, -1}},
                 {META(", \"add_prefix_space\": true, \"str_rep\": \"" U "\""), {4, 3, 4, 3}}};

    const char *added =
        "{\"id\": 6, \"content\": \"<s>\", \"special\": false, \"normalized\": false}";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shape from = {NULL, cases[i].pre_tokenizer, NO_BYTES, added};
        lw__tokenizer *tokenizer = open_shape(&from);
        tiny_encodes(tokenizer, "ab", 2, cases[i].ids[0], cases[i].ids[1], -1);
        tiny_encodes(tokenizer, "<s>ab", 5, 6, cases[i].ids[2], cases[i].ids[3], -1);
        tiny_encodes(tokenizer, " ab", 3, 4, 3, -1);
        lw__tokenizer_close(tokenizer);
    }
}

static void encodes_words(const char *pre_tokenizer)
{
    lw__tokenizer *tokenizer = open_shape(&(shape){NULL, pre_tokenizer, BPE(""), NULL});
    tiny_encodes(tokenizer, "ab", 2, 4, 3, -1);
    tiny_encodes(tokenizer, " \n ab \xE3\x80\x80 b\t", 12, 4, 3, 1, 3, -1);
    tiny_encodes(tokenizer, "a" U "b " U "a " U, 14, 4, 1, 3, 4, 1, -1);
    tiny_encodes(tokenizer, " \t ", 3, -1);
    tiny_encodes(tokenizer, "", 0, -1);
    lw__tokenizer_close(tokenizer);
}

/* What is cut on the way, and what in steps. */
static void test_load_json_pieces__words_before_metaspace(void **state)
{
    (void)state;
    encodes_words(SEQUENCE(WORDS ", " META("")));
    encodes_words(SEQUENCE(WORDS ", " WORDS ", " META("")));
    shape never = {NULL, SEQUENCE(WORDS ", " META(", \"prepend_scheme\": \"never\"")), BPE(""),
                   NULL};
    lw__tokenizer *tokenizer = open_shape(&never);
    tiny_encodes(tokenizer, "a b ab", 6, 2, 3, 5, -1);
    lw__tokenizer_close(tokenizer);
}

/* Longer than what is prepared at a time. */
static void test_load_json_pieces__a_long_word_gets_one_space(void **state)
{
    (void)state;

    enum { BYTES = 200001 };

    lw_error err = {.status = LW_OK};
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    lw__tokenizer *tokenizer =
        open_shape(&(shape){NULL, SEQUENCE(WORDS ", " META("")), BPE(""), NULL});
    char *text = malloc(BYTES);
    assert_non_null(text);
    memset(text, 'b', BYTES);
    text[BYTES / 2] = ' ';
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
    assert_int_equal(lw__encoder_encode(encoder, text, BYTES, &arena, &err), LW_OK);
    assert_int_equal(arena.count, BYTES + 1);
    for (size_t i = 0; i < arena.count; i++) {
        assert_int_equal(arena.ids[i], i == 0 || i == BYTES / 2 + 1 ? 1 : 3);
    }
    free(text);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_pieces__steps_before_metaspace(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_shape(
        &(shape){REPLACE, SEQUENCE("{\"type\": \"Punctuation\"}, " META("")), BPE(""), NULL});
    tiny_encodes(tokenizer, "a.b a", 5, 4, 1, FIRST_BYTE + '.', 1, 3, 4, -1);
    lw__tokenizer_close(tokenizer);
    tokenizer = open_shape(&(shape){NULL, SEQUENCE(META("")), BPE(""), NULL});
    tiny_encodes(tokenizer, "ab  a", 5, 4, 3, 1, 4, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_pieces__precompiled(void **state)
{
    (void)state;
    lw__bytes json;
    lw__bytes_init(&json);
    tiny_map_fill();
    lw__bytes_printf(&json, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"");
    tiny_put_base64(&json, (const char *)tiny_map, TINY_MAP_BYTES);
    lw__bytes_printf(&json, "\"}");
    lw__bytes_put_u8(&json, 0);
    shape from = {(const char *)json.data, META(", \"prepend_scheme\": \"first\""), BPE(""), NULL};
    lw__tokenizer *tokenizer = open_shape(&from);
    tiny_encodes(tokenizer, "A\ta", 3, 4, 3, 4, -1);
    lw__tokenizer_close(tokenizer);
    from.added = "{\"id\": 6, \"content\": \"<s>\", \"special\": false, \"normalized\": true}";
    shape_fails(&from, LW_E_UNSUPPORTED,
                "prepend_scheme: first, expected always or never with normalized added tokens");
    lw__bytes_reset(&json);
}

static void test_load_json_pieces__nmt(void **state)
{
    (void)state;
    shape from = {"{\"type\": \"Nmt\"}", META(""), BPE(""), NULL};
    lw__tokenizer *tokenizer = open_shape(&from);
    tiny_encodes(tokenizer,
                 "a\x01\x0B\x7F"
                 "b\xE2\x80\x8B"
                 "a",
                 9, 4, 3, 4, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_pieces__unknown_characters_fuse(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_shape(&(shape){REPLACE, NULL, NO_BYTES, NULL});
    tiny_encodes(tokenizer, "xyb", 3, 0, 0, 3, -1);
    lw__tokenizer_close(tokenizer);
    shape fused = {REPLACE, NULL, NO_BYTES ", \"fuse_unk\": true", NULL};
    tokenizer = open_shape(&fused);
    tiny_encodes(tokenizer, "xyb", 3, 0, 3, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_pieces__unigram(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_shape(&(shape){NULL, META(", \"split\": false"), SCORED, NULL});
    tiny_encodes(tokenizer, "ab", 2, 1, 5, -1);
    tiny_encodes(tokenizer, "a b", 3, 4, 1, 3, -1);
    tiny_encodes(tokenizer, "xya", 3, 1, 0, 2, -1);
    lw__tokenizer_close(tokenizer);
    tokenizer = open_shape(&(shape){NULL, META(""), SCORED, NULL});
    tiny_encodes(tokenizer, "a b a b", 7, 4, 1, 3, 4, 1, 3, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_json_pieces__refuses_by_name(void **state)
{
    (void)state;

    static const struct {
        shape from;
        lw_status status;
        const char *text;
    } cases[] = {
        {{"{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": false}",
          META(", \"prepend_scheme\": \"first\""), NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer.prepend_scheme: first"},
        {{"{\"type\": \"Sequence\", \"normalizers\": [" REPLACE ", {\"type\": \"NFKC\"}]}", SPLIT,
          NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer: Split"},
        {{NULL, "{\"type\": \"Metaspace\", \"replacement\": \"_\"}", NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer.replacement: _"},
        {{"{\"type\": \"Replace\", \"pattern\": {\"String\": \"aa\"}, \"content\": \"b\"}",
          META(", \"prepend_scheme\": \"first\""), NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer.prepend_scheme: first, expected always or never behind a normalizer"},
        {{"{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"AAAA\"}", META(""), NO_BYTES,
          NULL},
         LW_E_UNSUPPORTED,
         "normalizer.precompiled_charsmap: no map"},
        {{NULL, META(", \"pretokenizers\": [" WORDS "]"), NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer: field: pretokenizers"},
        {{NULL, SEQUENCE(META("") ", " WORDS), NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer: WhitespaceSplit, expected Metaspace as the last part"},
        {{NULL, SEQUENCE("{\"type\": \"ByteLevel\"}, " META("")), NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer: ByteLevel, expected Split"},
        {{NULL, SEQUENCE(WORDS ", " META(", \"prepend_scheme\": \"first\"")), NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer.prepend_scheme: first, expected always or never behind other parts"},
        {{NULL,
          SEQUENCE(WORDS ", " WORDS ", " WORDS ", " WORDS ", " WORDS ", " WORDS ", " WORDS
                         ", " WORDS ", " WORDS ", " META("")),
          NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer.pretokenizers: more than 9"},
        {{NULL, META(", \"prepend_scheme\": \"last\""), NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer.prepend_scheme: last"},
        {{NULL, META(", \"add_prefix_space\": false"), NO_BYTES, NULL},
         LW_E_UNSUPPORTED,
         "pre_tokenizer.prepend_scheme: always, expected never"},
        {{NULL, META(", \"more\": 1"), NO_BYTES, NULL}, LW_E_UNSUPPORTED, "field: more"},
        {{LLAMA, NULL, BPE(", \"ignore_merges\": true"), NULL},
         LW_E_UNSUPPORTED,
         "model.ignore_merges: true"},
        {{LLAMA, NULL, "\"type\": \"BPE\", \"unk_token\": \"<none>\"", NULL},
         LW_E_UNSUPPORTED,
         "model.unk_token: <none>"},
        {{LLAMA, NULL, "\"type\": \"BPE\"", NULL}, LW_E_UNSUPPORTED, "no unknown piece"},
        {{LLAMA, NULL, "\"type\": \"Unigram\", \"unk_id\": 9, \"vocab\": [[\"a\", 0]]", NULL},
         LW_E_UNSUPPORTED,
         "model.unk_id"},
        {{LLAMA, NULL, "\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"a\"]]", NULL},
         LW_E_CORRUPT,
         "piece 0: 1 values"},
        {{LLAMA, NULL,
          "\"type\": \"Unigram\", \"unk_id\": 0, \"byte_fallback\": true, \"vocab\": "
          "[[\"a\", 0]]",
          NULL},
         LW_E_UNSUPPORTED,
         "without a piece <0x00>"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shape_fails(&cases[i].from, cases[i].status, cases[i].text);
    }
}

static void test_load_json_pieces__merges_of_fallbacks_are_refused(void **state)
{
    (void)state;
    const char *text =
        "{\"version\": \"1.0\", \"normalizer\": " REPLACE ", \"pre_tokenizer\": null, "
        "\"model\": {\"type\": \"BPE\", \"unk_token\": \"<unk>\", \"vocab\": "
        "{\"<unk>\": 0, \"a\": 1, \"<unk>a\": 2}, \"merges\": [\"<unk> a\"]}}";
    lw__tokenizer_options options = {.path = tiny_write_text("merge.json", text)};
    tiny_open_fails(&options, LW_E_UNSUPPORTED, "merge 0: \"<unk>\" + \"a\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_json_pieces__prepend_and_replace),
        cmocka_unit_test(test_load_json_pieces__replace_and_split),
        cmocka_unit_test(test_load_json_pieces__other_normalizers),
        cmocka_unit_test(test_load_json_pieces__normalized_tokens),
        cmocka_unit_test(test_load_json_pieces__metaspace),
        cmocka_unit_test(test_load_json_pieces__words_before_metaspace),
        cmocka_unit_test(test_load_json_pieces__a_long_word_gets_one_space),
        cmocka_unit_test(test_load_json_pieces__steps_before_metaspace),
        cmocka_unit_test(test_load_json_pieces__precompiled),
        cmocka_unit_test(test_load_json_pieces__nmt),
        cmocka_unit_test(test_load_json_pieces__unknown_characters_fuse),
        cmocka_unit_test(test_load_json_pieces__unigram),
        cmocka_unit_test(test_load_json_pieces__refuses_by_name),
        cmocka_unit_test(test_load_json_pieces__merges_of_fallbacks_are_refused),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
