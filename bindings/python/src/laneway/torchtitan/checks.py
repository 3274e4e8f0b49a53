# SPDX-License-Identifier: Apache-2.0
"""What is checked when a training run starts; a message names the field to change."""
from __future__ import annotations

import functools
import os
import warnings

from ..batch import Batch
from ..errors import InvalidError
from ..recipe import Recipe
from ..tokenizer import Tokenizer
from .place import Place


def check_lanes(lanes: int, step: int, step_field: str) -> None:
    """A step, in rows over all ranks, over lanes."""
    if step % lanes != 0:
        raise InvalidError(f"dataloader: {step_field} is {step}, expected a multiple of canonical_replicas ({lanes}): "
                           "every lane gives each step as many rows")


def check_ranks(place: Place, lanes: int, step: int, step_field: str) -> None:
    """A step over ranks and batches, and lanes over ranks."""
    if step % (place.world * place.microbatch) != 0:
        raise InvalidError(f"dataloader: {step_field} is {step}, expected a multiple of the {place.world} data-parallel "
                           f"ranks times the {place.microbatch} rows of a batch")
    if lanes % place.world != 0:
        warnings.warn(f"dataloader: canonical_replicas is {lanes}, no multiple of the {place.world} data-parallel ranks: "
                      "lanes that two ranks share are computed by both", RuntimeWarning, stacklevel=2)


def check_context(place: Place, context: int, context_field: str) -> None:
    if context != place.context:
        raise InvalidError(f"dataloader: {context_field} is {place.context}, expected the recipe's context ({context})")


def check_tokenizer(recipe: Recipe, limit: int, limit_field: str) -> None:
    """No id of the stream may be beyond the model's embedding."""
    chosen = recipe.options()
    path = chosen["tokenizer.path"]
    count = _vocabulary(None if path is None else os.path.join(recipe.folder, path), chosen["tokenizer.name"],
                        chosen["tokenizer.pattern"])
    if count > limit:
        raise InvalidError(f"dataloader: the tokenizer of the recipe has {count} ids, expected at most {limit}, "
                           f"{limit_field}")
    pad = chosen["pack.pad"]
    if pad is not None and pad >= limit:
        raise InvalidError(f"dataloader: pad_token_id is {pad}, expected less than {limit}, {limit_field}")


@functools.lru_cache(maxsize=8)
def _vocabulary(path: str | None, name: str | None, pattern: str | None) -> int:
    """Kept, for a loader for validation is made anew each time."""
    return Tokenizer(path, name=name, pattern=pattern).vocabulary


def check_positions(batch: Batch) -> None:
    """Attention finds documents by where positions are 0, so every row has to begin with one."""
    first, highest = int(batch.positions[:, 0].max()), int(batch.positions.max())
    if first != 0 or highest >= batch.context:
        raise InvalidError(f"dataloader: positions of step {batch.step} begin at {first} and reach {highest}, expected "
                           f"rows that begin at 0 and stay below {batch.context}: an operator of the recipe changed them")
