# SPDX-License-Identifier: Apache-2.0
"""The time to the first batch: after a restore, early and late, against a fresh start.

With the shuffle a fresh start fills its windows before the first batch, and a restore makes the rows in
flight again; without it neither has much to do, and opening is what is compared.
"""
from measure import LANES, Figure, at_most, in_turn, median

EARLY, LATE = 10, 10000
GOAL = 1.2


def to_first_batch(lab, recipe, state=None):
    """Seconds from the call to the first batch."""
    words = () if state is None else ("--resume", state)
    found = lab.bench(recipe, "--steps", 1, "--threads", 2, *words)
    return {"open": found["open_seconds"], "total": found["open_seconds"] + found["first_batch_seconds"]}


def restore_figures(lab, name, recipe):
    states = {f"restore at step {step}": lab.save(recipe, step, f"{name}-{step}.state") for step in (EARLY, LATE)}
    tasks = {"fresh start": lambda: to_first_batch(lab, recipe)}
    for label, state in states.items():
        tasks[label] = lambda state=state: to_first_batch(lab, recipe, state)
    results = lab.keep("restore." + name, in_turn(lab.runs, tasks))
    fresh = median(results["fresh start"], "total")
    yield Figure(f"{name}: fresh start to first batch, ms", f"{fresh * 1e3:.1f}")
    for label in states:
        yield Figure(f"{name}: {label} to first batch, ms", f"{median(results[label], 'total') * 1e3:.1f}")
        yield at_most(f"{name}: {label} over fresh", median(results[label], "total") / fresh, GOAL)


def figures(lab):
    yield from restore_figures(lab, "shuffle", lab.recipe("restore-shuffle", global_batch=LANES))
    yield from restore_figures(lab, "no shuffle",
                               lab.recipe("restore-plain", global_batch=LANES, shuffle={"rows": 0}))
