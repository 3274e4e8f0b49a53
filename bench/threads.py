# SPDX-License-Identifier: Apache-2.0
"""Two threads against one."""
from measure import Figure, at_least, in_turn, median

STEPS = 300
GOAL = 1.8


def figures(lab):
    recipe = lab.recipe("threads")
    results = lab.keep("threads", in_turn(lab.runs, {
        count: lambda count=count: lab.bench(recipe, "--steps", STEPS, "--threads", count) for count in (1, 2)}))
    speed = {count: median(runs, "tokens_per_second") for count, runs in results.items()}
    for count, value in speed.items():
        yield Figure(f"threads {count}: tokens a second", f"{value:,.0f}")
    yield at_least("two threads over one", speed[2] / speed[1], GOAL)
