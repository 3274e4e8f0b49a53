/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the command `laneway`. Each command is one file, command_<name>.c, which defines one
 * lw__cli_command; main.c has their table. They stand on the public interface alone.
 *
 * Results go to standard output, everything else to standard error. A command returns the exit code:
 * LW__CLI_DONE, LW__CLI_FAILED (after one line on standard error) or LW__CLI_MISUSED.
 */
#ifndef LW__CLI_H
#define LW__CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <laneway/laneway.h>

#define LW__CLI_DONE    0
#define LW__CLI_FAILED  1
#define LW__CLI_MISUSED 2

/* ---- what was asked: args.c ------------------------------------------------------------------ */

typedef enum lw__cli_option {
    LW__CLI_WORLD,
    LW__CLI_RANK,
    LW__CLI_STEPS,
    LW__CLI_SAVE,
    LW__CLI_SAVE_AT,
    LW__CLI_SAVE_EVERY,
    LW__CLI_RESUME,
    LW__CLI_STATE,
    LW__CLI_THREADS,
    LW__CLI_OUT,
    LW__CLI_JSON,
    LW__CLI_TOKENIZER,
    LW__CLI_PATTERN,
    LW__CLI_BOS,
    LW__CLI_EOS,
    LW__CLI_SPECIAL_TEXT,
    LW__CLI_FIELD,
    LW__CLI_COUNT,
    LW__CLI_SET,
    LW__CLI_HELP,
    LW__CLI_OPTION_COUNT
} lw__cli_option;

/* Everything is borrowed from argv; the two lists are freed by lw__cli_args_reset. */
typedef struct lw__cli_args {
    bool given[LW__CLI_OPTION_COUNT];
    const char *text[LW__CLI_OPTION_COUNT];
    uint64_t number[LW__CLI_OPTION_COUNT]; /* 0 unless given */
    const char **operands;
    size_t operand_count;
    const char **sets; /* "key=value", in the order given */
    size_t set_count;
} lw__cli_args;

typedef struct lw__cli_command {
    const char *name;
    const char *operands; /* as the usage shows them */
    const char *summary;
    const lw__cli_option *options; /* ends with LW__CLI_HELP, which every command takes */
    size_t least, most;            /* how many operands */
    int (*run)(const lw__cli_args *args);
} lw__cli_command;

