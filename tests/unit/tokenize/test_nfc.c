/* SPDX-License-Identifier: Apache-2.0 */
/* Normalization form C of Unicode 9.0: each case is a text and its normal form. */
#include "base/alloc.h"
#include "tiny_vocabulary.h"
#include "tokenize/nfc.h"
#include "tokenize/unicode_nfc.h"

#define ACUTE     "\xCC\x81" /* U+0301, class 230 */
#define DOT_BELOW "\xCC\xA3" /* U+0323, class 220 */
#define E_ACUTE   "\xC3\xA9"

static void becomes(lw__nfc_form form, const char *given, const char *expected)
{
    lw_error err = {.status = LW_OK};
    lw__nfc nfc = {.form = form};
    lw_str text = {.data = given, .bytes = strlen(given)};
    lw_str out = {.data = NULL};
    assert_int_equal(lw__nfc_normalize(&nfc, text, &out, &err), LW_OK);
    assert_int_equal(out.bytes, strlen(expected));
    assert_memory_equal(out.data, expected, out.bytes);
    lw__nfc_reset(&nfc);
}

static void normalizes(const char *given, const char *expected)
{
    becomes(LW__NFC_C, given, expected);
}

/* The text itself comes back, not a copy. */
static void is_normal(const char *given)
{
    lw_error err = {.status = LW_OK};
    lw__nfc nfc = {.capacity = 0};
    lw_str text = {.data = given, .bytes = strlen(given)};
    lw_str out = {.data = NULL};
    assert_int_equal(lw__nfc_normalize(&nfc, text, &out, &err), LW_OK);
    assert_ptr_equal(out.data, given);
    assert_int_equal(out.bytes, text.bytes);
    lw__nfc_reset(&nfc);
}

static void test_nfc__normal_text_is_not_touched(void **state)
{
    (void)state;
    is_normal("");
    is_normal("plain\n");
    is_normal("caf" E_ACUTE " \xE4\xB8\xAD\xE6\x96\x87 \xEA\xB0\x80 \xF0\x9F\x8E\x89");
    is_normal("\xE0\xA4\xB9\xE0\xA4\xBF\xE0\xA4\xA8\xE0\xA5\x8D"); /* with a virama, class 9 */
    is_normal("x\xCC\x96\xCC\x95y");                               /* classes 220, 232: in order */
}

static void test_nfc__a_letter_and_a_mark_join(void **state)
{
    (void)state;
    normalizes("cafe" ACUTE "s", "caf" E_ACUTE "s");
    normalizes("e" ACUTE "e" ACUTE, E_ACUTE E_ACUTE);
    normalizes("\xE3\x81\x8B\xE3\x82\x99", "\xE3\x81\x8C");
    normalizes("e" DOT_BELOW "\xCC\x82", "\xE1\xBB\x87");   /* two marks join, one by one */
    normalizes("\xC3\xAA" DOT_BELOW, "\xE1\xBB\x87");       /* taken apart before */
    normalizes("a" ACUTE ACUTE, "\xC3\xA1" ACUTE);          /* only the first */
    normalizes(ACUTE "e" ACUTE, ACUTE E_ACUTE);             /* a mark without a letter */
    normalizes("e\xCC\xB8" ACUTE "!", E_ACUTE "\xCC\xB8!"); /* over one of a lower class */
    normalizes("\xE0\xA7\x87\xE0\xA6\xBE", "\xE0\xA7\x8B"); /* of class 0, side by side */
}

