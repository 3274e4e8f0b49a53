/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a normalizer. Each looks for what it changes, and copies what lies between only once
 * something was found.
 */
#include "tokenize/normalize.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tokenize/graphemes.h"
#include "tokenize/scan.h"
#include "tokenize/unicode_normal.h"

#define CAPITAL_I_DOT 0x130 /* the one capital that becomes two characters: i and a dot above */
#define DOT_ABOVE     0x307

#define WHOLE_CLUSTER 5 /* the most bytes of a cluster that the reference looks up as a whole */

void lw__normal_reset(lw__normal *step)
{
    lw__bytes_reset(&step->text);
    lw__bytes_reset(&step->pattern);
    lw__regex_destroy(step->regex);
    lw__free(step->map);
    memset(step, 0, sizeof *step);
}

void lw__normalizer_reset(lw__normalizer *normalizer)
{
    for (size_t i = 0; i < normalizer->count; i++) {
        lw__normal_reset(&normalizer->steps[i]);
    }
    normalizer->count = 0;
}

bool lw__normalizer_put(lw__normalizer *normalizer, lw__normal *step)
{
    if (normalizer->count == LW__NORMAL_STEPS) {
        lw__normal_reset(step);
        return false;
    }
    normalizer->steps[normalizer->count++] = *step;
    return true;
}

void lw__normalizer_write(const lw__normalizer *normalizer, lw__bytes *out)
{
    static const char *const forms[] = {"nfc", "nfd", "nfkc", "nfkd"};
    static const char *const names[] = {
        [LW__NORMAL_LOWER] = "lowercase", [LW__NORMAL_STRIP] = "strip",
        [LW__NORMAL_UNMARK] = "unmark",   [LW__NORMAL_PREPEND] = "prepend",
        [LW__NORMAL_REPLACE] = "replace", [LW__NORMAL_MAP] = "map",
    };

    for (size_t i = 0; i < normalizer->count; i++) {
        const lw__normal *step = &normalizer->steps[i];
        const char *name = step->kind == LW__NORMAL_FORM ? forms[step->form] : names[step->kind];
        lw__bytes_put_text(out, name, strlen(name));
        if (step->kind != LW__NORMAL_FORM) {
            lw__bytes_put_u8(out,
                             (uint8_t)(step->left | step->right << 1 | (step->regex != NULL) << 2));
            lw__bytes_put_text(out, (const char *)step->text.data, step->text.count);
            lw__bytes_put_text(out, (const char *)step->pattern.data, step->pattern.count);
        }
    }
}

void lw__normal_scratch_reset(lw__normal_scratch *scratch)
{
    for (size_t i = 0; i < LW__NORMAL_STEPS; i++) {
        lw__nfc_reset(&scratch->forms[i]);
        lw__bytes_reset(&scratch->texts[i]);
    }
    lw__regex_scratch_destroy(scratch->regex);
    lw__bytes_reset(&scratch->classes);
}

/* ---- a text with parts of it rewritten ---- */

typedef struct rewrite {
    lw_str text;
    size_t taken; /* up to here the text is in `out` */
    lw__bytes *out;
    bool has_changed;
} rewrite;

/* Passes the text from `start` to `end`, which becomes what the caller appends to `out`. */
static void pass(rewrite *r, size_t start, size_t end)
{
    lw__bytes_put(r->out, r->text.data + r->taken, start - r->taken);
    r->taken = end;
    r->has_changed = true;
}

static lw_status finish(rewrite *r, lw_str *out, lw_error *err)
{
    if (!r->has_changed) {
        *out = r->text;
        return LW_OK;
    }
    lw__bytes_put(r->out, r->text.data + r->taken, r->text.bytes - r->taken);
    if (r->out->failed) {
        return lw__fail_nomem(err, r->out->count, "a normalized text");
    }
    *out = (lw_str){.data = r->out->count == 0 ? "" : (const char *)r->out->data,
                    .bytes = r->out->count};
    return LW_OK;
}

/* ---- by characters ---- */

