# SPDX-License-Identifier: Apache-2.0
"""Calls of the command under drawn SPEED settings, and what they must print."""
import json
import re
import subprocess

TIMEOUT_SECONDS = 120
MEMORY = ("minimum", "192MB", "256MB", "1GB")


class Different(Exception):
    """The command did not print what it must."""


class Engine:
    """The command on one recipe; what it is called with is kept for the report."""

    def __init__(self, program, recipe, rows, draw):
        self.program = program
        self.recipe = recipe
        self.rows = rows
        self.draw = draw
        self.calls = []

    def call(self, *words):
        """Standard output of a call that must not fail."""
        line = [self.program, *map(str, words)]
        self.calls.append(" ".join(line))
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=TIMEOUT_SECONDS, check=False)
        if done.returncode != 0:
            raise Different(f"exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def world(self):
        return self.draw.choice([n for n in range(1, self.rows + 1) if self.rows % n == 0])

    def settings(self, world):
        """Threads, microbatch and a budget from the minimum up."""
        words = ["--world", world, "--threads", self.draw.choice((1, 2, 3, 8)),
                 "--set", f"runtime.microbatch={self.draw.randint(0, self.rows)}",
                 "--set", f"runtime.prefetch_steps={self.draw.randint(0, 3)}"]
        memory = self.draw.choice(MEMORY)
        if memory == "minimum":
            memory = self.minimum(words) if world == 1 else MEMORY[1]
        return [*words, "--set", f"runtime.memory={memory}"]

    def minimum(self, words):
        """The least budget of rank 0, as `explain` gives it."""
        text = self.call("explain", self.recipe, *words, "--set", "runtime.digests=true")
        return re.search(r"^minimum +(\d+)", text, re.MULTILINE)[1]

    def digest(self, steps, *words, world=None):
        """The lines of `digest` on a drawn world, or the one given."""
        settings = self.settings(world or self.world())
        return self.call("digest", self.recipe, "--steps", steps, *settings, *words).splitlines()

    def expect(self, expected, steps, *words, world=None):
        """The same, compared."""
        found = self.digest(steps, *words, world=world)
        if found != expected:
            pairs = [(a, b) for a, b in zip(found, expected) if a != b]
            first = f"{pairs[0][0]}, expected {pairs[0][1]}" if pairs else "the rest is equal"
            raise Different(f"{len(found)} lines, expected {len(expected)}; first difference: {first}")

    def dump(self, steps):
        return [json.loads(line) for line in self.call("dump", self.recipe, "--steps", steps).splitlines()]
