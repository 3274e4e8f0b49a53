/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store that loaders fill: token bytes in one pool, an index by id and one by bytes.
 */
#include "tokenize/vocab.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "base/os_file.h"

#define FIRST_SLOTS       1024 /* of the index by bytes; a power of two */
#define MERGES_AT_ONCE    32   /* whose tokens are looked up together */
#define EXPECTED_BYTES    32   /* of a file for each token */
#define EXPECTED_SHARE    8    /* of a file is the bytes of tokens: one part in so many */
#define EXPECTED_MERGES   2    /* for each token */
#define SHOWN_BYTES       48   /* of a token in a message */
#define FILE_LIMIT        ((size_t)1 << 30) /* no vocabulary file is larger */
#define TOKEN_BYTES_LIMIT ((size_t)1 << 24) /* no token is longer */

void lw__vocab_reset(lw__vocab *vocab)
{
    lw__bytes_reset(&vocab->pool);
    lw__free(vocab->tokens);
    lw__free(vocab->slots_memory);
    lw__free(vocab->merges);
    lw__free(vocab->added);
    lw__piece_rules_reset(&vocab->pieces);
    lw__decode_rules_reset(&vocab->decode);
    lw__steps_reset(&vocab->steps);
    lw__normalizer_reset(&vocab->normalizer);
    memset(vocab, 0, sizeof *vocab);
}

lw_status lw__vocab_fail(lw_error *err, lw_status status, const lw__place *place,
                         const char *format, ...)
{
    char text[400];
    char where[64] = "";
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (place->unit != NULL) {
        (void)snprintf(where, sizeof where, "%s %llu: ", place->unit,
                       (unsigned long long)place->at);
    }
    return lw__fail(err, status, "tokenizer: \"%s\": %s%s", place->path, where, text);
}

int lw__vocab_shown(lw_str text)
{
    size_t bytes = text.bytes < SHOWN_BYTES ? text.bytes : SHOWN_BYTES;
    while (bytes > 0 && bytes < text.bytes && ((unsigned char)text.data[bytes] & 0xC0) == 0x80) {
        bytes--;
    }
    return (int)bytes;
}

lw_str lw__vocab_text(const lw__vocab *vocab, int32_t id)
{
    if (id < 0 || (size_t)id >= vocab->limit || vocab->tokens[id].present == 0) {
        return (lw_str){.data = "", .bytes = 0};
    }
    const lw__token *token = &vocab->tokens[id];
    if (token->bytes == 0) {
        return (lw_str){.data = "", .bytes = 0};
    }
    return (lw_str){.data = (const char *)vocab->pool.data + token->offset, .bytes = token->bytes};
}

/* Room for `count` items of an array that doubles. */
static lw_status array_reserve(void **items, size_t *capacity, size_t count, size_t item_bytes,
                               lw_error *err)
{
    if (count <= *capacity) {
        return LW_OK;
    }
    size_t wanted = count < 64 ? 64 : count + count / 2;
    void *grown = lw__resize_array(*items, wanted, item_bytes);
    if (grown == NULL) {
        return lw__fail_nomem(err, wanted * item_bytes, "a vocabulary");
    }
    lw__os_prefer_huge((char *)grown + *capacity * item_bytes, (wanted - *capacity) * item_bytes);
    *items = grown;
    *capacity = wanted;
    return LW_OK;
}

static bool is_text(const lw__vocab *vocab, int32_t id, const void *text, size_t bytes)
{
    const lw__token *token = &vocab->tokens[id];
    return token->bytes == bytes &&
           (bytes == 0 || memcmp(vocab->pool.data + token->offset, text, bytes) == 0);
}

static uint32_t hash_of(const void *text, size_t bytes)
{
    return (uint32_t)XXH3_64bits(text, bytes);
}

/* The slot where the text is, or the empty one where it would be put. */
static lw__slot *slot_of(const lw__vocab *vocab, const void *text, size_t bytes, uint32_t hash)
{
    size_t mask = vocab->slot_count - 1;
    size_t at = hash & mask;
    while (vocab->slots[at].id >= 0 &&
           (vocab->slots[at].hash != hash || !is_text(vocab, vocab->slots[at].id, text, bytes))) {
        at = (at + 1) & mask;
    }
    return &vocab->slots[at];
}

