# SPDX-License-Identifier: Apache-2.0
"""The time to the first batch: after a restore, early and late, against a fresh start.

A restore also makes the rows in flight again, for which it reads their documents. Its threads say how long that took
them; shared among them, that is set off.
"""
from measure import LANES, Figure, at_most, in_turn, median

EARLY, LATE = 10, 10000
GOAL = 1.2
THREADS = 2


def to_first_batch(lab, recipe, state=None):
    """Seconds from the call to the first batch, and those of them for making rows again."""
    words = () if state is None else ("--resume", state)
    found = lab.bench(recipe, "--steps", 1, "--threads", THREADS, *words)
    return {"all": found["open_seconds"] + found["first_batch_seconds"],
            "remake": found["remake_cpu_seconds"] / THREADS}


def restore_figures(lab, name, **options):
    recipe = lab.recipe("restore-" + name, global_batch=LANES, **options)
    states = {step: lab.save(recipe, step, f"{name}-{step}.state") for step in (EARLY, LATE)}
    tasks = {step: lambda state=state: to_first_batch(lab, recipe, state) for step, state in states.items()}
    tasks[0] = lambda: to_first_batch(lab, recipe)
    results = lab.keep("restore." + name, in_turn(lab.runs, tasks))
    fresh = median(results[0], "all")
    yield Figure(f"{name}: fresh start to first batch, ms", f"{fresh * 1e3:.1f}")
    for step in states:
        found, remake = median(results[step], "all"), median(results[step], "remake")
        yield Figure(f"{name}: restore at step {step}; of it making rows again, ms",
                     f"{found * 1e3:.1f}; {remake * 1e3:.1f}")
        yield at_most(f"{name}: restore at step {step} less that, over fresh", (found - remake) / fresh, GOAL)


def figures(lab):
    yield from restore_figures(lab, "shuffle")
    yield from restore_figures(lab, "no shuffle", shuffle={"rows": 0})
