/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway run: the batches as files of NumPy arrays, step_00000000.tokens.npy and so on, one set a
 * step. With --rank the rank is part of the name, so that ranks can share a folder. All files of a
 * step appear together, when the step is complete.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

enum { TOKENS, POSITIONS, LABELS, LOSS_MASK, ARRAY_COUNT };

typedef struct array_writer {
    const char *folder;
    bool by_rank;
    uint64_t rank, rows;
    uint64_t first_row;
    lw__cli_npy files[ARRAY_COUNT]; /* of the step being taken */
} array_writer;

static lw_status begin(void *ctx, const lw__cli_ranks *ranks, lw_error *err)
{
    array_writer *writer = ctx;
    writer->rows = ranks->rows;
    writer->first_row = ranks->first_row;
    if (mkdir(writer->folder, 0777) != 0 && errno != EEXIST) {
        return lw__cli_fail_os(err, "run: create folder", writer->folder);
    }
    return LW_OK;
}

static lw_status begin_file(array_writer *writer, size_t index, const lw_batch_view *view,
                            lw_error *err)
{
    static const char *const names[] = {"tokens", "positions", "labels", "loss_mask"};
    const char *type = index == LOSS_MASK ? "|u1" : view->token_bytes == 8 ? "<i8" : "<i4";
    char rank[32] = "";
    char *path = NULL;
    if (writer->by_rank) {
        snprintf(rank, sizeof rank, "rank_%05" PRIu64 ".", writer->rank);
    }
    if (asprintf(&path, "%s/step_%08" PRIu64 ".%s%s.npy", writer->folder, view->step, rank,
                 names[index]) < 0) {
        return lw__cli_fail(err, LW_E_NOMEM, "run: no memory for a name");
    }
    lw_status status =
        lw__cli_npy_begin(&writer->files[index], path, type, writer->rows, view->context, err);
    free(path);
    return status;
}

static lw_status take_batch(void *ctx, const lw__cli_batch *batch, lw_error *err)
{
    array_writer *writer = ctx;
    const lw_batch_view *view = &batch->view;
    const void *arrays[] = {view->tokens, view->positions, view->labels, view->loss_mask};
    lw_status status = LW_OK;
    for (size_t i = 0; i < ARRAY_COUNT && status == LW_OK; i++) {
        size_t bytes = i == LOSS_MASK ? 1 : view->token_bytes;
        if (view->first_row == writer->first_row) {
            status = begin_file(writer, i, view, err);
        }
        if (status == LW_OK) {
            status = lw__cli_npy_write(&writer->files[i], arrays[i],
                                       (size_t)(view->rows * view->context) * bytes, err);
        }
    }
    return status;
}

static lw_status end_step(void *ctx, uint64_t step, lw_error *err)
{
    array_writer *writer = ctx;
    lw_status status = LW_OK;
    (void)step;
    for (size_t i = 0; i < ARRAY_COUNT && status == LW_OK; i++) {
        status = lw__cli_npy_finish(&writer->files[i], err);
    }
    for (size_t i = 0; i < ARRAY_COUNT && status == LW_OK; i++) {
        status = lw__cli_npy_put(&writer->files[i], err);
    }
    return status;
}

static int run(const lw__cli_args *args)
{
    static const lw__cli_consumer consumer = {false, false, begin, take_batch, end_step};
    array_writer writer = {
        .folder = args->text[LW__CLI_OUT],
        .by_rank = args->given[LW__CLI_RANK],
        .rank = args->number[LW__CLI_RANK],
    };
    if (!args->given[LW__CLI_OUT]) {
        return lw__cli_misused(&lw__cli_command_run, "run: no --out, expected a folder");
    }
    int code = lw__cli_stream(args, &consumer, &writer);
    for (size_t i = 0; i < ARRAY_COUNT; i++) {
        lw__cli_npy_reset(&writer.files[i]);
    }
    return code;
}

static const lw__cli_option options[] = {LW__CLI_OUT, LW__CLI_STREAM_OPTIONS, LW__CLI_HELP};

const lw__cli_command lw__cli_command_run = {
    "run", "RECIPE", "write batches as .npy files", options, 1, 1, run,
};