/* Reads the words after the command's name. On wrong use it has said so on standard error. */
bool lw__cli_args_read(const lw__cli_command *command, int count, char **words, lw__cli_args *args);
void lw__cli_args_reset(lw__cli_args *args);
/* The usage line, and one line for each option. */
void lw__cli_usage(FILE *to, const lw__cli_command *command);
void lw__cli_usage_options(FILE *to, const lw__cli_command *command);
/* Says what is wrong, and the usage; gives LW__CLI_MISUSED. */
int lw__cli_misused(const lw__cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- failures: report.c ---------------------------------------------------------------------- */

/* Fills err with one line and gives status back. */
lw_status lw__cli_fail(lw_error *err, lw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with errno: "<what> <path>: <reason>". */
lw_status lw__cli_fail_os(lw_error *err, const char *what, const char *path);
/* Prints "laneway: <message>"; gives LW__CLI_FAILED. */
int lw__cli_report(const lw_error *err);
double lw__cli_seconds(void); /* of a clock that only goes forward */

/* ---- interrupts: interrupt.c ----------------------------------------------------------------- */

/* From now on SIGINT and SIGTERM are noted; a second one ends the program at once. */
void lw__cli_interrupt_watch(void);
int lw__cli_interrupted(void); /* the signal noted, or 0 */

/* ---- standard output: output.c --------------------------------------------------------------- */

/* Text on its way to standard output: kept until it is flushed, so that a step is whole or absent. */
typedef struct lw__cli_output {
    char *data;
    size_t bytes, capacity;
    bool no_memory; /* found at the next flush */
} lw__cli_output;

void lw__cli_put(lw__cli_output *out, const char *data, size_t bytes);
void lw__cli_put_text(lw__cli_output *out, const char *text);
void lw__cli_put_char(lw__cli_output *out, char character);
void lw__cli_put_int(lw__cli_output *out, int64_t value);
void lw__cli_put_uint(lw__cli_output *out, uint64_t value);
void lw__cli_put_hex(lw__cli_output *out, const uint8_t *data, size_t bytes);
/* A JSON string with its quotes. */
void lw__cli_put_json(lw__cli_output *out, const char *text);
lw_status lw__cli_flush(lw__cli_output *out, lw_error *err);
void lw__cli_output_reset(lw__cli_output *out);
/* All of text, and a newline if it has none at its end; gives an exit code. */
int lw__cli_print(const char *text);

/* ---- progress: progress.c -------------------------------------------------------------------- */

typedef struct lw__cli_progress {
    bool shown; /* standard error is a terminal, and nothing else writes to it */
    double begin, last;
    uint64_t steps, tokens;
} lw__cli_progress;

/* prints: the command writes its results to standard output meanwhile. */
void lw__cli_progress_begin(lw__cli_progress *progress, bool prints);
void lw__cli_progress_step(lw__cli_progress *progress, uint64_t step, uint64_t tokens);
void lw__cli_progress_end(lw__cli_progress *progress);

/* ---- recipes: recipe_args.c ------------------------------------------------------------------ */

/* Opens the first operand and applies --threads, then each --set. */
lw_status lw__cli_recipe_open(const lw__cli_args *args, lw_recipe **out, lw_error *err);
/* A top-level integer of the canonical text; 0 when it is not there. */
uint64_t lw__cli_recipe_number(const char *text, const char *key);
size_t lw__cli_recipe_sources(const char *text);
/* The state named by the option, or NULL when it was not given. */
lw_status lw__cli_state_open(const lw__cli_args *args, lw__cli_option option, lw_state **out,
                             lw_error *err);

/* ---- all ranks in one process: ranks.c ------------------------------------------------------- */

typedef struct lw__cli_ranks {
    lw_pipeline **pipelines;
    size_t count;          /* of pipelines: all ranks, or one */
    uint64_t global_batch; /* of the recipe */
    uint64_t lanes;
    uint64_t rank_rows; /* of a step, at each rank */
    uint64_t first_row; /* of a step, that these ranks have */
    uint64_t rows;      /* of a step, that these ranks have */
    uint64_t steps;     /* taken over the whole run: the number of the next one */
} lw__cli_ranks;

/* One batch of one rank. */
typedef struct lw__cli_batch {
    lw_pipeline *pipeline;
    const lw_batch *batch;
    lw_batch_view view;
} lw__cli_batch;

typedef lw_status lw__cli_visit(void *ctx, const lw__cli_batch *batch, lw_error *err);

/* Opens the ranks that --world and --rank ask for; ranks is zeroed. */
lw_status lw__cli_ranks_open(const lw__cli_args *args, lw_recipe *recipe, const lw_state *state,
                             lw__cli_ranks *ranks, lw_error *err);
/*
 * Takes one step from every rank and visits its batches in row order. LW_END when every rank's
 * stream has ended; LW_AGAIN when an interrupt came before anything of the step was taken.
 */
lw_status lw__cli_ranks_step(lw__cli_ranks *ranks, lw__cli_visit *visit, void *ctx, lw_error *err);
/* The state after so many steps, or after the newest (LW_STEP_NEWEST), of all ranks together. */
lw_status lw__cli_ranks_checkpoint(lw__cli_ranks *ranks, uint64_t after, lw_state **out,
                                   lw_error *err);
void lw__cli_ranks_close(lw__cli_ranks *ranks);

/* ---- commands that go through a stream: stream.c --------------------------------------------- */

/* What such a command does with the batches. */
typedef struct lw__cli_consumer {
    bool digests; /* it needs row digests */
    bool prints;  /* to standard output, step by step */
    /* Before the first step; may be called for a stream that has none. */
    lw_status (*begin)(void *ctx, const lw__cli_ranks *ranks, lw_error *err);
    lw__cli_visit *batch;
    /* The step is complete. Nothing of it may have been seen outside before. */
    lw_status (*step)(void *ctx, uint64_t step, lw_error *err);
} lw__cli_consumer;

/* Runs the stream of args (--steps, --save, --resume, ...) and gives the exit code. */
int lw__cli_stream(const lw__cli_args *args, const lw__cli_consumer *consumer, void *ctx);

/* The options of these commands, for their tables. */
#define LW__CLI_STREAM_OPTIONS                                                                     \
    LW__CLI_WORLD, LW__CLI_RANK, LW__CLI_STEPS, LW__CLI_SAVE, LW__CLI_SAVE_AT, LW__CLI_RESUME,     \
        LW__CLI_THREADS, LW__CLI_SET

/* ---- arrays in files: npy.c ------------------------------------------------------------------ */

/* One two-dimensional array on its way into a .npy file, under a temporary name until it is put. */
typedef struct lw__cli_npy {
    FILE *file;
    char *path, *temporary;
} lw__cli_npy;

/* type: as NumPy writes it, "<i4". */
lw_status lw__cli_npy_begin(lw__cli_npy *npy, const char *path, const char *type, uint64_t rows,
                            uint64_t columns, lw_error *err);
lw_status lw__cli_npy_write(lw__cli_npy *npy, const void *data, size_t bytes, lw_error *err);
/* Everything is written: the file is complete, but still under its temporary name. */
lw_status lw__cli_npy_finish(lw__cli_npy *npy, lw_error *err);
lw_status lw__cli_npy_put(lw__cli_npy *npy, lw_error *err);
/* Removes what was not put. */
void lw__cli_npy_reset(lw__cli_npy *npy);

/* ---- the commands ---------------------------------------------------------------------------- */

extern const lw__cli_command lw__cli_command_digest;
extern const lw__cli_command lw__cli_command_dump;
extern const lw__cli_command lw__cli_command_run;
extern const lw__cli_command lw__cli_command_bench;
extern const lw__cli_command lw__cli_command_tokenize;
extern const lw__cli_command lw__cli_command_check;
extern const lw__cli_command lw__cli_command_explain;
extern const lw__cli_command lw__cli_command_state;

#endif
