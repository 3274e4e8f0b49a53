# SPDX-License-Identifier: Apache-2.0
"""A recipe's first steps; then a state, and the same stream going on from it.

usage: quickstart.py [RECIPE]
"""
import pathlib
import sys

import laneway

SAMPLE = pathlib.Path(__file__).resolve().parents[1] / "data" / "recipe.yaml"
STEPS = 3


def show(batch: laneway.Batch) -> None:
    fields = batch.to_training(return_labels=True, return_num_valid_tokens=True)
    rows, context = fields["input_ids"].shape
    print(f"step {batch.step}: {rows} rows of {context} tokens, {fields['num_valid_tokens']} to learn from")


def main() -> None:
    recipe = sys.argv[1] if len(sys.argv) > 1 else SAMPLE
    with laneway.open(recipe) as loader:
        for _ in range(STEPS):
            show(next(loader))
        state = loader.checkpoint()
    print(f"a state of {len(state)} bytes, and on from there as rank 1 of 2:")
    with laneway.open(recipe, rank=1, world=2, state=state) as loader:
        show(next(loader))


if __name__ == "__main__":
    main()
