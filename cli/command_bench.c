/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway bench: takes steps as fast as they come and prints one JSON object: how many tokens, how
 * long, where the time went. The first batch is not left out: `seconds` runs from the end of opening
 * to the last batch, `open_seconds` and `first_batch_seconds` (a part of `seconds`) stand beside it.
 */
#include <inttypes.h>
#include <sys/resource.h>

#include "cli.h"

typedef struct bench_session {
    const lw__cli_args *args;
    lw_recipe *recipe;
    lw_state *state;
    lw__cli_ranks ranks;
    double begin, opened, first_batch, end; /* points in time; first_batch is 0 before it */
    uint64_t checkpoints, checkpoint_bytes;
    double checkpoint_seconds;
} bench_session;

static lw_status open_session(bench_session *bench, lw_error *err)
{
    bench->begin = lw__cli_seconds();
    lw_status status = lw__cli_recipe_open(bench->args, &bench->recipe, err);
    if (status == LW_OK) {
        status = lw__cli_state_open(bench->args, LW__CLI_RESUME, &bench->state, err);
    }
    if (status == LW_OK) {
        status = lw__cli_ranks_open(bench->args, bench->recipe, bench->state, &bench->ranks, err);
    }
    bench->opened = lw__cli_seconds();
    return status;
}

static lw_status note_batch(void *ctx, const lw__cli_batch *batch, lw_error *err)
{
    bench_session *bench = ctx;
    (void)batch;
    (void)err;
    if (bench->first_batch <= 0) {
        bench->first_batch = lw__cli_seconds();
    }
    return LW_OK;
}

static lw_status make_checkpoint(bench_session *bench, lw_error *err)
{
    lw_state *state = NULL;
    double begin = lw__cli_seconds();
    lw_status status = lw__cli_ranks_checkpoint(&bench->ranks, LW_STEP_NEWEST, &state, err);
    if (status == LW_OK) {
        bench->checkpoint_bytes = lw_state_bytes(state).bytes;
        bench->checkpoints++;
    }
    bench->checkpoint_seconds += lw__cli_seconds() - begin;
    lw_state_close(state);
    return status;
}

