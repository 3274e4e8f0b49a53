/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The piece "global": what the run is made of, and the step.
 *
 *     stream version | step | changes made at run time (none yet: 0) | recipe text
 *     fields: count, then key and value
 *     sources: count, then name, shard count, and for each shard: bytes shared with the name before,
 *              the rest of the name, file size, sample (4 bytes, little-endian)
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "checkpoint/checkpoint.h"

/* ---- identity ------------------------------------------------------------------------------- */

static lw_status grow(lw__identity *identity, lw_error *err)
{
    if (identity->field_count < identity->field_capacity) {
        return LW_OK;
    }
    size_t capacity = identity->field_capacity == 0 ? 64 : 2 * identity->field_capacity;
    lw__field *fields = lw__resize_array(identity->fields, capacity, sizeof *fields);
    if (fields == NULL) {
        return lw__fail_nomem(err, capacity * sizeof *fields, "a fingerprint");
    }
    identity->fields = fields;
    identity->field_capacity = capacity;
    return LW_OK;
}

lw_status lw__identity_add(lw__identity *identity, const char *key, const char *value,
                           lw_error *err)
{
    LW__TRY(grow(identity, err));
    lw__field field = {.key = lw__copy_text(key, strlen(key)),
                       .value = lw__copy_text(value, strlen(value))};
    if (field.key == NULL || field.value == NULL) {
        lw__free(field.key);
        lw__free(field.value);
        return lw__fail_nomem(err, strlen(value), "a fingerprint");
    }
    identity->fields[identity->field_count++] = field;
    return LW_OK;
}

void lw__identity_reset(lw__identity *identity)
{
    for (size_t i = 0; i < identity->field_count; i++) {
        lw__free(identity->fields[i].key);
        lw__free(identity->fields[i].value);
    }
    lw__free(identity->fields);
    lw__free(identity->recipe_text);
    lw__free(identity->samples);
    *identity = (lw__identity){0};
}

static size_t count_shards(const lw__identity *identity)
{
    size_t count = 0;
    for (size_t i = 0; i < identity->dataset_count; i++) {
        count += lw__dataset_shard_count(identity->datasets[i]);
    }
    return count;
}

static lw_status sample_all(const lw__identity *identity, uint32_t *samples, lw_error *err)
{
    for (size_t i = 0; i < identity->dataset_count; i++) {
        const lw__dataset *dataset = identity->datasets[i];
        for (size_t k = 0; k < lw__dataset_shard_count(dataset); k++) {
            LW__TRY(lw__dataset_sample(dataset, k, samples++, err));
        }
    }
    return LW_OK;
}

lw_status lw__identity_sample(lw__identity *identity, lw_error *err)
{
    if (identity->samples != NULL) {
        return LW_OK;
    }
    uint32_t *samples = lw__alloc_zero(count_shards(identity) + 1, sizeof *samples);
    if (samples == NULL) {
        return lw__fail_nomem(err, count_shards(identity) * sizeof *samples,
                              "samples of the files");
    }
    lw_status status = sample_all(identity, samples, err);
    if (status < 0) {
        lw__free(samples);
        return status;
    }
    identity->samples = samples;
    return LW_OK;
}

/* ---- saving --------------------------------------------------------------------------------- */

static void put_text(lw__bytes *out, const char *text)
{
    lw__bytes_put_text(out, text, strlen(text));
}

static size_t shared_bytes(const char *a, const char *b)
{
    size_t count = 0;
    while (a[count] != 0 && a[count] == b[count]) {
        count++;
    }
    return count;
}

/* Returns the samples of the next source. */
static const uint32_t *put_dataset(lw__bytes *out, const lw__dataset *dataset,
                                   const uint32_t *samples)
{
    const char *before = "";
    put_text(out, lw__dataset_name(dataset));
    lw__bytes_put_varint(out, lw__dataset_shard_count(dataset));
    for (size_t i = 0; i < lw__dataset_shard_count(dataset); i++) {
        const lw__shard *shard = lw__dataset_shard(dataset, i);
        size_t shared = shared_bytes(before, shard->name);
        lw__bytes_put_varint(out, shared);
        put_text(out, shard->name + shared);
        lw__bytes_put_varint(out, shard->bytes);
        lw__bytes_put_u32le(out, *samples++);
        before = shard->name;
    }
    return samples;
}

