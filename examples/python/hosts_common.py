# SPDX-License-Identifier: Apache-2.0
"""What the examples of hosts share: data, a tiny model, and a record of the batches of a run."""
import hashlib
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import torch

import laneway
from laneway.torch import training_fields

RECIPE = pathlib.Path(__file__).resolve().parents[1] / "data" / "recipe.yaml"
VOCABULARY = 2048
STEPS, STOP = 4, 2  # steps of a whole run; after how many the other one is stopped


class Recorded:
    """Makes fields of batches, and notes which batches they were: for ``convert`` of a data set."""

    def __init__(self, fields: Callable[[laneway.Batch], dict[str, Any]] = training_fields) -> None:
        self.seen: dict[tuple[int, int], str] = {}
        self._fields = fields

    def __call__(self, batch: laneway.Batch) -> dict[str, Any]:
        self.seen[batch.step, batch.first_row] = hashlib.sha256(batch.tokens.tobytes()).hexdigest()
        return self._fields(batch)


class TinyModel(torch.nn.Module):
    """Predicts a token from the one before it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.layers = torch.nn.Sequential(torch.nn.Embedding(VOCABULARY, 16), torch.nn.Linear(16, VOCABULARY))

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """The loss. Labels are already shifted."""
        logits = self.layers(input_ids)
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def compare(host: str, whole: Recorded, resumed: Recorded, model: torch.nn.Module, other: torch.nn.Module) -> None:
    """Ends the program: with 0 if from the stop on the resumed run had the batches of the whole one, and its weights."""
    expected = {place: digest for place, digest in whole.seen.items() if STOP <= place[0] < STEPS}
    found = {place: digest for place, digest in resumed.seen.items() if place[0] < STEPS}
    weights = all(torch.allclose(one, another, atol=1e-6)
                  for one, another in zip(model.parameters(), other.parameters()))
    batches = "yes" if found == expected else "NO"
    print(f"{host}: after a stop at step {STOP}, {len(found)} batches the same: {batches}, "
          f"weights the same: {'yes' if weights else 'NO'}")
    sys.exit(0 if found and found == expected and weights else 1)
