# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks stand on: recipes on the corpus, calls of the command, and figures with goals."""
import json
import os
import resource
import statistics
import subprocess
import time
from dataclasses import asdict, dataclass

SOURCES = ("docs_en", "prose_en", "code", "multi", "dict")
CONTEXT = 2048
SHUFFLE_ROWS = 1024
LANES = 8


@dataclass
class Figure:
    """One line of the table."""
    name: str
    found: str
    goal: str = ""
    holds: bool | None = None  # None: it has no goal

    def line(self):
        verdict = {True: "holds", False: "MISSES", None: ""}[self.holds]
        return f"{self.name:<58} {self.found:>24} {self.goal:>20} {verdict:>7}"

    def fields(self):
        return asdict(self)


def at_most(name, value, most, form="{:.2f}"):
    """A figure that should not be above its goal."""
    return Figure(name, form.format(value), "<= " + form.format(most), value <= most)


def at_least(name, value, least, form="{:.2f}"):
    """A figure that should not be below its goal."""
    return Figure(name, form.format(value), ">= " + form.format(least), value >= least)


def in_turn(runs, tasks):
    """Calls each task once a round, so that all see the same noise; {name: list of results}."""
    results = {name: [] for name in tasks}
    for _ in range(runs):
        for name, task in tasks.items():
            results[name].append(task())
    return results


def median(results, *path):
    """The median of one value of each result; the path leads into nested objects."""
    values = []
    for result in results:
        for key in path:
            result = result[key]
        values.append(result)
    return statistics.median(values)


class OtherWork:
    """How many cores something else kept busy since this was made, by the clocks of the machine."""

    def __init__(self):
        self.begin = self.clocks()

    @staticmethod
    def clocks():
        """Seconds: on the wall, of all cores that were busy (or taken away), and of this program's children."""
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
        busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        own = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return time.monotonic(), busy, own

    def cores(self):
        wall, busy, own = (now - then for now, then in zip(self.clocks(), self.begin))
        return max(0.0, (busy - own) / max(wall, 1e-9))


class Lab:
    """The command, the corpus and a scratch folder."""

    def __init__(self, program, corpus, tokenizers, folder, runs):
        self.program = program
        self.corpus = corpus
        self.tokenizers = tokenizers
        self.folder = folder
        self.runs = runs
        self.raw = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def keep(self, name, value):
        """Keeps raw results for --json; the value is handed back."""
        self.raw[name] = value
        return value

    def recipe(self, name, **options):
        """Writes a recipe: docs_en with GPT-2 in 8 lanes, 64 rows of 2,048 tokens; options replace."""
        recipe = {"seed": 1, "lanes": LANES, "global_batch": 64, "context": CONTEXT,
                  "sources": [self.source("docs_en")], "tokenizer": self.gpt2(),
                  "shuffle": {"rows": SHUFFLE_ROWS}}
        recipe.update(options)
        path = self.path(name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(recipe, file, indent=1)
        return path

    def source(self, name):
        return {"name": name, "path": os.path.join(self.corpus, name + ".jsonl")}

    def gpt2(self):
        return {"path": os.path.join(self.tokenizers, "gpt2.vocab.bpe"), "eos": True}

    def output(self, command, recipe, *words):
        """What a command prints; it must not fail."""
        line = [self.program, command, recipe, *map(str, words)]
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True)
        return done.stdout

    def bench(self, recipe, *words):
        """The report of `bench`, and how many cores were busy with other work meanwhile."""
        work = OtherWork()
        report = json.loads(self.output("bench", recipe, *words))
        return {**report, "other_work_cores": work.cores()}

    def save(self, recipe, steps, name, *words):
        """The state after so many steps, in a file."""
        path = self.path(name)
        self.output("digest", recipe, "--steps", steps, "--save", path, *words)
        return path

    def state(self, path):
        """What is in a saved state."""
        done = subprocess.run([self.program, "state", "show", path, "--json"], check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)
