/* SPDX-License-Identifier: Apache-2.0 */
/* vocab.bpe + encoder.json: finding the other half, and what a broken half says. */
#include "tiny_vocabulary.h"

static void opens(const char *path)
{
    lw__tokenizer_options options = {.path = path};
    lw__tokenizer *tokenizer = tiny_open(&options);
    assert_int_equal(lw__tokenizer_vocabulary(tokenizer), TINY_COUNT);
    tiny_encodes(tokenizer, "the aaab", 8, TINY_THE, ' ', TINY_AA, TINY_AB, -1);
    lw__tokenizer_close(tokenizer);
}

static const char *beside(const char *path, const char *name)
{
    static char other[256];
    const char *slash = strrchr(path, '/');
    assert_non_null(slash);
    int folder = (int)(slash - path);
    assert_in_range(snprintf(other, sizeof other, "%.*s/%s", folder, path, name), 1,
                    sizeof other - 1);
    return other;
}

static void test_load_bpe__either_half_finds_the_other(void **state)
{
    (void)state;
    const char *path = tiny_write_bpe("gpt2.vocab.bpe", "gpt2.encoder.json");
    opens(path);
    opens(beside(path, "gpt2.encoder.json"));
    path = tiny_write_bpe("merges.txt", "vocab.json");
    opens(path);
    opens(beside(path, "vocab.json"));
}

static void test_load_bpe__a_missing_half_is_named(void **state)
{
    (void)state;
    lw__tokenizer_options options = {.path = tiny_write_text("lone.vocab.bpe", "a b\n")};
    tiny_open_fails(&options, LW_E_NOT_FOUND, "lone.encoder.json\": No such file");
    options.path = beside(options.path, "none.encoder.json");
    tiny_open_fails(&options, LW_E_NOT_FOUND, "none.encoder.json\": No such file");
}

static void fails(const char *merges, const char *vocabulary, lw_status status, const char *message)
{
    lw__bytes out;
    lw__bytes_init(&out);
    if (vocabulary == NULL) {
        tiny_put_vocabulary(&out);
    } else {
        lw__bytes_put(&out, vocabulary, strlen(vocabulary));
    }
    (void)tiny_write_bytes("bad.encoder.json", &out);
    lw__tokenizer_options options = {.path = tiny_write_text("bad.vocab.bpe", merges)};
    tiny_open_fails(&options, status, message);
}

static void test_load_bpe__broken_merges(void **state)
{
    (void)state;
    fails("#version: 0.2\nt h\nt q\n", NULL, LW_E_CORRUPT,
          "bad.vocab.bpe\": line 3: \"t\" + \"q\": what they give is not in the vocabulary");
    fails("th q\nqq h", NULL, LW_E_CORRUPT, "line 1: \"th\" + \"q\"");
    fails("qq h", NULL, LW_E_CORRUPT, "line 1: \"qq\" + \"h\": the first is not in");
    fails("h qq", NULL, LW_E_CORRUPT, "line 1: \"h\" + \"qq\": the second is not in");
    fails("th\n", NULL, LW_E_CORRUPT, "line 1: \"th\", expected two tokens with one space");
    fails("t h e\n", NULL, LW_E_CORRUPT, "line 1: \"t h e\", expected two tokens");
    fails("t \xE4\xB8\xAD\n", NULL, LW_E_CORRUPT, "expected characters of the byte-level alphabet");
    fails("t \xC3\n", NULL, LW_E_CORRUPT, "expected characters of the byte-level alphabet");
}

/* Merges are looked up some together: each is still named by its own line. */
static void test_load_bpe__a_broken_merge_behind_many(void **state)
{
    (void)state;
    for (unsigned place = 1; place < 140; place += 6) {
        char message[64];
        lw__bytes merges;
        lw__bytes_init(&merges);
        for (unsigned line = 1; line < 140; line++) {
            lw__bytes_printf(&merges, "%s",
                             line % 20 == 0 ? "\n"
                             : line < place ? "t h\n"
                                            : "t q\n");
        }
        lw__bytes_printf(&merges, "th%c", '\0');
        assert_false(merges.failed);
        unsigned first = place % 20 == 0 ? place + 1 : place;
        assert_true(snprintf(message, sizeof message, "line %u: \"t\" + \"q\": what", first) > 0);
        fails((const char *)merges.data, NULL, LW_E_CORRUPT, message);
        lw__bytes_reset(&merges);
    }
}

static void test_load_bpe__broken_vocabulary(void **state)
{
    (void)state;
    fails("", "{\"a\": 0, \"b\"", LW_E_CORRUPT, "bad.encoder.json\": byte ");
    fails("", "{\"a\": 0, \"b\": 0}", LW_E_CORRUPT, "id 0 is given to \"a\" and \"b\"");
    fails("", "{\"a\": 0, \"a\": 1}", LW_E_CORRUPT, "token \"a\" is there twice");
    fails("", "{\"a\": -1}", LW_E_CORRUPT, "token \"a\" has id -1");
    fails("", "{\"a\": 4194304}", LW_E_CORRUPT, "token \"a\" has id 4194304");
    fails("", "{\"a\": 1e99}", LW_E_CORRUPT, "bad.encoder.json\": byte ");
    fails("", "{\"a\": \"b\"}", LW_E_CORRUPT, "bad.encoder.json\": byte ");
    fails("", "[1]", LW_E_CORRUPT, "bad.encoder.json\": byte 0");
    fails("", "{\"a\": 0} x", LW_E_CORRUPT, "bad.encoder.json\": byte ");
    fails("", "{\"\xFF\": 0}", LW_E_CORRUPT, "byte 2: a byte that is not UTF-8");
    fails("", "", LW_E_CORRUPT, "bad.encoder.json\": byte 0");
    fails("", "{\"a\": 0}", LW_E_UNSUPPORTED, "no token for byte 0x00");
    fails("", "{\"\": 0}", LW_E_UNSUPPORTED, "no token for byte 0x00");
    fails("a b\n", "{\"\": 0}", LW_E_CORRUPT, "line 1: \"a\" + \"b\": the first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_bpe__either_half_finds_the_other),
        cmocka_unit_test(test_load_bpe__a_missing_half_is_named),
        cmocka_unit_test(test_load_bpe__broken_merges),
        cmocka_unit_test(test_load_bpe__a_broken_merge_behind_many),
        cmocka_unit_test(test_load_bpe__broken_vocabulary),
    };
    return cmocka_run_group_tests(tests, tiny_setup, tiny_teardown);
}
