# SPDX-License-Identifier: Apache-2.0
"""Loaders: a recipe, running, for one rank.

Two locks. ``_consumer`` is held by the thread that takes batches or saves states, also while it waits in
the library; ``_signal`` for a moment, by what may be called meanwhile. Both are re-entrant, so that a signal
handler may save or close: it runs on the thread that waits, between two slices of its wait.
"""
from __future__ import annotations

import atexit
import functools
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ._native import check, failure, ffi, lib, new_error, taken_text, text
from .batch import Batch, Segment, new_cell
from .errors import BusyError, CancelledError, InvalidError
from .operator_bridge import Run
from .pinning import Pins
from .recipe import Recipe
from .state import State, StateLike

Agree = Callable[[str, int], int]

# A wait in the library lasts this long, then Python looks for signals.
_SLICE_NS = 50_000_000

_open_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Threads of the library must be gone before the process tears its libraries down."""
    for loader in list(_open_loaders):
        loader.close()


class Loader:
    """An iterator of batches; also a context manager that closes it.

    Only one thread takes batches at a time; others wait for their turn. ``close``, ``stats`` and ``locate``
    may be called from any thread at any time.
    """

    def __init__(self, recipe: Recipe, *, rank: int = 0, world: int = 1, state: StateLike | None = None,
                 agree: Agree | None = None, runner: str = "threads", processes: int = 0,
                 pin_memory: bool | None = None) -> None:
        self.recipe, self.rank, self.world = recipe, rank, world
        self._runner, self._processes, self._pin_memory = runner, processes, pin_memory
        self._consumer, self._signal = threading.RLock(), threading.RLock()
        self._pid = os.getpid()
        self._agree = _Agreement(agree) if agree is not None else None
        self._closing = False
        self._cell: Any = None
        self._handle: Any
        self._run: Run | None
        self._pins: Pins | None
        self._handle, self._run, self._pins = self._open(state)
        _open_loaders.add(self)

    def _open(self, state: StateLike | None) -> tuple[Any, Run | None, Pins | None]:
        options = _options(self.rank, self.world, self._agree)
        held = None if state is None else State.of(state)
        start = ffi.NULL if held is None else held._handle
        out, err = ffi.new("lw_pipeline **"), new_error()
        pins = Pins.start(self._pin_memory)
        if not self.recipe.operators:
            check(lib.lw_pipeline_open(self.recipe._handle, options, start, out, err), err)
            return ffi.gc(out[0], functools.partial(_close_pipeline, pins)), None, pins
        run = Run(self.recipe.operators, self._runner, self._processes)
        try:
            _check(run, lib.lw_pipeline_open(self.recipe._running(run), options, start, out, err), err)
            return run.own(out[0], pins), run, pins
        except BaseException:
            run.close()
            raise

    # ---- taking ----------------------------------------------------------------------------------

    def __iter__(self) -> Loader:
        return self

    def __next__(self) -> Batch:
        self._check_process()
        with self._consumer:
            if self._cell is None:
                self._cell = new_cell(self._pins)
            cell, err = self._cell, new_error()
            # A batch is there already if a signal came between its arrival and its being handed out.
            while not cell[0]:
                if not self._take(cell, err):
                    raise StopIteration
            batch = Batch(cell, self._pins)
            self._cell = None
            return batch

    def _take(self, cell: Any, err: Any) -> bool:
        """Waits a slice for a batch; false at the end of the data."""
        if self._pins is not None:
            self._pins.collect()
        status = lib.lw_pipeline_next(self._living(), _SLICE_NS, cell, err)
        if status == lib.LW_E_BUSY and self._pins is not None and self._pins.collect(wait=True):
            return True
        if status < 0 and self._agree is not None:
            self._agree.raise_own()
        try:
            return bool(_check(self._run, status, err) != lib.LW_END)
        except CancelledError:
            raise self._closed() from None

    # ---- states ----------------------------------------------------------------------------------

    def checkpoint(self, after: int | None = None) -> bytes:
        """The state after the newest step taken, as a blob; or after ``after`` steps, one of the last
        ``runtime.keep_states``. Its lanes are this rank's."""
        return bytes(self.state(after))

    def state(self, after: int | None = None) -> State:
        """The same as an object, which has pieces and describes itself."""
        self._check_process()
        with self._consumer:
            if self._cell is not None and self._cell[0] and after is None:
                raise BusyError("pipeline: a batch has arrived and was not handed out, expected it taken before a "
                                "state is asked for")
            step = lib.LW_STEP_NEWEST if after is None else after
            out, err = ffi.new("lw_state **"), new_error()
            check(lib.lw_pipeline_checkpoint(self._living(), step, out, err), err)
            return State._owning(ffi.gc(out[0], lib.lw_state_close))

    def restore(self, state: StateLike) -> None:
        """Goes on at a state: of this recipe, saved on any number of ranks. If it does not fit, the loader
        stays as it was."""
        self._check_process()
        with self._consumer:
            self._living()
            handle, run, pins = self._open(state)
            with self._signal:
                old, self._handle, self._run, self._pins, self._cell = self._handle, handle, run, pins, None
            ffi.release(old)

    def state_dict(self) -> dict[str, bytes]:
        """The state in pieces, "global" and one for each lane of this rank. What a distributed checkpoint
        keeps under one name may come from any rank: it is the same on all."""
        return self.state().pieces()

    def load_state_dict(self, state: Mapping[str, bytes]) -> None:
        """Goes on at the state that ``state_dict`` gave, here or on other ranks."""
        self.restore(state)

    # ---- looking ---------------------------------------------------------------------------------

    def explain(self, state: StateLike | None = None) -> str:
        """The plan, for people; with a state, what of it differs from the recipe."""
        return explain(self.recipe, world=self.world, state=state)

    def stats(self) -> dict[str, int]:
        """Counters since the loader was opened or restored; times are nanoseconds, summed over threads."""
        out, err = ffi.new("lw_stats *", {"struct_size": ffi.sizeof("lw_stats")}), new_error()
        self._check_process()
        with self._signal:
            check(lib.lw_pipeline_stats(self._living(), out, err), err)
        return {name: getattr(out, name) for name, _ in ffi.typeof("lw_stats").fields if name != "struct_size"}

    def locate(self, segment: Segment) -> tuple[str, str, int]:
        """Source, path of the shard, and number of the record in it, of a segment's document."""
        source, shard = ffi.new("const char **"), ffi.new("const char **")
        record, err = ffi.new("uint64_t *"), new_error()
        self._check_process()
        with self._signal:
            check(lib.lw_pipeline_locate(self._living(), ffi.new("lw_segment *", asdict(segment)), source, shard,
                                         record, err), err)
            return text(source[0]), text(shard[0]), record[0]

    # ---- closing ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Stops all threads; a thread that waits for a batch gets an error. Batches stay valid."""
        if os.getpid() != self._pid:
            return
        if self._run is not None:
            self._run.check_caller()
        with self._signal:
            self._closing = True
            if self._handle is not None:
                lib.lw_pipeline_cancel(self._handle)
        with self._consumer, self._signal:
            handle, self._handle, self._cell = self._handle, None, None
        if handle is not None:
            ffi.release(handle)

    @property
    def closed(self) -> bool:
        return self._closing

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<laneway.Loader rank {self.rank} of {self.world}{', closed' if self._closing else ''}>"

    def __reduce__(self) -> Any:
        raise TypeError("a Loader runs threads and cannot be pickled: pickle its recipe, and state_dict()")

    def _closed(self) -> InvalidError:
        return InvalidError("pipeline: it is closed, expected an open one")

    def _living(self) -> Any:
        if self._closing:
            raise self._closed()
        return self._handle

    def _check_process(self) -> None:
        # Before any lock: a lock that another thread held at the fork is never given back in the child.
        if os.getpid() != self._pid:
            raise InvalidError("pipeline: used after a fork, expected the process that opened it: open one in each "
                               "process, and start processes by spawn")
        if self._run is not None:
            self._run.check_caller()


