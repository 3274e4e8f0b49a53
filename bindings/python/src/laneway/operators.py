# SPDX-License-Identifier: Apache-2.0
"""Operators in Python: functions on texts, and transforms of tokenized documents with a state for each lane.

What an operator returns may depend on what it is given, and on nothing else: no clock, no generator with a
state, nothing kept between calls but the state of a ``StatefulTransform``. Then the stream is the same for
every runner, every number of threads, processes and ranks, and after every resume.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Union

from .errors import InvalidError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Supervised(NamedTuple):
    """A text of which only some is learnt: tokens with a byte of its UTF-8 from the first to before the second number of
    a span. Spans are in order, apart, and of whole characters."""

    text: str
    spans: Sequence[tuple[int, int]]


# What becomes of a text: it is dropped, replaced, or several are made of it.
Outcome = Union[None, str, "list[str]", Supervised]


@dataclass(frozen=True)
class Operator:
    """An operator of a recipe; name, version and kind are part of the fingerprint of a state.

    function: what is called; with ``runner="process"`` it must be one that can be pickled.
    name: default: the function's, which a lambda has not.
    version: raise it whenever the output for the same input changes.
    """

    function: Any
    name: str = ""
    version: int = 1
    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        name = self.name or getattr(self.function, "__qualname__", type(self.function).__qualname__)
        if "<lambda>" in name:
            raise InvalidError("operators: a lambda without a name, expected name=...")
        if not 0 <= self.version < 2**32:
            raise InvalidError(f"operators: version of {name!r} is {self.version}, expected 0 to {2**32 - 1}")
        object.__setattr__(self, "name", name)

    def options(self) -> str:
        """What else is part of the fingerprint."""
        return f"python {self.kind}"


@dataclass(frozen=True)
class TextOperator(Operator, ABC):
    """An operator on texts, before they are tokenized; called on any thread, many at a time.

    batched: whether the function takes a list of texts and gives as many results.
    """

    batched: bool = False

    @abstractmethod
    def outcome(self, text: str, result: Any) -> Outcome:
        """What a result means for its text; a TypeError if it is of a wrong type."""

    def work(self, texts: Sequence[str], done: list[Outcome], stopped: Callable[[], bool]) -> None:
        """Appends the outcomes of texts, in order; raises at the text that fails, or when it was stopped."""
        if not self.batched:
            for text in texts:
                if stopped():
                    raise InterruptedError("stopped")
                done.append(self.outcome(text, self.function(text)))
            return
        try:
            outcomes = self._batch(texts)
        except Exception:
            # Which document it was comes out one by one; if no one alone fails, it is the group's.
            if len(texts) > 1:
                for text in texts:
                    done.extend(self._batch([text]))
                done.clear()
            raise
        done.extend(outcomes)

    def _batch(self, texts: Sequence[str]) -> list[Outcome]:
        results = list(self.function(list(texts)))
        if len(results) != len(texts):
            raise ValueError(f"{len(results)} results for {len(texts)} texts, expected as many")
        return [self.outcome(text, result) for text, result in zip(texts, results)]


@dataclass(frozen=True)
class Map(TextOperator):
    """Replaces each text by ``function(text)``: a text, or a ``Supervised`` one, which must be the last operator's.

    >>> laneway.open("recipe.yaml", operators=[Map(str.strip, name="strip")])
    """

    kind: ClassVar[str] = "map"

    def outcome(self, text: str, result: Any) -> Outcome:
        return result if isinstance(result, Supervised) else _text(result)


@dataclass(frozen=True)
class Filter(TextOperator):
    """Keeps the texts for which ``function(text)`` is true."""

    kind: ClassVar[str] = "filter"

    def outcome(self, text: str, result: Any) -> Outcome:
        if result is None:
            raise TypeError("None, expected true or false")
        return text if result else None


@dataclass(frozen=True)
class Expand(TextOperator):
    """Makes of each text the documents ``function(text)``, an iterable of texts; of none, the text is dropped."""

    kind: ClassVar[str] = "expand"

    def outcome(self, text: str, result: Any) -> Outcome:
        if isinstance(result, str):
            raise TypeError("a text, expected an iterable of texts")
        return [_text(item) for item in result]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__}, expected a text")
    return value


# ---- transforms with a state -----------------------------------------------------------------------


@dataclass(frozen=True)
class Lane:
    """What a transform may know of its surroundings: the recipe's seed, the lane's number, tokens of a row."""

    seed: int
    number: int
    context: int


class Document:
    """A tokenized document.

    key: its number in the lane, as the transform was given it; stays over saves.
    source: index of its source in the recipe. length: input tokens.
    """

    __slots__ = ("key", "source", "length", "_data")

    def __init__(self, key: int, source: int, length: int, data: bytes | None) -> None:
        self.key, self.source, self.length, self._data = key, source, length, data

    @property
    def tokens(self) -> npt.NDArray[np.int32]:
        """[tokens] int32. Not in ``load``: they are read again afterwards."""
        return self._marked() & 0x7FFFFFFF

    @property
    def supervised(self) -> npt.NDArray[np.bool_]:
        """[tokens] bool: which of the tokens are learnt; see ``Supervised``."""
        return self._marked() >= 0

    def _marked(self) -> npt.NDArray[np.int32]:
        import numpy as np

        if self._data is None:
            raise InvalidError(f"operators: tokens of document {self.key} in load(), expected in push() or flush()")
        return np.frombuffer(self._data, dtype=np.int32)


class Output:
    """Where documents go. What is neither put nor dropped is held."""

    __slots__ = ("actions",)

    def __init__(self) -> None:
        self.actions: list[tuple[int, bool]] = []

    def put(self, document: Document) -> None:
        """Hands a document on."""
        self.actions.append((document.key, True))

    def drop(self, document: Document) -> None:
        """Gives a document up; it is counted as dropped."""
        self.actions.append((document.key, False))


class StatefulTransform:
    """A transform of the tokenized documents of a lane, in stream order, after the mixture and before packing:
    it orders, groups, holds back or drops them. One state a lane; what they hold is saved with the lane.

    A subclass has ``push``, and what else it needs. The object itself is shared by all lanes and must not change.
    """

    def init(self, lane: Lane) -> Any:
        """The state of a lane at its start."""
        return None

    def push(self, state: Any, document: Document, out: Output) -> None:
        """Takes one document: puts or drops it, now or later."""
        raise NotImplementedError

    def flush(self, state: Any, out: Output) -> None:
        """The lane's data has ended: nothing may be held afterwards."""

    def save(self, state: Any) -> bytes:
        """The state as bytes, without the documents that are held: those are named by their keys."""
        if state is not None:
            raise NotImplementedError("a state that is not None, expected a save() and a load() for it")
        return b""

    def load(self, lane: Lane, data: bytes, held: Mapping[int, Document]) -> Any:
        """The state again; ``held`` has the documents by their keys, without tokens until the next call."""
        return None


@dataclass(frozen=True)
class Stateful(Operator):
    """A ``StatefulTransform``, or an object with its methods. It is called for ``group`` documents at a time:
    more of them make calls cheaper, and let a lane run further ahead, which a resume then goes through again."""

    group: int = 16
    kind: ClassVar[str] = "stateful"

    def __post_init__(self) -> None:
        if isinstance(self.function, type):
            object.__setattr__(self, "function", self.function())
        super().__post_init__()
        if not 1 <= self.group <= 65536:
            raise InvalidError(f"operators: group of {self.name!r} is {self.group}, expected 1 to 65536")
        missing = [name for name in ("init", "push", "flush", "save", "load") if not hasattr(self.function, name)]
        if missing:
            raise InvalidError(f"operators: {self.name!r} has no {missing[0]}(), expected a StatefulTransform")

