/* SPDX-License-Identifier: Apache-2.0 */
/* Reading .model files: what is taken, what is refused, and files that are cut anywhere. */
#include <math.h>

#include "base/alloc.h"
#include "tiny_pieces.h"

static const tiny_piece pieces[] = {
    {"<unk>", 0, LW__PIECE_UNKNOWN},   {"<s>", 0, LW__PIECE_CONTROL},
    {"</s>", 0, LW__PIECE_CONTROL},    {"_a", -1, LW__PIECE_NORMAL},
    {"ab", -2, LW__PIECE_NORMAL},      {"_", -3, LW__PIECE_NORMAL},
    {"a", -4, LW__PIECE_NORMAL},       {"b", -5, LW__PIECE_NORMAL},
    {"[x]", 0, LW__PIECE_USER_DEFINED}};

#define COUNT (sizeof pieces / sizeof pieces[0])

static const tiny_model merging = {
    .pieces = pieces, .count = COUNT, .type = TINY_BPE, .prefix = true};

static void test_load_sentencepiece__reads_pieces(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = tiny_open_model(&merging);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), COUNT);
    assert_int_equal(lw__tokenizer_find(tokenizer, "ab", 2), 4);
    assert_int_equal(lw__tokenizer_find(tokenizer, "[x]", 3), 8);
    assert_int_equal(lw__tokenizer_find(tokenizer, LW__ESCAPED_SPACE, 3), 5);
    assert_int_equal(lw__tokenizer_token(tokenizer, 3).bytes, 4);
    tiny_encodes(tokenizer, "ab b", 4, 3, 7, 5, 7, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_sentencepiece__bos_and_eos(void **state)
{
    (void)state;
    lw__tokenizer_options options = {
        .path = tiny_write_model("a.model.v3", &merging), .bos = "", .eos = ""};
    lw__tokenizer *tokenizer = tiny_open(&options);
    tiny_encodes(tokenizer, "a", 1, 1, 3, 2, -1);
    tiny_encodes(tokenizer, "", 0, 1, 2, -1);
    lw__tokenizer_close(tokenizer);
    tiny_model named = merging;
    named.bos = "</s>";
    options.path = tiny_write_model("b.model", &named);
    tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_bos(tokenizer), 2);
    lw__tokenizer_close(tokenizer);
    named.bos = "<begin>";
    options.path = tiny_write_model("b.model", &named);
    tiny_open_fails(&options, LW_E_INVALID, "no begin-of-text token");
}

static void test_load_sentencepiece__special_text(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_write_model("a.model", &merging),
                                     .special_text = true};
    lw__tokenizer *tokenizer = tiny_open(&options);
    tiny_encodes(tokenizer, "a<s>ab", 6, 3, 1, 3, 7, -1);
    lw__tokenizer_close(tokenizer);
    tokenizer = tiny_open_model(&merging);
    tiny_encodes(tokenizer, "a<s>", 4, 3, 0, -1);
    lw__tokenizer_close(tokenizer);
}

