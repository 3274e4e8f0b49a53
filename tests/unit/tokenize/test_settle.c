/* SPDX-License-Identifier: Apache-2.0 */
/* Which merges are kept: against all of them on random texts, for lists and for ranks in any order. */
#include "base/alloc.h"
#include "tiny_vocabulary.h"
#include "tokenize/settle.h"
#include "tokenize/settle_by_length.h"

enum { LETTERS = 3, TEXTS = 60, LISTS = 3000, TEXT_BYTES = 24, TOKEN_BYTES = 6 };

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static void put_bytes(lw__vocab *vocab, lw__bpe *bpe)
{
    lw__place place = {.path = "made up"};
    lw_error err = {.status = LW_OK};
    lw__bpe_init(bpe);
    for (int byte = 0; byte < 256; byte++) {
        char text = (char)byte;
        lw_str token = {.data = &text, .bytes = 1};
        assert_int_equal(lw__vocab_put(vocab, byte, token, &place, &err), LW_OK);
        bpe->byte_ids[byte] = byte;
    }
}

/* The merge of two tokens, whose text becomes a token if it is none yet. */
static void put_merge(lw__vocab *vocab, int32_t left, int32_t right)
{
    char text[64];
    lw__place place = {.path = "made up"};
    lw_error err = {.status = LW_OK};
    lw_str first = lw__vocab_text(vocab, left);
    lw_str second = lw__vocab_text(vocab, right);
    size_t bytes = first.bytes + second.bytes;
    if (bytes > TOKEN_BYTES) {
        return;
    }
    memcpy(text, first.data, first.bytes);
    memcpy(text + first.bytes, second.data, second.bytes);
    lw_str joined = {.data = text, .bytes = bytes};
    int32_t id = lw__vocab_find(vocab, text, bytes);
    if (id < 0) {
        id = (int32_t)vocab->limit;
        assert_int_equal(lw__vocab_put(vocab, id, joined, &place, &err), LW_OK);
    }
    lw__merge merge = {
        .left = left, .right = right, .id = id, .rank = (uint32_t)vocab->merge_count};
    assert_int_equal(lw__vocab_push_merge(vocab, &merge, &err), LW_OK);
}

static int32_t draw_token(const lw__vocab *vocab, uint32_t *state)
{
    uint32_t made = (uint32_t)vocab->limit - 256;
    uint32_t at = draw(state, LETTERS + made);
    return at < LETTERS ? (int32_t)('a' + at) : (int32_t)(256 + at - LETTERS);
}

/* In a list that is shuffled, merges wait for parts that come later. */
static void fill(lw__vocab *vocab, uint32_t *state)
{
    for (size_t i = 0; i < 12; i++) {
        put_merge(vocab, draw_token(vocab, state), draw_token(vocab, state));
    }
    for (size_t i = 0; i < draw(state, 4) && vocab->merge_count > 1; i++) {
        size_t a = draw(state, (uint32_t)vocab->merge_count);
        size_t b = draw(state, (uint32_t)vocab->merge_count);
        lw__merge other = vocab->merges[a];
        vocab->merges[a] = vocab->merges[b];
        vocab->merges[b] = other;
        vocab->merges[a].rank = (uint32_t)a;
        vocab->merges[b].rank = (uint32_t)b;
    }
}

static void compare(const lw__bpe *all, const lw__bpe *settled, uint32_t *state)
{
    lw__bpe_scratch scratch = {.merge.given = NULL};
    lw_error err = {.status = LW_OK};
    for (size_t i = 0; i < TEXTS; i++) {
        unsigned char text[TEXT_BYTES];
        int32_t expected[TEXT_BYTES];
        int32_t found[TEXT_BYTES];
        size_t counts[2];
        size_t bytes = 1 + draw(state, TEXT_BYTES);
        for (size_t k = 0; k < bytes; k++) {
            text[k] = (unsigned char)('a' + draw(state, LETTERS));
        }
        assert_int_equal(lw__bpe_encode(all, &scratch, text, bytes, expected, &counts[0], &err),
                         LW_OK);
        assert_int_equal(lw__bpe_encode(settled, &scratch, text, bytes, found, &counts[1], &err),
                         LW_OK);
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(expected, found, counts[0] * sizeof *found);
    }
    lw__bpe_scratch_reset(&scratch);
}

