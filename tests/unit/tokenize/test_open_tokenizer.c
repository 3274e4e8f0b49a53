/* SPDX-License-Identifier: Apache-2.0 */
/* Opening: options, the vocabulary "bytes", BOS and EOS, fingerprints. */
#include "base/alloc.h"
#include "tiny_vocabulary.h"

#define TOKEN(id, text) "{\"id\": " id ", \"content\": \"" text "\", \"special\": true}"
#define SPLIT_DIGITS(count)                                                                        \
    "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": " \
    "\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}" count "| "   \
    "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}, "      \
    "\"behavior\": \"Isolated\"}, {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "         \
    "\"use_regex\": false}]}"
#define SPLIT_ONE_DIGIT    SPLIT_DIGITS("")
#define SPLIT_THREE_DIGITS SPLIT_DIGITS("{1,3}")

static void test_open_tokenizer__options_that_do_not_fit(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = NULL};
    tiny_open_fails(&options, LW_E_INVALID, "neither a path nor a name");
    options = (lw__tokenizer_options){.path = "a", .name = "bytes"};
    tiny_open_fails(&options, LW_E_INVALID, "a path and a name");
    options = (lw__tokenizer_options){.name = "byte"};
    tiny_open_fails(&options, LW_E_INVALID, "name \"byte\", expected \"bytes\"");
    options = (lw__tokenizer_options){.name = "bytes", .pattern = "gpt2"};
    tiny_open_fails(&options, LW_E_INVALID, "pattern \"gpt2\", expected none");
    options = (lw__tokenizer_options){.name = "bytes", .eos = "<eos>"};
    tiny_open_fails(&options, LW_E_INVALID, "a named BOS or EOS");
    options = (lw__tokenizer_options){.path = "x/none.json", .pattern = "gpt2"};
    tiny_open_fails(&options, LW_E_INVALID, "expected none but for ranks in .tiktoken form");
    options = (lw__tokenizer_options){.path = "x/none.json"};
    tiny_open_fails(&options, LW_E_NOT_FOUND, "\"x/none.json\": No such file");
    options = (lw__tokenizer_options){.path = "x/none.txt"};
    tiny_open_fails(&options, LW_E_INVALID, "\"x/none.txt\": an unknown kind of file");
    options = (lw__tokenizer_options){.path = "x/llama.model"};
    tiny_open_fails(&options, LW_E_NOT_FOUND, "\"x/llama.model\": No such file");
    options = (lw__tokenizer_options){.path = "x/llama.model.v"};
    tiny_open_fails(&options, LW_E_INVALID, "an unknown kind of file");
}

static void test_open_tokenizer__bytes(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.name = "bytes", .bos = "", .eos = "", .special_text = true};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), 258);
    tiny_encodes(tokenizer, "a\0\xFF", 3, 256, 'a', 0, 255, 257, -1);
    tiny_encodes(tokenizer, NULL, 0, 256, 257, -1);
    assert_int_equal(lw__tokenizer_find(tokenizer, "a", 1), 'a');
    assert_int_equal(lw__tokenizer_find(tokenizer, "ab", 2), -1);
    assert_int_equal(lw__tokenizer_token(tokenizer, 'a').bytes, 1);
    assert_int_equal(lw__tokenizer_token(tokenizer, 256).bytes, 0);
    lw__tokenizer_close(tokenizer);
    options = (lw__tokenizer_options){.name = "bytes"};
    tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_bos(tokenizer), -1);
    assert_int_equal(lw__tokenizer_eos(tokenizer), -1);
    tiny_encodes(tokenizer, "a", 1, 'a', -1);
    lw__tokenizer_close(tokenizer);
}

