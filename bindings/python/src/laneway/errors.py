# SPDX-License-Identifier: Apache-2.0
"""One exception class for each failing status of the library; the message is the library's own line."""
from __future__ import annotations


class LanewayError(Exception):
    """A failure the library reported.

    status: the status as a number, as in ``laneway/error.h``.
    os_errno: the operating system's error number, 0 if it had no part in it.
    retriable: whether the same call can succeed later.
    """

    status: int = 0
    os_errno: int = 0
    retriable: bool = False


class InvalidError(LanewayError, ValueError):
    """An argument or a recipe is wrong; or a call comes too late, after ``close`` or after a fork."""

    status = -1


class MemoryBudgetError(LanewayError, MemoryError):
    """Memory, or the budget of ``runtime.memory``, does not suffice."""

    status = -2


class UnsupportedError(LanewayError, NotImplementedError):
    """Right in itself, but not in this build."""

    status = -3


class NotFoundError(LanewayError, FileNotFoundError):
    """A file, a field or a step is not there."""

    status = -4


class StorageError(LanewayError, OSError):
    """The operating system or a store refused."""

    status = -5


class CorruptError(LanewayError, ValueError):
    """Bytes are not what their format says."""

    status = -6


class OperatorError(LanewayError, RuntimeError):
    """An operator failed or broke its contract."""

    status = -7


class MismatchError(LanewayError, ValueError):
    """A state belongs to another recipe, file set or library."""

    status = -8


class CancelledError(LanewayError, RuntimeError):
    """The pipeline was cancelled."""

    status = -9


class BusyError(LanewayError, RuntimeError):
    """Not now: something is still held."""

    status = -10


class InternalError(LanewayError, RuntimeError):
    """A fault of the library."""

    status = -11


def class_of(status: int) -> type[LanewayError]:
    """The class for a failing status."""
    for found in LanewayError.__subclasses__():
        if found.status == status:
            return found
    return LanewayError