/* Characters that are passed by their first byte, before and behind what is not. */
static void test_nfc__what_is_passed_quickly_is_a_wall(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0xA000; code++) {
        if (code < 0x300 || (code >= 0x3C0 && code < 0x480) || code >= 0x4000) {
            assert_int_equal(lw__unicode_nfc(LW__NFC_C, code), LW__NFC_WALL);
        }
    }
    is_normal("\xD0\x98 \xCF\x80 \xE4\xB8\x80\xE9\xBF\xBF, and more than eight bytes of ASCII");
    normalizes("\xD0\x98\xCC\x86", "\xD0\x99");
    normalizes("eight b e" ACUTE "\xE4\xB8\x80", "eight b " E_ACUTE "\xE4\xB8\x80");
    normalizes("\xE4\xB8\x80" ACUTE DOT_BELOW, "\xE4\xB8\x80" DOT_BELOW ACUTE);
}

/* What is out of form is found wherever it stands, in text that is passed by whole vectors. */
static void test_nfc__every_place_is_looked_at(void **state)
{
    (void)state;
    static const char *const fillers[] = {"a",        "\xD1\x8F",     "\xE4\xB8\xAD",
                                          "\xCE\xB1", "\xE3\x81\x82", "\xF0\x9F\x8E\x89"};
    for (size_t f = 0; f < sizeof fillers / sizeof fillers[0]; f++) {
        for (size_t before = 0; before < 40; before++) {
            for (size_t behind = 0; behind < 24; behind++) {
                char given[400] = "";
                char expected[400] = "";
                for (size_t i = 0; i < before + behind; i++) {
                    (void)strcat(given, i == before ? "e" ACUTE : "");
                    (void)strcat(expected, i == before ? E_ACUTE : "");
                    (void)strcat(given, fillers[f]);
                    (void)strcat(expected, fillers[f]);
                }
                (void)strcat(given, behind == 0 ? "e" ACUTE : "");
                (void)strcat(expected, behind == 0 ? E_ACUTE : "");
                normalizes(given, expected);
                is_normal(expected);
            }
        }
    }
}

static void test_nfc__marks_are_put_in_order(void **state)
{
    (void)state;
    normalizes("x" ACUTE DOT_BELOW "y", "x" DOT_BELOW ACUTE "y");
    normalizes("q" ACUTE DOT_BELOW ACUTE DOT_BELOW, "q" DOT_BELOW DOT_BELOW ACUTE ACUTE);
    normalizes("\xCC\x88\xCC\x81" DOT_BELOW, DOT_BELOW "\xCC\x88\xCC\x81");
}

static void test_nfc__some_characters_are_never_normal(void **state)
{
    (void)state;
    normalizes("\xE2\x84\xAB", "\xC3\x85");                 /* the unit angstrom */
    normalizes("\xCD\xBE", ";");                            /* the Greek question mark */
    normalizes("\xCD\x84", "\xCC\x88\xCC\x81");             /* one mark for two */
    normalizes("\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC"); /* excluded from joining */
    normalizes("\xEF\xA4\x80", "\xE8\xB1\x88");             /* an ideograph for another */
    normalizes("\xF0\x9D\x85\xA0",
               "\xF0\x9D\x85\x98\xF0\x9D\x85\xA5\xF0\x9D\x85\xAE"); /* one note, three parts */
}

static void test_nfc__hangul_is_computed(void **state)
{
    (void)state;
    normalizes("\xE1\x84\x80\xE1\x85\xA1", "\xEA\xB0\x80");
    normalizes("\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xEA\xB0\x81");
    normalizes("\xEA\xB0\x80\xE1\x86\xA8", "\xEA\xB0\x81");
    normalizes("\xEA\xB0\x81\xE1\x86\xA8", "\xEA\xB0\x81\xE1\x86\xA8"); /* has one already */
    normalizes("\xE1\x84\x80" ACUTE "\xE1\x85\xA1", "\xE1\x84\x80" ACUTE "\xE1\x85\xA1");
}

/* U+11935 U+11930 join since 13.0, and U+1DF6 has a class since 10.0. */
static void test_nfc__what_came_after_9_has_no_part(void **state)
{
    (void)state;
    is_normal("\xF0\x91\xA4\xB5\xF0\x91\xA4\xB0");
    normalizes("x" ACUTE "\xE1\xB7\xB6" DOT_BELOW, "x" ACUTE "\xE1\xB7\xB6" DOT_BELOW);
}

