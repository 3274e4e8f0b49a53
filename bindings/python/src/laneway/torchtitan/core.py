# SPDX-License-Identifier: Apache-2.0
"""The loader behind every version of TorchTitan's contract: a recipe, opened for a trainer's place in it."""
from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from ..batch import Batch
from ..errors import BusyError, InvalidError, MismatchError
from ..loader import Loader
from ..recipe import Recipe, _read_toml
from . import checks, reference
from .agreement import agree_by_distributed
from .place import Place, Wanted

# What a field of the fingerprint is called by those who can change it.
_FIELDS_OF = {"lanes": "canonical_replicas", "labels.shift": "dataloader.labels",
              "labels.mask_eos": "dataloader.mask_eos", "order": "dataloader.validation"}


class Core:
    """An iterator of batches with a state in pieces. No object of it refers back to it, so it closes when it is
    dropped, without a garbage collector."""

    def __init__(self, wanted: Wanted, place: Place, tokenizer: Any) -> None:
        self.wanted, self.place = wanted, place
        self.recipe = _recipe(wanted, place, tokenizer)
        finite = self.recipe.value("end") != "repeat"
        self.loader = Loader(self.recipe, rank=place.rank, world=place.world,
                             agree=agree_by_distributed() if finite and place.world > 1 else None)
        self._checked = False

    def next(self) -> Batch:
        try:
            batch = next(self.loader)
        except BusyError as error:
            if self.place.step:
                raise
            raise BusyError(f"{error}; set {self.wanted.step_field} in the dataloader's config too, so that the batches "
                            "of a step share a slot") from None
        if not self._checked:
            checks.check_positions(batch)
            self._checked = True
        return batch

    def state_dict(self) -> dict[str, bytes]:
        """The pieces "global" and "lane_00000" on; legal before the first batch, and asks no other rank."""
        return self.loader.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where the pieces say. None at all is a checkpoint without data: nothing changes."""
        if not state:
            return
        for name, piece in state.items():
            if not isinstance(piece, bytes):
                raise InvalidError(f"dataloader: {name} in the checkpoint is of type {type(piece).__name__}, expected "
                                   "bytes: it was not saved by Laneway")
        if "global" not in state:
            raise InvalidError(f"dataloader: the checkpoint has {', '.join(sorted(state))} and no \"global\", expected a "
                               "state that was saved by Laneway")
        try:
            self.loader.restore(state)
        except MismatchError as error:
            raise MismatchError(self._named(str(error))) from None

    def _named(self, message: str) -> str:
        names = {**_FIELDS_OF, "global_batch": self.wanted.step_field, "context": self.wanted.context_field}
        option = message.removeprefix("state: ").partition(" ")[0]
        return f"{message} ({names[option]} sets it)" if option in names else message

    def close(self) -> None:
        """Stops all threads; tensors stay valid."""
        self.loader.close()


def _recipe(wanted: Wanted, place: Place, tokenizer: Any) -> Recipe:
    """The recipe as this run has it: read, fitted to the trainer, checked."""
    if not wanted.recipe:
        raise InvalidError("dataloader: recipe is empty, expected the path of one: --dataloader.recipe")
    recipe = _read(wanted, place, tokenizer)
    for key, value in _changes(wanted, place, recipe.options()).items():
        recipe.set(key, value)
    chosen = recipe.options()
    checks.check_context(place, chosen["context"], wanted.context_field)
    step = chosen["global_batch"]
    checks.check_ranks(place, chosen["lanes"], step,
                       wanted.step_field if step == place.rows else "the recipe's global_batch")
    held = _held_steps(place, step, wanted.step_field)
    _check_vocabulary(wanted, recipe, tokenizer)
    recipe.set("runtime.dtype", "int64")
    recipe.set("runtime.microbatch", place.microbatch)
    # A trainer holds a step's batches, and the last one of the step before, while it asks for more.
    recipe.set("runtime.prefetch_steps", max(chosen["runtime.prefetch_steps"], held + 1))
    return recipe


def _read(wanted: Wanted, place: Place, tokenizer: Any) -> Recipe:
    folder = os.path.dirname(wanted.recipe)
    if not wanted.recipe.endswith(".toml"):
        return Recipe.open(wanted.recipe)
    table = _read_toml(wanted.recipe)
    if not reference.is_reference(table):
        return Recipe(table, folder)
    made = reference.options_of(table, tokenizer, lanes=place.world, context=place.context)
    lanes = wanted.lanes or made["lanes"]
    step = _validation_step(place, lanes) if wanted.validation else place.rows
    checks.check_lanes(lanes, step, wanted.step_field)
    return Recipe({**made, "lanes": lanes, "global_batch": step, "labels": {"shift": "document"}}, folder)


def _validation_step(place: Place, lanes: int) -> int:
    """Rows of whole steps of the validator that all lanes share in: so what is in them depends on the lanes alone,
    and is the same for any number of ranks. There is no state to save in between."""
    return math.lcm(place.rows, lanes)


def _changes(wanted: Wanted, place: Place, now: Mapping[str, Any]) -> dict[str, object]:
    """What the config says in place of the recipe."""
    changes: dict[str, object] = {"lanes": wanted.lanes, "labels.shift": wanted.shift,
                                  "labels.mask_eos": wanted.mask_eos}
    repeat = now["end"] == "repeat" if wanted.repeat is None else wanted.repeat
    if repeat or now["end"] == "repeat":
        changes["end"] = "repeat" if repeat else "drop"
    if wanted.validation:
        changes.update({"order": "file", "shuffle.rows": 0, "end": "repeat" if repeat else "pad",
                        "global_batch": _validation_step(place, wanted.lanes or now["lanes"])})
    return {key: value for key, value in changes.items() if value is not None}


def _held_steps(place: Place, step: int, field: str) -> int:
    """Steps of the recipe in one of the trainer's."""
    if place.step and place.step % step != 0:
        raise InvalidError(f"dataloader: {field} is {place.step}, expected a multiple of the recipe's global_batch "
                           f"({step}): states are kept after whole steps")
    return max(1, place.step // step)


def _check_vocabulary(wanted: Wanted, recipe: Recipe, tokenizer: Any) -> None:
    if wanted.vocabulary:
        checks.check_tokenizer(recipe, wanted.vocabulary, "the model's vocab_size")
    elif hasattr(tokenizer, "get_vocab_size"):
        checks.check_tokenizer(recipe, int(tokenizer.get_vocab_size()), "those of the tokenizer in hf_assets_path")
