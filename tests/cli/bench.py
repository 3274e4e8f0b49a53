# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command stand on: a folder with data and recipes, and calls with checks."""
import json
import os
import re
import subprocess

TIMEOUT_SECONDS = 120
BOS, EOS = 256, 257  # of the tokenizer "bytes"


class Skip(Exception):
    """The test cannot run here."""


def equal(found, expected, what="value"):
    """Fails with both values unless they are the same."""
    if found != expected:
        raise AssertionError(f"{what}: {str(found)[:400]}, expected {str(expected)[:400]}")


def has(text, *parts):
    """Fails unless every part (a regular expression, case ignored) is found in the text."""
    for part in parts:
        if not re.search(part, text, re.IGNORECASE):
            raise AssertionError(f"no {part!r} in {text.strip()[:400]!r}")


class Bench:
    """The command in an empty folder."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    # ---- data and recipes -------------------------------------------------------------------

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        """A file of bytes or text; folders are made."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def documents(self, name, texts):
        """A shard with one record for each text."""
        self.write(name, "".join(json.dumps({"text": text}) + "\n" for text in texts))

    def numbers(self, name, count):
        """D(count): documents whose texts are their numbers, in three digits."""
        self.documents(name, [f"{number:03}" for number in range(count)])

    def recipe(self, name="recipe.json", **options):
        """A small recipe: 4 lanes, 12 rows of 16 bytes a step, from a.jsonl; options replace."""
        recipe = {"seed": 7, "lanes": 4, "global_batch": 12, "context": 16,
                  "sources": [{"name": "a", "path": "a.jsonl"}],
                  "tokenizer": {"name": "bytes", "eos": True},
                  "runtime": {"threads": 2, "memory": "128MB"}}
        recipe.update(options)
        self.write(name, json.dumps({key: value for key, value in recipe.items() if value is not None}))
        return name

    def one_a_row(self, name="recipe.json", **options):
        """A recipe in which every document of `numbers` fills one row, and a step is one row."""
        return self.recipe(name, **{"lanes": 1, "global_batch": 1, "context": 4, **options})

    def prose(self, name="a.jsonl", count=300):
        """Documents of many lengths, from one character to some hundred."""
        self.documents(name, [f"{number} " + "lorem ipsum " * (number * 7 % 23) for number in range(count)])

    # ---- calls -------------------------------------------------------------------------------

    def call(self, *words, code=0, **options):
        """Runs the command and checks its exit code; its result, with text."""
        options = {"stdout": subprocess.PIPE, **options}
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
                              errors="surrogateescape", timeout=TIMEOUT_SECONDS, check=False, **options)
        if done.returncode != code:
            raise AssertionError(f"exit code {done.returncode}, expected {code}, of {' '.join(map(str, words))}: "
                                 f"{done.stderr.strip()[:400]}")
        if code == 0:
            equal(done.stderr, "", "standard error")
        return done

    def refuse(self, *words, parts=()):
        """The call fails: exit code 1, one line on standard error that has the parts. Its result."""
        done = self.call(*words, code=1)
        if not re.fullmatch(r"laneway: [^\n]+\n", done.stderr):
            raise AssertionError(f"not one line on standard error: {done.stderr[:400]!r}")
        has(done.stderr, *parts)
        return done

    def refuse_all(self, *words, parts=()):
        """The same, and nothing was printed before."""
        equal(self.refuse(*words, parts=parts).stdout, "", "standard output")

    def digest(self, *words, recipe="recipe.json"):
        """The lines of `digest`."""
        return self.call("digest", recipe, *words).stdout.splitlines()

    def rows(self, *words, recipe="recipe.json"):
        """The rows of `dump`."""
        return [json.loads(line) for line in self.call("dump", recipe, *words).stdout.splitlines()]

    def sequence(self, *words, recipe="recipe.json"):
        """The numbers of the documents that `one_a_row` delivers; None for a row of padding."""
        return [row_number(row) for row in self.rows(*words, recipe=recipe)]

    def bench(self, *words, recipe="recipe.json"):
        return json.loads(self.call("bench", recipe, *words).stdout)

    def leftovers(self):
        """Names in the folder that are not whole results."""
        return sorted(name for _, _, files in os.walk(self.folder) for name in files if "tmp" in name)


def row_number(row):
    """The number of the document that fills the row; None for padding."""
    return int(bytes(row["tokens"][:3])) if row["segments"] else None