static uint32_t small_of(uint32_t code)
{
    size_t low = 0;
    size_t high = LW__LOWER_RUNS;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const lw__lower_run *run = &lw__lower_runs[middle];
        if (code < run->first) {
            high = middle;
        } else if (code > run->last) {
            low = middle + 1;
        } else {
            return (code - run->first) % run->step == 0 ? code + run->delta : code;
        }
    }
    return code;
}

static bool is_mark(uint32_t code)
{
    size_t low = 0;
    size_t high = LW__MARK_RUNS;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code < lw__mark_runs[middle].first) {
            high = middle;
        } else if (code > lw__mark_runs[middle].last) {
            low = middle + 1;
        } else {
            return true;
        }
    }
    return false;
}

static void lower(rewrite *r)
{
    const unsigned char *p = (const unsigned char *)r->text.data;
    const unsigned char *end = p + r->text.bytes;
    unsigned bytes = 1;
    for (size_t at = 0; at < r->text.bytes; at += bytes) {
        lw__code next = {.code = p[at], .bytes = 1};
        if (p[at] >= 0x80) {
            next = lw__scan_code(p + at, end);
        }
        bytes = next.bytes;
        uint32_t small = small_of(next.code);
        if (small != next.code) {
            pass(r, at, at + bytes);
            lw__scan_put(r->out, small);
        }
        if (next.code == CAPITAL_I_DOT) {
            lw__scan_put(r->out, DOT_ABOVE);
        }
    }
}

static void unmark(rewrite *r)
{
    const unsigned char *p = (const unsigned char *)r->text.data;
    for (size_t at = 0; at < r->text.bytes;) {
        if (p[at] < 0x80) {
            at++;
            continue;
        }
        lw__code next = lw__scan_code(p + at, p + r->text.bytes);
        if (is_mark(next.code)) {
            pass(r, at, at + next.bytes);
        }
        at += next.bytes;
    }
}

/* ---- by grapheme clusters ---- */

/* Maps what starts at a place, if the map has it. */
static bool map_at(const lw__charsmap *map, rewrite *r, size_t at, size_t bytes)
{
    lw_str becomes;
    if (!lw__charsmap_first(map, (const unsigned char *)r->text.data + at, bytes, &becomes)) {
        return false;
    }
    pass(r, at, at + bytes);
    lw__bytes_put(r->out, becomes.data, becomes.bytes);
    return true;
}

/* A short cluster is dropped whole when the map has what it starts with. */
static void map_cluster(const lw__charsmap *map, rewrite *r, size_t at, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)r->text.data + at;
    if (bytes <= WHOLE_CLUSTER && map_at(map, r, at, bytes)) {
        return;
    }
    for (size_t i = 0; i < bytes;) {
        size_t of_char = p[i] < 0x80 ? 1 : lw__scan_code(p + i, p + bytes).bytes;
        if (of_char == bytes) {
            return; /* it was looked up as a whole */
        }
        (void)map_at(map, r, at + i, of_char);
        i += of_char;
    }
}

/* ASCII before ASCII is a cluster, but for CR before LF. */
static void map_clusters(const lw__charsmap *map, rewrite *r)
{
    const unsigned char *p = (const unsigned char *)r->text.data;
    const unsigned char *end = p + r->text.bytes;
    for (size_t at = 0; at < r->text.bytes;) {
        if (p[at] < 0x80 && !map->alone[p[at]] && p[at] != '\r' && at + 1 < r->text.bytes &&
            p[at + 1] < 0x80) {
            at++;
            continue;
        }
        size_t bytes = lw__grapheme_bytes(p + at, end);
        map_cluster(map, r, at, bytes);
        at += bytes;
    }
}

/* ---- the others ---- */

