# SPDX-License-Identifier: Apache-2.0
"""What a fluent pipeline reads: data sets, their shares of a mixture, their order and their end."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Union

from ._native import PathLike
from .errors import InvalidError, UnsupportedError

Paths = Union[PathLike, Sequence[PathLike]]


@dataclass(frozen=True)
class Dataset:
    """A named set of files: a path, a folder or a glob, or several of them."""

    name: str
    path: str | tuple[str, ...]
    format: str | None = None

    @classmethod
    def from_path(cls, name: str, path: Paths, *, fmt: str | None = None) -> Dataset:
        """Files, folders or globs; their format is told by their names, or by ``fmt``: "jsonl"."""
        if isinstance(path, (str, os.PathLike)):
            return cls(name, os.path.abspath(os.fspath(path)), fmt)
        return cls(name, tuple(os.path.abspath(os.fspath(one)) for one in path), fmt)

    @classmethod
    def from_dict(cls, name: str, shards: object) -> Dataset:
        raise UnsupportedError(f"dataset {name!r}: from_dict, expected files: write the records as JSONL and use "
                               "Dataset.from_path")


class MixtureSpec(Mapping[str, float]):
    """Shares of the mixture by the names of data sets, relative to each other."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = MappingProxyType(dict(weights))

    def __getitem__(self, name: str) -> float:
        return self._weights[name]

    def __iter__(self) -> Any:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __repr__(self) -> str:
        return f"MixtureSpec({dict(self._weights)!r})"


class TokenEstimation:
    """Says that shares are of tokens, not of documents.

    Tokens are counted as they are drawn, so the mixture is exact and needs no calibration: settings of one are
    taken and have no effect.
    """

    def __init__(self, **settings: object) -> None:
        self.settings = settings


class StaticMixtureWorkSource:
    """Data sets in fixed shares."""

    def __init__(self, datasets: Iterable[Dataset], mixture: Mapping[str, float] | None = None, *,
                 seed: int | None = None, token_estimation: TokenEstimation | None = None, shuffle_shards: bool = True,
                 shuffle_within_shard: bool = False, shuffle_block_size: int | str | None = None,
                 exhausted_policy: str | None = None, stop_after_passes: int | None = None,
                 max_repeats: int | None = None, reshuffle_on_repeat: bool = True,
                 chunk_size: int | None = None) -> None:
        """mixture: a share for each data set; None: equal ones. They are shares of documents, or with
            ``token_estimation`` of tokens.
        shuffle_shards, shuffle_within_shard, shuffle_block_size: any of them gives one order: all documents of a
            data set permuted, anew in every epoch. None of them: the order of the files.
        exhausted_policy: "repeat": data sets begin again, without end. None or "stop": one pass, in which every
            document comes once; "stop" with several data sets is refused.
        chunk_size has no effect: no chunks are made.
        """
        self.datasets = tuple(datasets)
        self.mixture = dict(mixture) if mixture is not None else {one.name: 1 for one in self.datasets}
        self.seed = seed
        self.by_tokens = token_estimation is not None
        self.ordered = not (shuffle_shards or shuffle_within_shard or shuffle_block_size)
        self.repeats = exhausted_policy == "repeat"
        self._check_names()
        self._check_end(exhausted_policy, stop_after_passes, max_repeats)
        if self.repeats and not self.ordered and not reshuffle_on_repeat:
            raise UnsupportedError("source: reshuffle_on_repeat is False, expected True: every epoch has an order of "
                                   "its own; or no shuffle at all")

    def _check_names(self) -> None:
        names = [one.name for one in self.datasets]
        if not names:
            raise InvalidError("source: there are no data sets, expected one or more")
        wrong = set(names) ^ set(self.mixture)
        if wrong:
            raise InvalidError(f"source: mixture and datasets differ in {sorted(wrong)[0]!r}, expected a share for "
                               "each data set")

    def _check_end(self, policy: str | None, passes: int | None, repeats: int | None) -> None:
        if policy not in (None, "repeat", "stop"):
            raise InvalidError(f'source: exhausted_policy is {policy!r}, expected "repeat", "stop" or None')
        if policy == "stop" and len(self.datasets) > 1:
            raise UnsupportedError('source: exhausted_policy is "stop" for several data sets, expected "repeat", or '
                                   "None for one pass in which every document comes once")
        if repeats is not None or passes not in (None, 1):
            raise UnsupportedError('source: max_repeats or stop_after_passes is set, expected exhausted_policy '
                                   '"repeat" and a training loop that counts its steps')

    def options(self, field: str) -> dict[str, Any]:
        """The options of a recipe that this is, but for the end of the data."""
        sources = [{"name": one.name, "path": list(one.path) if isinstance(one.path, tuple) else one.path,
                    "weight": self.mixture[one.name], "text": field,
                    **({"format": one.format} if one.format else {})} for one in self.datasets]
        return {"sources": sources, "mixture": {"unit": "tokens" if self.by_tokens else "documents"},
                "order": "file" if self.ordered else "permuted"}
