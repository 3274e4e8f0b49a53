# SPDX-License-Identifier: Apache-2.0
"""The reference as a command: prints what `laneway digest` and `laneway dump` print.

    python3 tests/reference/reference.py digest|dump RECIPE.json --steps N [--start S]

It always computes the stream from its start; --start only says which step is
the first to be printed.
"""

import argparse
import itertools
import json
import sys

import recipe as recipes
from documents import Failure
from recipe import RecipeError
from rows import step_digest
from stream import Stream


def dump_row(recipe, step, number, row):
    """One row as the object that `laneway dump` prints."""
    return {
        "step": step, "row": number, "lane": number // recipe.rows_per_lane,
        "tokens": row.tokens, "positions": row.positions,
        "labels": row.labels, "loss_mask": row.loss_mask,
        "segments": [{"source": segment.document.source.name,
                      "shard": segment.document.shard.path,
                      "record": segment.document.record,
                      "first": segment.first, "count": segment.count}
                     for segment in row.segments],
    }


def print_step(command, recipe, step, rows):
    """One step in the form that the command asks for."""
    if command == "digest":
        print(step, step_digest(rows))
        return
    for number, row in enumerate(rows):
        print(json.dumps(dump_row(recipe, step, number, row), separators=(",", ":")))


def run(arguments):
    """Print the steps asked for."""
    recipe = recipes.load(arguments.recipe)
    end = arguments.start + arguments.steps
    for step, rows in enumerate(itertools.islice(Stream(recipe).steps(), end)):
        if step >= arguments.start:
            print_step(arguments.command, recipe, step, rows)


def main():
    """Exit codes are those of the laneway command."""
    parser = argparse.ArgumentParser(description="The stream of a recipe, from docs/stream.md alone.")
    parser.add_argument("command", choices=("digest", "dump"))
    parser.add_argument("recipe")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--start", type=int, default=0)
    try:
        run(parser.parse_args())
    except (Failure, RecipeError) as error:
        print(f"reference: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