static void test_nfc__long_runs_of_marks(void **state)
{
    (void)state;

    enum { PAIRS = 20000 };

    char *given = lw__alloc(1 + 4 * (size_t)PAIRS);
    char *expected = lw__alloc(1 + 4 * (size_t)PAIRS);
    lw_error err = {.status = LW_OK};
    lw__nfc nfc = {.capacity = 0};
    assert_true(given != NULL && expected != NULL);
    given[0] = expected[0] = 'q';
    for (size_t i = 0; i < PAIRS; i++) {
        memcpy(given + 1 + 4 * i, ACUTE DOT_BELOW, 4);
        memcpy(expected + 1 + 2 * i, DOT_BELOW, 2);
        memcpy(expected + 1 + 2 * (i + PAIRS), ACUTE, 2);
    }
    lw_str text = {.data = given, .bytes = 1 + 4 * (size_t)PAIRS};
    lw_str out = {.data = NULL};
    assert_int_equal(lw__nfc_normalize(&nfc, text, &out, &err), LW_OK);
    assert_int_equal(out.bytes, text.bytes);
    assert_memory_equal(out.data, expected, out.bytes);
    lw__nfc_reset(&nfc);
    lw__free(given);
    lw__free(expected);
}

static void test_nfc__bad_bytes_stay_as_they_are(void **state)
{
    (void)state;
    normalizes("e" ACUTE "\xFF" ACUTE DOT_BELOW, E_ACUTE "\xFF" DOT_BELOW ACUTE);
    is_normal("\xE4\xB8");
}

#define NFC          "\"normalizer\": {\"type\": \"NFC\"}, "
#define ADDED(flags) "[{\"id\": 265, \"content\": \"<x>\", " flags "\"special\": false}]"

static void test_nfc__text_between_added_tokens_is_normalized(void **state)
{
    (void)state;
    static const char text[] = "e" ACUTE "<x>e" ACUTE;
    tiny_json json = {.top = NFC, .added = ADDED("")};
    lw__tokenizer_options options = {.path = tiny_write_json("nfc.json", &json)};
    lw__tokenizer *first = tiny_open(&options);
    tiny_encodes(first, text, strlen(text), 0xC3, 0xA9, 265, 0xC3, 0xA9, -1);
    json.added = ADDED("\"normalized\": true, ");
    json.top = "\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}]}, ";
    options.path = tiny_write_json("sequence.json", &json);
    lw__tokenizer *second = tiny_open(&options);
    tiny_encodes(second, text, strlen(text), 0xC3, 0xA9, 265, 0xC3, 0xA9, -1);
    json.top = NULL;
    options.path = tiny_write_json("plain.json", &json);
    lw__tokenizer *plain = tiny_open(&options);
    tiny_encodes(plain, text, 3, 'e', 0xCC, 0x81, -1);
    assert_true(lw__tokenizer_fingerprint(second) != lw__tokenizer_fingerprint(plain));
    lw__tokenizer_close(first);
    lw__tokenizer_close(second);
    lw__tokenizer_close(plain);
}

/* U+037E becomes ";" in the text and in the token. Two tokens must not become the same. */
static void test_nfc__a_normalized_token_is_found_in_its_form(void **state)
{
    (void)state;
    static const char text[] = "<\xCD\xBE>a<;>";
    tiny_json json = {.top = NFC,
                      .added = "[{\"id\": 265, \"content\": \"<\xCD\xBE>\", \"normalized\": true, "
                               "\"special\": false}]"};
    lw__tokenizer_options options = {.path = tiny_write_json("form.json", &json)};
    lw__tokenizer *tokenizer = tiny_open(&options);
    tiny_encodes(tokenizer, text, strlen(text), 265, 'a', 265, -1);
    lw__tokenizer_close(tokenizer);
    json.added = "[{\"id\": 265, \"content\": \"<\xCD\xBE>\", \"normalized\": true}, "
                 "{\"id\": 266, \"content\": \"<;>\", \"normalized\": true}]";
    options.path = tiny_write_json("two.json", &json);
    tiny_open_fails(&options, LW_E_UNSUPPORTED, "normalized of two that become \"<;>\"");
}

