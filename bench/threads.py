# SPDX-License-Identifier: Apache-2.0
"""Two threads against one.

On two cores any other work falls on the run with two threads alone; the round with the least of it is
shown beside the median of all.
"""
import statistics

from measure import Figure, at_least, in_turn, median

STEPS = 300
ROUNDS = 5
GOAL = 1.8


def figures(lab):
    recipe = lab.recipe("threads")
    results = lab.keep("threads", in_turn(ROUNDS, {
        count: lambda count=count: lab.bench(recipe, "--steps", STEPS, "--threads", count) for count in (1, 2)}))
    for count, runs in results.items():
        yield Figure(f"threads {count}: tokens a second", f"{median(runs, 'tokens_per_second'):,.0f}")
    rounds = [(max(run["other_work_cores"] for run in pair), pair[1]["tokens_per_second"] / pair[0]["tokens_per_second"])
              for pair in zip(results[1], results[2])]
    yield at_least("two threads over one, median of rounds", statistics.median(ratio for _, ratio in rounds), GOAL)
    other, ratio = min(rounds)
    yield at_least(f"the quietest round, {other:.2f} cores of other work", ratio, GOAL)
    yield Figure("CPU time of two threads over one",
                 f"{cpu_seconds(results[2]) / cpu_seconds(results[1]):.2f}")


def cpu_seconds(runs):
    """The median of what all stages took."""
    return statistics.median(sum(run["cpu_seconds"].values()) for run in runs)
