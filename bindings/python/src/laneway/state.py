# SPDX-License-Identifier: Apache-2.0
"""States: a few integers that say where a stream stands, as a blob or as named pieces."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Union

from ._native import PathLike, check, encode, ffi, lib, new_error, span, taken_text

StateLike = Union["State", bytes, bytearray, memoryview, Mapping[str, bytes]]


def _own(call: Any, *arguments: Any) -> Any:
    """A state that a call of the library makes: ``call(*arguments, out, err)``."""
    out, err = ffi.new("lw_state **"), new_error()
    check(call(*arguments, out, err), err)
    return ffi.gc(out[0], lib.lw_state_close)


class State:
    """Where a stream stands. Immutable; may be kept as one blob, or piece by piece."""

    def __init__(self, blob: bytes | bytearray | memoryview) -> None:
        """Reads a state from its blob."""
        data = bytes(blob)
        self._handle = _own(lib.lw_state_parse, data, len(data))

    @classmethod
    def _owning(cls, handle: Any) -> State:
        state = cls.__new__(cls)
        state._handle = handle
        return state

    @classmethod
    def open(cls, path: PathLike) -> State:
        """Reads a state from a file."""
        return cls._owning(_own(lib.lw_state_open, encode(path)))

    @classmethod
    def from_pieces(cls, pieces: Mapping[str, bytes]) -> State:
        """A state from its pieces, in any order: "global" and one for each lane."""
        kept = [ffi.from_buffer("char[]", data) for pair in pieces.items() for data in (pair[0].encode(), pair[1])]
        names = ffi.new("lw_str[]", [(data, len(data)) for data in kept[0::2]])
        values = ffi.new("lw_str[]", [(data, len(data)) for data in kept[1::2]])
        return cls._owning(_own(lib.lw_state_from_pieces, names, values, len(pieces)))

    @classmethod
    def merge(cls, states: Iterable[StateLike]) -> State:
        """One state from those of several ranks."""
        kept = [cls.of(state) for state in states]
        handles = ffi.new("lw_state *[]", [state._handle for state in kept])
        return cls._owning(_own(lib.lw_state_merge, handles, len(kept)))

    @classmethod
    def of(cls, state: StateLike) -> State:
        """A state, whatever it is given as: itself, a blob, or a mapping of pieces."""
        if isinstance(state, State):
            return state
        return cls.from_pieces(state) if isinstance(state, Mapping) else cls(state)

    @property
    def step(self) -> int:
        """Steps taken before this state: the next one has this number."""
        return int(lib.lw_state_step(self._handle))

    def pieces(self) -> dict[str, bytes]:
        """Names and bytes of the pieces, "global" first."""
        count = lib.lw_state_piece_count(self._handle)
        return {span(lib.lw_state_piece_name(self._handle, i)).decode(): span(lib.lw_state_piece_bytes(self._handle, i))
                for i in range(count)}

    def describe(self, json: bool = False) -> str:
        """What a person wants to see of it, as text or as one JSON object."""
        out, err = ffi.new("char **"), new_error()
        check(lib.lw_state_describe(self._handle, int(json), out, err), err)
        return taken_text(out[0])

    def write(self, path: PathLike) -> None:
        """Writes the blob to a file, which is whole or not there."""
        err = new_error()
        check(lib.lw_state_write(self._handle, encode(path), err), err)

    def __bytes__(self) -> bytes:
        return span(lib.lw_state_bytes(self._handle))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __reduce__(self) -> tuple[type[State], tuple[bytes]]:
        return State, (bytes(self),)

    def __repr__(self) -> str:
        return f"<laneway.State after {self.step} steps>"
