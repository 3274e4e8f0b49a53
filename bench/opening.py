# SPDX-License-Identifier: Apache-2.0
"""Opening: 10,000 shards, which must not be read, and few lanes against many."""
import collections
import os
import re
import shutil
import subprocess
import time

from measure import Figure, at_most, in_turn, median

SHARDS = 10000
GOAL_SECONDS = 1
FEW, MANY = 8, 4096
GOAL_RATIO = 1.2
SMALL = {"tokenizer": {"name": "bytes", "eos": True}, "context": 128, "shuffle": {"rows": 0}}


def write_shards(folder):
    """As many files with one short document each, in a hundred folders."""
    for number in range(SHARDS):
        below = os.path.join(folder, f"{number % 100:02}")
        os.makedirs(below, exist_ok=True)
        with open(os.path.join(below, f"{number:05}.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"text": "Shard number %d has this one document."}\n' % number)


def wall_seconds(task):
    begin = time.perf_counter()
    task()
    return time.perf_counter() - begin


def shard_calls(lab, recipe):
    """{system call: how often `explain`, which opens the data, made it on a shard}."""
    log = lab.path("trace")
    subprocess.run(["strace", "-f", "-y", "-o", log, "-e", "trace=open,openat,read,pread64,preadv,mmap",
                    lab.program, "explain", recipe], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    calls = collections.Counter()
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = re.match(r"\d+ +(\w+)\(", line)
            if found and ".jsonl" in line:
                calls[found[1]] += 1
    return lab.keep("opening.shard_calls", dict(calls))


def shard_figures(lab):
    write_shards(lab.path("shards"))
    recipe = lab.recipe("opening-shards", sources=[{"name": "many", "path": lab.path("shards")}], **SMALL)
    results = lab.keep("opening.shards", in_turn(lab.runs, {
        "open": lambda: lab.bench(recipe, "--steps", 1)["open_seconds"],
        "explain": lambda: wall_seconds(lambda: lab.output("explain", recipe))}))
    yield at_most(f"{SHARDS:,} shards: a pipeline opens, s", median(results["open"]), GOAL_SECONDS, "{:.3f}")
    yield at_most(f"{SHARDS:,} shards: explain, whole process, s", median(results["explain"]), GOAL_SECONDS,
                  "{:.3f}")
    if shutil.which("strace") is None:
        yield Figure("shards opened or read while opening", "skipped: no strace")
    else:
        yield at_most("shards opened or read while opening", sum(shard_calls(lab, recipe).values()), 0, "{}")


def lane_figures(lab):
    tasks = {}
    for lanes in (FEW, MANY):
        recipe = lab.recipe(f"opening-{lanes}", lanes=lanes, global_batch=MANY, **SMALL)
        tasks[lanes] = lambda recipe=recipe: lab.bench(recipe, "--steps", 1)["open_seconds"]
    results = lab.keep("opening.lanes", in_turn(lab.runs, tasks))
    for lanes, runs in results.items():
        yield Figure(f"lanes {lanes}: open, ms", f"{median(runs) * 1e3:.2f}")
    yield at_most(f"lanes {MANY} over lanes {FEW}", median(results[MANY]) / median(results[FEW]), GOAL_RATIO)


def figures(lab):
    yield from shard_figures(lab)
    yield from lane_figures(lab)
