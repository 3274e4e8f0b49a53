/* SPDX-License-Identifier: Apache-2.0 */
/* Which ids hold the bytes of spans: at added tokens, across merges, in texts that are rewritten. */
#include "base/alloc.h"
#include "tiny_pieces.h"
#include "tokenize/supervise.h"

enum { START = 265, MOST = 32 };

#define CHAT_TOKENS                                                                                \
    "[{\"id\": 265, \"content\": \"<s>\", \"special\": true},"                                     \
    " {\"id\": 266, \"content\": \"</s>\", \"special\": true, \"lstrip\": true}]"

#define ACUTE "\xCC\x81" /* U+0301 */

static lw__tokenizer *open_with(const char *top, const char *pre_tokenizer, const char *bos_eos)
{
    tiny_json json = {.top = top, .added = CHAT_TOKENS, .pre_tokenizer = pre_tokenizer};
    lw__tokenizer_options options = {.path = tiny_write_json("chat.json", &json),
                                     .bos = bos_eos,
                                     .eos = bos_eos,
                                     .special_text = true};
    return tiny_open(&options);
}

static lw__tokenizer *open_plain(void)
{
    return open_with(NULL, NULL, NULL);
}

/* Where the text between braces begins and ends, and the text without them. */
static size_t read_spans(const char *marked, char *text, size_t *bytes, lw_text_span *spans)
{
    size_t count = 0;
    *bytes = 0;
    for (; *marked != '\0'; marked++) {
        if (*marked == '{') {
            spans[count].first = *bytes;
        } else if (*marked == '}') {
            spans[count++].end = *bytes;
        } else {
            text[(*bytes)++] = *marked;
        }
    }
    return count;
}

/* The ids of the text are those of encoding it plainly, and those with a '1' are supervised. */
static void supervises(const lw__tokenizer *tokenizer, const char *marked, const char *expected)
{
    lw_error err = {.status = LW_OK};
    lw__encoder *encoder = NULL;
    lw__arena plain = {.ids = NULL};
    lw__arena arena = {.ids = NULL};
    char text[256];
    char found[MOST + 1] = "";
    lw_str all = {.data = text};
    lw_text_span spans[MOST];
    size_t count = read_spans(marked, text, &all.bytes, spans);
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
    assert_int_equal(lw__encoder_encode(encoder, text, all.bytes, &plain, &err), LW_OK);
    for (int again = 0; again < 2; again++) {
        arena.count = 0;
        if (lw__encoder_encode_spans(encoder, all, spans, count, &arena, &err) != LW_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(arena.count, plain.count);
        assert_true(arena.count <= MOST);
        for (size_t i = 0; i < arena.count; i++) {
            assert_int_equal(LW_TOKEN_ID(arena.ids[i]), plain.ids[i]);
            found[i] = (arena.ids[i] & LW_TOKEN_UNSUPERVISED) != 0 ? '0' : '1';
        }
        found[arena.count] = '\0';
        assert_string_equal(found, expected);
    }
    lw__arena_reset(&plain);
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
}

static void test_supervise__bytes_of_the_bytes_tokenizer(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.name = "bytes", .bos = "", .eos = ""};
    lw__tokenizer *tokenizer = tiny_open(&options);
    supervises(tokenizer, "ab{c}d", "000100");
    supervises(tokenizer, "{abc}", "01110");
    supervises(tokenizer, "a{}b{c}", "00010");
    supervises(tokenizer, "abc", "00000");
    supervises(tokenizer, "", "00");
    lw__tokenizer_close(tokenizer);
}

static void test_supervise__added_tokens_and_what_lies_between(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_plain();
    supervises(tokenizer, "<s>the{ the</s>}<s>x", "001100");
    supervises(tokenizer, "{<s>}the</s>", "100");
    supervises(tokenizer, "<s{>}the</s>", "100");
    supervises(tokenizer, "a<s>{the the}</s>b", "001100");
    supervises(tokenizer, "<s><s>{</s>}<s>", "0010");
    lw__tokenizer_close(tokenizer);
}

