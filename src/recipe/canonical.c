/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two texts a recipe has that do not depend on how it was written: its canonical YAML, and
 * the fields of its fingerprint.
 */
#include <string.h>

#include "base/error.h"
#include "recipe/handle.h"
#include "recipe/value.h"

static const lw__origin no_origin;

static lw_status put_option(const lw_recipe *recipe, const lw__option *option, size_t index,
                            lw__bytes *out, lw_error *err)
{
    lw__value value;
    LW__TRY(lw__value_read(option, lw__tree_find(recipe->root, option, index), option->key,
                           &no_origin, &value, err));
    lw__value_put(option, &value, out);
    return LW_OK;
}

static lw_status put_sources(const lw_recipe *recipe, lw__bytes *out, lw_error *err)
{
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    lw__bytes_printf(out, "sources:\n");
    for (size_t i = 0; i < recipe->built.settings.source_count; i++) {
        const char *indent = "  - ";
        for (size_t k = 0; k < count; k++) {
            if (lw__option_is_per_source(&options[k])) {
                lw__bytes_printf(out, "%s%s: ", indent, lw__option_leaf(&options[k]));
                LW__TRY(put_option(recipe, &options[k], i, out, err));
                lw__bytes_put_u8(out, '\n');
                indent = "    ";
            }
        }
    }
    return LW_OK;
}

/* Whether two options stand in the same group, as "pack" of "pack.pad". */
static bool same_group(const lw__option *a, const lw__option *b)
{
    size_t bytes = (size_t)(lw__option_leaf(a) - a->key);
    return bytes == (size_t)(lw__option_leaf(b) - b->key) && memcmp(a->key, b->key, bytes) == 0;
}

static lw_status put_line(const lw_recipe *recipe, const lw__option *option, bool opens_group,
                          lw__bytes *out, lw_error *err)
{
    const char *leaf = lw__option_leaf(option);
    if (leaf > option->key) {
        if (opens_group) {
            lw__bytes_printf(out, "%.*s:\n", (int)(leaf - option->key) - 1, option->key);
        }
        lw__bytes_printf(out, "  ");
    }
    lw__bytes_printf(out, "%s: ", leaf);
    LW__TRY(put_option(recipe, option, 0, out, err));
    lw__bytes_put_u8(out, '\n');
    return LW_OK;
}

lw_status lw__recipe_text(lw_recipe *recipe, lw__bytes *out, lw_error *err)
{
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    const lw__settings *settings = NULL;
    LW__TRY(lw__recipe_settings(recipe, &settings, err));
    for (size_t i = 0; i < count; i++) {
        bool opens_group = i == 0 || !same_group(&options[i - 1], &options[i]);
        if (!lw__option_is_per_source(&options[i])) {
            LW__TRY(put_line(recipe, &options[i], opens_group, out, err));
        } else if (opens_group) {
            LW__TRY(put_sources(recipe, out, err));
        }
    }
    return out->failed ? lw__fail_nomem(err, out->count, "a recipe's text") : LW_OK;
}

/* The fields being visited; the two texts are used again for each. */
typedef struct field_writer {
    lw__recipe_visit *visit;
    void *ctx;
    lw__bytes key;
    lw__bytes value;
    lw_error *err;
} field_writer;

static void begin_field(field_writer *fields)
{
    fields->key.count = 0;
    fields->value.count = 0;
}

static lw_status end_field(field_writer *fields)
{
    lw__bytes_put_u8(&fields->key, '\0');
    lw__bytes_put_u8(&fields->value, '\0');
    if (fields->key.failed || fields->value.failed) {
        return lw__fail_nomem(fields->err, fields->key.count + fields->value.count, "a field");
    }
    fields->visit(fields->ctx, (const char *)fields->key.data, (const char *)fields->value.data);
    return LW_OK;
}

static void put_list_item(lw__bytes *out, size_t index, const char *text)
{
    lw__bytes_printf(out, index == 0 ? "" : ", ");
    lw__value_put_quoted(text, out);
}

