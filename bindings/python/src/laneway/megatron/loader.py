# SPDX-License-Identifier: Apache-2.0
"""The two iterators that Megatron-LM wraps: training data, which has a state, and validation data, which begins again.

Every process that asks for batches opens its own: those of one data-parallel rank, whatever their rank in a tensor,
pipeline or context group and whatever the virtual stage, deliver identical batches.
"""
from __future__ import annotations

from typing import Any

from ..errors import InvalidError
from ..loader import Loader
from ..recipe import Recipe
from ..state import State
from .fields import fields
from .settings import Settings
from .state import saved


class TrainLoader:
    """An iterator of this data-parallel rank's microbatches, see ``fields``, that goes on at a state.

    It is opened by the first call of ``__next__``, ``save_state`` or ``open``: stages in the middle of a pipeline
    that are given one and never ask for a batch start no threads.
    """

    def __init__(self, recipe: Recipe, settings: Settings, *, rank: int, world: int,
                 state: State | None = None) -> None:
        self._recipe, self._settings, self._state = recipe, settings, state
        self._rank, self._world = rank, world
        self._loader: Loader | None = None

    def __iter__(self) -> TrainLoader:
        return self

    def __next__(self) -> dict[str, Any]:
        loader = self.open()
        try:
            return fields(next(loader), self._settings)
        except StopIteration:
            raise InvalidError(f"megatron: the data of --laneway-data-config ends after {loader.state().step} "
                               f"iterations, expected --train-iters {self._settings.train_iters} of them, or "
                               "end: repeat") from None

    def save_state(self) -> dict[str, Any]:
        """The state after the iterations whose batches were taken, to be kept by ``torch.save``. Every rank of a
        data-parallel rank gives the same."""
        return saved(self.open().state(), self._rank, self._world)

    def open(self) -> Loader:
        """The running loader."""
        if self._loader is None:
            self._loader = Loader(self._recipe, rank=self._rank, world=self._world, state=self._state)
        return self._loader

    def close(self) -> None:
        """Stops all threads; batches stay valid."""
        if self._loader is not None:
            self._loader.close()


class ValidationLoader:
    """An iterator of this data-parallel rank's microbatches of validation data, in the order of the files.

    Each evaluation takes ``--eval-iters`` iterations, the same number of batches on every rank; the next one
    begins again. Between two evaluations nothing is open.
    """

    def __init__(self, recipe: Recipe, settings: Settings, *, rank: int, world: int) -> None:
        self._recipe, self._settings = recipe, settings
        self._rank, self._world = rank, world
        self._batches = settings.eval_iters * settings.microbatches(world)
        self._taken = 0
        self._loader: Loader | None = None

    def __iter__(self) -> ValidationLoader:
        return self

    def __next__(self) -> dict[str, Any]:
        if self._loader is None:
            self._loader = Loader(self._recipe, rank=self._rank, world=self._world)
        try:
            batch = next(self._loader)
        except StopIteration:
            taken = self._taken // self._settings.microbatches(self._world)
            raise InvalidError(f"megatron: the data of --laneway-valid-data-config ends after {taken} iterations, "
                               f"expected --eval-iters {self._settings.eval_iters} of them") from None
        self._taken += 1
        if self._taken == self._batches:
            self.close()
        return fields(batch, self._settings)

    def close(self) -> None:
        """Stops all threads; the next batch is the first one."""
        loader, self._loader, self._taken = self._loader, None, 0
        if loader is not None:
            loader.close()
