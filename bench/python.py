# SPDX-License-Identifier: Apache-2.0
"""The Python package beside the command: the whole loop, what handing out a batch costs, and the import.

The loop and the command take turns on the same recipe, so both see the same noise. Handing out is measured
with batches that are ready: each call of next, and the arrays of it, without a wait in the library. The
package is that of the interpreter named in LANEWAY_PYTHON (build/python/bin/python, which ./dev test makes).
"""
import json
import os
import statistics
import subprocess

from measure import Figure, at_least, at_most, in_turn, median

STEPS = 1200
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


def figures(lab):
    recipe = lab.recipe("python")
    loops = lab.keep("python", in_turn(lab.runs, {
        "command": lambda: lab.bench(recipe, "--steps", STEPS, "--threads", 1),
        "python": lambda: run(LOOP, recipe, STEPS)}))
    for name, results in loops.items():
        yield Figure(f"{name}: tokens a second, one thread", f"{median(results, 'tokens_per_second'):,.0f}")
    yield at_least("python over the command, median of rounds", statistics.median(
        python["tokens_per_second"] / command["tokens_per_second"]
        for command, python in zip(loops["command"], loops["python"])), GOAL_RATIO, "{:.3f}")
    for rows in (8, 64):
        hand = run(HAND, recipe, rows)["us"]
        yield at_most(f"handing out a batch of {rows} rows with its arrays, us", hand, GOAL_HAND_US, "{:.1f}")
    yield at_most("import laneway, ms", statistics.median(run(IMPORT) for _ in range(IMPORTS)), GOAL_IMPORT_MS, "{:.0f}")
