# SPDX-License-Identifier: Apache-2.0
"""Calls of the laneway command under random SPEED settings, and what they must print."""

import os
import re
import subprocess

TIMEOUT_SECONDS = 300
ENOUGH_MEMORY = ("128MB", "256MB", "1GB", "4GB")


class Mismatch(Exception):
    """The engine did not do what the reference says."""


class Engine:
    """The command on one recipe; every call draws its own world, threads and budget."""

    def __init__(self, random, program, folder, global_batch):
        self.random = random
        self.program = program
        self.folder = folder
        self.global_batch = global_batch
        self.calls = []

    def world(self):
        """A world that divides the global batch."""
        return self.random.choice([w for w in range(1, self.global_batch + 1) if self.global_batch % w == 0])

    def memory(self, words):
        """A budget: the least that is enough under these settings, as the engine names it, or more."""
        if self.random.random() < 0.5:
            return self.random.choice(ENOUGH_MEMORY)
        return self.ask_minimum(words)

    def ask_minimum(self, words):
        """The least budget, from the refusals of too small ones; ranks may need different ones."""
        budget = "1"
        while True:
            done = self.call(["digest", "recipe.json", "--steps", "0", *words, "--set", f"runtime.memory={budget}"])
            found = re.search(r"runtime.memory: .* at least (\d+)", done.stderr)
            if not found:
                break
            if int(found.group(1)) <= int(budget):
                raise Mismatch(f"a budget of {budget} bytes refused, which was said to be enough")
            budget = found.group(1)
        if budget == "1":
            raise Mismatch("a budget of one byte was not refused with: at least NUMBER")
        return budget

    def speed(self, world):
        """Settings that must not change a byte."""
        random = self.random
        words = ["--world", str(world), "--threads", str(random.randint(1, 4))]
        settings = {"prefetch_steps": random.randint(0, 3), "microbatch": random.randint(0, self.global_batch)}
        for name, value in settings.items():
            words += ["--set", f"runtime.{name}={value}"]
        return words + ["--set", f"runtime.memory={self.memory(words)}"]

    def call(self, words):
        """Run the command in the recipe's folder."""
        self.calls.append("laneway " + " ".join(words))
        try:
            return subprocess.run([self.program, *words], cwd=self.folder, text=True, encoding="utf-8",
                                  capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise Mismatch(f"no answer within {TIMEOUT_SECONDS} seconds") from error

    def run(self, command, steps, *words, world=None):
        """Run a command over steps; its result."""
        world = world or self.world()
        return self.call([command, "recipe.json", "--steps", str(steps), *words, *self.speed(world)])



def check_exit(done, fails):
    """The exit code, and one line on standard error if it is 1."""
    if done.returncode != (1 if fails else 0):
        raise Mismatch(f"exit code {done.returncode}, expected {1 if fails else 0}: {done.stderr.strip()}")
    if fails and len(done.stderr.splitlines()) != 1:
        raise Mismatch(f"not one line on standard error: {done.stderr!r}")


def check_lines(found, expected):
    """Each line as it must be; the first that differs is shown."""
    for number, (line, right) in enumerate(zip(found, expected)):
        if line != right:
            raise Mismatch(f"line {number + 1} differs\n  found    {line}\n  expected {right}")
    if len(found) != len(expected):
        raise Mismatch(f"{len(found)} lines, expected {len(expected)}")
