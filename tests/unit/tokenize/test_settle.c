/* SPDX-License-Identifier: Apache-2.0 */
/* Which merges are kept: against the whole list on random texts, and where it can not be told. */
#include "tiny_vocabulary.h"
#include "tokenize/settle.h"

enum { LETTERS = 3, TEXTS = 60, LISTS = 3000, TEXT_BYTES = 24 };

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
    if (bytes > 6) {
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

static void test_settle__merges_as_the_whole_list_does(void **state)
{
    (void)state;
    uint32_t random = 1;
    size_t sound = 0;
    size_t fewer = 0;
    for (size_t i = 0; i < LISTS; i++) {
        lw__vocab vocab = {.path = NULL};
        lw__bpe all;
        lw__bpe bpe;
        lw__settled settled;
        lw_error err = {.status = LW_OK};
        put_bytes(&vocab, &bpe);
        fill(&vocab, &random);
        all = bpe;
        size_t listed = vocab.merge_count;
        for (size_t k = 0; k < listed; k++) {
            assert_int_equal(lw__bpe_put(&all, &vocab.merges[k], &err), LW_OK);
        }
        assert_int_equal(lw__settle_merges(&vocab, &bpe, &settled, &err), LW_OK);
        if (settled.is_sound) {
            compare(&all, &bpe, &random);
            sound++;
            fewer += vocab.merge_count < listed;
        }
        lw__bpe_reset(&all);
        lw__bpe_reset(&bpe);
        lw__vocab_reset(&vocab);
    }
    assert_true(sound > LISTS / 10);
    assert_true(fewer > LISTS / 20);
}

static void settle(const int32_t (*merges)[2], size_t count, lw__settled *settled, size_t *kept)
{
    lw__vocab vocab = {.path = NULL};
    lw__bpe bpe;
    lw_error err = {.status = LW_OK};
    put_bytes(&vocab, &bpe);
    for (size_t i = 0; i < count; i++) {
        put_merge(&vocab, merges[i][0], merges[i][1]);
    }
    assert_int_equal(lw__settle_merges(&vocab, &bpe, settled, &err), LW_OK);
    *kept = vocab.merge_count;
    lw__bpe_reset(&bpe);
    lw__vocab_reset(&vocab);
}

static void test_settle__what_can_not_happen_goes(void **state)
{
    (void)state;
    static const int32_t splits[][2] = {{'a', 'b'}, {'b', 'c'}, {256, 'c'}, {'a', 257}};
    static const int32_t twice[][2] = {{'a', 'b'}, {'b', 'c'}, {'a', 'b'}};
    lw__settled settled;
    size_t kept = 0;
    settle(splits, 4, &settled, &kept);
    assert_true(settled.is_sound && settled.makes_all);
    assert_int_equal(kept, 3);
    settle(twice, 3, &settled, &kept);
    assert_false(settled.is_sound);
    assert_int_equal(kept, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settle__merges_as_the_whole_list_does),
        cmocka_unit_test(test_settle__what_can_not_happen_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
