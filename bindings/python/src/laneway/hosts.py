# SPDX-License-Identifier: Apache-2.0
"""Two things that training frameworks with a loop of their own want of a ``laneway.torch.StreamDataset``: labels as
models take them that shift them, and a state of all ranks that one file keeps. See docs/hosts.md."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist

from .batch import Batch
from .state import State
from .torch import StreamDataset, gather_state

__all__ = ["WholeState", "unshifted_fields"]

_IGNORED = -100


def unshifted_fields(batch: Batch) -> dict[str, Any]:
    """For models that shift labels themselves, as those of Hugging Face do: ``input_ids``, ``position_ids`` and
    ``labels``, int64 tensors [rows, context].

    The label of a place is its own token, -100 where the model is not to predict it: in padding, where the
    recipe takes the loss away, and in the first place of a row. A row so has one label less than the stream.
    """
    fields = batch.to_training(return_labels=True, framework="torch", rename_fields={"positions": "position_ids"})
    labels = torch.full_like(fields["labels"], _IGNORED)
    labels[:, 1:] = fields["labels"][:, :-1]
    return {**fields, "labels": labels}


class WholeState:
    """The place of a run in its data, for frameworks that keep one copy of what they save: that of all ranks.

    steps: how many steps of the whole run have been trained; the program counts them, and a load sets them.
    newest: the state after the steps that were taken, whatever ``steps`` is: for loops that do not read ahead.
    """

    def __init__(self, dataset: StreamDataset, *, newest: bool = False) -> None:
        self.steps = 0
        self._dataset, self._newest = dataset, newest

    def state_dict(self) -> dict[str, bytes]:
        """The state, the same on each rank. Every rank has to ask for it."""
        after = None if self._newest else self.steps
        if dist.is_available() and dist.is_initialized():
            return {"laneway": gather_state(self._dataset, after=after)}
        return {"laneway": bytes(State.of(self._dataset.state_dict(after=after)))}

    def load_state_dict(self, state_dict: Mapping[str, bytes]) -> None:
        """Goes on at a state, saved on any number of ranks."""
        state = State.of(state_dict["laneway"])
        self._dataset.load_state_dict(state)
        self.steps = state.step
