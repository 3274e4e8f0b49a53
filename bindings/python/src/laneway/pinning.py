# SPDX-License-Identifier: Apache-2.0
"""Pinned memory: the slots of a running pipeline, registered with the CUDA runtime, so that copies to a GPU need no
detour and may run beside the program.

A slot is registered when its first batch is taken, once, and unregistered once, before the pipeline is closed:
the library frees no slot earlier than that. A copy that runs beside the program reads the slot after the program
has let go of the batch; so the batch is given back to the library only when the stream has got that far.

All methods are the taking thread's, except ``release``, which the garbage collector may call on any.
"""
from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import warnings
from collections import deque
from typing import Any, Protocol

from ._native import ffi, lib
from .errors import UnsupportedError

# Pinned for every device of the process, whichever is current now.
_PORTABLE = 1

# Names of the errors that registering and unregistering have.
_ERRORS = {1: "cudaErrorInvalidValue", 2: "cudaErrorMemoryAllocation", 4: "cudaErrorCudartUnloading",
           100: "cudaErrorNoDevice", 304: "cudaErrorOperatingSystem", 712: "cudaErrorHostMemoryAlreadyRegistered",
           713: "cudaErrorHostMemoryNotRegistered", 800: "cudaErrorNotPermitted", 801: "cudaErrorNotSupported"}


class Runtime(Protocol):
    """What is wanted of CUDA. ``register`` and ``unregister`` give its error, 0 for none."""

    def register(self, address: int, count: int) -> int: ...

    def unregister(self, address: int) -> int: ...

    def stream(self) -> Any:
        """The stream that copies are put into now; its ``record_event()`` has ``query()`` and ``synchronize()``."""

    def synchronize(self, stream: Any) -> None:
        """Waits for all that was put into any stream of that one's device."""

    def empty(self, shape: Any, dtype: Any) -> Any:
        """A tensor in pinned memory."""


class TorchRuntime:
    """CUDA as PyTorch has it."""

    def __init__(self, torch: Any) -> None:
        self._torch, self._cudart = torch, torch.cuda.cudart()

    def register(self, address: int, count: int) -> int:
        error = int(self._cudart.cudaHostRegister(address, count, _PORTABLE))
        if error != 0:
            # CUDA keeps an error until it is asked for the last one, as PyTorch does at its next kernel: at this one.
            with contextlib.suppress(RuntimeError):
                self._torch.ones(1, device="cuda")
        return error

    def unregister(self, address: int) -> int:
        return int(self._cudart.cudaHostUnregister(address))

    def stream(self) -> Any:
        return self._torch.cuda.current_stream()

    def synchronize(self, stream: Any) -> None:
        self._torch.cuda.synchronize(stream.device)

    def empty(self, shape: Any, dtype: Any) -> Any:
        return self._torch.empty(shape, dtype=dtype, pin_memory=True)


def _imported_torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise UnsupportedError("pin_memory: PyTorch is not installed, expected it: its CUDA runtime pins") from None


def find_runtime(wanted: bool | None) -> Runtime | None:
    """CUDA, if memory is to be pinned. None: where the program has loaded PyTorch, which finds a GPU."""
    if wanted is False:
        return None
    torch = _imported_torch() if wanted else sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return TorchRuntime(torch)
    if wanted:
        raise UnsupportedError("pin_memory: PyTorch finds no CUDA device, expected one; None pins where there is one")
    return None


class Pins:
    """The registered slots of one pipeline, and the batches of them that the GPU may still read."""

    def __init__(self, runtime: Runtime, must: bool) -> None:
        """must: a slot that cannot be registered is an error, not a warning."""
        self.runtime = runtime
        self._must, self._refused = must, False
        self._slots: dict[int, int] = {}
        self._stream: Any = None
        self._late: deque[tuple[Any, Any]] = deque()
        self._lock, self._closed = threading.RLock(), False
        self._pid = os.getpid()
        # At the end of the program batches go when the names of modules are gone already.
        self._give_back, self._getpid = lib.lw_batch_release, os.getpid

    @classmethod
    def start(cls, wanted: bool | None) -> Pins | None:
        runtime = find_runtime(wanted)
        return None if runtime is None else cls(runtime, bool(wanted))

    def add(self, view: Any) -> None:
        """A batch with this view was taken: its slot is registered, if it is not yet."""
        address, count = _address(view.memory), int(view.memory_bytes)
        self._stream = self.runtime.stream()
        if address in self._slots or self._refused:
            return
        error = self.runtime.register(address, count)
        if error == 0:
            self._slots[address] = count
            return
        line = (f"pin_memory: cudaHostRegister of {count} bytes: {_name(error)}, expected memory that can be pinned; "
                "pin_memory=False goes without")
        if self._must:
            raise UnsupportedError(line)
        self._refused = True
        warnings.warn(line, RuntimeWarning, stacklevel=4)

    def holds(self, view: Any, address: int) -> bool:
        """Whether what is there lies in the batch's slot, and that is registered now."""
        first = _address(view.memory)
        return not self._closed and first <= address < first + self._slots.get(first, 0)

    def release(self, cell: Any) -> None:
        """The last array of a batch is gone: it is given back, at once or when its copies are done."""
        batch = cell[0]
        if batch and not self._closed and self._getpid() == self._pid:
            with self._lock:
                event = self._stream.record_event() if self._slots and not self._closed else None
                if event is not None and not event.query():
                    self._late.append((event, batch))
                    return
        self._give_back(batch)

    def collect(self, wait: bool = False) -> bool:
        """Gives batches back whose copies are done; ``wait``: the first of them when they are. Whether it did."""
        done = False
        while self._late and not (wait and done):
            event, batch = self._late[0]
            if wait:
                event.synchronize()
            elif not event.query():
                break
            self._late.popleft()
            self._give_back(batch)
            done = True
        return done

    def close(self) -> None:
        """Before the pipeline is closed: nothing is registered afterwards. Batches still held are not pinned then."""
        with self._lock:
            if self._closed or os.getpid() != self._pid:
                return
            self._closed = True
        if self._slots:
            self.runtime.synchronize(self._stream)
        while self._late:
            self._give_back(self._late.popleft()[1])
        for error in [self.runtime.unregister(address) for address in self._slots]:
            if error != 0:
                warnings.warn(f"pin_memory: cudaHostUnregister: {_name(error)}", RuntimeWarning, stacklevel=2)
        self._slots.clear()


def _address(pointer: Any) -> int:
    return int(ffi.cast("uintptr_t", pointer))


def _name(error: int) -> str:
    return f"{_ERRORS.get(error, 'CUDA error')} ({error})"