static void test_open_tokenizer__bos_and_eos(void **state)
{
    (void)state;

    static const struct {
        const char *pre_tokenizer; /* NULL: GPT-2 */
        const char *added;
        const char *bos;
        const char *eos;
        int32_t expected_bos;
        int32_t expected_eos;
    } cases[] = {
        {NULL, "[" TOKEN("265", "<|endoftext|>") "]", NULL, NULL, -1, -1},
        {NULL, "[" TOKEN("265", "<|endoftext|>") "]", "", "", 265, 265},
        {NULL, "[" TOKEN("265", "<|endoftext|>") "]", "a", "the", 'a', TINY_THE},
        {NULL, "[" TOKEN("265", "<s>") "," TOKEN("266", "</s>") "]", "", "", 265, 266},
        {NULL, "[" TOKEN("265", "<eos>") "," TOKEN("266", "<bos>") "]", "", "", 266, 265},
        {NULL, "[" TOKEN("265", "</s>") "," TOKEN("266", "<|end_of_text|>") "]", NULL, "", -1, 266},
        {NULL, "[" TOKEN("265", "<|eos|>") "," TOKEN("266", "<|startoftext|>") "]", "", "", 266,
         265},
        {NULL, "[" TOKEN("265", "<|im_end|>") "]", NULL, "<|im_end|>", -1, 265},
        {SPLIT_ONE_DIGIT, "[" TOKEN("265", "<|endoftext|>") "]", NULL, "", -1, 265},
        {SPLIT_ONE_DIGIT, "[" TOKEN("265", "<|begin_of_text|>") "]", "", NULL, 265, -1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny_json json = {.added = cases[i].added, .pre_tokenizer = cases[i].pre_tokenizer};
        lw__tokenizer_options options = {
            .path = tiny_write_json("ends.json", &json), .bos = cases[i].bos, .eos = cases[i].eos};
        lw__tokenizer *tokenizer = tiny_open(&options);
        assert_int_equal(lw__tokenizer_bos(tokenizer), cases[i].expected_bos);
        assert_int_equal(lw__tokenizer_eos(tokenizer), cases[i].expected_eos);
        lw__tokenizer_close(tokenizer);
    }
}

static void test_open_tokenizer__bos_and_eos_that_are_not_there(void **state)
{
    (void)state;
    tiny_json json = {.added = "[" TOKEN("265", "<a>") "," TOKEN("266", "<b>") "]"};
    lw__tokenizer_options options = {.path = tiny_write_json("x.json", &json), .eos = ""};
    tiny_open_fails(&options, LW_E_INVALID,
                    "x.json\": no end-of-text token, expected one of <|endoftext|> <|end_of_text|> "
                    "</s> <eos> <|eos|> <\xEF\xBD\x9C"
                    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C> (special tokens there: "
                    "\"<a>\", \"<b>\"); name it with tokenizer.eos");
    options = (lw__tokenizer_options){.path = options.path, .bos = ""};
    tiny_open_fails(&options, LW_E_INVALID, "name it with tokenizer.bos");
    options = (lw__tokenizer_options){.path = options.path, .bos = "<c>"};
    tiny_open_fails(&options, LW_E_INVALID,
                    "x.json\": no token \"<c>\", expected the one that tokenizer.bos names "
                    "(special tokens there: \"<a>\", \"<b>\")");
    options =
        (lw__tokenizer_options){.path = tiny_write_bpe("vocab.bpe", "encoder.json"), .eos = ""};
    tiny_open_fails(&options, LW_E_INVALID, "(special tokens there: none)");
    json.pre_tokenizer = SPLIT_ONE_DIGIT;
    json.added = "[" TOKEN("265", "<|endoftext|>") "]";
    options = (lw__tokenizer_options){.path = tiny_write_json("x.json", &json), .bos = ""};
    tiny_open_fails(&options, LW_E_INVALID, "no begin-of-text token");
}

static void test_open_tokenizer__tokens_by_id_and_by_bytes(void **state)
{
    (void)state;
    tiny_json json = {.added = "[" TOKEN("265", "<a>") "]"};
    lw__tokenizer_options options = {.path = tiny_write_json("x.json", &json)};
    lw__tokenizer *tokenizer = tiny_open(&options);
    lw_str token = lw__tokenizer_token(tokenizer, TINY_SPACE_THE);
    assert_int_equal(token.bytes, 4);
    assert_memory_equal(token.data, " the", 4);
    assert_int_equal(lw__tokenizer_find(tokenizer, " the", 4), TINY_SPACE_THE);
    assert_int_equal(lw__tokenizer_find(tokenizer, "<a>", 3), 265);
    assert_int_equal(lw__tokenizer_find(tokenizer, "", 0), -1);
    assert_int_equal(lw__tokenizer_token(tokenizer, 266).bytes, 0);
    assert_int_equal(lw__tokenizer_token(tokenizer, -1).bytes, 0);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), 266);
    lw__tokenizer_close(tokenizer);
    lw__tokenizer_close(NULL);
}

static uint64_t fingerprint(const lw__tokenizer_options *options)
{
    lw__tokenizer *tokenizer = tiny_open(options);
    uint64_t value = lw__tokenizer_fingerprint(tokenizer);
    lw__tokenizer_close(tokenizer);
    return value;
}

static void test_open_tokenizer__equal_behaviour_has_equal_fingerprints(void **state)
{
    (void)state;
    tiny_json json = {.top = NULL};
    lw__tokenizer_options bpe = {.path = tiny_write_bpe("vocab.bpe", "encoder.json")};
    lw__tokenizer_options ranks = {.path = tiny_write_tiktoken("t.tiktoken"), .pattern = "gpt2"};
    lw__tokenizer_options hf = {.path = tiny_write_json("x.json", &json)};
    assert_true(fingerprint(&bpe) == fingerprint(&ranks));
    assert_true(fingerprint(&bpe) == fingerprint(&hf));
}

