/* SPDX-License-Identifier: Apache-2.0 */
/* lw_explain: opens what a recipe names and describes the plan. */
#include "observe/explain.h"

#include "api/run.h"
#include "base/error.h"

static lw_status explain(lw__run *run, uint64_t world, const lw_state *state, lw__bytes *out,
                         lw_error *err)
{
    lw__topology topology;
    LW__TRY(lw__run_topology(run, 0, world, &topology, err));
    lw__engine_options options = lw__run_engine_options(run, &topology, false);
    if (state != NULL) {
        LW__TRY(lw__global_compare(state, &run->identity, err));
        lw__bytes_printf(out, "state    fits; the next step is %llu\n",
                         (unsigned long long)lw_state_step(state));
    }
    lw__explain(&options, world, out);
    lw__bytes_put_u8(out, 0);
    return out->failed ? lw__fail_nomem(err, out->count, "an explanation") : LW_OK;
}

lw_status lw_explain(lw_recipe *recipe, uint64_t world, const lw_state *state, char **out,
                     lw_error *err)
{
    lw__run run;
    lw__bytes text;
    if (recipe == NULL || out == NULL) {
        return lw__fail(err, LW_E_INVALID, "explain: an argument is NULL");
    }
    *out = NULL;
    LW__TRY(lw__run_open(&run, recipe, err));
    lw__bytes_init(&text);
    lw_status status = explain(&run, world == 0 ? 1 : world, state, &text, err);
    lw__run_close(&run);
    if (status < 0) {
        lw__bytes_reset(&text);
        return status;
    }
    *out = (char *)text.data;
    return LW_OK;
}