/* A text that nothing is left of would be found everywhere. */
static void test_nfc__a_normalized_token_has_to_leave_some_text(void **state)
{
    (void)state;
    tiny_json json = {
        .top =
            "\"normalizer\": {\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": true}, ",
        .added = "[{\"id\": 265, \"content\": \"\\t\\t\", \"normalized\": true}]"};
    lw__tokenizer_options options = {.path = tiny_write_json("bad.json", &json)};
    tiny_open_fails(&options, LW_E_UNSUPPORTED, "of which the normalizer leaves nothing");
}

static void test_nfc__the_other_forms(void **state)
{
    (void)state;
    becomes(LW__NFC_D, "x" E_ACUTE "\xEF\xAC\x81", "xe" ACUTE "\xEF\xAC\x81");
    becomes(LW__NFC_D, "\xEA\xB0\x81", "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8");
    becomes(LW__NFC_D, "e" ACUTE DOT_BELOW, "e" DOT_BELOW ACUTE);
    becomes(LW__NFC_KD, "\xEF\xAC\x81" E_ACUTE "\xC2\xA0", "fie" ACUTE " ");
    becomes(LW__NFC_KC,
            "\xEF\xAC\x81"
            "e" ACUTE "\xC2\xB2",
            "fi" E_ACUTE "2");
    becomes(LW__NFC_KC, "\xE1\xBA\x9B", "\xE1\xB9\xA1");   /* a long s with a dot: s with a dot */
    becomes(LW__NFC_KC, "\xEF\xBC\xA1" ACUTE, "\xC3\x81"); /* a wide A and a mark join */
}

/* Of 3 bytes 18 characters, the most that there are. */
static void test_nfc__what_grows_most(void **state)
{
    (void)state;
    char given[64 * 3 + 1] = "";
    for (size_t i = 0; i < 64; i++) {
        memcpy(given + i * 3, "\xEF\xB7\xBA", 4);
    }
    lw_error err = {.status = LW_OK};
    lw__nfc nfc = {.form = LW__NFC_KC};
    lw_str text = {.data = given, .bytes = sizeof given - 1};
    lw_str out = {.data = NULL};
    assert_int_equal(lw__nfc_normalize(&nfc, text, &out, &err), LW_OK);
    assert_int_equal(out.bytes, 64 * 33);
    lw__nfc_reset(&nfc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nfc__normal_text_is_not_touched),
        cmocka_unit_test(test_nfc__a_letter_and_a_mark_join),
        cmocka_unit_test(test_nfc__what_is_passed_quickly_is_a_wall),
        cmocka_unit_test(test_nfc__every_place_is_looked_at),
        cmocka_unit_test(test_nfc__marks_are_put_in_order),
        cmocka_unit_test(test_nfc__some_characters_are_never_normal),
        cmocka_unit_test(test_nfc__hangul_is_computed),
        cmocka_unit_test(test_nfc__what_came_after_9_has_no_part),
        cmocka_unit_test(test_nfc__long_runs_of_marks),
        cmocka_unit_test(test_nfc__bad_bytes_stay_as_they_are),
        cmocka_unit_test(test_nfc__text_between_added_tokens_is_normalized),
        cmocka_unit_test(test_nfc__a_normalized_token_is_found_in_its_form),
        cmocka_unit_test(test_nfc__a_normalized_token_has_to_leave_some_text),
        cmocka_unit_test(test_nfc__the_other_forms),
        cmocka_unit_test(test_nfc__what_grows_most),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
