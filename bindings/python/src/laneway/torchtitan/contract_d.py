# SPDX-License-Identifier: Apache-2.0
"""The loader for TorchTitan's main branch from October 2026 on: microbatches as objects, all rows laid end to end."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torchtitan.components.data.loader import BaseDataLoader
from torchtitan.components.data.types import TokenizedTrainingMicrobatch

from ..errors import InvalidError
from .core import Core
from .place import Place, Wanted


class LanewayDataLoader(BaseDataLoader):
    """TorchTitan's data loader for one data-parallel coordinate. Whoever has the same coordinate gets the same
    microbatches: replicas of tensor, pipeline and context parallelism need no broadcast.

    >>> config.dataloader = LanewayDataLoader.Config(recipe="data.toml")
    """

    @dataclass(kw_only=True, slots=True)
    class Config(BaseDataLoader.Config):
        """The fields are those of the loader for 0.3.0, but for ``repeat`` and the unit of a step: tokens."""

        recipe: str = ""
        canonical_replicas: int | None = None
        labels: str | None = None
        mask_eos: bool | None = None
        validation: bool = False
        repeat: bool | None = None
        num_tokens_per_train_step: int = -1
        vocabulary: int = 0

        @classmethod
        def from_toml(cls, path: str, **fields: Any) -> Any:
            """A config for a recipe's path, with other fields of this class."""
            return cls(recipe=path, **fields)

    def __init__(self, config: Config, *, dp_world_size: int, dp_rank: int, tokenizer: Any, max_context_length: int,
                 num_tokens_per_microbatch: int, **_: Any) -> None:
        rows = _rows("num_tokens_per_microbatch", num_tokens_per_microbatch, max_context_length)
        step = _rows("num_tokens_per_train_step", max(config.num_tokens_per_train_step, 0), max_context_length)
        place = Place(rank=dp_rank, world=dp_world_size, microbatch=rows, context=max_context_length, step=step)
        wanted = Wanted(recipe=config.recipe, lanes=config.canonical_replicas, shift=config.labels,
                        mask_eos=config.mask_eos, validation=config.validation, repeat=config.repeat,
                        vocabulary=config.vocabulary, step_field="training.num_tokens_per_train_step",
                        context_field="training.max_context_length")
        if getattr(config, "max_num_documents", None) is not None:
            raise InvalidError("dataloader: max_num_documents is set, expected None: a row takes as many documents as fit")
        self.max_num_documents = None
        self.core = Core(wanted, place, tokenizer)

    def __iter__(self) -> LanewayDataLoader:
        return self

    def __next__(self) -> TokenizedTrainingMicrobatch:
        batch = self.core.next()
        return TokenizedTrainingMicrobatch(
            input=torch.from_numpy(batch.tokens.reshape(-1)), labels=torch.from_numpy(batch.labels.reshape(-1)),
            positions=torch.from_numpy(batch.positions.reshape(-1)),
            padding_mask=torch.from_numpy(batch.padding.reshape(-1)),
            num_valid_tokens=int(np.count_nonzero(batch.loss_mask)))

    def state_dict(self) -> dict[str, Any]:
        return dict(self.core.state_dict())

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        self.core.load_state_dict(state_dict)

    def close(self) -> None:
        """Stops all threads; may be called again."""
        self.core.close()


def _rows(field: str, tokens: int, context: int) -> int:
    if tokens % context != 0:
        raise InvalidError(f"dataloader: training.{field} is {tokens}, expected a multiple of max_context_length "
                           f"({context})")
    return tokens // context