static void test_supervise__more_added_tokens_than_are_kept(void **state)
{
    (void)state;

    enum { COUNT = 70000 };

    lw__tokenizer *tokenizer = open_plain();
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    const lw_text_span last = {.first = 3 * (COUNT - 1), .end = 3 * COUNT};
    char *text = malloc(3 * COUNT);
    assert_non_null(text);
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(text + 3 * i, "<s>", 3);
    }
    lw_str all = {.data = text, .bytes = 3 * COUNT};
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, NULL), LW_OK);
    for (int again = 0; again < 2; again++) {
        arena.count = 0;
        assert_int_equal(lw__encoder_encode_spans(encoder, all, &last, 1, &arena, NULL), LW_OK);
        assert_int_equal(arena.count, COUNT);
        assert_int_equal(arena.ids[COUNT - 2], START | LW_TOKEN_UNSUPERVISED);
        assert_int_equal(arena.ids[COUNT - 1], START);
    }
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
    free(text);
}

static void test_supervise__white_space_that_a_token_takes_is_its_own(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_plain();
    supervises(tokenizer, "<s>x{  }</s>", "001");
    supervises(tokenizer, "<s>{x}  </s>", "010");
    lw__tokenizer_close(tokenizer);
}

static void test_supervise__a_token_across_the_edge_is_learnt(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_plain();
    supervises(tokenizer, "x {the}x", "010");
    supervises(tokenizer, "xa{a}aax", "010");
    supervises(tokenizer, "aa{aaa}", "11");
    supervises(tokenizer, "{a}a{a}ax", "10");
    supervises(tokenizer, "aaaa{a}b", "01");
    supervises(tokenizer, "{1}2{1}2", "11");
    lw__tokenizer_close(tokenizer);
}

static void test_supervise__bos_and_eos_are_not_learnt(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_with(NULL, NULL, "</s>");
    supervises(tokenizer, "{the the}", "0110");
    lw__tokenizer_close(tokenizer);
}

static void test_supervise__a_space_put_before_a_text_belongs_to_it(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_with(
        NULL, "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"trim_offsets\": true}",
        NULL);
    supervises(tokenizer, "{t}hex", "10");
    supervises(tokenizer, "the{x}", "01");
    supervises(tokenizer, " the{x}", "01");
    supervises(tokenizer, "<s>the{x}</s>the{x}", "001001");
    lw__tokenizer_close(tokenizer);
}

static void test_supervise__normalized_text_is_followed(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_with("\"normalizer\": {\"type\": \"NFC\"}, ", NULL, NULL);
    /* e and an acute become one character of two bytes. */
    supervises(tokenizer, "e" ACUTE "{x}y", "0010");
    supervises(tokenizer, "e" ACUTE "x{y}", "0001");
    supervises(tokenizer, "{e" ACUTE "}x", "110");
    supervises(tokenizer, "e{" ACUTE "}x", "010");
    supervises(tokenizer, "<s>e" ACUTE "e" ACUTE "{x}</s>", "0000010");
    lw__tokenizer_close(tokenizer);
}

static void test_supervise__stripped_text_is_followed(void **state)
{
    (void)state;
    lw__tokenizer *tokenizer = open_with(
        "\"normalizer\": {\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": true}, ",
        NULL, NULL);
    supervises(tokenizer, "<s>  x{y}  <s>", "0010");
    supervises(tokenizer, "<s>  {x}y  <s>", "0100");
    lw__tokenizer_close(tokenizer);
}

static const tiny_piece pieces[] = {
    {"<unk>", 0, LW__PIECE_UNKNOWN}, {"<s>", 0, LW__PIECE_CONTROL},
    {"_a", -1, LW__PIECE_NORMAL},    {"ab", -2, LW__PIECE_NORMAL},
    {"_", -3, LW__PIECE_NORMAL},     {"a", -4, LW__PIECE_NORMAL},
    {"b", -5, LW__PIECE_NORMAL},     {"[x]", 0, LW__PIECE_USER_DEFINED},
};

static tiny_model model_of(bool byte_fallback)
{
    return (tiny_model){.pieces = pieces,
                        .count = sizeof pieces / sizeof pieces[0],
                        .type = TINY_BPE,
                        .byte_fallback = byte_fallback,
                        .prefix = true};
}