/* "sources": the names in order, since the order of sources is part of the stream. */
static lw_status visit_source_names(const lw_recipe *recipe, field_writer *fields)
{
    const lw__settings *settings = &recipe->built.settings;
    begin_field(fields);
    lw__bytes_printf(&fields->key, "sources");
    lw__bytes_put_u8(&fields->value, '[');
    for (size_t i = 0; i < settings->source_count; i++) {
        put_list_item(&fields->value, i, settings->sources[i].name);
    }
    lw__bytes_put_u8(&fields->value, ']');
    return end_field(fields);
}

static lw_status visit_source(const lw_recipe *recipe, field_writer *fields, size_t index)
{
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    for (size_t k = 0; k < count; k++) {
        const lw__option *option = &options[k];
        if (!lw__option_is_per_source(option) || option->covered) {
            continue;
        }
        begin_field(fields);
        lw__bytes_printf(&fields->key, "sources.%s.%s", recipe->built.settings.sources[index].name,
                         lw__option_leaf(option));
        LW__TRY(put_option(recipe, option, index, &fields->value, fields->err));
        LW__TRY(end_field(fields));
    }
    return LW_OK;
}

static lw_status visit_sources(const lw_recipe *recipe, field_writer *fields)
{
    LW__TRY(visit_source_names(recipe, fields));
    for (size_t i = 0; i < recipe->built.settings.source_count; i++) {
        LW__TRY(visit_source(recipe, fields, i));
    }
    return LW_OK;
}

static lw_status visit_operator(const lw__recipe_operator *added, field_writer *fields,
                                size_t index)
{
    begin_field(fields);
    lw__bytes_printf(&fields->key, "documents.%zu.name", index);
    lw__value_put_quoted(added->type->name, &fields->value);
    LW__TRY(end_field(fields));
    begin_field(fields);
    lw__bytes_printf(&fields->key, "documents.%zu.version", index);
    lw__bytes_printf(&fields->value, "%u", (unsigned)added->type->version);
    LW__TRY(end_field(fields));
    begin_field(fields);
    lw__bytes_printf(&fields->key, "documents.%zu.options", index);
    if (added->options == NULL) {
        lw__bytes_printf(&fields->value, "null");
    } else {
        lw__value_put_quoted(added->options, &fields->value);
    }
    return end_field(fields);
}

/* "documents": the names of the operators that the program added, in order; then each of them. */
static lw_status visit_operators(const lw_recipe *recipe, field_writer *fields)
{
    begin_field(fields);
    lw__bytes_printf(&fields->key, "documents");
    lw__bytes_put_u8(&fields->value, '[');
    for (size_t i = 0; i < recipe->operator_count; i++) {
        put_list_item(&fields->value, i, recipe->operators[i].type->name);
    }
    lw__bytes_put_u8(&fields->value, ']');
    LW__TRY(end_field(fields));
    for (size_t i = 0; i < recipe->operator_count; i++) {
        LW__TRY(visit_operator(&recipe->operators[i], fields, i));
    }
    return LW_OK;
}

static lw_status visit_option(const lw_recipe *recipe, field_writer *fields,
                              const lw__option *option)
{
    if (option->type == LW__OPTION_ONLY_EMPTY) {
        return visit_operators(recipe, fields);
    }
    begin_field(fields);
    lw__bytes_printf(&fields->key, "%s", option->key);
    LW__TRY(put_option(recipe, option, 0, &fields->value, fields->err));
    return end_field(fields);
}

static lw_status visit_all(const lw_recipe *recipe, field_writer *fields)
{
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || !same_group(&options[i - 1], &options[i]);
        if (lw__option_is_per_source(&options[i])) {
            LW__TRY(first ? visit_sources(recipe, fields) : LW_OK);
        } else if (options[i].effect == LW__STREAM && !options[i].covered) {
            LW__TRY(visit_option(recipe, fields, &options[i]));
        }
    }
    return LW_OK;
}

lw_status lw__recipe_stream_fields(lw_recipe *recipe, lw__recipe_visit *visit, void *ctx,
                                   lw_error *err)
{
    field_writer fields = {.visit = visit, .ctx = ctx, .err = err};
    const lw__settings *settings = NULL;
    LW__TRY(lw__recipe_settings(recipe, &settings, err));
    lw__bytes_init(&fields.key);
    lw__bytes_init(&fields.value);
    lw_status status = visit_all(recipe, &fields);
    lw__bytes_reset(&fields.key);
    lw__bytes_reset(&fields.value);
    return status;
}
