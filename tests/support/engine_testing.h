/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine without threads: the test runs its tasks by hand, one after the other, so what happens
 * and when is the test's choice.
 *
 * The tokenizer is "bytes", so a row's text is its documents' texts; an EOS is written '$'.
 */
#ifndef LW__TEST_ENGINE_TESTING_H
#define LW__TEST_ENGINE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "engine/lane.h"
#include "op/builtin.h"
#include "support/scratch.h"

enum { RIG_SOURCES = 3, RIG_TEXT = 8192, RIG_EOS = 257 };

/* A line of JSONL: 13 bytes and those of the text. */
#define RIG_LINE(text) "{\"text\": \"" text "\"}\n"

typedef struct rig {
    lw__settings settings;
    lw__source_settings sources[RIG_SOURCES];
    const char *paths[RIG_SOURCES];
    lw__dataset *datasets[RIG_SOURCES];
    lw__tokenizer *tokenizer;
    lw__operator operators[RIG_SOURCES];
    size_t operator_count;
    bool all_lanes;
    bool places; /* rows are printed with their segments and last labels */
    lw__engine *engine;
    lw__lane *lane; /* the first one run here */
    size_t changes; /* calls of the outlet */
} rig;

/* One lane of one row of four tokens a step, documents in file order, one pass. */
static inline void rig_init(rig *r)
{
    *r = (rig){.settings = {.seed = 7,
                            .lanes = 1,
                            .global_batch = 1,
                            .context = 4,
                            .order = LW__ORDER_FILE,
                            .open_rows = 4,
                            .pad = -1,
                            .end = LW__END_PAD,
                            .threads = 1,
                            .memory_bytes = 1u << 30}};
    r->settings.sources = r->sources;
}

/* Writes a shard "<name>.jsonl" and makes it a source of some weight. */
static inline void rig_source(rig *r, const char *name, const char *lines, uint64_t weight,
                              uint64_t block_bytes)
{
    static char files[RIG_SOURCES][32];
    size_t i = r->settings.source_count++;
    assert_true(i < RIG_SOURCES);
    snprintf(files[i], sizeof files[i], "%s.jsonl", name);
    scratch_write_text(files[i], lines);
    r->paths[i] = files[i];
    r->sources[i] = (lw__source_settings){.name = name,
                                          .paths = &r->paths[i],
                                          .path_count = 1,
                                          .text = "text",
                                          .weight = weight,
                                          .block_bytes = block_bytes};
}

static inline void rig_operator(rig *r, const lw_op_type *type, const void *op)
{
    assert_true(r->operator_count < RIG_SOURCES);
    r->operators[r->operator_count++] = (lw__operator){type, op};
}

static inline void rig_require(lw_status status, const lw_error *err)
{
    if (status != LW_OK) {
        fail_msg("%s", err->message);
    }
}

static inline void rig_open_dataset(rig *r, size_t i)
{
    lw_error err = {0};
    lw__bad_policy policy = r->settings.policy == LW__POLICY_SKIP ? LW__BAD_SKIP : LW__BAD_FAIL;
    lw__dataset_options options = {.name = r->sources[i].name,
                                   .folder = scratch_folder(),
                                   .paths = r->sources[i].paths,
                                   .path_count = 1,
                                   .text = "text",
                                   .block_bytes = r->sources[i].block_bytes,
                                   .lanes = r->settings.lanes,
                                   .bad_policy = policy};
    rig_require(lw__dataset_open(&options, &r->datasets[i], &err), &err);
}

static inline void rig_changed(void *ctx, lw__lane *lane)
{
    (void)lane;
    ((rig *)ctx)->changes++;
}

/* Opens rank `rank` of `world`. The packer is wrap if the test has named none. */
static inline void rig_open(rig *r, uint64_t rank, uint64_t world)
{
    lw_error err = {0};
    lw__tokenizer_options bytes = {.name = "bytes"};
    rig_require(lw__tokenizer_open(&bytes, &r->tokenizer, &err), &err);
    for (size_t i = 0; i < r->settings.source_count; i++) {
        rig_open_dataset(r, i);
    }
    if (r->operator_count == 0) {
        rig_operator(r, &lw__op_wrap, NULL);
    }
    lw__engine_options options = {
        .settings = &r->settings,
        .datasets = r->datasets,
        .tokenizer = r->tokenizer,
        .operators = r->operators,
        .operator_count = r->operator_count,
        .topology = lw__topology_of(r->settings.global_batch, r->settings.lanes, rank, world),
        .all_lanes = r->all_lanes,
        .slot_count = 1,
        .outlet = {rig_changed, r}};
    rig_require(lw__engine_open(&options, &r->engine, &err), &err);
    r->lane = r->engine->lanes;
}