static void test_supervise__pieces_with_escaped_spaces_and_bytes(void **state)
{
    (void)state;
    tiny_model model = model_of(true);
    lw__tokenizer *tokenizer = tiny_open_model(&model);
    supervises(tokenizer, "a{ a}b", "010");
    supervises(tokenizer, "a {a}b", "010");
    supervises(tokenizer, "b{b}", "001");
    supervises(tokenizer, "{b}b", "110");
    supervises(tokenizer, "a{\xC3\xA9}b", "0110");
    supervises(tokenizer, "a[x{]}b", "010");
    lw__tokenizer_close(tokenizer);
}

static void test_supervise__tokens_that_do_not_add_up_are_an_error(void **state)
{
    (void)state;
    static const char text[] = "a\xC3\xA9 b";
    const lw_text_span whole = {.first = 0, .end = sizeof text - 1};
    const lw_text_span part = {.first = 4, .end = 5};
    tiny_model model = model_of(false);
    lw__tokenizer *tokenizer = tiny_open_model(&model);
    lw__encoder *encoder = NULL;
    lw__arena arena = {.ids = NULL};
    lw_error err = {.status = LW_OK};
    lw_str all = {.data = text, .bytes = sizeof text - 1};
    assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
    assert_int_equal(lw__encoder_encode_spans(encoder, all, &whole, 1, &arena, &err), LW_OK);
    arena.count = 1;
    assert_int_equal(lw__encoder_encode_spans(encoder, all, &part, 1, &arena, &err),
                     LW_E_UNSUPPORTED);
    assert_int_equal(arena.count, 1);
    assert_string_equal(err.message,
                        "tokenizer: bytes 0 to 5 of a text are 9 of tokens, expected 6: which "
                        "tokens are learnt can not be told");
    lw__arena_reset(&arena);
    lw__encoder_destroy(encoder);
    lw__tokenizer_close(tokenizer);
}

static void test_supervise__running_out_of_memory_leaves_the_arena_as_it_was(void **state)
{
    (void)state;
    static const char text[] = "<s>e" ACUTE "the x</s> aaa";
    const lw_text_span part = {.first = 7, .end = 8};
    lw__tokenizer *tokenizer = open_with("\"normalizer\": {\"type\": \"NFC\"}, ", NULL, NULL);
    lw_str all = {.data = text, .bytes = sizeof text - 1};
    lw_status status = LW_E_NOMEM;
    unsigned long calls = 1;
    for (; status == LW_E_NOMEM; calls++) {
        lw__encoder *encoder = NULL;
        lw__arena arena = {.ids = NULL};
        lw_error err = {.status = LW_OK};
        assert_int_equal(lw__encoder_create(tokenizer, &encoder, &err), LW_OK);
        lw__alloc_fail_after(calls);
        status = lw__encoder_encode_spans(encoder, all, &part, 1, &arena, &err);
        lw__alloc_fail_after(0);
        assert_true(status == LW_OK || (arena.count == 0 && err.status == status));
        lw__arena_reset(&arena);
        lw__encoder_destroy(encoder);
    }
    assert_int_equal(status, LW_OK);
    assert_true(calls > 4);
    lw__tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_supervise__bytes_of_the_bytes_tokenizer),
        cmocka_unit_test(test_supervise__added_tokens_and_what_lies_between),
        cmocka_unit_test(test_supervise__more_added_tokens_than_are_kept),
        cmocka_unit_test(test_supervise__white_space_that_a_token_takes_is_its_own),
        cmocka_unit_test(test_supervise__a_token_across_the_edge_is_learnt),
        cmocka_unit_test(test_supervise__bos_and_eos_are_not_learnt),
        cmocka_unit_test(test_supervise__a_space_put_before_a_text_belongs_to_it),
        cmocka_unit_test(test_supervise__normalized_text_is_followed),
        cmocka_unit_test(test_supervise__stripped_text_is_followed),
        cmocka_unit_test(test_supervise__pieces_with_escaped_spaces_and_bytes),
        cmocka_unit_test(test_supervise__tokens_that_do_not_add_up_are_an_error),
        cmocka_unit_test(test_supervise__running_out_of_memory_leaves_the_arena_as_it_was),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
