# SPDX-License-Identifier: Apache-2.0
"""Where the time goes: nanoseconds a token of each stage, on one thread, for each source."""
from measure import SOURCES, Figure, at_most, in_turn, median

STEPS = 1200
STAGES = ("read", "parse", "tokenize", "decide", "write")
GOAL_NS = 10


def figures(lab):
    recipes = {source: lab.recipe("stages-" + source, sources=[lab.source(source)]) for source in SOURCES}
    tasks = {source: lambda recipe=recipe: lab.bench(recipe, "--steps", STEPS, "--threads", 1)
             for source, recipe in recipes.items()}
    results = lab.keep("stages", in_turn(lab.runs, tasks))
    for source, runs in results.items():
        parts = [f"{median(runs, 'ns_per_token', stage):.1f}" for stage in STAGES]
        yield Figure(f"{source}: {', '.join(STAGES)}, ns a token", " ".join(parts))
        yield at_most(f"{source}: all but tokenizing, ns a token",
                      median(runs, "ns_per_token", "other_than_tokenize"), GOAL_NS, "{:.1f}")
        yield Figure(f"{source}: tokens a second, one thread", f"{median(runs, 'tokens_per_second'):,.0f}")
