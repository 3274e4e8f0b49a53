/* SPDX-License-Identifier: Apache-2.0 */
/* Passing records down the accumulators, and the sink half of laneway/op.h. */
#include "engine/chain.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

lw_status lw__operator_status(const lw_op_type *type, lw_status status, lw_error *err)
{
    if (status >= 0 || err == NULL) {
        return status;
    }
    if (err->status == LW_OK) {
        return lw__fail(err, status, "%s: failed, and did not say why", type->name);
    }
    if (strncmp(err->message, "lw_", 3) == 0) {
        lw_error without_name = *err;
        return lw__fail(err, status, "%s: %s", type->name, without_name.message);
    }
    return status;
}

bool lw__operators_have_work(const lw__operator *operators, size_t count, uint32_t phase)
{
    for (size_t i = 0; i < count; i++) {
        if (operators[i].type->phase == phase && operators[i].type->work != NULL) {
            return true;
        }
    }
    return false;
}

static bool has_accumulator(const lw__operator *oper)
{
    return oper->type->acc_create != NULL;
}

static lw_status open_stage(lw__chain *chain, const lw__operator *oper, lw_error *err)
{
    lw__stage *stage = &chain->stages[chain->stage_count];
    *stage = (lw__stage){.oper = *oper};
    if (oper->type->acc_push_group != NULL) {
        stage->waiting = lw__alloc_array(oper->type->group_count, sizeof(lw_record *));
        if (stage->waiting == NULL) {
            return lw__fail_nomem(err, oper->type->group_count * sizeof(lw_record *), "a group");
        }
    }
    stage->sink = (lw_sink){.type = oper->type, .chain = chain, .stage = chain->stage_count};
    lw_status status = oper->type->acc_create(oper->op, &chain->context, &stage->acc, err);
    status = lw__operator_status(oper->type, status, err);
    if (status < 0) {
        lw__free(stage->waiting);
        return status;
    }
    chain->stage_count++;
    return LW_OK;
}

lw_status lw__chain_open(lw__chain *chain, const lw__operator *operators, size_t operator_count,
                         const lw_op_context *context, lw__store *store, lw_error *err)
{
    *chain = (lw__chain){.context = *context, .store = store};
    chain->stages = lw__alloc_zero(operator_count, sizeof *chain->stages);
    if (chain->stages == NULL) {
        return lw__fail_nomem(err, operator_count * sizeof *chain->stages, "a lane's operators");
    }
    for (size_t i = 0; i < operator_count; i++) {
        if (has_accumulator(&operators[i])) {
            LW__TRY(open_stage(chain, &operators[i], err));
        }
    }
    return LW_OK;
}

void lw__chain_close(lw__chain *chain)
{
    for (size_t i = 0; i < chain->stage_count; i++) {
        chain->stages[i].oper.type->acc_destroy(chain->stages[i].acc);
        lw__free(chain->stages[i].waiting);
    }
    lw__free(chain->stages);
    *chain = (lw__chain){0};
}

static void leave(lw__chain *chain, lw_record *row)
{
    row->holder = LW__NO_HOLDER;
    row->next = NULL;
    if (chain->out_head == NULL) {
        chain->out_head = row;
    } else {
        chain->out_tail->next = row;
    }
    chain->out_tail = row;
    chain->out_count++;
}

/* Of a failure that goes up the chain, the first to be told is the one that failed. */
static void blame(lw__chain *chain, const lw_segment *place)
{
    if (!chain->has_culprit) {
        chain->has_culprit = true;
        chain->culprit = *place;
    }
}

static lw_status push_one(lw__chain *chain, lw__stage *stage, lw_record *rec, lw_error *err)
{
    const lw_op_type *type = stage->oper.type;
    bool is_document = rec->kind == LW__DOCUMENT;
    lw_segment place = is_document ? rec->u.doc.place : (lw_segment){0};
    lw_status status = type->acc_push(stage->acc, rec, &stage->sink, err);
    status = lw__operator_status(type, status, err);
    if (status < 0 && is_document) {
        blame(chain, &place);
    }
    return status;
}

static lw_status push_waiting(lw__chain *chain, lw__stage *stage, lw_error *err)
{
    const lw_op_type *type = stage->oper.type;
    size_t count = stage->waiting_count;
    size_t done = 0;
    stage->waiting_count = 0;
    if (count == 0) {
        return LW_OK;
    }
    lw_status status =
        type->acc_push_group(stage->acc, stage->waiting, count, &done, &stage->sink, err);
    status = lw__operator_status(type, status, err);
    if (status < 0 && done < count && stage->waiting[done]->kind == LW__DOCUMENT &&
        stage->waiting[done]->holder == stage->sink.stage) {
        blame(chain, &stage->waiting[done]->u.doc.place);
    }
    return status;
}

/* What a call left in the accumulator's hands outlives its block from now on. */
static lw_status keep(const lw__stage *stage, lw_record *rec, lw_error *err)
{
    bool is_held = rec->holder == stage->sink.stage && rec->kind == LW__DOCUMENT;
    return is_held ? lw__doc_detach(rec, err) : LW_OK;
}

static lw_status wait_for_group(lw__chain *chain, lw__stage *stage, lw_record *rec, lw_error *err)
{
    stage->waiting[stage->waiting_count++] = rec;
    LW__TRY(keep(stage, rec, err));
    return stage->waiting_count == stage->oper.type->group_count ? push_waiting(chain, stage, err)
                                                                 : LW_OK;
}