lw_status lw__global_save(const lw__identity *identity, uint64_t step, lw__bytes *out,
                          lw_error *err)
{
    lw__bytes_put_varint(out, LW__STREAM_VERSION);
    lw__bytes_put_varint(out, step);
    lw__bytes_put_varint(out, 0);
    put_text(out, identity->recipe_text);
    lw__bytes_put_varint(out, identity->field_count);
    for (size_t i = 0; i < identity->field_count; i++) {
        put_text(out, identity->fields[i].key);
        put_text(out, identity->fields[i].value);
    }
    lw__bytes_put_varint(out, identity->dataset_count);
    const uint32_t *samples = identity->samples;
    for (size_t i = 0; i < identity->dataset_count; i++) {
        samples = put_dataset(out, identity->datasets[i], samples);
    }
    return out->failed ? lw__fail_nomem(err, out->count, "a state") : LW_OK;
}

/* ---- parsing -------------------------------------------------------------------------------- */

static lw_status fail_global(lw_error *err)
{
    return lw__fail(err, LW_E_CORRUPT, "state: piece \"global\" ends early, expected a whole one");
}

static void pass_source(lw__reader *from)
{
    lw__reader_text(from);
    uint64_t count = lw__reader_varint(from);
    for (uint64_t i = 0; i < count && !from->failed; i++) {
        lw__reader_varint(from);
        lw__reader_text(from);
        lw__reader_varint(from);
        lw__reader_u32le(from);
    }
}

lw_status lw__global_parse(const lw__state_piece *piece, lw__global *out, lw_error *err)
{
    lw__reader from = lw__reader_of(piece->data, piece->bytes - LW__PIECE_CHECK);
    *out = (lw__global){.stream_version = lw__reader_varint(&from)};
    out->step = lw__reader_varint(&from);
    if (lw__reader_varint(&from) != 0) {
        return lw__fail(err, LW_E_UNSUPPORTED, "state: changes made at run time, expected none");
    }
    out->recipe = lw__reader_text(&from);
    out->field_count = lw__reader_varint(&from);
    out->fields = from;
    for (uint64_t i = 0; i < out->field_count && !from.failed; i++) {
        lw__reader_text(&from);
        lw__reader_text(&from);
    }
    out->source_count = lw__reader_varint(&from);
    out->sources = from;
    for (uint64_t i = 0; i < out->source_count && !from.failed; i++) {
        pass_source(&from);
    }
    return from.failed || from.at != from.end ? fail_global(err) : LW_OK;
}

void lw__global_next_shard(lw__reader *from, lw__bytes *name, uint64_t *bytes, uint32_t *sample)
{
    uint64_t shared = lw__reader_varint(from);
    lw_str rest = lw__reader_text(from);
    *bytes = lw__reader_varint(from);
    *sample = lw__reader_u32le(from);
    if (from->failed || shared > name->count) {
        from->failed = true;
        return;
    }
    name->count = (size_t)shared;
    lw__bytes_put(name, rest.data, rest.bytes);
}