void lw__vocab_prefetch(const lw__vocab *vocab, const void *text, size_t bytes)
{
    if (vocab->slot_count > 0) {
        __builtin_prefetch(&vocab->slots[hash_of(text, bytes) & (vocab->slot_count - 1)]);
    }
}

int32_t lw__vocab_find(const lw__vocab *vocab, const void *text, size_t bytes)
{
    return vocab->slot_count == 0 ? -1 : slot_of(vocab, text, bytes, hash_of(text, bytes))->id;
}

int32_t lw__vocab_find_added(const lw__vocab *vocab, lw_str text)
{
    for (size_t i = 0; i < vocab->added_count; i++) {
        int32_t id = vocab->added[i].id;
        if (is_text(vocab, id, text.data, text.bytes)) {
            return id;
        }
    }
    return -1;
}

/* Large ones on huge pages where there are any, as each token is on another page. */
static lw__slot *slots_create(size_t slot_count, void **memory)
{
    size_t bytes = slot_count * sizeof(lw__slot);
    void *start = NULL;
    if (bytes < LW__OS_HUGE_BYTES) {
        *memory = lw__alloc(bytes);
        start = *memory;
    } else {
        *memory = lw__alloc_huge(bytes, &start);
    }
    return start;
}

static lw_status index_grow(lw__vocab *vocab, lw_error *err)
{
    size_t old_count = vocab->slot_count;
    const lw__slot *old = vocab->slots;
    size_t slot_count = old_count == 0 ? FIRST_SLOTS : old_count * 2;
    void *memory = NULL;
    lw__slot *slots = slots_create(slot_count, &memory);
    if (slots == NULL) {
        return lw__fail_nomem(err, slot_count * sizeof *slots, "a vocabulary");
    }
    memset(slots, 0xFF, slot_count * sizeof *slots);
    for (size_t i = 0; i < old_count; i++) {
        size_t at = old[i].hash & (slot_count - 1);
        while (old[i].id >= 0 && slots[at].id >= 0) {
            at = (at + 1) & (slot_count - 1);
        }
        slots[at] = old[i].id >= 0 ? old[i] : slots[at];
    }
    lw__free(vocab->slots_memory);
    vocab->slots = slots;
    vocab->slots_memory = memory;
    vocab->slot_count = slot_count;
    return LW_OK;
}

/* Room for so many tokens, which may be none. */
static lw_status tokens_expect(lw__vocab *vocab, size_t count, lw_error *err)
{
    void *tokens = vocab->tokens;
    lw_status status = array_reserve(&tokens, &vocab->capacity, count, sizeof *vocab->tokens, err);
    vocab->tokens = tokens;
    return status;
}

static lw_status tokens_reserve(lw__vocab *vocab, size_t limit, lw_error *err)
{
    if (limit <= vocab->limit) {
        return LW_OK;
    }
    LW__TRY(tokens_expect(vocab, limit, err));
    memset(vocab->tokens + vocab->limit, 0, (limit - vocab->limit) * sizeof *vocab->tokens);
    vocab->limit = limit;
    return LW_OK;
}

lw_status lw__vocab_expect(lw__vocab *vocab, size_t file_bytes, lw_error *err)
{
    size_t tokens = file_bytes / EXPECTED_BYTES;
    LW__TRY(tokens_expect(vocab, tokens < LW__VOCAB_LIMIT ? tokens : LW__VOCAB_LIMIT, err));
    return lw__bytes_reserve(&vocab->pool, file_bytes / EXPECTED_SHARE)
               ? LW_OK
               : lw__fail_nomem(err, file_bytes / EXPECTED_SHARE, "a vocabulary");
}

