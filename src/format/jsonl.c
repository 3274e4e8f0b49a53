/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines into documents. A line is checked as a whole: it is UTF-8, it is one JSON object and
 * nothing else. Of its values only the text is decoded, down to the text before it. With a key given
 * twice the last one counts. A fault never ends the part: it becomes the record's item.
 */
#include "format/jsonl.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

/* Faults of the field; a fault with this `expected` is told with the field's name. */
static const char a_string[] = "a string";

/* What became of looking for the field in one line. */
typedef struct finding {
    lw_str text;       /* data is NULL unless the field is a string that can be used */
    const char *found; /* what it is instead */
    const char *expected;
    const unsigned char *at; /* where */
} finding;

void lw__documents_reset(lw__documents *documents)
{
    for (size_t i = 0; i < documents->fault_capacity; i++) {
        lw__free(documents->faults[i]);
    }
    lw__free(documents->faults);
    lw__free(documents->items);
    lw__free(documents->repairs);
    *documents = (lw__documents){0};
}

/* ---- options ---- */

static size_t count_keys(const char *field)
{
    size_t count = 1;
    if (strcmp(field, ".") == 0) {
        return 0;
    }
    for (const char *c = field; *c != '\0'; c++) {
        if (c[0] == '\\' && c[1] == '.') {
            c++;
        } else if (*c == '.') {
            count++;
        }
    }
    return count;
}

/* Copies the key at *at, taking "\." for a dot, and moves *at behind the dot that ends it. */
static bool copy_key(const char **at, lw__jsonl_key *out)
{
    const char *c = *at;
    char *copy = lw__alloc(strlen(c) + 1);
    size_t count = 0;
    if (copy == NULL) {
        return false;
    }
    for (; *c != '\0' && *c != '.'; c++) {
        c += c[0] == '\\' && c[1] == '.';
        copy[count++] = *c;
    }
    copy[count] = '\0';
    *at = *c == '.' ? c + 1 : c;
    *out = (lw__jsonl_key){copy, count};
    return true;
}

lw_status lw__jsonl_init(lw__jsonl_options *options, const char *source, const char *field,
                         lw__bad_policy bad_policy, lw_error *err)
{
    options->bad_policy = bad_policy;
    size_t key_count = count_keys(field);
    options->field = lw__copy_text(field, strlen(field));
    options->keys = lw__alloc_zero(key_count + 1, sizeof *options->keys);
    if (options->field == NULL || options->keys == NULL) {
        return lw__fail_nomem(err, strlen(field) + 1, "the text field");
    }
    const char *at = field;
    while (options->key_count < key_count) {
        lw__jsonl_key *key = &options->keys[options->key_count];
        if (!copy_key(&at, key)) {
            return lw__fail_nomem(err, strlen(field) + 1, "the text field");
        }
        options->key_count++;
        if (key->bytes == 0) {
            return lw__fail(err, LW_E_INVALID,
                            "jsonl: source \"%s\": text field \"%s\" with an empty key, expected "
                            "names between dots",
                            source, field);
        }
    }
    return LW_OK;
}

void lw__jsonl_reset(lw__jsonl_options *options)
{
    for (size_t i = 0; i < options->key_count; i++) {
        lw__free(options->keys[i].data);
    }
    lw__free(options->keys);
    lw__free(options->field);
    *options = (lw__jsonl_options){0};
}

/* ---- one line ---- */

static const char *is_instead(lw__json_type type)
{
    switch (type) {
    case LW__JSON_NULL:
        return "is null";
    case LW__JSON_FALSE:
    case LW__JSON_TRUE:
        return "is a boolean";
    case LW__JSON_NUMBER:
        return "is a number";
    case LW__JSON_ARRAY:
        return "is a list";
    default:
        return "is an object";
    }
}

/*
 * Of equal keys only the last counts, so what is wrong with a value is a finding, not yet a fault.
 */
static void take_value(lw__json *json, bool replace, unsigned char *to, finding *out)
{
    lw__json_type type = lw__json_peek(json);
    *out = (finding){.found = is_instead(type), .expected = a_string, .at = json->at};
    if (type != LW__JSON_STRING) {
        lw__json_skip(json);
        return;
    }
    json->replaced_at = NULL;
    lw_str text = lw__json_string_down(json, to);
    if (json->replaced_at == NULL || replace) {
        out->text = text;
    } else {
        *out =
            (finding){.found = "a lone surrogate", .expected = "a pair", .at = json->replaced_at};
    }
}

static bool is_key(lw_str key, const lw__jsonl_key *wanted)
{
    return key.bytes == wanted->bytes && memcmp(key.data, wanted->data, key.bytes) == 0;
}