/* Merges that happen are the same by either way that finds them, when they are found in order. */
static void assert_same_merges(const lw__vocab *vocab, const lw__merge *merges, size_t count)
{
    assert_int_equal(vocab->merge_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(vocab->merges[i].left, merges[i].left);
        assert_int_equal(vocab->merges[i].right, merges[i].right);
        assert_int_equal(vocab->merges[i].id, merges[i].id);
        assert_int_equal(vocab->merges[i].rank, i);
    }
}

/* The list of a vocabulary, settled the other way. */
static void settle_list_by_length(const lw__merge *list, size_t listed, const lw__bpe *bytes,
                                  const lw__vocab *settled)
{
    lw__vocab vocab = *settled;
    lw__bpe bpe = *bytes;
    lw_error err = {.status = LW_OK};
    bool makes_all = false;
    vocab.merges = NULL;
    vocab.merge_count = 0;
    vocab.merge_capacity = 0;
    for (size_t i = 0; i < listed; i++) {
        assert_int_equal(lw__vocab_push_merge(&vocab, &list[i], &err), LW_OK);
    }
    assert_int_equal(lw__settle_by_length(&vocab, &bpe, &makes_all, &err), LW_OK);
    assert_same_merges(settled, vocab.merges, vocab.merge_count);
    lw__free(vocab.merges);
    lw__bpe_reset(&bpe);
}

static void test_settle__merges_as_the_whole_list_does(void **state)
{
    (void)state;
    uint32_t random = 1;
    size_t fewer = 0;
    for (size_t i = 0; i < LISTS; i++) {
        lw__vocab vocab = {.path = NULL};
        lw__bpe bytes;
        lw_error err = {.status = LW_OK};
        lw__merge list[12];
        bool makes_all = false;
        put_bytes(&vocab, &bytes);
        fill(&vocab, &random);
        lw__bpe all = bytes;
        lw__bpe bpe = bytes;
        size_t listed = vocab.merge_count;
        for (size_t k = 0; k < listed; k++) {
            list[k] = vocab.merges[k];
            assert_int_equal(lw__bpe_put(&all, &list[k], &err), LW_OK);
        }
        assert_int_equal(lw__settle(&vocab, &bpe, &makes_all, &err), LW_OK);
        compare(&all, &bpe, &random);
        settle_list_by_length(list, listed, &bytes, &vocab);
        fewer += vocab.merge_count < listed;
        lw__bpe_reset(&all);
        lw__bpe_reset(&bpe);
        lw__vocab_reset(&vocab);
    }
    assert_true(fewer > LISTS / 20);
}

/* Tokens in any order, so that some have parts of a higher rank than their own. */
static void draw_tokens(lw__vocab *vocab, uint32_t *state)
{
    lw__place place = {.path = "made up"};
    lw_error err = {.status = LW_OK};
    for (size_t i = 0; i < 16; i++) {
        char text[TOKEN_BYTES];
        lw_str token = {.data = text, .bytes = 2 + draw(state, i < 8 ? 2 : TOKEN_BYTES - 1)};
        for (size_t k = 0; k < token.bytes; k++) {
            text[k] = (char)('a' + draw(state, LETTERS));
        }
        if (lw__vocab_find(vocab, text, token.bytes) < 0) {
            assert_int_equal(lw__vocab_put(vocab, (int64_t)vocab->limit, token, &place, &err),
                             LW_OK);
        }
    }
}

