/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk goes into a piece as soon as it is found, so a step keeps no list: only where it is, and
 * the classes of the text it cuts.
 */
#include "tokenize/split_steps.h"

#include "base/error.h"

#define FAMILY_ENDS 64 /* asked for at a time */

void lw__steps_reset(lw__steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        lw__regex_destroy(steps->items[i].regex);
    }
    lw__bytes_reset(&steps->text);
    *steps = (lw__steps){.count = 0};
}

bool lw__steps_put(lw__steps *steps, const lw__step *step, lw_str text)
{
    if (steps->count == LW__STEPS) {
        lw__regex_destroy(step->regex);
        return false;
    }
    steps->items[steps->count++] = *step;
    lw__bytes *out = &steps->text;
    lw__bytes_put_u8(out, step->regex != NULL);
    lw__bytes_put_u8(out, step->regex != NULL && lw__regex_is_mapped(step->regex));
    lw__bytes_put_u8(out, (uint8_t)step->rules.family);
    lw__bytes_put_u8(out, (uint8_t)step->rules.digits);
    lw__bytes_put_u8(out, (uint8_t)step->behavior);
    lw__bytes_put_u8(out, step->inverted);
    lw__bytes_put_text(out, text.data, text.bytes);
    return true;
}

lw_status lw__steps_scratch_create(lw__steps_scratch *scratch, lw_error *err)
{
    for (size_t i = 0; i < LW__STEPS; i++) {
        lw__bytes_init(&scratch->classes[i]);
    }
    return lw__regex_scratch_create(&scratch->regex, err);
}

void lw__steps_scratch_reset(lw__steps_scratch *scratch)
{
    lw__regex_scratch_destroy(scratch->regex);
    for (size_t i = 0; i < LW__STEPS; i++) {
        lw__bytes_reset(&scratch->classes[i]);
    }
    scratch->regex = NULL;
}

/* What stays the same all through a walk. */
typedef struct walk {
    const lw__steps *steps;
    size_t count;
    lw__steps_scratch *scratch;
    lw__steps_taker *taker;
    void *context;
} walk;

static lw_status go_into(const walk *w, size_t level, const unsigned char *text, size_t bytes,
                         lw_error *err);

/* The piece that a step is at: the parts found so far that belong together. */
typedef struct open_piece {
    const walk *walk;
    size_t level;
    const unsigned char *start;
    const unsigned char *end;
    bool is_open;
    bool is_match; /* its last part */
} open_piece;

static bool joins(lw__step_behavior behavior, bool before, bool is_match)
{
    switch (behavior) {
    case LW__STEP_CONTIGUOUS:
        return before == is_match;
    case LW__STEP_WITH_PREVIOUS:
        return is_match && !before;
    case LW__STEP_WITH_NEXT:
        return !is_match && before;
    default:
        return false;
    }
}

static lw_status close_piece(open_piece *piece, lw_error *err)
{
    const lw__step *step = &piece->walk->steps->items[piece->level];
    bool is_kept = piece->is_open && piece->end > piece->start &&
                   (step->behavior != LW__STEP_REMOVED || !piece->is_match);
    piece->is_open = false;
    return is_kept ? go_into(piece->walk, piece->level + 1, piece->start,
                             (size_t)(piece->end - piece->start), err)
                   : LW_OK;
}

/* The next part of the text of a step, which begins where the one before ends. */
static lw_status put_part(open_piece *piece, const unsigned char *end, bool is_match, lw_error *err)
{
    const lw__step *step = &piece->walk->steps->items[piece->level];
    bool counts = is_match != step->inverted;
    if (!piece->is_open || !joins(step->behavior, piece->is_match, counts)) {
        LW__TRY(close_piece(piece, err));
        piece->start = piece->end;
    }
    piece->is_open = true;
    piece->is_match = counts;
    piece->end = end;
    return LW_OK;
}

/* ---- by a regex ---- */

static lw_status cut_by_regex(open_piece *piece, const unsigned char *text, size_t bytes,
                              lw_error *err)
{
    const lw__regex *regex = piece->walk->steps->items[piece->level].regex;
    lw__bytes *classes = &piece->walk->scratch->classes[piece->level];
    const unsigned char *end = text + bytes;
    classes->count = 0;
    lw__regex_classify(regex, text, bytes, classes);
    if (classes->failed) {
        return lw__fail_nomem(err, bytes, "splitting a text");
    }
    lw__regex_search search = {.from = 0};
    for (;;) {
        size_t done = search.done;
        size_t start = 0;
        size_t stop = 0;
        lw__regex_result result =
            lw__regex_next(regex, piece->walk->scratch->regex, classes, &search, &start, &stop);
        if (result != LW__REGEX_FOUND) {
            LW__TRY(result == LW__REGEX_NONE ? LW_OK : lw__regex_too_hard(bytes, err));
            break;
        }
        if (start > done) {
            LW__TRY(put_part(piece, lw__regex_forward(regex, piece->end, end, start - done), false,
                             err));
        }
        LW__TRY(
            put_part(piece, lw__regex_forward(regex, piece->end, end, stop - start), true, err));
    }
    return piece->end < end ? put_part(piece, end, false, err) : LW_OK;
}

/* ---- as a family does ---- */

static lw_status cut_by_family(open_piece *piece, const unsigned char *text, size_t bytes,
                               lw_error *err)
{
    const lw__split_rules *rules = &piece->walk->steps->items[piece->level].rules;
    for (size_t at = 0; at < bytes;) {
        size_t ends[FAMILY_ENDS];
        size_t count = lw__split(rules, text, bytes, at, ends, FAMILY_ENDS);
        for (size_t i = 0; i < count; i++) {
            LW__TRY(put_part(piece, text + ends[i], true, err));
        }
        at = ends[count - 1];
    }
    return LW_OK;
}

/* Cuts by one step, and each piece by the steps behind it; there are few, so the stack is small. */
static lw_status go_into(const walk *w, size_t level, const unsigned char *text, size_t bytes,
                         lw_error *err)
{
    if (level == w->count) {
        return w->taker(w->context, text, bytes, err);
    }
    open_piece piece = {.walk = w, .level = level, .start = text, .end = text};
    LW__TRY(w->steps->items[level].regex != NULL ? cut_by_regex(&piece, text, bytes, err)
                                                 : cut_by_family(&piece, text, bytes, err));
    return close_piece(&piece, err);
}

lw_status lw__steps_walk(const lw__steps *steps, size_t count, lw__steps_scratch *scratch,
                         const unsigned char *text, size_t bytes, lw__steps_taker *taker,
                         void *context, lw_error *err)
{
    walk w = {
        .steps = steps, .count = count, .scratch = scratch, .taker = taker, .context = context};
    return bytes == 0 ? LW_OK : go_into(&w, 0, text, bytes, err);
}
