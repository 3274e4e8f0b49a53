/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What digest, dump and run have in common: open, go on from a state, take steps until there are
 * enough, the stream ends, something fails or an interrupt comes, and save.
 *
 * The state is written as soon as its step is taken, so that no later failure can lose it.
 */
#include <inttypes.h>

#include "cli.h"

typedef struct stream_session {
    const lw__cli_args *args;
    const lw__cli_consumer *consumer;
    void *ctx;
    lw_recipe *recipe;
    lw_state *state;
    lw__cli_ranks ranks;
    lw__cli_progress progress;
    uint64_t step_tokens;
    bool saved; /* --save-at was reached */
} stream_session;

static lw_status open_session(stream_session *session, lw_error *err)
{
    const lw__cli_args *args = session->args;
    lw_status status = lw__cli_recipe_open(args, &session->recipe, err);
    if (status == LW_OK && session->consumer->digests) {
        status = lw_recipe_set(session->recipe, "runtime.digests", "true", err);
    }
    if (status == LW_OK) {
        status = lw__cli_state_open(args, LW__CLI_RESUME, &session->state, err);
    }
    if (status == LW_OK) {
        status = lw__cli_ranks_open(args, session->recipe, session->state, &session->ranks, err);
    }
    if (status == LW_OK) {
        status = session->consumer->begin(session->ctx, &session->ranks, err);
    }
    return status;
}

static lw_status save_state(stream_session *session, uint64_t after, lw_error *err)
{
    lw_state *state = NULL;
    lw_status status = lw__cli_ranks_checkpoint(&session->ranks, after, &state, err);
    if (status == LW_OK) {
        status = lw_state_write(state, session->args->text[LW__CLI_SAVE], err);
    }
    lw_state_close(state);
    return status;
}

static lw_status visit_batch(void *ctx, const lw__cli_batch *batch, lw_error *err)
{
    stream_session *session = ctx;
    session->step_tokens += batch->view.valid_tokens;
    return session->consumer->batch(session->ctx, batch, err);
}

static lw_status take_step(stream_session *session, lw_error *err)
{
    uint64_t step = session->ranks.steps;
    session->step_tokens = 0;
    lw_status status = lw__cli_ranks_step(&session->ranks, visit_batch, session, err);
    if (status != LW_OK) {
        return status;
    }
    status = session->consumer->step(session->ctx, step, err);
    if (status != LW_OK) {
        return status;
    }
    lw__cli_progress_step(&session->progress, step, session->step_tokens);
    if (session->args->given[LW__CLI_SAVE_AT] && session->args->number[LW__CLI_SAVE_AT] == step) {
        session->saved = true;
        return save_state(session, step + 1, err);
    }
    return LW_OK;
}

/* LW_OK: as many as were asked for; LW_END; LW_AGAIN: interrupted. */
static lw_status take_steps(stream_session *session, lw_error *err)
{
    const lw__cli_args *args = session->args;
    uint64_t steps = args->given[LW__CLI_STEPS] ? args->number[LW__CLI_STEPS] : 10;
    lw_status status = LW_OK;
    lw__cli_progress_begin(&session->progress, session->consumer->prints);
    for (uint64_t i = 0; i < steps && status == LW_OK; i++) {
        status = lw__cli_interrupted() != 0 ? LW_AGAIN : take_step(session, err);
    }
    lw__cli_progress_end(&session->progress);
    return status;
}

/* --save without --save-at; and an interrupt before that step saves what there is. */
static lw_status save_at_end(stream_session *session, bool interrupted, lw_error *err)
{
    const lw__cli_args *args = session->args;
    if (!args->given[LW__CLI_SAVE] || session->saved) {
        return LW_OK;
    }
    if (args->given[LW__CLI_SAVE_AT] && !interrupted) {
        return lw__cli_fail(err, LW_E_NOT_FOUND,
                            "save-at: step %" PRIu64 ", expected one before %" PRIu64
                            ", where the run ended",
                            args->number[LW__CLI_SAVE_AT], session->ranks.steps);
    }
    return save_state(session, LW_STEP_NEWEST, err);
}

static lw_status run_session(stream_session *session, lw_error *err)
{
    lw_status status = open_session(session, err);
    if (status == LW_OK) {
        status = take_steps(session, err);
    }
    if (status < 0) {
        return status;
    }
    lw_status save_status = save_at_end(session, status == LW_AGAIN, err);
    return save_status != LW_OK ? save_status : status;
}

int lw__cli_stream(const lw__cli_args *args, const lw__cli_consumer *consumer, void *ctx)
{
    stream_session session = {.args = args, .consumer = consumer, .ctx = ctx};
    lw_error err;
    lw__cli_interrupt_watch();
    lw_status status = run_session(&session, &err);
    lw__cli_ranks_close(&session.ranks);
    lw_state_close(session.state);
    lw_recipe_close(session.recipe);
    if (status < 0) {
        return lw__cli_report(&err);
    }
    return status == LW_AGAIN ? 128 + lw__cli_interrupted() : LW__CLI_DONE;
}