bool lw__global_is_same(const lw__state_piece *a, const lw__state_piece *b)
{
    lw__global x;
    lw__global y;
    if (strcmp(a->name, "global") != 0 || lw__global_parse(a, &x, NULL) < 0 ||
        lw__global_parse(b, &y, NULL) < 0) {
        return false;
    }
    size_t rest = (size_t)(x.fields.end - x.fields.at);
    return x.stream_version == y.stream_version && x.step == y.step &&
           x.field_count == y.field_count && rest == (size_t)(y.fields.end - y.fields.at) &&
           memcmp(x.fields.at, y.fields.at, rest) == 0;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static bool is(lw_str text, const char *other)
{
    return text.bytes == strlen(other) && memcmp(text.data, other, text.bytes) == 0;
}

static const char *find_value(const lw__identity *identity, lw_str key)
{
    for (size_t i = 0; i < identity->field_count; i++) {
        if (is(key, identity->fields[i].key)) {
            return identity->fields[i].value;
        }
    }
    return NULL;
}

static lw_status compare_fields(const lw__global *global, const lw__identity *identity,
                                lw_error *err)
{
    lw__reader from = global->fields;
    for (uint64_t i = 0; i < global->field_count; i++) {
        lw_str key = lw__reader_text(&from);
        lw_str value = lw__reader_text(&from);
        const char *here = find_value(identity, key);
        if (here == NULL || !is(value, here)) {
            return lw__fail(err, LW_E_MISMATCH,
                            "state: %.*s is %s in the recipe, expected %.*s as in the state",
                            (int)key.bytes, key.data, here != NULL ? here : "not set",
                            (int)value.bytes, value.data);
        }
    }
    if (global->field_count != identity->field_count) {
        return lw__fail(err, LW_E_MISMATCH, "state: %zu options in the recipe, expected %llu",
                        identity->field_count, (unsigned long long)global->field_count);
    }
    return LW_OK;
}

static lw_status fail_shard(const lw__dataset *dataset, const lw__bytes *name, const char *found,
                            lw_error *err)
{
    return lw__fail(err, LW_E_MISMATCH, "state: source \"%s\": file \"%.*s\" %s",
                    lw__dataset_name(dataset), (int)name->count, (const char *)name->data, found);
}

/* Compares one shard of the state with the one at the same place here. */
static lw_status compare_shard(const lw__dataset *dataset, size_t index, const lw__bytes *name,
                               uint64_t bytes, lw_error *err)
{
    if (index >= lw__dataset_shard_count(dataset)) {
        return fail_shard(dataset, name, "is missing, expected as in the state", err);
    }
    const lw__shard *shard = lw__dataset_shard(dataset, index);
    lw_str saved = {(const char *)name->data, name->count};
    if (!is(saved, shard->name)) {
        return lw__fail(
            err, LW_E_MISMATCH, "state: source \"%s\": file \"%s\" here, expected \"%.*s\"",
            lw__dataset_name(dataset), shard->name, (int)name->count, (const char *)name->data);
    }
    if (shard->bytes != bytes) {
        return lw__fail(err, LW_E_MISMATCH,
                        "state: source \"%s\": file \"%s\" has %llu bytes, expected %llu",
                        lw__dataset_name(dataset), shard->path, (unsigned long long)shard->bytes,
                        (unsigned long long)bytes);
    }
    return LW_OK;
}

static lw_status fail_sample(const lw__dataset *dataset, size_t index, lw_error *err)
{
    return lw__fail(
        err, LW_E_MISMATCH,
        "state: source \"%s\": file \"%s\" has other content, expected that of the state",
        lw__dataset_name(dataset), lw__dataset_shard(dataset, index)->path);
}

/* `samples` are those of the dataset's shards, or NULL before they are taken. */
static lw_status compare_shards(lw__reader *from, const lw__dataset *dataset,
                                const uint32_t *samples, lw__bytes *name, lw_error *err)
{
    uint64_t count = lw__reader_varint(from);
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes;
        uint32_t sample;
        lw__global_next_shard(from, name, &bytes, &sample);
        if (name->failed) {
            return lw__fail_nomem(err, name->count, "a file's name");
        }
        if (from->failed) {
            return fail_global(err);
        }
        LW__TRY(compare_shard(dataset, i, name, bytes, err));
        if (samples != NULL && samples[i] != sample) {
            return fail_sample(dataset, i, err);
        }
    }
    if (lw__dataset_shard_count(dataset) > count) {
        return lw__fail(err, LW_E_MISMATCH,
                        "state: source \"%s\": file \"%s\" is new, expected the files of the state",
                        lw__dataset_name(dataset), lw__dataset_shard(dataset, (size_t)count)->path);
    }
    return LW_OK;
}

static lw_status compare_sources(const lw__global *global, const lw__identity *identity,
                                 lw_error *err)
{
    lw__reader from = global->sources;
    const uint32_t *samples = identity->samples;
    lw_status status = LW_OK;
    if (global->source_count != identity->dataset_count) {
        return lw__fail(err, LW_E_MISMATCH, "state: %zu sources in the recipe, expected %llu",
                        identity->dataset_count, (unsigned long long)global->source_count);
    }
    for (size_t i = 0; i < identity->dataset_count && status == LW_OK; i++) {
        const lw__dataset *dataset = identity->datasets[i];
        lw__bytes name;
        lw__bytes_init(&name);
        lw__reader_text(&from);
        status = compare_shards(&from, dataset, samples, &name, err);
        lw__bytes_reset(&name);
        samples = samples != NULL ? samples + lw__dataset_shard_count(dataset) : NULL;
    }
    return status;
}

lw_status lw__global_compare(const lw_state *state, lw__identity *identity, lw_error *err)
{
    lw__global global;
    LW__TRY(lw__global_parse(lw__state_find(state, "global"), &global, err));
    if (global.stream_version != LW__STREAM_VERSION) {
        return lw__fail(err, LW_E_MISMATCH, "state: stream version %llu, expected %u",
                        (unsigned long long)global.stream_version, LW__STREAM_VERSION);
    }
    LW__TRY(compare_fields(&global, identity, err));
    LW__TRY(compare_sources(&global, identity, err)); /* names and sizes, before any file is read */
    LW__TRY(lw__identity_sample(identity, err));
    return compare_sources(&global, identity, err);
}
