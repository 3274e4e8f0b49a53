# SPDX-License-Identifier: Apache-2.0
"""Where functions of operators are called: in this process, or in one that ``serve`` runs in.

A call gives what was done and the exception that ended it, if one did: of a group, as many results as there
are documents before the one that failed.
"""
from __future__ import annotations

import pickle
import signal
import traceback
from collections.abc import Sequence
from typing import Any

from .operators import Document, Lane, Operator, Output

Answer = tuple["list[Any]", "BaseException | None"]


class Host:
    """Operators, and the states of the lanes that live here, by their number."""

    def __init__(self, operators: Sequence[Operator]) -> None:
        self._operators = operators
        self._states: dict[int, _State] = {}
        self._stopped = False

    def stop(self) -> None:
        """Ends a call at its next text."""
        self._stopped = True

    def call(self, method: str, *arguments: Any) -> Answer:
        done: list[Any] = []
        try:
            getattr(self, method)(done, *arguments)
        except BaseException as error:  # also SystemExit: it ends the pipeline, not a thread of the library
            return done, error
        return done, None

    def work(self, done: list[Any], operator: int, texts: Sequence[str]) -> None:
        self._operators[operator].work(texts, done, lambda: self._stopped)  # type: ignore[attr-defined]

    def create(self, _done: list[Any], number: int, operator: int, lane: Lane) -> None:
        self._states[number] = _State(self._operators[operator].function, lane)

    def push(self, done: list[Any], number: int, tokens: dict[int, bytes], documents: Sequence[Any]) -> None:
        state = self._states[number]
        state.complete(tokens)
        for fields in documents:
            done.append(state.push(Document(*fields)))

    def flush(self, done: list[Any], number: int, tokens: dict[int, bytes]) -> None:
        state = self._states[number]
        state.complete(tokens)
        done.append(state.flush())

    def save(self, done: list[Any], number: int) -> None:
        done.append(self._states[number].save())

    def load(self, _done: list[Any], number: int, data: bytes, documents: Sequence[Any]) -> None:
        self._states[number].load(data, [Document(*fields) for fields in documents])

    def destroy(self, _done: list[Any], number: int) -> None:
        self._states.pop(number, None)


class _State:
    """A lane's state of one transform."""

    def __init__(self, transform: Any, lane: Lane) -> None:
        self._transform, self._lane = transform, lane
        self._loaded: dict[int, Document] = {}
        self._state = transform.init(lane)

    def complete(self, tokens: dict[int, bytes]) -> None:
        """Documents that were loaded get their tokens, which come with the first call."""
        for key, data in tokens.items():
            self._loaded[key]._data = data
        if self._loaded:
            self._loaded = {}

    def push(self, document: Document) -> list[tuple[int, bool]]:
        out = Output()
        self._transform.push(self._state, document, out)
        return out.actions

    def flush(self) -> list[tuple[int, bool]]:
        out = Output()
        self._transform.flush(self._state, out)
        return out.actions

    def save(self) -> bytes:
        data = self._transform.save(self._state)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"save() gave a {type(data).__name__}, expected bytes")
        return bytes(data)

    def load(self, data: bytes, documents: Sequence[Document]) -> None:
        self._loaded = {document.key: document for document in documents}
        self._state = self._transform.load(self._lane, data, dict(self._loaded))


# ---- in a process of its own -----------------------------------------------------------------------


class RemoteTraceback(Exception):
    """The traceback of an exception in another process, as text; the cause of that exception here."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def pack_error(error: BaseException | None) -> tuple[bytes, str] | None:
    """An exception for the way to another process; what cannot be pickled goes as its text."""
    if error is None:
        return None
    text = "".join(traceback.format_exception(error))
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:
        data = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return data, text


def unpack_error(packed: tuple[bytes, str] | None) -> BaseException | None:
    if packed is None:
        return None
    error: BaseException = pickle.loads(packed[0])
    error.__cause__ = RemoteTraceback(packed[1])
    return error


def serve(connection: Any, pickled: bytes) -> None:
    """The main function of a process: answers calls until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the main process's to handle
    host = Host(pickle.loads(pickled))
    connection.send(None)
    while True:
        try:
            method, arguments = connection.recv()
            done, error = host.call(method, *arguments)
            connection.send((done, pack_error(error)))
        except (EOFError, OSError):
            return
