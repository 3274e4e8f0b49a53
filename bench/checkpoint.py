# SPDX-License-Identifier: Apache-2.0
"""What a saved state takes: its bytes, early and late, and the time of a save after every step.

The late step is reached on a recipe with eight rows a step, or it would take minutes; the early one
is measured on both.
"""
import json

from measure import LANES, SHUFFLE_ROWS, Figure, at_most, in_turn, median

EARLY, LATE = 200, 10000
KIB = 1024
OPEN_ROWS = {"wrap": 1, "best_fit": 64}


def segments_a_row(lab, recipe):
    """The mean over a few steps."""
    rows = [json.loads(line) for line in lab.output("dump", recipe, "--steps", 2).splitlines()]
    return sum(len(row["segments"]) for row in rows) / len(rows)


def size_figures(lab, algorithm):
    """The state after the early step, against what its rows and segments may take."""
    recipe = lab.recipe("checkpoint-" + algorithm, pack={"algorithm": algorithm})
    found = lab.state(lab.save(recipe, EARLY, algorithm + ".state"))["bytes"]
    rows = LANES * (SHUFFLE_ROWS + OPEN_ROWS[algorithm])
    bound = 16 * rows + 4 * rows * segments_a_row(lab, recipe) + KIB * LANES
    lab.keep(f"checkpoint.{algorithm}", {"bytes": found, "bound_bytes": bound, "rows": rows})
    yield at_most(f"{algorithm}: bytes at step {EARLY}; 16 a row, 4 a segment", found, bound, "{:,.0f}")
    if algorithm == "wrap":
        yield at_most(f"{algorithm}: bytes at step {EARLY}; 128 KiB", found, 128 * KIB, "{:,.0f}")


def growth_figures(lab):
    """The same early and late."""
    recipe = lab.recipe("checkpoint-growth", global_batch=LANES)
    sizes = {step: lab.bench(recipe, "--steps", step, "--save-every", step)["checkpoint_bytes"]
             for step in (EARLY, LATE)}
    lab.keep("checkpoint.growth", sizes)
    for step, size in sizes.items():
        yield Figure(f"eight rows a step: bytes at step {step}", f"{size:,}")
    yield at_most("late over early", sizes[LATE] / sizes[EARLY], 1.1, "{:.3f}")
    yield at_most("early over late", sizes[EARLY] / sizes[LATE], 1.1, "{:.3f}")


def save_figures(lab):
    """A run that saves after every step against one that does not."""
    recipe = lab.recipe("checkpoint-save")
    tasks = {"without": lambda: lab.bench(recipe, "--steps", EARLY, "--threads", 2),
             "with": lambda: lab.bench(recipe, "--steps", EARLY, "--threads", 2, "--save-every", 1)}
    results = lab.keep("checkpoint.save", in_turn(lab.runs, tasks))
    seconds = {name: median(runs, "seconds") for name, runs in results.items()}
    each = median(results["with"], "checkpoint_seconds") / EARLY
    yield Figure("one save, ms", f"{each * 1e3:.3f}")
    yield at_most("time with a save after every step over without", seconds["with"] / seconds["without"], 1.05,
                  "{:.3f}")


def figures(lab):
    for algorithm in OPEN_ROWS:
        yield from size_figures(lab, algorithm)
    yield from growth_figures(lab)
    yield from save_figures(lab)