lw_status lw__vocab_put_aside(lw__vocab *vocab, int64_t id, lw_str text, const lw__place *place,
                              lw_error *err)
{
    int shown = lw__vocab_shown(text);
    if (id < 0 || id >= LW__VOCAB_LIMIT) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place,
                              "token \"%.*s\" has id %lld, expected 0 to %d", shown, text.data,
                              (long long)id, LW__VOCAB_LIMIT - 1);
    }
    if (text.bytes > TOKEN_BYTES_LIMIT) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place,
                              "a token of %zu bytes, expected at most %zu", text.bytes,
                              TOKEN_BYTES_LIMIT);
    }
    LW__TRY(tokens_reserve(vocab, (size_t)id + 1, err));
    lw__token *token = &vocab->tokens[id];
    if (token->present != 0) {
        lw_str other = lw__vocab_text(vocab, (int32_t)id);
        return lw__vocab_fail(err, LW_E_CORRUPT, place,
                              "id %lld is given to \"%.*s\" and \"%.*s\", expected one token",
                              (long long)id, lw__vocab_shown(other), other.data, shown, text.data);
    }
    size_t offset = vocab->pool.count;
    lw__bytes_put(&vocab->pool, text.data, text.bytes);
    if (vocab->pool.failed) {
        return lw__fail_nomem(err, offset + text.bytes, "a vocabulary");
    }
    *token = (lw__token){.offset = offset, .bytes = (uint32_t)text.bytes, .present = 1};
    return LW_OK;
}

lw_status lw__vocab_put(lw__vocab *vocab, int64_t id, lw_str text, const lw__place *place,
                        lw_error *err)
{
    if (vocab->model_count >= vocab->slot_count / 2) {
        LW__TRY(index_grow(vocab, err));
    }
    uint32_t hash = hash_of(text.data, text.bytes);
    lw__slot *slot = slot_of(vocab, text.data, text.bytes, hash);
    if (slot->id >= 0) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place,
                              "token \"%.*s\" is there twice, with ids %ld and %lld, expected one",
                              lw__vocab_shown(text), text.data, (long)slot->id, (long long)id);
    }
    LW__TRY(lw__vocab_put_aside(vocab, id, text, place, err));
    *slot = (lw__slot){.id = (int32_t)id, .hash = hash};
    vocab->model_count++;
    return LW_OK;
}

lw_status lw__vocab_put_added(lw__vocab *vocab, const lw__added *added, lw_error *err)
{
    void *items = vocab->added;
    lw_status status = array_reserve(&items, &vocab->added_capacity, vocab->added_count + 1,
                                     sizeof *vocab->added, err);
    vocab->added = items;
    if (status == LW_OK) {
        vocab->added[vocab->added_count++] = *added;
        vocab->tokens[added->id].special = added->special;
    }
    return status;
}

static lw_status merges_reserve(lw__vocab *vocab, size_t count, lw_error *err)
{
    void *items = vocab->merges;
    lw_status status =
        array_reserve(&items, &vocab->merge_capacity, count, sizeof *vocab->merges, err);
    vocab->merges = items;
    return status;
}

lw_status lw__vocab_expect_merges(lw__vocab *vocab, lw_error *err)
{
    return merges_reserve(vocab, vocab->model_count * EXPECTED_MERGES, err);
}

lw_status lw__vocab_push_merge(lw__vocab *vocab, const lw__merge *merge, lw_error *err)
{
    LW__TRY(merges_reserve(vocab, vocab->merge_count + 1, err));
    vocab->merges[vocab->merge_count++] = *merge;
    return LW_OK;
}

/* ---- merges ---- */

/* What one merge names, in this order. */
enum { LEFT, RIGHT, JOINED, NAMED };

static lw_str named_text(const lw__merge_text *merge, size_t which)
{
    lw_str text = {.data = merge->text, .bytes = merge->left_bytes};
    if (which == RIGHT) {
        text = (lw_str){.data = merge->text + merge->left_bytes, .bytes = merge->right_bytes};
    } else if (which == JOINED) {
        text.bytes += merge->right_bytes;
    }
    return text;
}

/* A text that is looked up among others. */
typedef struct wanted {
    lw_str text;
    uint32_t hash;
    int32_t id; /* -1: no such token */
} wanted;

static bool is_same_joined(const lw__merge_text *a, const lw__merge_text *b)
{
    size_t bytes = (size_t)a->left_bytes + a->right_bytes;
    return bytes == (size_t)b->left_bytes + b->right_bytes && memcmp(a->text, b->text, bytes) == 0;
}

