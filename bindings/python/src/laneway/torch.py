# SPDX-License-Identifier: Apache-2.0
"""Laneway in PyTorch: a data set for plain loops, ``DataLoader`` and ``StatefulDataLoader``, and its state in
distributed checkpoints.

>>> dataset = laneway.torch.StreamDataset("recipe.yaml")
>>> for fields in torch.utils.data.DataLoader(dataset, batch_size=None):
...     train(**fields)
>>> torch.distributed.checkpoint.save({"model": model, "data": dataset}, checkpoint_id=folder)

Nothing of the library is opened before the first batch or state is asked for, so a data set can be made before
the process group, and be pickled.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch.utils.data import IterableDataset, get_worker_info

from .batch import Batch
from .errors import InvalidError
from .loader import Agree, Loader, start_state
from .pipeline import Pipeline
from .recipe import Recipe, RecipeLike
from .state import State, StateLike

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

__all__ = ["StateAfter", "StreamDataset", "agreement", "gather_state", "training_fields"]


def training_fields(batch: Batch) -> dict[str, Any]:
    """What a ``StreamDataset`` gives unless told otherwise: ``input_ids``, ``positions`` and ``labels``, int64
    tensors [rows, context]; labels are already shifted, -100 where there is none."""
    return batch.to_training(return_labels=True, framework="torch")


class StreamDataset(IterableDataset[Any]):
    """This rank's batches of a recipe or a ``Pipeline``, one after the other.

    It is one stream with one place in it: every iteration goes on where the last one stopped. Once the data has
    ended, the next iteration begins again. It gives whole batches and reads with threads of its own, so a
    ``DataLoader`` around it takes ``batch_size=None`` and ``num_workers=0``.
    """

    def __init__(self, source: RecipeLike | Pipeline, *, rank: int | None = None, world: int | None = None,
                 group: ProcessGroup | None = None, options: Mapping[str, object] | None = None,
                 agree: Agree | None = None, runner: str | None = None, processes: int | None = None,
                 pin_memory: bool | None = None, convert: Callable[[Batch], Any] = training_fields) -> None:
        """source: a recipe, as ``laneway.open`` takes it, or a pipeline that has not begun.
        rank, world: this rank, of how many data-parallel ones. Without them: those of the pipeline, if its
            ``dp_degree`` is more than 1; else those of the process group when the data is opened.
        group: the process group of the data-parallel ranks; None: the default group.
        options: options of the recipe by dotted name, as ``{"runtime.microbatch": 4}``.
        agree: see ``laneway.open``, and ``agreement``.
        runner, processes: see ``laneway.open``; None: those of the pipeline, or the defaults.
        pin_memory: see ``laneway.open``; None: as the pipeline says, or where PyTorch finds a GPU.
        convert: makes of each ``Batch`` what is given.
        """
        if (rank is None) != (world is None):
            raise InvalidError(f"torch: rank is {rank} and world is {world}, expected both or neither")
        self._place = None if rank is None or world is None else (rank, world)
        running: dict[str, Any] = {"runner": runner, "processes": processes, "pin_memory": pin_memory}
        self._calling = {name: value for name, value in running.items() if value is not None}
        if isinstance(source, Pipeline):
            self._place = self._place or source.place
            self._calling = {**source.calling, **self._calling}
            agree = agree or source.agree
            source = source.recipe()
        self._recipe = Recipe.of(source).copy()
        for key, value in (options or {}).items():
            self._recipe.set(key, value)
        self._group, self._agree, self._convert = group, agree, convert
        self._opening = threading.RLock()
        self._loader: Loader | None = None
        self._ended = False

    # ---- batches ---------------------------------------------------------------------------------

    def __iter__(self) -> _Iterator:
        worker = get_worker_info()
        if worker is not None:
            raise InvalidError(f"torch: a DataLoader with num_workers={worker.num_workers}, expected num_workers=0: "
                               "the data is read by threads of its own (runtime.threads)")
        if self._ended:
            self.restart()
        return _Iterator(self)

    def take(self) -> Any:
        """What the next batch is converted to."""
        try:
            batch = next(self.loader())
        except StopIteration:
            self._ended = True
            raise
        return self._convert(batch)

    def loader(self) -> Loader:
        """The running loader; the first call opens it."""
        with self._opening:
            if self._loader is None:
                self._loader = self._open(None)
            return self._loader

    def _open(self, state: StateLike | None) -> Loader:
        rank, world = self._rank_and_world()
        return Loader(self._recipe, rank=rank, world=world, state=state, agree=self._agree, **self._calling)

    def _rank_and_world(self) -> tuple[int, int]:
        if self._place is not None:
            return self._place
        if dist.is_available() and dist.is_initialized():
            rank = dist.get_rank(self._group)
            if rank < 0:
                raise InvalidError("torch: this process is not in the group, expected one that is")
            return rank, dist.get_world_size(self._group)
        launched = os.environ.get("WORLD_SIZE", "1")
        if launched != "1":
            raise InvalidError(f"torch: WORLD_SIZE is {launched} and there is no process group, expected "
                               "init_process_group() before the first batch, or rank and world")
        return 0, 1

    # ---- states ----------------------------------------------------------------------------------

    def state_dict(self, after: int | None = None) -> dict[str, bytes]:
        """The state after the newest step given out, or after ``after`` steps of the whole run, one of the last
        ``runtime.keep_states``: its pieces, "global" and one for each lane of this rank.

        Before the first batch it is that of the start, and no thread is started for it: a distributed checkpoint
        asks a fresh data set for its state to learn which pieces to load.
        """
        if self._loader is not None or after:
            return self.loader().state(after).pieces()
        rank, world = self._rank_and_world()
        return start_state(self._recipe, rank=rank, world=world, agree=self._agree).pieces()

    def load_state_dict(self, state_dict: StateLike) -> None:
        """Goes on at a state, saved on any number of ranks: pieces, with those of this rank's lanes among them,
        or a blob of all. If it does not fit, everything stays as it was."""
        if self._loader is None:
            self._loader = self._open(state_dict)
        else:
            self._loader.restore(state_dict)
        self._ended = False

    # ---- the rest --------------------------------------------------------------------------------

    def restart(self) -> None:
        """Goes back to the beginning of the data."""
        self.close()
        self._loader, self._ended = None, False

    def close(self) -> None:
        """Stops all threads. Batches stay valid; nothing but ``restart`` works after."""
        if self._loader is not None:
            self._loader.close()

    def __getstate__(self) -> dict[str, Any]:
        if self._loader is not None:
            raise TypeError("a StreamDataset that has begun cannot be pickled: pickle it before, and its state_dict()")
        return {name: value for name, value in vars(self).items() if name != "_opening"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _opening=threading.RLock())


class _Iterator:
    """An iteration. Its state is what that of the data set does not say: whether the end of the data was seen, and the
    next iteration begins again. ``StatefulDataLoader`` keeps it."""

    def __init__(self, dataset: StreamDataset) -> None:
        self._dataset = dataset

    def state_dict(self) -> dict[str, bool]:
        return {"ended": self._dataset._ended}

    def load_state_dict(self, state: Mapping[str, bool]) -> None:
        self._dataset._ended = state["ended"]

    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        return self._dataset.take()


class StateAfter:
    """The state of a data set after ``steps`` steps of the whole run, for a loop that takes batches ahead of
    training: the steps trained, not those taken. A load sets ``steps`` to those of the state.

    >>> trained = StateAfter(dataset)
    >>> trained.steps += 1
    >>> torch.distributed.checkpoint.save({"model": model, "data": trained}, checkpoint_id=folder)
    """

    def __init__(self, dataset: StreamDataset, steps: int = 0) -> None:
        self.steps = steps
        self._dataset = dataset

    def state_dict(self) -> dict[str, bytes]:
        """The state after ``steps`` steps, one of the last ``runtime.keep_states``."""
        return self._dataset.state_dict(after=self.steps)

    def load_state_dict(self, state_dict: Mapping[str, bytes]) -> None:
        """As that of the data set."""
        state = State.of(state_dict)
        self._dataset.load_state_dict(state)
        self.steps = state.step


def gather_state(dataset: StreamDataset, *, group: ProcessGroup | None = None, after: int | None = None) -> bytes:
    """The state of all ranks as one blob, the same on each: for hosts that keep one file, as with ``torch.save``.
    Every rank of the group has to call it."""
    states: list[dict[str, bytes]] = [{}] * dist.get_world_size(group)
    dist.all_gather_object(states, dataset.state_dict(after), group=group)
    return bytes(State.merge(states))


def agreement(group: ProcessGroup | None = None, device: str = "cpu") -> Agree:
    """An ``agree`` over a process group: with ``end: drop`` or ``pad`` each rank then runs its own lanes alone.

    device: where the group's backend takes tensors: "cpu" for gloo, "cuda" for nccl.
    """
    def agree(kind: str, value: int) -> int:
        number = torch.tensor([value], dtype=torch.int64, device=device)
        dist.all_reduce(number, dist.ReduceOp.MAX if kind == "max" else dist.ReduceOp.MIN, group=group)
        return int(number.item())

    return agree
