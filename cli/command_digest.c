/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laneway digest: "STEP SHA256" a line, the digest of each step's rows; with --rank
 * "STEP ROW SHA256", the digests of that rank's rows, from which anyone can make those of the steps.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define DIGEST_BYTES 32

typedef struct digest_printer {
    lw__cli_output out;
    bool by_row;
    uint64_t first_row, rows;
    uint8_t *digests; /* of the rows of the step being taken */
} digest_printer;

static lw_status begin(void *ctx, const lw__cli_ranks *ranks, lw_error *err)
{
    digest_printer *printer = ctx;
    printer->first_row = ranks->first_row;
    printer->rows = ranks->rows;
    printer->digests = calloc((size_t)ranks->rows, DIGEST_BYTES);
    return printer->digests != NULL ? LW_OK
                                    : lw__cli_fail(err, LW_E_NOMEM, "digest: no memory for rows");
}

static lw_status take_batch(void *ctx, const lw__cli_batch *batch, lw_error *err)
{
    digest_printer *printer = ctx;
    const lw_batch_view *view = &batch->view;
    if (view->row_digests == NULL) {
        return lw__cli_fail(err, LW_E_INVALID, "digest: runtime.digests is false, expected true");
    }
    memcpy(printer->digests + (view->first_row - printer->first_row) * DIGEST_BYTES,
           view->row_digests, (size_t)view->rows * DIGEST_BYTES);
    return LW_OK;
}

static void put_line(lw__cli_output *out, uint64_t step, const uint64_t *row, const uint8_t *digest)
{
    lw__cli_put_uint(out, step);
    lw__cli_put_char(out, ' ');
    if (row != NULL) {
        lw__cli_put_uint(out, *row);
        lw__cli_put_char(out, ' ');
    }
    lw__cli_put_hex(out, digest, DIGEST_BYTES);
    lw__cli_put_char(out, '\n');
}

static lw_status end_step(void *ctx, uint64_t step, lw_error *err)
{
    digest_printer *printer = ctx;
    if (printer->by_row) {
        for (uint64_t i = 0; i < printer->rows; i++) {
            uint64_t row = printer->first_row + i;
            put_line(&printer->out, step, &row, printer->digests + i * DIGEST_BYTES);
        }
    } else {
        uint8_t digest[DIGEST_BYTES];
        lw_status status = lw_digest_merge(printer->digests, (size_t)printer->rows, digest, err);
        if (status != LW_OK) {
            return status;
        }
        put_line(&printer->out, step, NULL, digest);
    }
    return lw__cli_flush(&printer->out, err);
}

static int run(const lw__cli_args *args)
{
    static const lw__cli_consumer consumer = {true, true, begin, take_batch, end_step};
    digest_printer printer = {.by_row = args->given[LW__CLI_RANK]};
    int code = lw__cli_stream(args, &consumer, &printer);
    lw__cli_output_reset(&printer.out);
    free(printer.digests);
    return code;
}

static const lw__cli_option options[] = {LW__CLI_STREAM_OPTIONS, LW__CLI_HELP};

const lw__cli_command lw__cli_command_digest = {
    "digest", "RECIPE", "print the SHA-256 of each step", options, 1, 1, run,
};
