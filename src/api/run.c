/* SPDX-License-Identifier: Apache-2.0 */
/* Opening what a recipe names: tokenizer, sources, operators, fingerprint. */
#include "api/run.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* ---- tokenizer ------------------------------------------------------------------------------ */

static lw_status open_tokenizer(lw__run *run, lw_error *err)
{
    const lw__settings *s = run->settings;
    lw__tokenizer_options options = {.path = s->tokenizer_path,
                                     .name = s->tokenizer_name,
                                     .pattern = s->tokenizer_pattern,
                                     .bos = s->tokenizer_bos,
                                     .eos = s->tokenizer_eos,
                                     .special_text = s->special_text};
    LW__TRY(lw__tokenizer_open(&options, &run->tokenizer, err));
    if (s->pad >= lw__tokenizer_vocabulary(run->tokenizer)) {
        return lw__fail(err, LW_E_INVALID, "recipe: pack.pad is %lld, expected a token id below %d",
                        (long long)s->pad, lw__tokenizer_vocabulary(run->tokenizer));
    }
    return LW_OK;
}

/* ---- sources -------------------------------------------------------------------------------- */

static lw__bad_policy bad_policy(lw__policy policy)
{
    switch (policy) {
    case LW__POLICY_SKIP:
        return LW__BAD_SKIP;
    case LW__POLICY_REPLACE:
        return LW__BAD_REPLACE;
    case LW__POLICY_FAIL:
        break;
    }
    return LW__BAD_FAIL;
}

static lw_status open_datasets(lw__run *run, lw_error *err)
{
    const lw__settings *s = run->settings;
    run->datasets = lw__alloc_zero(s->source_count, sizeof(lw__dataset *));
    if (run->datasets == NULL) {
        return lw__fail_nomem(err, s->source_count * sizeof(lw__dataset *), "the sources");
    }
    for (; run->dataset_count < s->source_count; run->dataset_count++) {
        const lw__source_settings *source = &s->sources[run->dataset_count];
        lw__dataset_options options = {.name = source->name,
                                       .folder = lw__recipe_folder(run->recipe),
                                       .paths = source->paths,
                                       .path_count = source->path_count,
                                       .format = source->format,
                                       .text = source->text,
                                       .block_bytes = source->block_bytes,
                                       .lanes = s->lanes,
                                       .bad_policy = bad_policy(s->policy)};
        LW__TRY(lw__dataset_open(&options, &run->datasets[run->dataset_count], err));
    }
    return LW_OK;
}

/* ---- operators ------------------------------------------------------------------------------ */

static lw__operator packer(const lw__run *run)
{
    if (run->settings->algorithm == LW__PACK_BEST_FIT) {
        return (lw__operator){&lw__op_best_fit, &run->best_fit};
    }
    return (lw__operator){&lw__op_wrap, NULL};
}

static void add_phase(lw__run *run, const lw__recipe_operator *own, size_t own_count,
                      uint32_t phase)
{
    for (size_t i = 0; i < own_count; i++) {
        if (own[i].type->phase == phase) {
            run->operators[run->operator_count++] = (lw__operator){own[i].type, own[i].op};
        }
    }
}

/* In the order records pass them: documents, packer, rows, row shuffle. */
static lw_status list_operators(lw__run *run, lw_error *err)
{
    size_t own_count;
    const lw__recipe_operator *own = lw__recipe_operators(run->recipe, &own_count);
    run->best_fit.open_rows = run->settings->open_rows;
    run->shuffle.rows = run->settings->shuffle_rows;
    run->operators = lw__alloc_zero(own_count + 2, sizeof *run->operators);
    if (run->operators == NULL) {
        return lw__fail_nomem(err, (own_count + 2) * sizeof *run->operators, "the operators");
    }
    add_phase(run, own, own_count, LW_PHASE_DOCUMENT);
    add_phase(run, own, own_count, LW_PHASE_PACK);
    size_t before = run->operator_count;
    if (before == 0 || run->operators[before - 1].type->phase != LW_PHASE_PACK) {
        run->operators[run->operator_count++] = packer(run);
    } else if (before > 1 && run->operators[before - 2].type->phase == LW_PHASE_PACK) {
        return lw__fail(err, LW_E_INVALID, "recipe: packers \"%s\" and \"%s\", expected one",
                        run->operators[before - 2].type->name,
                        run->operators[before - 1].type->name);
    }
    add_phase(run, own, own_count, LW_PHASE_ROW);
    if (run->settings->shuffle_rows > 1) {
        run->operators[run->operator_count++] = (lw__operator){&lw__op_shuffle, &run->shuffle};
    }
    return LW_OK;
}

/* ---- fingerprint ---------------------------------------------------------------------------- */

typedef struct collector {
    lw__identity *identity;
    lw_status status;
    lw_error *err;
} collector;

static void collect(void *ctx, const char *key, const char *value)
{
    collector *to = ctx;
    if (to->status == LW_OK) {
        to->status = lw__identity_add(to->identity, key, value, to->err);
    }
}

