# SPDX-License-Identifier: Apache-2.0
"""What a saved state takes: its bytes, early and late, and the time of a save after every step.

A state is small, and how small depends on the documents that its markers meet; so beside the two steps
themselves stand the states of a dozen shuffle windows after each.
"""
import json
import statistics

from measure import LANES, SHUFFLE_ROWS, Figure, at_most, in_turn, median

EARLY, LATE = 200, 10000
SAVES = 1000  # so that the first one, which reads samples of the files, does not count for much
SAMPLES = 12
GLOBAL_BATCH = 64
WINDOW_STEPS = SHUFFLE_ROWS * LANES // GLOBAL_BATCH
KIB = 1024
OPEN_ROWS = {"wrap": 1, "best_fit": 64}


def segments_a_row(lab, recipe):
    """The mean over a few steps."""
    rows = [json.loads(line) for line in lab.output("dump", recipe, "--steps", 2).splitlines()]
    return sum(len(row["segments"]) for row in rows) / len(rows)


def bound_figure(lab, algorithm):
    """The state after the early step, against what its rows and segments may take."""
    recipe = lab.recipe("checkpoint-" + algorithm, pack={"algorithm": algorithm})
    found = lab.state(lab.save(recipe, EARLY, algorithm + ".state"))["bytes"]
    rows = LANES * (SHUFFLE_ROWS + OPEN_ROWS[algorithm])
    bound = 16 * rows + 4 * rows * segments_a_row(lab, recipe) + KIB * LANES
    lab.keep(f"checkpoint.{algorithm}", {"bytes": found, "bound_bytes": bound, "rows": rows})
    return at_most(f"{algorithm}: bytes at step {EARLY}; 16 a row, 4 a segment", found, bound, "{:,.0f}")


def states_from(lab, recipe, step):
    """The states after the step and after each of the windows that follow, one run going on from another."""
    path = lab.save(recipe, step, f"{step}.state")
    states = [lab.state(path)]
    for number in range(SAMPLES):
        path = lab.save(recipe, WINDOW_STEPS, f"{step}-{number % 2}.state", "--resume", path)
        states.append(lab.state(path))
    return states


def growth_figures(lab):
    """The same early and late."""
    recipe = lab.recipe("checkpoint-growth")
    states = lab.keep("checkpoint.growth", {step: states_from(lab, recipe, step) for step in (EARLY, LATE)})
    lane = {}
    for step, found in states.items():
        sizes = [state["bytes"] for state in found]
        lane[step] = statistics.median(piece["bytes"] for state in found for piece in state["lanes"])
        yield Figure(f"bytes at step {step}; median and most of the windows after",
                     f"{sizes[0]:,}; {statistics.median(sizes):,.0f}, {max(sizes):,}")
        yield at_most(f"most bytes from step {step}; 128 KiB", max(sizes), 128 * KIB, "{:,.0f}")
    yield at_most(f"bytes at step {LATE} over step {EARLY}",
                  states[LATE][0]["bytes"] / states[EARLY][0]["bytes"], 1.1)
    yield at_most(f"a lane's piece, median from step {LATE} over {EARLY}", lane[LATE] / lane[EARLY], 1.1)


def save_figures(lab):
    """A run that saves after every step against one that does not."""
    recipe = lab.recipe("checkpoint-save")
    words = ("--steps", SAVES, "--threads", 2)
    tasks = {"without": lambda: lab.bench(recipe, *words),
             "with": lambda: lab.bench(recipe, *words, "--save-every", 1)}
    results = lab.keep("checkpoint.save", in_turn(lab.runs, tasks))
    seconds = {name: median(runs, "seconds") for name, runs in results.items()}
    each = median(results["with"], "checkpoint_seconds") / SAVES
    yield Figure("one save, ms", f"{each * 1e3:.3f}")
    yield at_most("all saves over the run's time", each * SAVES / seconds["with"], 0.05, "{:.3f}")
    yield at_most("time with a save after every step over without", seconds["with"] / seconds["without"], 1.05,
                  "{:.3f}")


def figures(lab):
    for algorithm in OPEN_ROWS:
        yield bound_figure(lab, algorithm)
    yield from growth_figures(lab)
    yield from save_figures(lab)