/* Every split of every token, at the rank of the token. */
static void put_splits(const lw__vocab *vocab, lw__bpe *all)
{
    lw_error err = {.status = LW_OK};
    for (int32_t id = 256; (size_t)id < vocab->limit; id++) {
        lw_str text = lw__vocab_text(vocab, id);
        for (size_t cut = 1; cut < text.bytes; cut++) {
            lw__merge merge = {.left = lw__vocab_find(vocab, text.data, cut),
                               .right = lw__vocab_find(vocab, text.data + cut, text.bytes - cut),
                               .id = id,
                               .rank = (uint32_t)id};
            if (merge.left >= 0 && merge.right >= 0) {
                assert_int_equal(lw__bpe_put(all, &merge, &err), LW_OK);
            }
        }
    }
}

/* Whether a merge has a part that is made at a higher rank. */
static bool falls(const lw__vocab *vocab)
{
    for (size_t i = 0; i < vocab->merge_count; i++) {
        const lw__merge *merge = &vocab->merges[i];
        if (merge->left > merge->id || merge->right > merge->id) {
            return true;
        }
    }
    return false;
}

static void test_settle__merges_as_all_splits_of_ranks_do(void **state)
{
    (void)state;
    uint32_t random = 2;
    size_t falling = 0;
    size_t unmade = 0;
    for (size_t i = 0; i < LISTS; i++) {
        lw__vocab vocab = {.merge_ranks = true};
        lw__bpe bpe;
        lw_error err = {.status = LW_OK};
        bool makes_all = false;
        put_bytes(&vocab, &bpe);
        draw_tokens(&vocab, &random);
        lw__bpe all = bpe;
        put_splits(&vocab, &all);
        assert_int_equal(lw__settle(&vocab, &bpe, &makes_all, &err), LW_OK);
        compare(&all, &bpe, &random);
        assert_int_equal(makes_all, vocab.merge_count == vocab.limit - 256);
        falling += falls(&vocab);
        unmade += !makes_all;
        lw__bpe_reset(&all);
        lw__bpe_reset(&bpe);
        lw__vocab_reset(&vocab);
    }
    assert_true(falling > LISTS / 20 && unmade > LISTS / 20 && unmade < LISTS);
}

static size_t settle(const int32_t (*merges)[2], size_t count, bool *makes_all)
{
    lw__vocab vocab = {.path = NULL};
    lw__bpe bpe;
    lw_error err = {.status = LW_OK};
    put_bytes(&vocab, &bpe);
    for (size_t i = 0; i < count; i++) {
        put_merge(&vocab, merges[i][0], merges[i][1]);
    }
    assert_int_equal(lw__settle(&vocab, &bpe, makes_all, &err), LW_OK);
    size_t kept = vocab.merge_count;
    lw__bpe_reset(&bpe);
    lw__vocab_reset(&vocab);
    return kept;
}

static void test_settle__what_can_not_happen_goes(void **state)
{
    (void)state;
    /* 256 is "ab", 257 "bc" and 258 "abc". */
    static const int32_t splits[][2] = {{'a', 'b'}, {'b', 'c'}, {256, 'c'}, {'a', 257}};
    static const int32_t twice[][2] = {{'a', 'b'}, {'b', 'c'}, {'a', 'b'}, {'a', 257}, {256, 'c'}};
    bool makes_all = false;
    assert_int_equal(settle(splits, 4, &makes_all), 3);
    assert_true(makes_all);
    /* "bc" comes before the later "ab", so "abc" is made of "a" and "bc". */
    assert_int_equal(settle(twice, 5, &makes_all), 3);
    assert_true(makes_all);
    assert_int_equal(settle(splits, 2, &makes_all), 2);
    assert_true(makes_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settle__merges_as_the_whole_list_does),
        cmocka_unit_test(test_settle__merges_as_all_splits_of_ranks_do),
        cmocka_unit_test(test_settle__what_can_not_happen_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