static void test_load_sentencepiece__refuses_what_it_can_not_honour(void **state)
{
    (void)state;
    tiny_model model = merging;
    model.type = 3;
    tiny_model_fails(&model, LW_E_UNSUPPORTED, "model_type is word or char");
    model = merging;
    model.suffix = true;
    tiny_model_fails(&model, LW_E_UNSUPPORTED, "treat_whitespace_as_suffix is true");
    tiny_piece list[COUNT];
    memcpy(list, pieces, sizeof list);
    model = merging;
    model.pieces = list;
    list[4].kind = LW__PIECE_UNUSED;
    tiny_model_fails(&model, LW_E_UNSUPPORTED, "piece 4: \"ab\" is of type 5");
    list[4] = (tiny_piece){"a", -1, LW__PIECE_NORMAL};
    tiny_model_fails(&model, LW_E_CORRUPT, "token \"a\" is there twice");
    list[4] = (tiny_piece){"<0x41>", 0, LW__PIECE_BYTE};
    tiny_model_fails(&model, LW_E_UNSUPPORTED, "byte pieces without byte_fallback");
    list[4] = (tiny_piece){"0x41", 0, LW__PIECE_BYTE};
    tiny_model_fails(&model, LW_E_CORRUPT, "byte piece \"0x41\"");
    list[4] = (tiny_piece){"c", 0, LW__PIECE_CONTROL};
    tiny_model_fails(&model, LW_E_UNSUPPORTED, "piece 4: \"c\" is one character");
    list[4] = (tiny_piece){"", 0, LW__PIECE_NORMAL};
    tiny_model_fails(&model, LW_E_CORRUPT, "piece 4: an empty text");
    list[4] = (tiny_piece){"\xFF", 0, LW__PIECE_NORMAL};
    tiny_model_fails(&model, LW_E_CORRUPT, "piece 4: a text that is not UTF-8");
    list[4] = (tiny_piece){"ab", NAN, LW__PIECE_NORMAL};
    tiny_model_fails(&model, LW_E_CORRUPT, "a score that is no number");
    list[4] = (tiny_piece){"<u>", 0, LW__PIECE_UNKNOWN};
    tiny_model_fails(&model, LW_E_CORRUPT, "piece 4: a second unknown piece");
    list[0].kind = LW__PIECE_CONTROL;
    list[4] = pieces[4];
    tiny_model_fails(&model, LW_E_UNSUPPORTED, "no unknown piece and no byte_fallback");
    model = merging;
    model.charsmap = "\x08\0\0\0abcdefgh";
    model.charsmap_bytes = 12;
    tiny_model_fails(&model, LW_E_UNSUPPORTED, "precompiled_charsmap is cut short");
}

static void test_load_sentencepiece__every_cut_is_refused(void **state)
{
    (void)state;
    lw__bytes out;
    lw__bytes_init(&out);
    tiny_put_model(&out, &merging);
    for (size_t count = 0; count < out.count; count++) {
        lw_error err = {.status = LW_OK};
        lw__tokenizer *tokenizer = NULL;
        lw__tokenizer_options options = {.path = tiny_write("cut.model", out.data, count)};
        assert_true(lw__tokenizer_open(&options, &tokenizer, &err) < 0);
        assert_null(tokenizer);
        assert_non_null(strstr(err.message, "cut.model"));
    }
    lw__bytes_reset(&out);
}

static void test_load_sentencepiece__not_a_model(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_write_text("x.model", "\x0F")};
    tiny_open_fails(&options, LW_E_CORRUPT, "byte 0: a field of unknown form");
    options.path = tiny_write_text("x.model", "\x02\x01"
                                              "a");
    tiny_open_fails(&options, LW_E_CORRUPT, "byte 0: a field without a number");
    options.path = tiny_write_text("x.model", "a text\n");
    tiny_open_fails(&options, LW_E_CORRUPT, "expected a SentencePiece model");
    options.path = tiny_write_text("x.model", "\x0D"
                                              "abcd");
    tiny_open_fails(&options, LW_E_CORRUPT, "a part of the model has form 5, expected 2");
}

static void test_load_sentencepiece__memory_runs_out(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_write_model("tiny.model", &merging)};
    lw_status status = LW_E_NOMEM;
    for (unsigned long calls = 1; status != LW_OK; calls++) {
        lw_error err = {.status = LW_OK};
        lw__tokenizer *tokenizer = NULL;
        lw__encoder *encoder = NULL;
        lw__alloc_fail_after(calls);
        status = lw__tokenizer_open(&options, &tokenizer, &err);
        if (status == LW_OK) {
            status = lw__encoder_create(tokenizer, &encoder, &err);
        }
        lw__alloc_fail_after(0);
        assert_true(status == LW_OK || status == LW_E_NOMEM);
        lw__encoder_destroy(encoder);
        lw__tokenizer_close(tokenizer);
        assert_true(calls < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_sentencepiece__reads_pieces),
        cmocka_unit_test(test_load_sentencepiece__bos_and_eos),
        cmocka_unit_test(test_load_sentencepiece__special_text),
        cmocka_unit_test(test_load_sentencepiece__refuses_what_it_can_not_honour),
        cmocka_unit_test(test_load_sentencepiece__every_cut_is_refused),
        cmocka_unit_test(test_load_sentencepiece__not_a_model),
        cmocka_unit_test(test_load_sentencepiece__memory_runs_out),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
