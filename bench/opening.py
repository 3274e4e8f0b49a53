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
GOAL_MORE_MS = 10
LANE_RUNS = 7  # each takes milliseconds
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


def lane_figures(lab, name, **options):
    """Few lanes against many, all else equal."""
    tasks = {}
    for lanes in (FEW, MANY):
        recipe = lab.recipe(f"opening-{lanes}", lanes=lanes, global_batch=MANY, **{**SMALL, **options})
        tasks[lanes] = lambda recipe=recipe: lab.bench(recipe, "--steps", 1)["open_seconds"]
    results = lab.keep("opening.lanes." + name, in_turn(LANE_RUNS, tasks))
    few, many = median(results[FEW]), median(results[MANY])
    yield Figure(f"{name}: lanes {FEW}; {MANY}, ms", f"{few * 1e3:.2f}; {many * 1e3:.2f}")
    return few, many


def figures(lab):
    yield from shard_figures(lab)
    few, many = yield from lane_figures(lab, "GPT-2", tokenizer=lab.gpt2())
    yield at_most(f"GPT-2: lanes {MANY} over lanes {FEW}", many / few, GOAL_RATIO)
    few, many = yield from lane_figures(lab, "bytes")
    yield at_most("bytes: what the many take longer, ms", (many - few) * 1e3, GOAL_MORE_MS)
