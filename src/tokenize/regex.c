/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of characters from the sets of a pattern, and the pattern in terms of them. */
#include "tokenize/regex.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/scan.h"
#include "tokenize/vocab.h"

#define CLASSES     256 /* a class is a byte */
#define BLOCK       128 /* code points of a block of the table */
#define BLOCKS      ((LW__LAST_CODE + 1) / BLOCK)
#define STACK_BYTES (1 << 20)
#define STACK_LIMIT (32u << 20)
#define MATCH_LIMIT 10000000 /* steps of a match */

struct lw__regex {
    pcre2_code *code;
    bool mapped;
    unsigned char of_byte[256]; /* classes of ASCII; mapped: of all bytes */
    uint16_t blocks[BLOCKS];
    lw__bytes table; /* of classes, one block after the other */
};

/* What PCRE2 allocates with; what it makes keeps a copy. */
static void *take(PCRE2_SIZE bytes, void *context)
{
    (void)context;
    return lw__alloc(bytes);
}

static void give_back(void *p, void *context)
{
    (void)context;
    lw__free(p);
}

struct lw__regex_scratch {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

/* ---- classes ---- */

/* The code points in runs that no set cuts, and the class of each run. */
typedef struct runs {
    uint32_t *firsts;
    unsigned char *classes;
    size_t count;
    size_t class_count;
} runs;

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static lw_status cut_runs(const lw__regex_parts *parts, runs *out, lw_error *err)
{
    size_t most = 1;
    for (size_t i = 0; i < parts->set_count; i++) {
        most += 2 * parts->sets[i].count;
    }
    out->firsts = lw__alloc_array(most, sizeof *out->firsts);
    out->classes = lw__alloc_zero(most, 1);
    if (out->firsts == NULL || out->classes == NULL) {
        return lw__fail_nomem(err, most * sizeof *out->firsts, "a regex");
    }
    size_t count = 0;
    out->firsts[count++] = 0;
    for (size_t i = 0; i < parts->set_count; i++) {
        for (size_t k = 0; k < parts->sets[i].count; k++) {
            out->firsts[count++] = parts->sets[i].ranges[k].first;
            out->firsts[count++] = parts->sets[i].ranges[k].last + 1;
        }
    }
    qsort(out->firsts, count, sizeof *out->firsts, by_number);
    for (size_t i = 0; i < count; i++) {
        if (out->firsts[i] <= LW__LAST_CODE && (i == 0 || out->firsts[i] != out->firsts[i - 1])) {
            out->firsts[out->count++] = out->firsts[i];
        }
    }
    out->class_count = 1;
    return LW_OK;
}

/* Parts each class into what is in the set and what is not; false when there are too many. */
static bool part_classes(runs *all, const lw__code_set *set)
{
    int inside[CLASSES];
    bool outside[CLASSES] = {false};
    for (size_t i = 0; i < CLASSES; i++) {
        inside[i] = -1;
    }
    for (size_t i = 0; i < all->count; i++) {
        outside[all->classes[i]] |= !lw__code_set_has(set, all->firsts[i]);
    }
    for (size_t i = 0; i < all->count; i++) {
        unsigned char *class = &all->classes[i];
        if (!outside[*class] || !lw__code_set_has(set, all->firsts[i])) {
            continue;
        }
        if (inside[*class] < 0) {
            if (all->class_count == CLASSES) {
                return false;
            }
            inside[*class] = (int)all->class_count;
            outside[all->class_count++] = false;
        }
        *class = (unsigned char)inside[*class];
    }
    return true;
}

/* The number of the block of the table that is like this one, which is put when there is none. */
static size_t block_of(lw__bytes *table, const unsigned char *block)
{
    size_t count = table->count / BLOCK;
    for (size_t i = count; i-- > 0;) {
        if (memcmp(table->data + i * BLOCK, block, BLOCK) == 0) {
            return i;
        }
    }
    lw__bytes_put(table, block, BLOCK);
    return count;
}

static void fill_table(lw__regex *regex, const runs *all)
{
    size_t run = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        unsigned char block[BLOCK];
        for (uint32_t k = 0; k < BLOCK; k++) {
            while (run + 1 < all->count && all->firsts[run + 1] <= i * BLOCK + k) {
                run++;
            }
            block[k] = all->classes[run];
        }
        regex->blocks[i] = (uint16_t)block_of(&regex->table, block);
        if (i == 0) {
            memcpy(regex->of_byte, block, BLOCK);
        }
    }
}