static inline void rig_close(rig *r)
{
    lw__engine_close(r->engine);
    for (size_t i = 0; i < r->settings.source_count; i++) {
        lw__dataset_close(r->datasets[i]);
    }
    lw__tokenizer_close(r->tokenizer);
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static inline lw__task *rig_pop(rig *r, lw__priority priority)
{
    lw__queue *queue = &r->engine->pool.queues[priority];
    lw__task *task = queue->head;
    if (task != NULL) {
        queue->head = task->next;
        task->next = NULL;
    }
    return task;
}

/* Runs the oldest task of a queue; false when there is none. */
static inline bool rig_turn(rig *r, lw__priority priority)
{
    lw__task *task = rig_pop(r, priority);
    if (task != NULL) {
        task->run(task, 0);
    }
    return task != NULL;
}

/* Runs tasks, as a thread would, until none is left. */
static inline void rig_settle(rig *r)
{
    while (rig_turn(r, LW__DECIDE) || rig_turn(r, LW__READ)) {
    }
}

static inline void rig_begin(rig *r)
{
    pthread_mutex_lock(&r->engine->pool.lock);
    for (size_t i = 0; i < r->engine->lane_count; i++) {
        lw__lane_begin(&r->engine->lanes[i]);
    }
    pthread_mutex_unlock(&r->engine->pool.lock);
}

static inline void rig_wake(rig *r, lw__lane *lane)
{
    pthread_mutex_lock(&r->engine->pool.lock);
    lw__lane_wake(lane);
    pthread_mutex_unlock(&r->engine->pool.lock);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static inline size_t rig_put_token(int32_t token, char out[RIG_TEXT], size_t used)
{
    assert_true(used + 64 < RIG_TEXT);
    out[used] = token == RIG_EOS ? '$' : token == LW__NO_TOKEN ? '-' : (char)token;
    return used + 1;
}

/* Appends a row's text and ';'. With places "(source.epoch.block.part.document)" goes before each
 * segment, and the last label, or '-', after the row. */
static inline void rig_print_row(const rig *r, const lw_record *rec, char out[RIG_TEXT])
{
    const lw__row *row = &rec->u.row;
    size_t used = strlen(out);
    uint64_t at = 0;
    for (size_t i = 0; i < row->piece_count; i++) {
        const lw_segment *s = &row->pieces[i].segment;
        if (r->places) {
            used += (size_t)snprintf(out + used, RIG_TEXT - used, "(%u.%u.%u.%u.%u)", s->source,
                                     (unsigned)s->epoch, (unsigned)s->block, s->part,
                                     (unsigned)s->document);
        }
        for (uint64_t k = 0; k < s->count; k++) {
            used = rig_put_token(row->tokens[at++], out, used);
        }
    }
    assert_int_equal(at, row->fill);
    if (r->places) {
        used = rig_put_token(lw__row_last_label(row), out, used);
    }
    assert_true(used + 2 < RIG_TEXT);
    memcpy(out + used, ";", 2);
}

/* Takes the rows that are there and gives them back; appends their texts. How many. */
static inline size_t rig_take(rig *r, lw__lane *lane, char out[RIG_TEXT])
{
    size_t count = 0;
    pthread_mutex_lock(&r->engine->pool.lock);
    for (lw_record *row = lw__lane_take(lane); row != NULL; row = lw__lane_take(lane)) {
        rig_print_row(r, row, out);
        lw__lane_return(lane, row);
        count++;
    }
    pthread_mutex_unlock(&r->engine->pool.lock);
    return count;
}

/* Appends the texts of all rows up to the lane's end or failure. */
static inline void rig_rest(rig *r, lw__lane *lane, char out[RIG_TEXT])
{
    bool over = false;
    while (!over) {
        rig_settle(r);
        over = lane->ended || lane->failed;
        assert_true(rig_take(r, lane, out) > 0 || over);
        rig_wake(r, lane);
    }
}

#endif