/* Merges that never happen, and ignore_merges where all tokens are reached, change nothing. */
static void test_open_tokenizer__idle_merges_are_not_in_the_fingerprint(void **state)
{
    (void)state;
    tiny_json plain = {.added = "[]"};
    tiny_json idle = {.model = "\"ignore_merges\": true, ",
                      .merges = "[\"t h\", \"th e\", \"\u0120 the\", \"a b\", "
                                "\"a a\", \"aa aa\", \"1 2\", \"\u010A \u010A\", "
                                "\"\u0120 \u0120\"]"};
    lw__tokenizer_options all[] = {{.path = tiny_write_json("plain.json", &plain)},
                                   {.path = tiny_write_json("idle.json", &idle)}};
    assert_true(fingerprint(&all[0]) == fingerprint(&all[1]));
}

/* A file of ranks: the bytes, then some tokens. */
static const char *write_ranks(const char *name, const char *const *tokens)
{
    lw__bytes out;
    lw__bytes_init(&out);
    for (int id = 0; id < 256; id++) {
        char text = (char)id;
        tiny_put_base64(&out, &text, 1);
        lw__bytes_printf(&out, " %d\n", id);
    }
    for (int id = 256; *tokens != NULL; id++, tokens++) {
        tiny_put_base64(&out, *tokens, strlen(*tokens));
        lw__bytes_printf(&out, " %d\n", id);
    }
    return tiny_write_bytes(name, &out);
}

/* White space that ends a text is one piece to tiktoken alone, which only some vocabularies show. */
static void test_open_tokenizer__trailing_space_counts_where_ids_show_it(void **state)
{
    (void)state;
    static const char *const spanning[] = {"\n ", NULL};
    static const char *const unmade[] = {"   ", NULL};
    tiny_json json = {.pre_tokenizer = SPLIT_THREE_DIGITS};
    lw__tokenizer_options ranks = {.path = tiny_write_tiktoken("t.tiktoken"), .pattern = "cl100k"};
    lw__tokenizer_options hf = {.path = tiny_write_json("x.json", &json)};
    assert_true(fingerprint(&ranks) == fingerprint(&hf));
    ranks.path = write_ranks("spanning.tiktoken", spanning);
    lw__tokenizer *tokenizer = tiny_open(&ranks);
    tiny_encodes(tokenizer, "a\n ", 3, 'a', 256, -1);
    lw__tokenizer_close(tokenizer);
    ranks.path = write_ranks("unmade.tiktoken", unmade);
    tokenizer = tiny_open(&ranks);
    tiny_encodes(tokenizer, "a   b", 5, 'a', ' ', ' ', ' ', 'b', -1);
    tiny_encodes(tokenizer, "a   ", 4, 'a', 256, -1);
    tiny_encodes(tokenizer, "a\n   ", 5, 'a', '\n', ' ', ' ', ' ', -1);
    lw__tokenizer_close(tokenizer);
}

/* The same tokens as a tokenizer.json with some merges. */
static const char *write_list(const char *name, const char *const *tokens, const char *merges)
{
    lw__bytes out;
    lw__bytes_init(&out);
    lw__bytes_printf(&out, "{\"pre_tokenizer\": %s, \"model\": {\"vocab\": {", TINY_BYTE_LEVEL);
    for (unsigned id = 0; id < 256; id++) {
        lw__bytes_printf(&out, "\"");
        tiny_put_byte(&out, id);
        lw__bytes_printf(&out, "\": %u, ", id);
    }
    for (int id = 256; *tokens != NULL; id++, tokens++) {
        lw__bytes_printf(&out, "\"%s\": %d%s", *tokens, id, tokens[1] == NULL ? "" : ", ");
    }
    lw__bytes_printf(&out, "}, \"merges\": %s}}", merges);
    return tiny_write_bytes(name, &out);
}