static unsigned char class_of(const lw__regex *regex, uint32_t code)
{
    return regex->table.data[(size_t)regex->blocks[code / BLOCK] * BLOCK + code % BLOCK];
}

/* ---- the pattern ---- */

/* Of the classes, those that are in the set: every run of a class is, or none. */
static void put_set(const runs *all, const lw__code_set *set, lw__bytes *out)
{
    bool has[CLASSES] = {false};
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        has[all->classes[i]] |= lw__code_set_has(set, all->firsts[i]);
    }
    lw__bytes_printf(out, "[");
    for (unsigned class = 0; class < all->class_count; class ++) {
        if (has[class]) {
            lw__bytes_printf(out, "\\x%02x", class);
            count++;
        }
    }
    lw__bytes_printf(out, count == 0 ? "^\\x00-\\xff]" : "]");
}

static void put_pattern(const lw__regex_parts *parts, const runs *all, lw__bytes *out)
{
    lw__reader reader = lw__reader_of(parts->text.data, parts->text.count);
    while (reader.at < reader.end) {
        uint8_t byte = lw__reader_u8(&reader);
        if (byte == LW__REGEX_SET_MARK) {
            put_set(all, &parts->sets[lw__reader_u32le(&reader)], out);
        } else {
            lw__bytes_put_u8(out, byte);
        }
    }
}

static lw_status compile_code(lw__regex *regex, const lw__bytes *text, const char **wrong,
                              lw_error *err)
{
    int code = PCRE2_ERROR_NOMEMORY;
    PCRE2_SIZE at = 0;
    pcre2_general_context *general = pcre2_general_context_create(take, give_back, NULL);
    pcre2_compile_context *context = general == NULL ? NULL : pcre2_compile_context_create(general);
    if (context != NULL) {
        regex->code = pcre2_compile(text->data, text->count,
                                    PCRE2_NEVER_UTF | PCRE2_NO_AUTO_CAPTURE, &code, &at, context);
    }
    pcre2_compile_context_free(context);
    pcre2_general_context_free(general);
    if (regex->code == NULL && (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED)) {
        return lw__fail_nomem(err, text->count, "a regex");
    }
    if (regex->code == NULL) {
        *wrong = "a regex that looks behind by a fixed width, and is not too large";
    } else {
        /* Where the system allows no machine code the pattern is interpreted, to the same effect. */
        (void)pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE);
    }
    return LW_OK;
}

/* ---- compiling ---- */

/* Where a text is bytes, a byte has the class of the character that it is written as. */
static void map_bytes(lw__regex *regex)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        regex->of_byte[byte] = class_of(regex, lw__byte_level_code((unsigned char)byte));
    }
}

static lw_status compile_parts(lw__regex *regex, const lw__regex_parts *parts, runs *all,
                               const char **wrong, lw_error *err)
{
    LW__TRY(cut_runs(parts, all, err));
    for (size_t i = 0; i < parts->set_count; i++) {
        if (!part_classes(all, &parts->sets[i])) {
            *wrong = "a regex that tells fewer than 256 classes of characters apart";
            return LW_OK;
        }
    }
    fill_table(regex, all);
    lw__bytes text;
    lw__bytes_init(&text);
    put_pattern(parts, all, &text);
    lw_status status = text.failed || regex->table.failed
                           ? lw__fail_nomem(err, text.count, "a regex")
                           : compile_code(regex, &text, wrong, err);
    lw__bytes_reset(&text);
    if (status == LW_OK && regex->mapped) {
        map_bytes(regex);
    }
    return status;
}

static lw_status compile(lw__regex *regex, lw_str pattern, lw__regex_syntax syntax,
                         const char **wrong, lw_error *err)
{
    lw__regex_parts parts;
    runs all = {.count = 0};
    lw_status status = LW_OK;
    if (lw__regex_parse(pattern, syntax, &parts, wrong)) {
        status = compile_parts(regex, &parts, &all, wrong, err);
    } else if (*wrong == NULL) {
        status = lw__fail_nomem(err, pattern.bytes, "a regex");
    }
    lw__free(all.firsts);
    lw__free(all.classes);
    lw__regex_parts_reset(&parts);
    return status;
}

lw_status lw__regex_compile(lw_str pattern, lw__regex_syntax syntax, bool mapped, lw__regex **out,
                            const char **wrong, lw_error *err)
{
    *out = NULL;
    lw__regex *regex = lw__alloc_zero(1, sizeof *regex);
    if (regex == NULL) {
        return lw__fail_nomem(err, sizeof *regex, "a regex");
    }
    regex->mapped = mapped;
    lw_status status = compile(regex, pattern, syntax, wrong, err);
    if (status < 0 || *wrong != NULL) {
        lw__regex_destroy(regex);
        return status;
    }
    *out = regex;
    return LW_OK;
}