/*
 * Lists the texts that some merges name, and where each is in the list. Files that have every split of
 * a token have them in a row: what these merges give is listed once.
 */
static size_t list_named(const lw__merge_text *merges, size_t count, wanted *texts,
                         uint8_t (*places)[NAMED])
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t which = LEFT; which < JOINED; which++) {
            texts[listed].text = named_text(&merges[i], which);
            places[i][which] = (uint8_t)listed++;
        }
        if (i > 0 && is_same_joined(&merges[i - 1], &merges[i])) {
            places[i][JOINED] = places[i - 1][JOINED];
        } else {
            texts[listed].text = named_text(&merges[i], JOINED);
            places[i][JOINED] = (uint8_t)listed++;
        }
    }
    return listed;
}

/*
 * Finds their ids. Each step of a look-up, the slot, the token and its bytes, is on another cache line:
 * all of them are asked for before any is looked at.
 */
static void find_all(const lw__vocab *vocab, wanted *texts, size_t count)
{
    size_t mask = vocab->slot_count - 1;
    for (size_t i = 0; i < count; i++) {
        texts[i].hash = hash_of(texts[i].text.data, texts[i].text.bytes);
        __builtin_prefetch(&vocab->slots[texts[i].hash & mask]);
    }
    for (size_t i = 0; i < count; i++) {
        texts[i].id = vocab->slots[texts[i].hash & mask].id;
        if (texts[i].id >= 0) {
            __builtin_prefetch(&vocab->tokens[texts[i].id]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const lw__token *token = texts[i].id >= 0 ? &vocab->tokens[texts[i].id] : NULL;
        if (token != NULL && token->bytes > 0) {
            __builtin_prefetch(vocab->pool.data + token->offset);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const lw_str *text = &texts[i].text;
        texts[i].id = slot_of(vocab, text->data, text->bytes, texts[i].hash)->id;
    }
}

static lw_status no_such_token(const lw__merge_text *merge, const char *which,
                               const lw__place *place, lw_error *err)
{
    lw_str left = named_text(merge, LEFT);
    lw_str right = named_text(merge, RIGHT);
    return lw__vocab_fail(err, LW_E_CORRUPT, place,
                          "\"%.*s\" + \"%.*s\": %s is not in the vocabulary, expected a token",
                          lw__vocab_shown(left), left.data, lw__vocab_shown(right), right.data,
                          which);
}

static lw_status put_named(lw__vocab *vocab, const lw__merge_text *merge, const wanted *texts,
                           const uint8_t *places, const lw__place *place, lw_error *err)
{
    static const char *const which[NAMED] = {"the first", "the second", "what they give"};
    for (size_t i = 0; i < NAMED; i++) {
        if (texts[places[i]].id < 0) {
            return no_such_token(merge, which[i], place, err);
        }
    }
    lw__merge put = {.left = texts[places[LEFT]].id,
                     .right = texts[places[RIGHT]].id,
                     .id = texts[places[JOINED]].id,
                     .rank = (uint32_t)vocab->merge_count};
    return lw__vocab_push_merge(vocab, &put, err);
}

lw_status lw__vocab_put_merges(lw__vocab *vocab, const lw__merge_text *merges, size_t count,
                               lw__place *place, lw_error *err)
{
    wanted texts[MERGES_AT_ONCE * NAMED];
    uint8_t places[MERGES_AT_ONCE][NAMED];
    if (count > 0 && vocab->slot_count == 0) {
        return no_such_token(merges, "the first", place, err);
    }
    for (size_t done = 0; done < count; done += MERGES_AT_ONCE) {
        size_t now = count - done < MERGES_AT_ONCE ? count - done : MERGES_AT_ONCE;
        find_all(vocab, texts, list_named(merges + done, now, texts, places));
        for (size_t i = 0; i < now; i++, place->at++) {
            LW__TRY(put_named(vocab, &merges[done + i], texts, places[i], place, err));
        }
    }
    return LW_OK;
}

lw_status lw__vocab_read(const char *path, lw__bytes *out, lw_error *err)
{
    return lw__os_read_file("tokenizer", path, FILE_LIMIT, out, err);
}