/* LW_OK, LW_END, or LW_AGAIN for an interrupt. */
static lw_status take_steps(bench_session *bench, lw_error *err)
{
    const lw__cli_args *args = bench->args;
    uint64_t steps = args->given[LW__CLI_STEPS] ? args->number[LW__CLI_STEPS] : 100;
    uint64_t every = args->number[LW__CLI_SAVE_EVERY];
    lw_status status = LW_OK;
    for (uint64_t i = 1; i <= steps && status == LW_OK; i++) {
        status = lw__cli_interrupted() != 0
                     ? LW_AGAIN
                     : lw__cli_ranks_step(&bench->ranks, note_batch, bench, err);
        if (status == LW_OK && every != 0 && i % every == 0) {
            status = make_checkpoint(bench, err);
        }
    }
    bench->end = lw__cli_seconds();
    return status;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void put_count(lw__cli_output *out, const char *name, uint64_t value)
{
    char text[96];
    snprintf(text, sizeof text, "\"%s\": %" PRIu64 ", ", name, value);
    lw__cli_put_text(out, text);
}

static void put_real(lw__cli_output *out, const char *name, double value, const char *after)
{
    char text[96];
    snprintf(text, sizeof text, "\"%s\": %.6f%s", name, value, after);
    lw__cli_put_text(out, text);
}

static double divide(double value, double by)
{
    return by > 0 ? value / by : 0;
}

/* The time of each stage, in units of 1/scale nanoseconds. */
static void put_stages(lw__cli_output *out, const char *name, const lw_stats *stats, double scale,
                       bool with_other)
{
    uint64_t other =
        stats->read_ns + stats->parse_ns + stats->decide_ns + stats->write_ns + stats->digest_ns;
    lw__cli_put_char(out, '"');
    lw__cli_put_text(out, name);
    lw__cli_put_text(out, "\": {");
    put_real(out, "read", (double)stats->read_ns * scale, ", ");
    put_real(out, "parse", (double)stats->parse_ns * scale, ", ");
    put_real(out, "tokenize", (double)stats->tokenize_ns * scale, ", ");
    put_real(out, "decide", (double)stats->decide_ns * scale, ", ");
    put_real(out, "write", (double)stats->write_ns * scale, ", ");
    put_real(out, "digest", (double)stats->digest_ns * scale, with_other ? ", " : "");
    if (with_other) {
        put_real(out, "other_than_tokenize", (double)other * scale, "");
    }
    lw__cli_put_text(out, "}, ");
}

static uint64_t peak_rss_bytes(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static void put_report(lw__cli_output *out, const bench_session *bench, const lw_stats *stats)
{
    double seconds = bench->end - bench->opened;
    double tokens = (double)stats->tokens;
    lw__cli_put_char(out, '{');
    put_count(out, "tokens", stats->tokens);
    put_count(out, "rows", stats->rows);
    put_count(out, "steps", stats->steps);
    put_real(out, "seconds", seconds, ", ");
    put_real(out, "tokens_per_second", divide(tokens, seconds), ", ");
    put_real(out, "padding_fraction",
             divide((double)stats->padding, tokens + (double)stats->padding), ", ");
    put_count(out, "peak_rss_bytes", peak_rss_bytes());
    put_count(out, "budget_peak_bytes", stats->memory_peak_bytes);
    put_count(out, "threads", bench->args->number[LW__CLI_THREADS]);
    put_stages(out, "cpu_seconds", stats, 1e-9, false);
    put_stages(out, "ns_per_token", stats, divide(1, tokens), true);
    put_real(out, "wait_seconds", (double)stats->wait_ns * 1e-9, ", ");
    put_real(out, "open_seconds", bench->opened - bench->begin, ", ");
    put_real(out, "first_batch_seconds",
             bench->first_batch > 0 ? bench->first_batch - bench->opened : 0, ", ");
    put_real(out, "remake_cpu_seconds", (double)stats->remake_ns * 1e-9, ", ");
    if (bench->args->given[LW__CLI_SAVE_EVERY]) {
        put_count(out, "checkpoints", bench->checkpoints);
        put_count(out, "checkpoint_bytes", bench->checkpoint_bytes);
        put_real(out, "checkpoint_seconds", bench->checkpoint_seconds, ", ");
    }
    put_count(out, "documents", stats->documents);
    put_count(out, "empty", stats->empty);
    put_count(out, "skipped", stats->skipped);
    put_count(out, "dropped", stats->dropped);
    put_count(out, "dropped_tokens", stats->dropped_tokens);
    lw__cli_put_text(out, "\"bytes_read\": ");
    lw__cli_put_uint(out, stats->read_bytes);
    lw__cli_put_text(out, "}\n");
}

static lw_status report(bench_session *bench, lw_error *err)
{
    lw__cli_output out = {0};
    lw_stats stats = {.struct_size = sizeof stats};
    lw_status status = lw_pipeline_stats(bench->ranks.pipelines[0], &stats, err);
    if (status == LW_OK) {
        put_report(&out, bench, &stats);
        status = lw__cli_flush(&out, err);
    }
    lw__cli_output_reset(&out);
    return status;
}

static lw_status run_session(bench_session *bench, lw_error *err)
{
    lw_status status = open_session(bench, err);
    if (status == LW_OK) {
        status = take_steps(bench, err);
    }
    if (status < 0) {
        return status;
    }
    lw_status report_status = report(bench, err);
    return report_status != LW_OK ? report_status : status;
}

static int run(const lw__cli_args *args)
{
    bench_session bench = {.args = args};
    lw_error err;
    lw__cli_interrupt_watch();
    lw_status status = run_session(&bench, &err);
    lw__cli_ranks_close(&bench.ranks);
    lw_state_close(bench.state);
    lw_recipe_close(bench.recipe);
    if (status < 0) {
        return lw__cli_report(&err);
    }
    return status == LW_AGAIN ? 128 + lw__cli_interrupted() : LW__CLI_DONE;
}

static const lw__cli_option options[] = {LW__CLI_STEPS,      LW__CLI_THREADS, LW__CLI_RESUME,
                                         LW__CLI_SAVE_EVERY, LW__CLI_SET,     LW__CLI_HELP};

const lw__cli_command lw__cli_command_bench = {
    "bench", "RECIPE", "measure how fast batches come", options, 1, 1, run,
};
