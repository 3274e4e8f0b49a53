# SPDX-License-Identifier: Apache-2.0
"""The Python package beside the command: the whole loop, what handing out a batch costs, and the import.

The loop and the command take turns on the same recipe, both with one thread and a consumer that takes what is
ready, timed from the open pipeline to the last batch. A machine's speed drifts within seconds, by more than what is
looked for: so runs are short, a round is command, loop, loop, command (or the other way round), which takes a steady
drift out, and the ratio is the median of many rounds. Handing out is measured with batches that are ready: each call
of next, and the arrays of it, without a wait in the library. The package is that of the interpreter named in
LANEWAY_PYTHON (build/python/bin/python, which ./dev test makes).
"""
import json
import os
import statistics
import subprocess

from measure import Figure, at_least, at_most

STEPS = 300
ROUNDS_OF_A_RUN = 3
GOAL_RATIO = 0.95
GOAL_HAND_US = 50
GOAL_IMPORT_MS = 150
IMPORTS = 15

LOOP = """
import json, laneway, numpy, sys, time
steps = int(sys.argv[2])
with laneway.open(sys.argv[1], options={"runtime.threads": 1}) as loader:
    begin = time.perf_counter()
    tokens = 0
    for batch in loader:
        fields = batch.to_training(return_labels=True, framework="numpy", dtype="auto")
        tokens += batch.valid_tokens
        if batch.step + 1 == steps:
            break
    print(json.dumps({"tokens_per_second": tokens / (time.perf_counter() - begin)}))
"""

HAND = """
import json, laneway, numpy, sys, time
rows, ready = int(sys.argv[2]), 12
options = {"global_batch": rows, "shuffle.rows": 0, "runtime.prefetch_steps": ready}
times = []
with laneway.open(sys.argv[1], options=options) as loader:
    for _ in range(10):
        batch = next(loader)
        time.sleep(0.05 + rows * 0.004)
        for _ in range(ready - 2):
            del batch
            begin = time.perf_counter()
            batch = next(loader)
            batch.tokens, batch.positions, batch.labels, batch.loss_mask
            times.append(time.perf_counter() - begin)
print(json.dumps({"us": 1e6 * sorted(times)[len(times) // 2]}))
"""

IMPORT = """
import time
begin = time.perf_counter()
import laneway
print(1e3 * (time.perf_counter() - begin))
"""


def interpreter():
    return os.environ.get("LANEWAY_PYTHON") or os.path.abspath("build/python/bin/python")


def run(code, *arguments):
    line = [interpreter(), "-c", code, *map(str, arguments)]
    return json.loads(subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout)


def measure_round(tasks):
    """Tokens a second of each task, by name, over two runs: one in turn, and one in turn from the other end."""
    found = {name: [] for name in tasks}
    for name in [*tasks, *reversed(tasks)]:
        found[name].append(tasks[name]()["tokens_per_second"])
    return {name: statistics.harmonic_mean(speeds) for name, speeds in found.items()}


def compare_loops(lab, recipe):
    tasks = {"command": lambda: lab.bench(recipe, "--steps", STEPS, "--threads", 1),
             "python": lambda: run(LOOP, recipe, STEPS)}
    rounds = []
    for _ in range(ROUNDS_OF_A_RUN * lab.runs):
        rounds.append(measure_round(tasks))
        tasks = dict(reversed(tasks.items()))
    return lab.keep("python", rounds)


def figures(lab):
    recipe = lab.recipe("python")
    rounds = compare_loops(lab, recipe)
    for name in ("command", "python"):
        speed = statistics.median(one[name] for one in rounds)
        yield Figure(f"{name}: tokens a second, one thread", f"{speed:,.0f}")
    ratios = sorted(one["python"] / one["command"] for one in rounds)
    yield at_least("python over the command, median of rounds", statistics.median(ratios), GOAL_RATIO, "{:.3f}")
    yield Figure("  its quartiles", "{:.3f} to {:.3f}".format(*statistics.quantiles(ratios)[::2]))
    for rows in (8, 64):
        hand = run(HAND, recipe, rows)["us"]
        yield at_most(f"handing out a batch of {rows} rows with its arrays, us", hand, GOAL_HAND_US, "{:.1f}")
    yield at_most("import laneway, ms", statistics.median(run(IMPORT) for _ in range(IMPORTS)), GOAL_IMPORT_MS, "{:.0f}")