/* Gives a record to a stage, or out of the chain after the last one. */
static lw_status forward(lw__chain *chain, size_t index, lw_record *rec, lw_error *err)
{
    if (index == chain->stage_count) {
        leave(chain, rec);
        return LW_OK;
    }
    lw__stage *stage = &chain->stages[index];
    rec->holder = index;
    stage->held++;
    if (stage->waiting != NULL) {
        return wait_for_group(chain, stage, rec, err);
    }
    LW__TRY(push_one(chain, stage, rec, err));
    return keep(stage, rec, err);
}

lw_status lw__chain_push(lw__chain *chain, lw_record *document, lw_error *err)
{
    return forward(chain, 0, document, err);
}

static lw_status check_empty(const lw__stage *stage, lw_error *err)
{
    if (stage->held > 0) {
        return lw__fail(err, LW_E_OPERATOR,
                        "%s: %llu records still held after the flush, expected none",
                        stage->oper.type->name, (unsigned long long)stage->held);
    }
    return LW_OK;
}

lw_status lw__chain_flush(lw__chain *chain, lw_error *err)
{
    for (size_t i = 0; i < chain->stage_count; i++) {
        lw__stage *stage = &chain->stages[i];
        LW__TRY(push_waiting(chain, stage, err));
        if (stage->oper.type->acc_flush != NULL) {
            lw_status status = stage->oper.type->acc_flush(stage->acc, &stage->sink, err);
            LW__TRY(lw__operator_status(stage->oper.type, status, err));
        }
        LW__TRY(check_empty(stage, err));
    }
    return LW_OK;
}

uint64_t lw__chain_held_rows(const lw__chain *chain)
{
    uint64_t held = 0;
    for (size_t i = 0; i < chain->stage_count; i++) {
        bool of_rows = chain->stages[i].oper.type->phase == LW_PHASE_ROW;
        held += of_rows ? chain->stages[i].held : 0;
    }
    return held;
}

/* ---- sinks of accumulators ------------------------------------------------------------------ */

/* Takes a record off the books of the stage that holds it. */
static lw_status take(lw_sink *sink, lw_record *rec, const char *verb, lw_error *err)
{
    if (rec->holder != sink->stage) {
        return lw__fail(err, LW_E_OPERATOR, "%s: %s a record that it does not hold",
                        sink->type->name, verb);
    }
    rec->holder = LW__NO_HOLDER;
    sink->chain->stages[sink->stage].held--;
    return LW_OK;
}

static lw__kind kind_put_by(const lw_sink *sink)
{
    return sink->type->phase == LW_PHASE_DOCUMENT ? LW__DOCUMENT : LW__ROW;
}

static lw_status account_text(lw_sink *sink, lw_record *rec, bool dropped, lw_error *err)
{
    lw__text_pass *texts = sink->texts;
    if (texts == NULL || texts->next == texts->count || texts->group[texts->next] != rec) {
        return lw__fail(err, LW_E_OPERATOR, "%s: documents put or dropped out of order",
                        sink->type->name);
    }
    texts->next++;
    rec->u.raw.dropped = dropped;
    return LW_OK;
}

lw_status lw_sink_put(lw_sink *sink, lw_record *rec, lw_error *err)
{
    if (sink->chain == NULL) {
        return account_text(sink, rec, false, err);
    }
    LW__TRY(take(sink, rec, "puts", err));
    if (rec->kind != kind_put_by(sink)) {
        return lw__fail(err, LW_E_OPERATOR, "%s: puts a %s, expected a %s", sink->type->name,
                        rec->kind == LW__ROW ? "row" : "document",
                        rec->kind == LW__ROW ? "document" : "row");
    }
    sink->chain->packed += sink->type->phase == LW_PHASE_PACK;
    return forward(sink->chain, sink->stage + 1, rec, err);
}

lw_status lw_sink_drop(lw_sink *sink, lw_record *rec, lw_error *err)
{
    if (sink->chain == NULL) {
        return account_text(sink, rec, true, err);
    }
    LW__TRY(take(sink, rec, "drops", err));
    if (rec->kind == LW__ROW) {
        sink->chain->lost_rows++;
        sink->chain->dropped_tokens += rec->u.row.fill;
    } else {
        sink->chain->dropped++;
        sink->chain->dropped_tokens += rec->u.doc.length;
    }
    lw__store_put(sink->chain->store, rec);
    return LW_OK;
}

lw_status lw_sink_use(lw_sink *sink, lw_record *document, lw_error *err)
{
    if (sink->chain == NULL || document->kind != LW__DOCUMENT) {
        return lw__fail(err, LW_E_OPERATOR, "%s: uses up what is no document", sink->type->name);
    }
    LW__TRY(take(sink, document, "uses up", err));
    if (document->u.doc.used != document->u.doc.length) {
        return lw__fail(err, LW_E_OPERATOR,
                        "%s: %llu of a document's tokens in rows, expected %llu", sink->type->name,
                        (unsigned long long)document->u.doc.used,
                        (unsigned long long)document->u.doc.length);
    }
    lw__store_put(sink->chain->store, document);
    return LW_OK;
}

lw_status lw_sink_row(lw_sink *sink, lw_record **row, lw_error *err)
{
    *row = NULL;
    if (sink->chain == NULL || sink->type->phase != LW_PHASE_PACK) {
        return lw__fail(err, LW_E_OPERATOR, "%s: makes a row, expected only of packers",
                        sink->type->name);
    }
    LW__TRY(lw__store_row(sink->chain->store, row, err));
    (*row)->holder = sink->stage;
    sink->chain->stages[sink->stage].held++;
    return LW_OK;
}
