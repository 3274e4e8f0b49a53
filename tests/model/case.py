# SPDX-License-Identifier: Apache-2.0
"""One random recipe: what the reference says of it, and the engine held to that."""

import itertools
import json
import os
import random

import recipe as recipes
from documents import Failure
from engine import Engine, Mismatch, check_exit, check_lines
from generate import Generator
from recipe import RecipeError
from reference import dump_row
from rows import step_digest
from stream import Stream

KEPT_STATES = 8


class Expected:
    """The first steps of a recipe by the reference, and how the stream goes on."""

    def __init__(self, recipe, steps):
        self.recipe = recipe
        self.steps = []
        self.refused = self.fails = False
        try:
            for rows in itertools.islice(Stream(recipe).steps(), steps):
                self.steps.append(rows)
        except Failure:
            self.fails = True
        except RecipeError:
            self.refused = True
        self.digests = [f"{step} {step_digest(rows)}" for step, rows in enumerate(self.steps)]

    def fails_within(self, end):
        """Whether a run up to step `end` meets the failure."""
        return self.fails and end > len(self.steps)

    def rank_lines(self, world, rank, end):
        """The lines of one rank's rows."""
        count = self.recipe.global_batch // world
        return [f"{step} {row} {rows[row].digest().hex()}" for step, rows in enumerate(self.steps[:end])
                for row in range(rank * count, (rank + 1) * count)]

    def dumped_rows(self, end):
        """The rows as `laneway dump` gives them; a shard's name stands for its path."""
        return [named(dump_row(self.recipe, step, number, row))
                for step, rows in enumerate(self.steps[:end]) for number, row in enumerate(rows)]


def named(row):
    """A dumped row as one line of text, with shards by name."""
    for segment in row["segments"]:
        segment["shard"] = os.path.basename(segment["shard"])
    return json.dumps(row, sort_keys=True)


class Case:
    """A recipe, its expectation and the checks of the engine against it."""

    def __init__(self, seed, folder, program):
        self.random = random.Random(seed)
        self.total = self.random.randint(6, 12)
        Generator(self.random, folder).write()
        self.expected = Expected(recipes.load(os.path.join(folder, "recipe.json")), self.total)
        self.engine = Engine(self.random, program, folder, self.expected.recipe.global_batch)

    def check(self):
        """Everything the engine must do with this recipe; raises Mismatch."""
        if self.expected.refused:
            self.check_refused()
            return
        for check in (self.check_dump, self.check_digest, self.check_rank, self.check_cut,
                      self.check_two_resumes, self.check_save_at):
            check()

    def check_refused(self):
        """The engine must refuse what the reference refuses."""
        done = self.engine.call(["digest", "recipe.json", "--steps", "1"])
        check_exit(done, True)
        check_lines(done.stdout.splitlines(), [])

    def check_dump(self):
        """Every value of every row."""
        done = self.engine.run("dump", self.total)
        check_exit(done, self.expected.fails)
        found = [named(json.loads(line)) for line in done.stdout.splitlines()]
        check_lines(found, self.expected.dumped_rows(self.total))

    def check_digest(self):
        """The digests of the steps, from the start."""
        self.digest(0, self.total)

    def check_rank(self):
        """One rank alone, up to a step before any failure."""
        world = self.engine.world()
        rank = self.random.randrange(world)
        end = self.random.randint(0, len(self.expected.steps))
        done = self.engine.run("digest", end, "--rank", str(rank), world=world)
        check_exit(done, False)
        check_lines(done.stdout.splitlines(), self.expected.rank_lines(world, rank, end))

    def check_cut(self):
        """Stop before the first batch or anywhere, then go on elsewhere."""
        self.cut_at(0)
        self.cut_at(self.random.randint(0, self.last_cut()))

    def check_two_resumes(self):
        """Stop twice."""
        first, second = sorted(self.random.randint(0, self.last_cut()) for _ in range(2))
        self.digest(0, first, "--save", "first.state")
        self.digest(first, second, "--resume", "first.state", "--save", "second.state")
        self.digest(second, self.total, "--resume", "second.state")

    def check_save_at(self):
        """Save a step that is not the last one taken, as a consumer that reads ahead does."""
        taken = len(self.expected.steps)
        if taken == 0:
            return
        end = self.random.randint(1, taken)
        at = self.random.randint(max(0, end - KEPT_STATES), end - 1)
        self.digest(0, end, "--save", "at.state", "--save-at", str(at))
        self.digest(at + 1, self.total, "--resume", "at.state")

    def last_cut(self):
        """The last step at which a run can stop well: a failed run saves nothing."""
        return len(self.expected.steps) if self.expected.fails else self.total

    def cut_at(self, step):
        """Save behind `step` steps and go on."""
        self.digest(0, step, "--save", "cut.state")
        self.digest(step, self.total, "--resume", "cut.state")

    def digest(self, start, end, *words):
        """Run `laneway digest` from step `start` up to `end` and compare its lines."""
        done = self.engine.run("digest", end - start, *words)
        check_exit(done, self.expected.fails_within(end))
        check_lines(done.stdout.splitlines(), self.expected.digests[start:end])


def run_case(seed, folder, program):
    """Check one recipe; None, or what went wrong with the command lines that led there."""
    case = Case(seed, folder, program)
    try:
        case.check()
    except Mismatch as mismatch:
        return "\n".join([f"in {folder}:", *("  " + call for call in case.engine.calls), str(mismatch)])
    return None