/* The record itself is the text, as it stands in the line. */
static void take_record(lw__json *json, finding *out)
{
    bool is_object = lw__json_peek(json) == LW__JSON_OBJECT;
    const unsigned char *start = json->at;
    *out = (finding){.at = start};
    if (!is_object) {
        (void)lw__json_enter(json, '{'); /* which says what is wrong */
        return;
    }
    lw__json_skip(json);
    out->text = (lw_str){(const char *)start, (size_t)(json->at - start)};
}

/*
 * Walks the line's object down the path of keys. `depth` is the level of the open object; on a
 * matching key the walk goes down, at the end of an object up again.
 */
static void find_field(const lw__jsonl_options *options, lw__json *json, unsigned char *to,
                       finding *out)
{
    bool replace = options->bad_policy == LW__BAD_REPLACE;
    size_t last = options->key_count - 1;
    size_t depth = 0;
    const finding missing = {.found = "is missing", .expected = a_string, .at = json->at};
    *out = missing;
    if (!lw__json_enter(json, '{')) {
        return;
    }
    for (;;) {
        if (!lw__json_next(json)) {
            if (json->fault != NULL || depth == 0) {
                return;
            }
            depth--;
            continue;
        }
        if (!is_key(lw__json_key(json), &options->keys[depth])) {
            lw__json_skip(json);
        } else if (depth == last) {
            take_value(json, replace, to, out);
        } else {
            *out = missing;
            if (lw__json_peek(json) != LW__JSON_OBJECT) {
                lw__json_skip(json);
            } else if (lw__json_enter(json, '{')) {
                depth++;
            }
        }
    }
}

static lw_status put_fault(lw__documents *documents, const char *found, const char *expected,
                           uint64_t at, const lw__fault **out, lw_error *err)
{
    if (documents->fault_count == documents->fault_capacity) {
        size_t capacity = documents->fault_capacity == 0 ? 8 : documents->fault_capacity * 2;
        lw__fault **faults = lw__resize_array(documents->faults, capacity, sizeof(lw__fault *));
        if (faults == NULL) {
            return lw__fail_nomem(err, capacity * sizeof(lw__fault *), "bad records");
        }
        memset(faults + documents->fault_capacity, 0,
               (capacity - documents->fault_capacity) * sizeof(lw__fault *));
        documents->faults = faults;
        documents->fault_capacity = capacity;
    }
    lw__fault **slot = &documents->faults[documents->fault_count];
    if (*slot == NULL && (*slot = lw__alloc(sizeof **slot)) == NULL) {
        return lw__fail_nomem(err, sizeof **slot, "a bad record");
    }
    **slot = (lw__fault){found, expected, at};
    documents->fault_count++;
    *out = *slot;
    return LW_OK;
}

/* A line to parse; a line that was repaired has moved, and is named by its start. */
typedef struct line_view {
    unsigned char *data;
    size_t count;
    uint64_t at; /* in the block */
    bool is_repaired;
    unsigned char *to; /* where its text goes: what is left of the lines before it is of no use */
} line_view;

static lw_status parse_line(const lw__jsonl_options *options, const line_view *line,
                            lw__documents *documents, lw__document *out, lw_error *err)
{
    lw__json json;
    finding field;
    lw__json_open(&json, line->data, line->count);
    json.replace_surrogates = true; /* outside the text they are nobody's concern */
    if (options->key_count == 0) {
        take_record(&json, &field);
    } else {
        find_field(options, &json, line->to, &field);
    }
    lw__json_finish(&json);
    *out = (lw__document){field.text.data, field.text.bytes, NULL};
    if (json.fault == NULL && field.text.data != NULL) {
        return LW_OK;
    }
    *out = (lw__document){NULL, 0, NULL};
    const unsigned char *at = json.fault != NULL ? json.at : field.at;
    uint64_t offset = line->at + (line->is_repaired ? 0 : (uint64_t)(at - line->data));
    return json.fault != NULL
               ? put_fault(documents, json.fault, NULL, offset, &out->fault, err)
               : put_fault(documents, field.found, field.expected, offset, &out->fault, err);
}

/* ---- a part ---- */

/* The number of the part's repaired bytes, and room for what may still come. */
typedef struct repairs {
    size_t used;
    bool has_room;
} repairs;

/*
 * Texts point into the repairs, so they may not move: the first line that needs some reserves for
 * the worst that all the rest of the part can become.
 */
static lw_status reserve_repairs(lw__documents *documents, repairs *state, size_t rest,
                                 lw_error *err)
{
    size_t wanted = 0;
    if (__builtin_mul_overflow(rest, (size_t)3, &wanted)) {
        return lw__fail_nomem(err, SIZE_MAX, "repaired text");
    }
    if (documents->repair_capacity < wanted) {
        lw__free(documents->repairs);
        documents->repair_capacity = 0;
        documents->repairs = lw__alloc(wanted);
        if (documents->repairs == NULL) {
            return lw__fail_nomem(err, wanted, "repaired text");
        }
        documents->repair_capacity = wanted;
    }
    state->has_room = true;
    return LW_OK;
}