static lw_str strip(const lw__normal *step, lw_str text)
{
    const unsigned char *start = (const unsigned char *)text.data;
    const unsigned char *end = start + text.bytes;
    if (step->left) {
        start = lw__scan_spaces(start, end).end;
    }
    while (step->right && end > start) {
        const unsigned char *last = end - 1;
        while (last > start && (*last & 0xC0) == 0x80) {
            last--;
        }
        if (lw__scan_char(last, end).class != LW__CLASS_SPACE) {
            break;
        }
        end = last;
    }
    return (lw_str){.data = (const char *)start, .bytes = (size_t)(end - start)};
}

static void prepend(const lw__normal *step, rewrite *r)
{
    if (r->text.bytes > 0) {
        pass(r, 0, 0);
        lw__bytes_put(r->out, step->text.data, step->text.count);
    }
}

static void replace(const lw__normal *step, rewrite *r)
{
    const char *start = r->text.data;
    const char *end = start + r->text.bytes;
    for (const char *at = start; at < end; at += step->pattern.count) {
        at = memmem(at, (size_t)(end - at), step->pattern.data, step->pattern.count);
        if (at == NULL) {
            return;
        }
        pass(r, (size_t)(at - start), (size_t)(at - start) + step->pattern.count);
        lw__bytes_put(r->out, step->text.data, step->text.count);
    }
}

static lw_status replace_matches(const lw__normal *step, lw__normal_scratch *scratch, rewrite *r,
                                 lw_error *err)
{
    const unsigned char *text = (const unsigned char *)r->text.data;
    const unsigned char *end = text + r->text.bytes;
    const unsigned char *at = text;
    lw__regex_search search = {.from = 0};
    if (scratch->regex == NULL) {
        LW__TRY(lw__regex_scratch_create(&scratch->regex, err));
    }
    scratch->classes.count = 0;
    lw__regex_classify(step->regex, text, r->text.bytes, &scratch->classes);
    if (scratch->classes.failed) {
        return lw__fail_nomem(err, r->text.bytes, "normalizing a text");
    }
    for (;;) {
        size_t done = search.done;
        size_t start = 0;
        size_t stop = 0;
        lw__regex_result result =
            lw__regex_next(step->regex, scratch->regex, &scratch->classes, &search, &start, &stop);
        if (result != LW__REGEX_FOUND) {
            return result == LW__REGEX_NONE ? LW_OK : lw__regex_too_hard(r->text.bytes, err);
        }
        const unsigned char *from = lw__regex_forward(step->regex, at, end, start - done);
        at = lw__regex_forward(step->regex, from, end, stop - start);
        pass(r, (size_t)(from - text), (size_t)(at - text));
        lw__bytes_put(r->out, step->text.data, step->text.count);
    }
}

static lw_status run_step(const lw__normal *step, lw__normal_scratch *scratch, lw__nfc *nfc,
                          rewrite *r, lw_str *out, lw_error *err)
{
    switch (step->kind) {
    case LW__NORMAL_FORM:
        nfc->form = step->form;
        return lw__nfc_normalize(nfc, r->text, out, err);
    case LW__NORMAL_STRIP:
        *out = strip(step, r->text);
        return LW_OK;
    case LW__NORMAL_LOWER:
        lower(r);
        break;
    case LW__NORMAL_UNMARK:
        unmark(r);
        break;
    case LW__NORMAL_MAP:
        map_clusters(step->map, r);
        break;
    case LW__NORMAL_PREPEND:
        prepend(step, r);
        break;
    case LW__NORMAL_REPLACE:
        if (step->regex != NULL) {
            LW__TRY(replace_matches(step, scratch, r, err));
        } else {
            replace(step, r);
        }
        break;
    }
    return finish(r, out, err);
}

lw_status lw__normalize(const lw__normalizer *normalizer, lw__normal_scratch *scratch, lw_str text,
                        lw_str *out, lw_error *err)
{
    for (size_t i = 0; i < normalizer->count; i++) {
        rewrite r = {.text = text, .out = &scratch->texts[i]};
        r.out->count = 0;
        LW__TRY(run_step(&normalizer->steps[i], scratch, &scratch->forms[i], &r, &text, err));
    }
    *out = text;
    return LW_OK;
}