/* A token before its parts, which both kinds of file list at its own rank. */
static void test_open_tokenizer__parts_of_a_higher_rank_leave_fingerprints_equal(void **state)
{
    (void)state;
    static const char *const tokens[] = {"abc", "bc", "ab", "bcbc", NULL};
    const char *merges = "[\"a bc\", \"ab c\", \"b c\", \"a b\", \"bc bc\"]";
    lw__tokenizer_options ranks = {.path = write_ranks("f.tiktoken", tokens), .pattern = "gpt2"};
    lw__tokenizer_options list = {.path = write_list("f.json", tokens, merges)};
    assert_true(fingerprint(&ranks) == fingerprint(&list));
    lw__tokenizer *tokenizer = tiny_open(&list);
    tiny_encodes(tokenizer, "abcabcbc", 8, 256, 256, 257, -1);
    lw__tokenizer_close(tokenizer);
    list.path = write_list("other.json", tokens, "[\"b c\", \"a b\", \"bc bc\"]");
    assert_true(fingerprint(&ranks) != fingerprint(&list));
    tokenizer = tiny_open(&list);
    tiny_encodes(tokenizer, "abc", 3, 'a', 257, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_open_tokenizer__every_setting_changes_the_fingerprint(void **state)
{
    (void)state;
    tiny_json plain = {.added = "[" TOKEN("265", "<s>") "]"};
    tiny_json split = {.added = plain.added, .pre_tokenizer = SPLIT_ONE_DIGIT};
    tiny_json merges = {.added = plain.added, .merges = "[\"t h\"]"};
    tiny_json whole = {
        .added = plain.added, .model = "\"ignore_merges\": true, ", .merges = merges.merges};
    tiny_json space = {.added = plain.added,
                       .pre_tokenizer = "{\"type\": \"ByteLevel\", \"add_prefix_space\": true}"};
    tiny_json text = {.added = "[" TOKEN("265", "<t>") "]"};
    const char *path = tiny_write_json("plain.json", &plain);
    lw__tokenizer_options options[] = {
        {.path = path},
        {.path = path, .bos = "<s>"},
        {.path = path, .eos = "<s>"},
        {.path = path, .special_text = true},
        {.path = tiny_write_json("split.json", &split)},
        {.path = tiny_write_json("merges.json", &merges)},
        {.path = tiny_write_json("whole.json", &whole)},
        {.path = tiny_write_json("space.json", &space)},
        {.path = tiny_write_json("text.json", &text)},
        {.name = "bytes"},
        {.name = "bytes", .eos = ""},
    };

    enum { COUNT = sizeof options / sizeof options[0] };

    uint64_t values[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = fingerprint(&options[i]);
        for (size_t k = 0; k < i; k++) {
            assert_true(values[k] != values[i]);
        }
    }
}

/* Every allocation of opening and encoding fails once; nothing leaks, nothing crashes. */
static void test_open_tokenizer__memory_that_runs_out_is_an_error(void **state)
{
    (void)state;
    tiny_json json = {.added = "[" TOKEN("265", "<s>") "]"};
    lw__tokenizer_options all[] = {
        {.path = tiny_write_json("x.json", &json), .special_text = true, .eos = "<s>"},
        {.path = tiny_write_bpe("vocab.bpe", "encoder.json")},
        {.path = tiny_write_tiktoken("t.tiktoken"), .pattern = "cl100k"},
        {.name = "bytes"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        lw_status status = LW_E_NOMEM;
        for (unsigned long calls = 1; status != LW_OK; calls++) {
            lw__tokenizer *tokenizer = NULL;
            lw__encoder *encoder = NULL;
            lw__arena arena = {.ids = NULL};
            assert_true(calls < 1000);
            lw__alloc_fail_after(calls);
            status = lw__tokenizer_open(&all[i], &tokenizer, NULL);
            if (status == LW_OK) {
                status = lw__encoder_create(tokenizer, &encoder, NULL);
            }
            if (status == LW_OK) {
                status = lw__encoder_encode(encoder,
                                            "the aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                            50, &arena, NULL);
                assert_true(status == LW_OK || arena.count == 0);
            }
            lw__alloc_fail_after(0);
            assert_true(status == LW_OK || status == LW_E_NOMEM);
            lw__arena_reset(&arena);
            lw__encoder_destroy(encoder);
            lw__tokenizer_close(tokenizer);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_tokenizer__options_that_do_not_fit),
        cmocka_unit_test(test_open_tokenizer__bytes),
        cmocka_unit_test(test_open_tokenizer__bos_and_eos),
        cmocka_unit_test(test_open_tokenizer__bos_and_eos_that_are_not_there),
        cmocka_unit_test(test_open_tokenizer__tokens_by_id_and_by_bytes),
        cmocka_unit_test(test_open_tokenizer__equal_behaviour_has_equal_fingerprints),
        cmocka_unit_test(test_open_tokenizer__idle_merges_are_not_in_the_fingerprint),
        cmocka_unit_test(test_open_tokenizer__trailing_space_counts_where_ids_show_it),
        cmocka_unit_test(test_open_tokenizer__parts_of_a_higher_rank_leave_fingerprints_equal),
        cmocka_unit_test(test_open_tokenizer__every_setting_changes_the_fingerprint),
        cmocka_unit_test(test_open_tokenizer__memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