void lw__regex_destroy(lw__regex *regex)
{
    if (regex != NULL) {
        pcre2_code_free(regex->code);
        lw__bytes_reset(&regex->table);
        lw__free(regex);
    }
}

bool lw__regex_is_mapped(const lw__regex *regex)
{
    return regex->mapped;
}

/* ---- matching ---- */

lw_status lw__regex_scratch_create(lw__regex_scratch **out, lw_error *err)
{
    *out = NULL;
    lw__regex_scratch *scratch = lw__alloc_zero(1, sizeof *scratch);
    if (scratch == NULL) {
        return lw__fail_nomem(err, sizeof *scratch, "matching a regex");
    }
    pcre2_general_context *general = pcre2_general_context_create(take, give_back, NULL);
    if (general != NULL) {
        scratch->data = pcre2_match_data_create(1, general);
        scratch->context = pcre2_match_context_create(general);
        scratch->stack = pcre2_jit_stack_create(STACK_BYTES, STACK_LIMIT, general);
    }
    pcre2_general_context_free(general);
    if (scratch->data == NULL || scratch->context == NULL || scratch->stack == NULL) {
        lw__regex_scratch_destroy(scratch);
        return lw__fail_nomem(err, STACK_BYTES, "matching a regex");
    }
    (void)pcre2_set_match_limit(scratch->context, MATCH_LIMIT);
    pcre2_jit_stack_assign(scratch->context, NULL, scratch->stack);
    *out = scratch;
    return LW_OK;
}

void lw__regex_scratch_destroy(lw__regex_scratch *scratch)
{
    if (scratch != NULL) {
        pcre2_match_data_free(scratch->data);
        pcre2_match_context_free(scratch->context);
        pcre2_jit_stack_free(scratch->stack);
        lw__free(scratch);
    }
}

void lw__regex_classify(const lw__regex *regex, const unsigned char *text, size_t bytes,
                        lw__bytes *out)
{
    const unsigned char *end = text + bytes;
    if (bytes == 0 || !lw__bytes_reserve(out, bytes)) {
        return;
    }
    unsigned char *to = out->data + out->count;
    while (text < end) {
        if (*text < 0x80 || regex->mapped) {
            *to++ = regex->of_byte[*text++];
            continue;
        }
        lw__code wide = lw__scan_code(text, end);
        *to++ = wide.code == LW__STRAY ? 0 : class_of(regex, wide.code);
        text += wide.bytes;
    }
    out->count = (size_t)(to - out->data);
}

lw__regex_result lw__regex_find(const lw__regex *regex, lw__regex_scratch *scratch,
                                const unsigned char *classes, size_t count, size_t at,
                                size_t *start, size_t *end)
{
    int found = pcre2_match(regex->code, classes, count, at, 0, scratch->data, scratch->context);
    if (found < 0) {
        return found == PCRE2_ERROR_NOMATCH ? LW__REGEX_NONE : LW__REGEX_LIMIT;
    }
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(scratch->data);
    *start = places[0];
    *end = places[1];
    return LW__REGEX_FOUND;
}

lw__regex_result lw__regex_next(const lw__regex *regex, lw__regex_scratch *scratch,
                                const lw__bytes *classes, lw__regex_search *search, size_t *start,
                                size_t *end)
{
    while (search->from <= classes->count) {
        lw__regex_result result =
            lw__regex_find(regex, scratch, classes->data, classes->count, search->from, start, end);
        bool is_again = *start == *end && *end == search->done && search->has_match;
        if (result != LW__REGEX_FOUND || !is_again) {
            search->done = search->from = *end;
            search->has_match = true;
            return result;
        }
        search->from++;
    }
    return LW__REGEX_NONE;
}

const unsigned char *lw__regex_forward(const lw__regex *regex, const unsigned char *at,
                                       const unsigned char *end, size_t count)
{
    if (lw__regex_is_mapped(regex)) {
        return at + count;
    }
    for (; count > 0 && at < end; count--) {
        at++;
        while (at < end && (*at & 0xC0) == 0x80) {
            at++;
        }
    }
    return at;
}

lw_status lw__regex_too_hard(size_t bytes, lw_error *err)
{
    return lw__fail(
        err, LW_E_UNSUPPORTED,
        "tokenizer: pattern: more than 10000000 steps, or 32 MiB, to match in a text of "
        "%zu bytes, expected less",
        bytes);
}