/* Parses a line whose byte `bad` is not UTF-8. */
static lw_status parse_ill_formed(const lw__jsonl_options *options, const lw__text *text,
                                  const line_view *line, size_t bad, lw__documents *documents,
                                  repairs *state, lw__document *out, lw_error *err)
{
    if (options->bad_policy != LW__BAD_REPLACE) {
        *out = (lw__document){NULL, 0, NULL};
        return put_fault(documents, "ill-formed UTF-8", "UTF-8", line->at + bad, &out->fault, err);
    }
    if (!state->has_room) {
        size_t rest = text->count - (size_t)(line->data - text->data);
        LW__TRY(reserve_repairs(documents, state, rest, err));
    }
    unsigned char *copy = (unsigned char *)documents->repairs + state->used;
    size_t count = lw__utf8_repair(line->data, line->count, copy);
    state->used += count;
    line_view repaired = {copy, count, line->at, true, copy};
    return parse_line(options, &repaired, documents, out, err);
}

static lw_status reserve_item(lw__documents *documents, lw_error *err)
{
    if (documents->count < documents->capacity) {
        return LW_OK;
    }
    size_t capacity = documents->capacity == 0 ? 64 : documents->capacity * 2;
    lw__document *items = lw__resize_array(documents->items, capacity, sizeof *items);
    if (items == NULL) {
        return lw__fail_nomem(err, capacity * sizeof *items, "documents");
    }
    documents->items = items;
    documents->capacity = capacity;
    return LW_OK;
}

static bool is_blank(const unsigned char *line, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
            return false;
        }
    }
    return true;
}

/* The bytes of the line at p, without its newline. */
static size_t line_bytes(const unsigned char *p, const unsigned char *end)
{
    const unsigned char *newline = memchr(p, '\n', (size_t)(end - p));
    return (size_t)((newline != NULL ? newline : end) - p);
}

/*
 * The first place from `line` on that is not UTF-8; `known` is the last that was found. A newline
 * ends what is ill-formed, so that lines need no check each: the faults found are those of lines.
 */
static const unsigned char *next_fault(const unsigned char *line, const unsigned char *end,
                                       const unsigned char *known)
{
    return known >= line ? known : line + lw__utf8_check(line, (size_t)(end - line));
}

lw_status lw__jsonl_parse(const lw__jsonl_options *options, lw__text *text,
                          lw__documents *documents, lw_error *err)
{
    repairs state = {0};
    documents->count = 0;
    documents->fault_count = 0;
    if (text->count == 0) {
        return LW_OK;
    }
    const unsigned char *end = text->data + text->count;
    const unsigned char *fault = text->data + lw__utf8_check(text->data, text->count);
    line_view line = {.data = text->data, .to = text->data};
    for (; line.data < end; line.data += line.count + (line.data + line.count < end)) {
        line.count = line_bytes(line.data, end);
        if (is_blank(line.data, line.count)) {
            continue;
        }
        LW__TRY(reserve_item(documents, err));
        lw__document *out = &documents->items[documents->count];
        line.at = text->at + (uint64_t)(line.data - text->data);
        fault = next_fault(line.data, end, fault);
        if (fault < line.data + line.count) {
            size_t bad = (size_t)(fault - line.data);
            LW__TRY(parse_ill_formed(options, text, &line, bad, documents, &state, out, err));
        } else {
            LW__TRY(parse_line(options, &line, documents, out, err));
            line.to += out->bytes;
        }
        documents->count++;
    }
    return LW_OK;
}

uint64_t lw__jsonl_count(const unsigned char *lines, size_t count)
{
    uint64_t records = 0;
    size_t at = 0;
    while (at < count) {
        size_t bytes = line_bytes(lines + at, lines + count);
        records += !is_blank(lines + at, bytes);
        at += bytes + 1;
    }
    return records;
}

/* ---- messages ---- */

lw_status lw__jsonl_fail(const lw__jsonl_options *options, const lw__record_place *place,
                         const lw__fault *fault, lw_error *err)
{
    char where[96];
    if (place->is_counted) {
        snprintf(where, sizeof where, "record %llu at byte %llu", (unsigned long long)place->record,
                 (unsigned long long)place->byte);
    } else {
        snprintf(where, sizeof where, "block %llu at byte %llu of the block",
                 (unsigned long long)place->block, (unsigned long long)fault->at);
    }
    if (fault->expected == a_string) {
        return lw__fail(err, LW_E_CORRUPT, "jsonl: \"%s\" %s: field \"%s\" %s, expected %s",
                        place->path, where, options->field, fault->found, fault->expected);
    }
    return lw__fail(err, LW_E_CORRUPT, "jsonl: \"%s\" %s: %s%s%s", place->path, where, fault->found,
                    fault->expected != NULL ? ", expected " : "",
                    fault->expected != NULL ? fault->expected : "");
}