def _check(run: Run | None, status: int, err: Any) -> int:
    """As ``check``; the exception that an operator raised is the cause of the failure, or what is raised itself if
    it is one that ends a program."""
    if status < 0 and run is not None:
        error = run.caused(failure(status, err), err)
        raise error if isinstance(error.__cause__, (Exception, type(None))) else error.__cause__
    return check(status, err)


def _close_pipeline(pins: Pins | None, pipeline: Any, close: Any = lib.lw_pipeline_close) -> None:
    if pins is not None:
        pins.close()
    close(pipeline)


class _Agreement:
    """A Python callable as the library's lw_agree; an exception of it is raised by the call that waited."""

    def __init__(self, agree: Agree) -> None:
        self._function = agree
        self._error: BaseException | None = None
        self.callback = ffi.callback("lw_agree", self._call, error=lib.LW_E_OPERATOR, onerror=self._keep)

    def _call(self, _ctx: Any, op: int, value: int, out: Any, _err: Any) -> int:
        out[0] = self._function("max" if op == lib.LW_MAX else "min", value)
        return int(lib.LW_OK)

    def _keep(self, _type: Any, error: BaseException, _traceback: Any) -> None:
        self._error = error

    def raise_own(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error


def _options(rank: int, world: int, agreement: _Agreement | None) -> Any:
    options = ffi.new("lw_pipeline_options *", {"struct_size": ffi.sizeof("lw_pipeline_options"),
                                                "rank": rank, "world": world})
    if agreement is not None:
        options.agree = agreement.callback
    return options


def start_state(recipe: Recipe, *, rank: int = 0, world: int = 1, agree: Agree | None = None) -> State:
    """The state before the first step, as a loader opened with these would give: opens the data, starts nothing."""
    agreement = _Agreement(agree) if agree is not None else None
    options, out, err = _options(rank, world, agreement), ffi.new("lw_state **"), new_error()
    if not recipe.operators:
        check(lib.lw_pipeline_start_state(recipe._handle, options, out, err), err)
        return State._owning(ffi.gc(out[0], lib.lw_state_close))
    run = Run(recipe.operators, "threads", 0)  # transforms begin, and are saved
    try:
        _check(run, lib.lw_pipeline_start_state(recipe._running(run), options, out, err), err)
        return State._owning(ffi.gc(out[0], lib.lw_state_close))
    finally:
        run.close()


def explain(recipe: Recipe, *, world: int = 1, state: StateLike | None = None) -> str:
    """The plan of a recipe, for people: opens the data, starts nothing."""
    held = None if state is None else State.of(state)
    out, err = ffi.new("char **"), new_error()
    check(lib.lw_explain(recipe._handle, world, ffi.NULL if held is None else held._handle, out, err), err)
    return taken_text(out[0])
