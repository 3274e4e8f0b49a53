# SPDX-License-Identifier: Apache-2.0
"""Laneway: training data online, byte-identical for any number of ranks, threads, stops and resumes.

>>> with laneway.open("recipe.yaml", rank=0, world=1) as loader:
...     for batch in loader:
...         train(batch.tokens, batch.labels)
...         state = loader.checkpoint()
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import errors, operators
from ._native import version as _version
from .batch import Batch, Segment, digest_of
from .chat import Chat
from .errors import (
    BusyError,
    CancelledError,
    CorruptError,
    InternalError,
    InvalidError,
    LanewayError,
    MemoryBudgetError,
    MismatchError,
    NotFoundError,
    OperatorError,
    StorageError,
    UnsupportedError,
)
from .loader import Agree, Loader, explain
from .operators import Expand, Filter, Map, Operator, Stateful, StatefulTransform, Supervised
from .pipeline import Pipeline
from .recipe import Recipe, RecipeLike
from .sources import Dataset, MixtureSpec, StaticMixtureWorkSource, TokenEstimation
from .state import State, StateLike
from .tokenizer import Tokenizer
from .tokenizer_files import find_tokenizer

__version__ = _version()

__all__ = [
    "Agree", "Batch", "BusyError", "CancelledError", "Chat", "CorruptError", "Dataset", "Expand", "Filter", "InternalError",
    "InvalidError", "LanewayError", "Loader", "Map", "MemoryBudgetError", "MismatchError", "MixtureSpec",
    "NotFoundError", "Operator", "OperatorError", "Pipeline", "Recipe", "RecipeLike", "Segment", "State",
    "StateLike", "Stateful", "StatefulTransform", "StaticMixtureWorkSource", "StorageError", "Supervised",
    "TokenEstimation", "Tokenizer", "UnsupportedError", "digest_of", "errors", "explain", "find_tokenizer", "open", "operators",
]


def open(recipe: RecipeLike, *, rank: int = 0, world: int = 1, state: StateLike | None = None,
         options: Mapping[str, object] | None = None, agree: Agree | None = None,
         operators: Sequence[Operator] = (), runner: str = "threads", processes: int = 0) -> Loader:
    """Opens a recipe for one rank and starts reading.

    recipe: the path of a YAML, JSON or TOML file, a mapping of options, or a ``Recipe``.
    rank, world: this rank, of how many; data-parallel ones, which need not be processes.
    state: where to go on: a blob, pieces or a ``State``; saved on any number of ranks.
    options: options to set, by dotted name, as ``{"runtime.dtype": "int64"}``.
    agree: with ``end: drop`` or ``pad``, an all-reduce of one integer: ``agree("max" or "min", value)``, called on
        the thread that takes batches, by every rank equally often. Without it each rank follows all lanes.
    operators: ``Map``, ``Filter``, ``Expand``, ``Chat`` and ``Stateful``, in the order in which they run; they are added to those
        that the recipe has.
    runner: where their functions are called, with the same output: "threads": on the library's threads, many at a time;
        "inline": one call at a time; "process": in ``processes`` processes started by spawn (0: one a processor, up
        to 8).
    """
    made = Recipe.of(recipe)
    if options or operators:
        made = made.copy()
        for key, value in (options or {}).items():
            made.set(key, value)
        made.add(*operators)
    return Loader(made, rank=rank, world=world, state=state, agree=agree, runner=runner, processes=processes)
