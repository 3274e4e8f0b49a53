# SPDX-License-Identifier: Apache-2.0
"""The library, loaded; and what every call of it needs: errors, texts, handles.

``ffi`` and ``lib`` release the GIL during each call. The library is never unloaded: a batch may be
released by the garbage collector after everything else of this package is gone.
"""
from __future__ import annotations

import os
import pathlib
from typing import Any, Union

from ._declarations import ffi as ffi
from .errors import InvalidError, LanewayError, class_of

PathLike = Union[str, "os.PathLike[str]"]

_FILE = os.environ.get("LANEWAY_LIBRARY") or str(pathlib.Path(__file__).parent / "liblaneway.so")

lib: Any = ffi.dlopen(_FILE, ffi.RTLD_NOW | ffi.RTLD_NODELETE)


def version() -> str:
    """The library's version, as "0.1.0"."""
    return text(lib.lw_version())


def text(pointer: Any) -> str:
    """A NUL-terminated UTF-8 text of the library."""
    return str(ffi.string(pointer).decode("utf-8", "replace"))


def taken_text(pointer: Any) -> str:
    """The same, of a text that belongs to the caller: it is freed."""
    try:
        return text(pointer)
    finally:
        lib.lw_text_free(pointer)


def span(pointer: Any) -> bytes:
    """The bytes of an lw_str, copied."""
    return bytes(ffi.buffer(pointer.data, pointer.bytes))


def encode(value: PathLike) -> bytes:
    """A path or text as the library takes it."""
    data = os.fsencode(os.fspath(value))
    if b"\0" in data:
        raise InvalidError(f"python: {value!r} has a NUL, expected a path or text without one")
    return data


def new_error() -> Any:
    return ffi.new("lw_error *")


def failure(status: int, err: Any) -> LanewayError:
    """The exception for a failing call that filled ``err``."""
    error = class_of(status)(text(err.message) or text(lib.lw_status_name(status)))
    error.status = status
    error.os_errno = err.os_errno
    error.retriable = bool(err.flags & lib.LW_ERROR_RETRIABLE)
    return error


def check(status: int, err: Any) -> int:
    """Raises if the call failed; the status otherwise."""
    if status < 0:
        raise failure(status, err)
    return status
