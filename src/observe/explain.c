/* SPDX-License-Identifier: Apache-2.0 */
/* Sources, lanes and ranks, memory, and what may change on resume, as aligned text. */
#include "observe/explain.h"

typedef unsigned long long big;

static void put_shape(const lw__settings *s, const lw__topology *t, uint64_t world, lw__bytes *out)
{
    lw__bytes_printf(out, "step     %llu rows of %llu tokens, from %llu lanes of %llu rows each\n",
                     (big)s->global_batch, (big)s->context, (big)s->lanes, (big)t->lane_rows);
    lw__bytes_printf(out, "world    %llu ranks of %llu rows a step\n\n", (big)world,
                     (big)(s->global_batch / world));
}

static void put_sources(const lw__engine_options *options, lw__bytes *out)
{
    const lw__settings *s = options->settings;
    lw__bytes_printf(out, "%-20s %8s %16s %10s %10s %10s %8s\n", "source", "weight", "bytes",
                     "files", "blocks", "block", "a lane");
    for (size_t i = 0; i < s->source_count; i++) {
        const lw__dataset *dataset = options->datasets[i];
        uint64_t bytes = 0;
        uint64_t blocks = lw__dataset_block_count(dataset);
        for (size_t k = 0; k < lw__dataset_shard_count(dataset); k++) {
            bytes += lw__dataset_shard(dataset, k)->bytes;
        }
        lw__bytes_printf(out, "%-20s %8.4g %16llu %10zu %10llu %10llu %8.1f\n", s->sources[i].name,
                         (double)s->sources[i].weight / 1e9, (big)bytes,
                         lw__dataset_shard_count(dataset), (big)blocks,
                         (big)lw__dataset_block_bytes(dataset), (double)blocks / (double)s->lanes);
    }
    for (size_t i = 0; i < s->source_count; i++) {
        uint64_t blocks = lw__dataset_block_count(options->datasets[i]);
        if (blocks < s->lanes) {
            lw__bytes_printf(out, "note: source \"%s\" has %llu blocks for %llu lanes%s\n",
                             s->sources[i].name, (big)blocks, (big)s->lanes,
                             s->end == LW__END_REPEAT ? ": lanes start in different epochs"
                                                      : ": some lanes get none of it");
        }
    }
}

static uint64_t runs_of_lanes(const lw__settings *s, uint64_t world)
{
    uint64_t runs = 0;
    for (uint64_t rank = 0; rank < world; rank++) {
        runs += lw__topology_of(s->global_batch, s->lanes, rank, world).lane_count;
    }
    return runs;
}

static void put_ranks(const lw__settings *s, uint64_t world, lw__bytes *out)
{
    lw__bytes_printf(out, "\n%-8s %16s %16s\n", "rank", "rows", "lanes");
    for (uint64_t rank = 0; rank < world; rank++) {
        lw__topology t = lw__topology_of(s->global_batch, s->lanes, rank, world);
        if (rank >= 16 && rank + 1 < world) {
            continue;
        }
        lw__bytes_printf(out, "%-8llu %7llu-%-8llu %7llu-%-8llu\n", (big)rank, (big)t.first_row,
                         (big)(t.first_row + t.row_count - 1), (big)t.first_lane,
                         (big)(t.first_lane + t.lane_count - 1));
    }
    uint64_t runs = runs_of_lanes(s, world);
    if (runs > s->lanes) {
        lw__bytes_printf(
            out,
            "note: %llu lanes are run %llu times in all: ranks that share a lane each compute it\n",
            (big)s->lanes, (big)runs);
    }
    if (s->end != LW__END_REPEAT && world > 1) {
        lw__bytes_printf(
            out,
            "note: with this end every rank follows all %llu lanes, to stop at the same step "
            "(an agreement callback avoids it)\n",
            (big)s->lanes);
    }
}

/* The first rank that runs the most lanes: no other needs more memory. */
static uint64_t widest_rank(const lw__settings *s, uint64_t world)
{
    uint64_t widest = 0;
    uint64_t most = 0;
    for (uint64_t rank = 0; rank < world; rank++) {
        uint64_t lanes = lw__topology_of(s->global_batch, s->lanes, rank, world).lane_count;
        widest = lanes > most ? rank : widest;
        most = lanes > most ? lanes : most;
    }
    return widest;
}

static void put_memory(const lw__engine_options *options, uint64_t rank, lw__bytes *out)
{
    lw__memory_plan plan = lw__engine_memory(options);
    lw__bytes_printf(out, "\nmemory of rank %-13llu %16s\n", (big)rank, "bytes");
    lw__bytes_printf(out, "%-28s %16llu  %llu steps in flight\n", "slots", (big)plan.slots,
                     (big)options->slot_count);
    lw__bytes_printf(out, "%-28s %16llu  packer, shuffle, rows on their way\n", "rows",
                     (big)plan.rows);
    lw__bytes_printf(out, "%-28s %16llu  one part for each of %llu\n", "streams", (big)plan.streams,
                     (big)plan.stream_count);
    lw__bytes_printf(out, "%-28s %16llu  %zu threads\n", "scratch", (big)plan.threads,
                     lw__engine_threads(options->settings));
    lw__bytes_printf(out, "%-28s %16llu\n", "minimum", (big)plan.minimum);
    lw__bytes_printf(out, "%-28s %16llu  the rest is for reading ahead\n", "runtime.memory",
                     (big)options->settings->memory_bytes);
}

/* The terms above are what a refusal sends people here for, so the plan goes on, with its line. */
static void put_refusal(const lw__engine_options *options, lw__bytes *out)
{
    lw_error err;
    if (lw__engine_check_budget(options, &err) < 0) {
        lw__bytes_printf(out, "error: %s\n", err.message);
    }
}

void lw__explain(const lw__engine_options *options, uint64_t world, lw__bytes *out)
{
    const lw__settings *s = options->settings;
    uint64_t rank = widest_rank(s, world);
    lw__engine_options widest = *options;
    widest.topology = lw__topology_of(s->global_batch, s->lanes, rank, world);
    put_shape(s, &options->topology, world, out);
    put_sources(options, out);
    put_ranks(s, world, out);
    put_memory(&widest, rank, out);
    put_refusal(&widest, out);
    lw__bytes_printf(out, "\non resume world, rank and everything under runtime and cache may "
                          "change; the rest, and the "
                          "files of the sources, may not\n");
}