static lw_status add_number(lw__run *run, const char *key, bool hex, uint64_t value, lw_error *err)
{
    char text[32];
    snprintf(text, sizeof text, hex ? "%016llx" : "%llu", (unsigned long long)value);
    return lw__identity_add(&run->identity, key, text, err);
}

static lw_status copy_recipe_text(lw__run *run, lw_error *err)
{
    lw__bytes text;
    lw__bytes_init(&text);
    lw_status status = lw__recipe_text(run->recipe, &text, err);
    if (status == LW_OK) {
        run->identity.recipe_text = lw__copy_text((const char *)text.data, text.count);
        status = run->identity.recipe_text != NULL
                     ? LW_OK
                     : lw__fail_nomem(err, text.count, "a fingerprint");
    }
    lw__bytes_reset(&text);
    return status;
}

static lw_status identify(lw__run *run, lw_error *err)
{
    collector to = {.identity = &run->identity, .err = err};
    run->identity.datasets = run->datasets;
    run->identity.dataset_count = run->dataset_count;
    LW__TRY(lw__recipe_stream_fields(run->recipe, collect, &to, err));
    LW__TRY(to.status);
    LW__TRY(add_number(run, "tokenizer (content)", true, lw__tokenizer_fingerprint(run->tokenizer),
                       err));
    for (size_t i = 0; i < run->dataset_count; i++) {
        char key[300];
        snprintf(key, sizeof key, "sources.%s.block (chosen)", run->settings->sources[i].name);
        LW__TRY(add_number(run, key, false, lw__dataset_block_bytes(run->datasets[i]), err));
    }
    return copy_recipe_text(run, err);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static lw_status open_all(lw__run *run, lw_recipe *recipe, lw_error *err)
{
    LW__TRY(lw__recipe_copy(recipe, &run->recipe, err));
    LW__TRY(lw__recipe_settings(run->recipe, &run->settings, err));
    LW__TRY(open_tokenizer(run, err));
    LW__TRY(open_datasets(run, err));
    LW__TRY(list_operators(run, err));
    return identify(run, err);
}

lw_status lw__run_open(lw__run *run, lw_recipe *recipe, lw_error *err)
{
    *run = (lw__run){0};
    lw_status status = open_all(run, recipe, err);
    if (status < 0) {
        lw__run_close(run);
    }
    return status;
}

void lw__run_close(lw__run *run)
{
    lw__identity_reset(&run->identity);
    lw__free(run->operators);
    for (size_t i = 0; i < run->dataset_count; i++) {
        lw__dataset_close(run->datasets[i]);
    }
    lw__free(run->datasets);
    lw__tokenizer_close(run->tokenizer);
    lw__recipe_close(run->recipe);
    *run = (lw__run){0};
}

lw_status lw__run_topology(const lw__run *run, uint64_t rank, uint64_t world, lw__topology *out,
                           lw_error *err)
{
    uint64_t batch = run->settings->global_batch;
    if (world == 0 || batch % world != 0) {
        return lw__fail(err, LW_E_INVALID,
                        "pipeline: world is %llu, expected a divisor of global_batch (%llu)",
                        (unsigned long long)world, (unsigned long long)batch);
    }
    if (rank >= world) {
        return lw__fail(err, LW_E_INVALID,
                        "pipeline: rank is %llu, expected less than world (%llu)",
                        (unsigned long long)rank, (unsigned long long)world);
    }
    *out = lw__topology_of(batch, run->settings->lanes, rank, world);
    return LW_OK;
}

lw__engine_options lw__run_engine_options(const lw__run *run, const lw__topology *topology,
                                          bool agreed)
{
    const lw__settings *s = run->settings;
    size_t slots = lw__delivery_slot_count(s);
    lw__slot_shape shape = lw__delivery_shape(s, topology);
    return (lw__engine_options){.settings = s,
                                .datasets = run->datasets,
                                .tokenizer = run->tokenizer,
                                .operators = run->operators,
                                .operator_count = run->operator_count,
                                .topology = *topology,
                                .all_lanes = s->end != LW__END_REPEAT && !agreed,
                                .slot_count = slots,
                                .slots_bytes = slots * lw__slot_bytes(&shape)};
}

lw__render_rules lw__run_render_rules(const lw__run *run)
{
    const lw__settings *s = run->settings;
    int32_t eos = lw__tokenizer_eos(run->tokenizer);
    int32_t pad = s->pad >= 0 ? (int32_t)s->pad : eos >= 0 ? eos : 0;
    return (lw__render_rules){.context = s->context,
                              .shift = s->shift,
                              .pad = pad,
                              .masked_token = s->mask_eos ? eos : LW__NO_TOKEN,
                              .supervised = lw__operators_have_work(
                                  run->operators, run->operator_count, LW_PHASE_DOCUMENT),
                              .operators = run->operators,
                              .operator_count = run->operator_count};
}
