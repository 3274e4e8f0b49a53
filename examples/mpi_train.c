/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data-parallel training under MPI, on any number of processes.
 *
 *     mpirun -n 4 mpi_train RECIPE STEPS STATE
 *
 * Every rank counts the pairs of tokens in its rows; the sums over all ranks train the same bigram
 * model everywhere. Counts are integers, so the losses do not depend on the number of ranks either.
 * Goes on from STATE and STATE.model if they are there, for so many steps, and leaves new ones.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laneway/laneway.h>

#define TOKENS      512 /* of the model: ids are taken modulo this */
#define MOST_ROWS   4096
#define STATE_BYTES (1 << 20)

static uint64_t seen[TOKENS][TOKENS], pairs[TOKENS][TOKENS];
static int rank, world;

/* The mean surprise at the pairs of a step under all pairs before, which it then joins. */
static double learn(const lw_batch_view *view)
{
    const int32_t *tokens = view->tokens, *labels = view->labels;
    double loss = 0, count = 0;
    memset(pairs, 0, sizeof pairs);
    for (uint64_t i = 0; i < view->rows * view->context; i++) {
        if (view->loss_mask[i] != 0) {
            pairs[tokens[i] % TOKENS][labels[i] % TOKENS]++;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, pairs, TOKENS * TOKENS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int first = 0; first < TOKENS; first++) {
        double total = TOKENS;
        for (int next = 0; next < TOKENS; next++) {
            total += (double)seen[first][next];
        }
        for (int next = 0; next < TOKENS; next++) {
            loss -= (double)pairs[first][next] * log((double)(seen[first][next] + 1) / total);
            count += (double)pairs[first][next];
            seen[first][next] += pairs[first][next];
        }
    }
    return loss / count;
}

/* Rank 0 prints the step's digest, made of those of all rows. */
static lw_status report(const lw_batch_view *view, double loss, lw_error *err)
{
    static uint8_t rows[MOST_ROWS][32];
    uint8_t digest[32];
    int bytes = (int)(view->rows * sizeof *rows);
    MPI_Gather(view->row_digests, bytes, MPI_BYTE, rows, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    lw_status status = lw_digest_merge(rows[0], (size_t)view->rows * (size_t)world, digest, err);
    if (rank == 0 && status == LW_OK) {
        printf("step %llu  loss %.9f  ", (unsigned long long)view->step, loss);
        for (int i = 0; i < 32; i++) {
            printf("%02x%s", digest[i], i < 31 ? "" : "\n");
        }
    }
    return status;
}

static lw_status train(lw_pipeline *pipeline, int steps, lw_error *err)
{
    lw_status status = LW_OK;
    for (int i = 0; i < steps && status == LW_OK; i++) {
        lw_batch *batch = NULL;
        lw_batch_view view = {.struct_size = sizeof view};
        status = lw_pipeline_next(pipeline, LW_FOREVER, &batch, err);
        status = status == LW_OK ? lw_batch_get(batch, &view, err) : status;
        status = status == LW_OK ? report(&view, learn(&view), err) : status;
        lw_batch_release(batch);
    }
    return status;
}

/* A rank's state has the rank's own lanes; the ranks send theirs along, and rank 0 merges them. */
static lw_status save(lw_pipeline *pipeline, const char *path, lw_error *err)
{
    static char blob[STATE_BYTES];
    lw_state *all = NULL;
    lw_status status = lw_pipeline_checkpoint(pipeline, LW_STEP_NEWEST, &all, err);
    for (int from = 1; from < world && status == LW_OK; from++) {
        lw_state *pair[2] = {all, NULL}, *merged = NULL;
        int bytes = rank == from ? (int)lw_state_bytes(all).bytes : 0;
        MPI_Bcast(&bytes, 1, MPI_INT, from, MPI_COMM_WORLD);
        if (bytes > STATE_BYTES) {
            return LW_E_NOMEM;
        }
        memcpy(blob, lw_state_bytes(all).data, rank == from ? (size_t)bytes : 0);
        MPI_Bcast(blob, bytes, MPI_BYTE, from, MPI_COMM_WORLD);
        status = lw_state_parse(blob, (size_t)bytes, &pair[1], err);
        status = status == LW_OK ? lw_state_merge((const lw_state *const *)pair, 2, &merged, err)
                                 : status;
        lw_state_close(pair[0]);
        lw_state_close(pair[1]);
        all = merged;
    }
    status = status == LW_OK && rank == 0 ? lw_state_write(all, path, err) : status;
    lw_state_close(all);
    return status;
}

/* The model, beside the state: every rank reads it, rank 0 writes it. */
static void keep_model(const char *path, const char *mode)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.model", path);
    FILE *file = *mode == 'r' || rank == 0 ? fopen(name, mode) : NULL;
    if (file != NULL) {
        size_t done =
            *mode == 'r' ? fread(seen, sizeof seen, 1, file) : fwrite(seen, sizeof seen, 1, file);
        if (fclose(file) != 0 || done != 1) {
            fprintf(stderr, "mpi_train: %s is not whole\n", name);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

static lw_status run(const char *recipe_path, int steps, const char *path, lw_error *err)
{
    lw_recipe *recipe = NULL;
    lw_state *state = NULL;
    lw_pipeline *pipeline = NULL;
    lw_pipeline_options options = LW_PIPELINE_OPTIONS_INIT;
    options.rank = (uint64_t)rank;
    options.world = (uint64_t)world;
    lw_status status = lw_state_open(path, &state, err);
    status = status == LW_E_NOT_FOUND ? LW_OK : status; /* a new run */
    status = status == LW_OK ? lw_recipe_open(recipe_path, &recipe, err) : status;
    status = status == LW_OK ? lw_recipe_set(recipe, "runtime.digests", "true", err) : status;
    status = status == LW_OK ? lw_pipeline_open(recipe, &options, state, &pipeline, err) : status;
    if (status == LW_OK) {
        keep_model(path, "r");
        status = train(pipeline, steps, err);
        status = status == LW_OK ? save(pipeline, path, err) : status;
        keep_model(path, "w");
    }
    lw_pipeline_close(pipeline);
    lw_state_close(state);
    lw_recipe_close(recipe);
    return status;
}

int main(int argc, char **argv)
{
    lw_error err = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    lw_status status = argc == 4 ? run(argv[1], atoi(argv[2]), argv[3], &err) : LW_E_INVALID;
    if (status != LW_OK) {
        fprintf(stderr, "mpi_train: rank %d: %s\n", rank, argc == 4 ? err.message : "usage");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
