/* SPDX-License-Identifier: Apache-2.0 */
/* A tokenizer alone: tokens, decoding and encoding into the caller's memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include <laneway/tokenizer.h>

static lw_tokenizer *open_bytes(void)
{
    lw_tokenizer_options options = LW_TOKENIZER_OPTIONS_INIT;
    lw_tokenizer *tokenizer = NULL;
    lw_error err;
    options.name = "bytes";
    options.eos = "";
    assert_int_equal(lw_tokenizer_open(&options, &tokenizer, &err), LW_OK);
    return tokenizer;
}

static void test_tokenizer__tokens(void **state)
{
    (void)state;
    lw_tokenizer *tokenizer = open_bytes();
    lw_error err;
    lw_str text;
    assert_int_equal(lw_tokenizer_vocabulary(tokenizer), 258);
    assert_int_equal(lw_tokenizer_token(tokenizer, 'a', &text, &err), LW_OK);
    assert_int_equal(text.bytes, 1);
    assert_int_equal(lw_tokenizer_find(tokenizer, text.data, text.bytes), 'a');
    assert_int_equal(lw_tokenizer_token(tokenizer, 257, &text, &err), LW_OK);
    assert_int_equal(text.bytes, 0);
    assert_int_equal(lw_tokenizer_token(tokenizer, 258, &text, &err), LW_E_INVALID);
    assert_string_equal(err.message,
                        "tokenizer: id 258: no token has it, expected one of the vocabulary");
    assert_int_equal(lw_tokenizer_token(tokenizer, -1, &text, NULL), LW_E_INVALID);
    assert_int_equal(lw_tokenizer_token(tokenizer, 0, NULL, NULL), LW_E_INVALID);
    lw_tokenizer_close(tokenizer);
}

static void test_tokenizer__decoding_says_what_room_it_needs(void **state)
{
    (void)state;
    static const int32_t ids[] = {'a', 'b', 257, 'c'};
    lw_tokenizer *tokenizer = open_bytes();
    lw_ids given = {.data = ids, .count = 4};
    char text[4] = "xxx";
    lw_byte_room room = {.data = NULL};
    lw_error err;
    assert_int_equal(lw_tokenizer_decode(tokenizer, given, 0, &room, &err), LW_AGAIN);
    assert_int_equal(room.bytes, 3);
    room = (lw_byte_room){.data = text, .capacity = 3};
    assert_int_equal(lw_tokenizer_decode(tokenizer, given, LW_DECODE_SKIP_SPECIAL, &room, &err),
                     LW_OK);
    assert_int_equal(room.bytes, 3);
    assert_string_equal(text, "abc");
    given.count = 0;
    room = (lw_byte_room){.data = NULL};
    assert_int_equal(lw_tokenizer_decode(tokenizer, given, 0, &room, &err), LW_OK);
    assert_int_equal(lw_tokenizer_decode(tokenizer, given, 2, &room, &err), LW_E_INVALID);
    assert_string_equal(err.message, "tokenizer: flags 0x2, expected LW_DECODE_SKIP_SPECIAL");
    given = (lw_ids){.data = NULL, .count = 1};
    assert_int_equal(lw_tokenizer_decode(tokenizer, given, 0, &room, NULL), LW_E_INVALID);
    lw_tokenizer_close(tokenizer);
}

static void test_tokenizer__many_texts_in_one_call(void **state)
{
    (void)state;
    static const lw_str texts[] = {{"ab", 2}, {NULL, 0}, {"c\0d", 3}};
    static const int32_t expected[] = {'a', 'b', 257, 257, 'c', 0, 'd', 257};
    lw_tokenizer *tokenizer = open_bytes();
    lw_encoder *encoder = NULL;
    int32_t ids[9] = {0};
    size_t offsets[4] = {0};
    lw_error err;
    lw_id_room room = {.data = ids, .capacity = 7};
    assert_int_equal(lw_encoder_create(tokenizer, &encoder, &err), LW_OK);
    lw_tokenizer_close(tokenizer); /* the encoder keeps it */
    assert_int_equal(lw_encoder_encode_many(encoder, texts, 3, &room, offsets, &err), LW_AGAIN);
    assert_int_equal(room.count, 8);
    assert_int_equal(offsets[3], 8);
    ids[8] = -5;
    room.capacity = 8;
    assert_int_equal(lw_encoder_encode_many(encoder, texts, 3, &room, offsets, &err), LW_OK);
    assert_int_equal(room.count, 8);
    assert_memory_equal(ids, expected, sizeof expected);
    assert_int_equal(ids[8], -5);
    assert_int_equal(offsets[0], 0);
    assert_int_equal(offsets[1], 3);
    assert_int_equal(offsets[2], 4);
    assert_int_equal(lw_encoder_encode_many(encoder, NULL, 0, &room, NULL, &err), LW_OK);
    assert_int_equal(room.count, 0);
    lw_encoder_destroy(encoder);
}

static void test_tokenizer__many_texts_that_are_wrong(void **state)
{
    (void)state;
    static const lw_str texts[] = {{"ab", 2}, {"c\xFF", 2}, {NULL, 3}};
    lw_tokenizer *tokenizer = open_bytes();
    lw_encoder *encoder = NULL;
    int32_t ids[8];
    lw_error err;
    lw_id_room room = {.data = ids, .capacity = 8};
    assert_int_equal(lw_encoder_create(tokenizer, &encoder, &err), LW_OK);
    assert_int_equal(lw_encoder_encode_many(encoder, texts, 2, &room, NULL, &err), LW_E_CORRUPT);
    assert_int_equal(room.count, 0);
    assert_string_equal(err.message, "tokenizer: text 1: byte 1 is not UTF-8, expected UTF-8");
    assert_int_equal(lw_encoder_encode_many(encoder, texts + 2, 1, &room, NULL, &err),
                     LW_E_INVALID);
    assert_int_equal(lw_encoder_encode_many(encoder, NULL, 1, &room, NULL, NULL), LW_E_INVALID);
    room.data = NULL;
    assert_int_equal(lw_encoder_encode_many(encoder, texts, 1, &room, NULL, NULL), LW_E_INVALID);
    lw_encoder_destroy(encoder);
    lw_tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokenizer__tokens),
        cmocka_unit_test(test_tokenizer__decoding_says_what_room_it_needs),
        cmocka_unit_test(test_tokenizer__many_texts_in_one_call),
        cmocka_unit_test(test_tokenizer__many_texts_that_are_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
