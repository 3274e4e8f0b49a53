# SPDX-License-Identifier: Apache-2.0
"""The time to the first batch: after a restore, early and late, against a fresh start.

A restore also makes the rows in flight again: beside what a fresh start reads too, it reads the block at each
lane's cursor from its start. What a run takes for one block in each lane is set off.
"""
from measure import LANES, Figure, at_most, in_turn, median

EARLY, LATE = 10, 10000
GOAL = 1.2
STEADY_STEPS = 2000


def to_first_batch(lab, recipe, state=None):
    """Seconds from the call to the first batch."""
    words = () if state is None else ("--resume", state)
    found = lab.bench(recipe, "--steps", 1, "--threads", 2, *words)
    return found["open_seconds"] + found["first_batch_seconds"]


def block_seconds(lab, recipe, state):
    """How long a run takes for one block in each lane."""
    found = lab.bench(recipe, "--steps", STEADY_STEPS, "--threads", 2)
    block = int(lab.state(state)["fields"]["sources.docs_en.block (chosen)"])
    return LANES * block * found["seconds"] / found["bytes_read"]


def restore_figures(lab, name, **options):
    recipe = lab.recipe("restore-" + name, global_batch=LANES, **options)
    states = {step: lab.save(recipe, step, f"{name}-{step}.state") for step in (EARLY, LATE)}
    tasks = {step: lambda state=state: to_first_batch(lab, recipe, state) for step, state in states.items()}
    tasks[0] = lambda: to_first_batch(lab, recipe)
    tasks["blocks"] = lambda: block_seconds(lab, recipe, states[EARLY])
    results = lab.keep("restore." + name, in_turn(lab.runs, tasks))
    fresh, set_off = median(results[0]), median(results["blocks"])
    yield Figure(f"{name}: fresh start to first batch, ms", f"{fresh * 1e3:.1f}")
    yield Figure(f"{name}: one block in each lane, ms", f"{set_off * 1e3:.1f}")
    for step in states:
        found = median(results[step])
        yield Figure(f"{name}: restore at step {step} to first batch, ms", f"{found * 1e3:.1f}")
        yield at_most(f"{name}: restore at step {step} less the blocks, over fresh", (found - set_off) / fresh, GOAL)


def figures(lab):
    yield from restore_figures(lab, "shuffle")
    yield from restore_figures(lab, "no shuffle", shuffle={"rows": 0})
