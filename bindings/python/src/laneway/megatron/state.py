# SPDX-License-Identifier: Apache-2.0
"""States of the training data beside Megatron-LM's checkpoints.

Megatron-LM writes ``FOLDER/iter_NNNNNNN/mp_rank_00*/train_dataloader_dprankNNN.pt``, one file for each data-parallel
rank, with what ``save_state`` gives: the pieces of the lanes that the rank runs. It restores nothing. Here a rank reads
the files of the ranks whose rows it now delivers, so any number of ranks may go on.
"""
from __future__ import annotations

import glob
import os
import pickle
from typing import Any

import torch

from ..errors import CorruptError, MismatchError, NotFoundError
from ..state import State

_FIELDS = {"iteration": int, "data_parallel_rank": int, "data_parallel_size": int, "pieces": dict}


def saved(state: State, rank: int, world: int) -> dict[str, Any]:
    """What one data-parallel rank saves: plain values, which ``torch.load`` takes with ``weights_only``."""
    return {"iteration": state.step, "data_parallel_rank": rank, "data_parallel_size": world, "pieces": state.pieces()}


def restored(folder: str | None, iteration: int, rank: int, world: int) -> State | None:
    """The state to go on at, for this data-parallel rank; None at iteration 0, which starts afresh."""
    if iteration == 0:
        return None
    if folder is None:
        raise NotFoundError(f"megatron: --dataloader-load and --dataloader-save are not given, expected one of them at "
                            f"iteration {iteration}: the folder with the states of the training data")
    before = _read(folder, iteration, 0)["data_parallel_size"]
    first, last = rank * before // world, -(-(rank + 1) * before // world)
    states = [_read(folder, iteration, old) for old in range(first, last)]
    for old, found in enumerate(states, first):
        if found["data_parallel_size"] != before:
            raise MismatchError(f"megatron: {_find(folder, iteration, old)!r}: data_parallel_size is "
                                f"{found['data_parallel_size']}, expected {before} as with rank 0")
    return State.merge(found["pieces"] for found in states)


def _find(folder: str, iteration: int, rank: int) -> str:
    name = os.path.join(f"iter_{iteration:07d}", "mp_rank_00*", f"train_dataloader_dprank{rank:03d}.pt")
    found = sorted(glob.glob(os.path.join(glob.escape(folder), name)))
    if len(found) != 1:
        what = f"there are {len(found)} ({', '.join(found)})" if found else "it is not there"
        raise NotFoundError(f"megatron: {os.path.join(folder, name)!r}: {what}, expected one file with the state after "
                            f"iteration {iteration} (--dataloader-load)")
    return found[0]


def _read(folder: str, iteration: int, rank: int) -> dict[str, Any]:
    path = _find(folder, iteration, rank)
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)["dataloader_state_dict"]
        wrong = [name for name, kind in _FIELDS.items() if type(found[name]) is not kind]
        if wrong:
            raise TypeError(f"{wrong[0]} is a {type(found[wrong[0]]).__name__}")
        step = State.from_pieces(found["pieces"]).step
    except (OSError, RuntimeError, EOFError, KeyError, TypeError, ValueError, pickle.UnpicklingError) as error:
        raise CorruptError(f"megatron: {path!r}: {type(error).__name__}: {str(error).splitlines()[0]}, "
                           "expected a state that this loader saved") from error
    for name, value, expected in (("iteration", found["iteration"], iteration), ("iteration", step, iteration),
                                  ("data_parallel_rank", found["data_parallel_rank"], rank)):
        if value != expected:
            raise MismatchError(f"megatron: {path!r}: {name} is {value}, expected {expected}: the file belongs to "
                                "another checkpoint")
    return dict(found)


def save_stages(checkpointing: Any) -> None:
    """Makes Megatron-LM save states with virtual pipeline stages: call it with the module
    ``megatron.training.checkpointing`` before ``pretrain``.

    With stages the iterators come in a list, which its ``maybe_save_dataloader_state`` does not take; all of them
    stand at the same place, so the first one's state is saved.
    """
    save = checkpointing.maybe_save_dataloader_state

    def save_first_stage(train_iterator: Any, *arguments: Any, **named: Any) -> Any:
        first = train_iterator[0] if isinstance(train_iterator, list) else train_iterator
        return save(first, *arguments, **named)

    save_first_stage.takes_stages = True  # type: ignore[attr-defined]
    checkpointing.maybe_save_dataloader_state = save_first_stage
