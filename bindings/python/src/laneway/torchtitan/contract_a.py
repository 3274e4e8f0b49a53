# SPDX-License-Identifier: Apache-2.0
"""The loader for TorchTitan 0.3.0: pairs of inputs and labels, [rows, tokens]."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import torch
import tyro
from torchtitan.components.dataloader import BaseDataLoader

from ..errors import InvalidError
from .core import Core
from .place import Place, Wanted


class LanewayDataLoader(BaseDataLoader):
    """TorchTitan's data loader for one data-parallel coordinate. Whoever has the same coordinate gets the same
    batches: replicas of tensor, pipeline and context parallelism need no broadcast.

    >>> config.dataloader = LanewayDataLoader.Config(recipe="data.toml")
    """

    @dataclass(kw_only=True, slots=True)
    class Config(BaseDataLoader.Config):
        recipe: str = ""
        """Path of a recipe: Laneway's (YAML, JSON, TOML) or a TOML file of the reference integration."""

        canonical_replicas: int | None = None
        """Lanes, in place of the recipe's: a multiple of every number of data-parallel ranks the run may have."""

        labels: str | None = None
        """The label of a document's last token: "document": none, as in TorchTitan's own loader; "stream": the
        next document's first token. None: the recipe's; "document" for the reference integration."""

        mask_eos: bool | None = None
        """Whether the EOS gets no label. None: the recipe's."""

        validation: bool = False
        """One pass in the order of the files, padded so that every rank ends at the same step."""

        infinite: bool | None = None
        """Whether the data begins again at its end. None: the recipe's. The validator sets it."""

        global_batch_size: Annotated[int, tyro.conf.Suppress] = -1
        """training.global_batch_size, which TorchTitan does not tell a loader. Set by the configs of
        laneway.torchtitan.recipes; -1: a step is one batch of each rank."""

        rank_batch_size: Annotated[int, tyro.conf.Suppress] = 0
        """training.local_batch_size, of which a loader sees pieces under pipeline parallelism. Set likewise."""

        vocabulary: Annotated[int, tyro.conf.Suppress] = 0
        """Ids of the model's embedding; 0: not known. Set likewise."""

        @classmethod
        def from_toml(cls, path: str, **fields: Any) -> Any:
            """A config for a recipe's path, with other fields of this class."""
            return cls(recipe=path, **fields)

    def __init__(self, config: Config, *, dp_world_size: int, dp_rank: int, tokenizer: Any, seq_len: int,
                 local_batch_size: int, **_: Any) -> None:
        for field in ("dataset", "dataset_path"):
            if getattr(config, field):
                raise InvalidError(f"dataloader: {field} is {getattr(config, field)!r}, expected recipe in its place")
        place = Place(rank=dp_rank, world=dp_world_size, microbatch=local_batch_size, context=seq_len,
                      step=max(config.global_batch_size, 0), rank_step=config.rank_batch_size)
        wanted = Wanted(recipe=config.recipe, lanes=config.canonical_replicas, shift=config.labels,
                        mask_eos=config.mask_eos, validation=config.validation, repeat=config.infinite,
                        vocabulary=config.vocabulary)
        self.core = Core(wanted, place, tokenizer)

    def __iter__(self) -> LanewayDataLoader:
        return self

    def __next__(self) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        batch = self.core.next()
        return ({"input": torch.from_numpy(batch.tokens), "positions": torch.from_numpy(batch.positions)},
                torch.from_numpy(batch.labels))

    def state_dict(self) -> dict[str, Any]:
        return dict(self.core.state_dict())

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        self.core.load_state_dict(state_dict)

    def close(self) -> None:
        """Stops all threads. TorchTitan 0.3.0 does not call it: they stop when the loader is dropped, too."""
        self.core.close()
