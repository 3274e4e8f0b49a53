/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway dump: one line of JSON for each row: step, row, lane, the four arrays, and the segments
 * with the shard and the record each comes from.
 */
#include "cli.h"

typedef struct dump_printer {
    lw__cli_output out;
    uint64_t lane_rows; /* of a step, in each lane */
} dump_printer;

static lw_status begin(void *ctx, const lw__cli_ranks *ranks, lw_error *err)
{
    dump_printer *printer = ctx;
    (void)err;
    printer->lane_rows = ranks->global_batch / ranks->lanes;
    return LW_OK;
}

static void put_field(lw__cli_output *out, const char *name, uint64_t value)
{
    lw__cli_put_text(out, name);
    lw__cli_put_uint(out, value);
}

/* An array of the view: integers of so many bytes each, `first` values in. */
static void put_values(lw__cli_output *out, const char *name, const void *values, uint32_t bytes,
                       uint64_t first, uint64_t count)
{
    lw__cli_put_text(out, name);
    for (uint64_t i = first; i < first + count; i++) {
        int64_t value = bytes == 1   ? ((const uint8_t *)values)[i]
                        : bytes == 4 ? ((const int32_t *)values)[i]
                                     : ((const int64_t *)values)[i];
        if (i > first) {
            lw__cli_put_char(out, ',');
        }
        lw__cli_put_int(out, value);
    }
    lw__cli_put_char(out, ']');
}

static lw_status put_segment(lw__cli_output *out, lw_pipeline *pipeline, const lw_segment *segment,
                             lw_error *err)
{
    const char *source = NULL;
    const char *shard = NULL;
    uint64_t record = 0;
    lw_status status = lw_pipeline_locate(pipeline, segment, &source, &shard, &record, err);
    if (status != LW_OK) {
        return status;
    }
    lw__cli_put_text(out, "{\"source\":");
    lw__cli_put_json(out, source);
    lw__cli_put_text(out, ",\"shard\":");
    lw__cli_put_json(out, shard);
    put_field(out, ",\"record\":", record);
    put_field(out, ",\"first\":", segment->first);
    put_field(out, ",\"count\":", segment->count);
    lw__cli_put_char(out, '}');
    return LW_OK;
}

static lw_status put_segments(lw__cli_output *out, const lw__cli_batch *batch, uint64_t row,
                              lw_error *err)
{
    const lw_segment *segments = NULL;
    size_t count = 0;
    lw_status status = lw_batch_segments(batch->batch, row, &segments, &count, err);
    lw__cli_put_text(out, ",\"segments\":[");
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        if (i > 0) {
            lw__cli_put_char(out, ',');
        }
        status = put_segment(out, batch->pipeline, &segments[i], err);
    }
    lw__cli_put_text(out, "]}\n");
    return status;
}

static lw_status put_row(dump_printer *printer, const lw__cli_batch *batch, uint64_t row,
                         lw_error *err)
{
    lw__cli_output *out = &printer->out;
    const lw_batch_view *view = &batch->view;
    uint64_t number = view->first_row + row;
    uint64_t first = row * view->context;
    put_field(out, "{\"step\":", view->step);
    put_field(out, ",\"row\":", number);
    put_field(out, ",\"lane\":", number / printer->lane_rows);
    put_values(out, ",\"tokens\":[", view->tokens, view->token_bytes, first, view->context);
    put_values(out, ",\"positions\":[", view->positions, view->token_bytes, first, view->context);
    put_values(out, ",\"labels\":[", view->labels, view->token_bytes, first, view->context);
    put_values(out, ",\"loss_mask\":[", view->loss_mask, 1, first, view->context);
    return put_segments(out, batch, row, err);
}

static lw_status take_batch(void *ctx, const lw__cli_batch *batch, lw_error *err)
{
    lw_status status = LW_OK;
    for (uint64_t row = 0; row < batch->view.rows && status == LW_OK; row++) {
        status = put_row(ctx, batch, row, err);
    }
    return status;
}

static lw_status end_step(void *ctx, uint64_t step, lw_error *err)
{
    dump_printer *printer = ctx;
    (void)step;
    return lw__cli_flush(&printer->out, err);
}

static int run(const lw__cli_args *args)
{
    static const lw__cli_consumer consumer = {false, true, begin, take_batch, end_step};
    dump_printer printer = {0};
    int code = lw__cli_stream(args, &consumer, &printer);
    lw__cli_output_reset(&printer.out);
    return code;
}

static const lw__cli_option options[] = {LW__CLI_STREAM_OPTIONS, LW__CLI_HELP};

const lw__cli_command lw__cli_command_dump = {
    "dump", "RECIPE", "print each row as one line of JSON", options, 1, 1, run,
};
