# SPDX-License-Identifier: Apache-2.0
"""Python operators as the library's operators: callbacks, records, errors, and how long they live.

The library calls on its own threads. Nothing may be raised into it: an exception becomes a failing status,
whose tag finds the exception again when the failure has come to the thread that takes batches.

What a running pipeline calls must outlive it, in whatever order the garbage collector comes by; so a run
stands in a list of the module from its opening to its end.
"""
from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from . import operator_runner
from ._native import check, encode, ffi, lib, new_error, span
from .errors import InvalidError, LanewayError
from .operators import Lane, Operator, Outcome, Stateful, Supervised

# An error's line has this room for what an exception says; the place of the document comes behind it.
_MESSAGE_BYTES = 300

_runs: set[Run] = set()
_inside = threading.local()


class _Failed(Exception):
    """A call of the library failed, and has filled the error that is handed on."""

    def __init__(self, status: int) -> None:
        self.status = status


class _Raised(Exception):
    """A function of an operator raised: the exception is the cause."""


def _done(status: int) -> None:
    if status < 0:
        raise _Failed(status)


class _Bound:
    """An operator of a run; the library knows it by its handle."""

    def __init__(self, run: Run, index: int, operator: Operator) -> None:
        self.run, self.index, self.operator = run, index, operator
        self.handle = ffi.new_handle(self)
        self.type = type_of(operator)

    def call(self, state: int | None, method: str, *arguments: Any) -> tuple[list[Any], BaseException | None]:
        outer, _inside.run = getattr(_inside, "run", None), self.run
        try:
            return self.run.runner.call(state, method, *arguments)
        finally:
            _inside.run = outer

    def work(self, group: Any, count: int, out: Any, err: Any) -> None:
        texts = [span(lib.lw_document_text(group[i])).decode() for i in range(count)]
        outcomes, error = self.call(None, "work", self.index, texts)
        for i, outcome in enumerate(outcomes):
            try:
                self._settle(group[i], texts[i], outcome, out, err)
            except UnicodeEncodeError as unencodable:
                raise _Raised from unencodable
        if error is not None:
            raise _Raised from error

    def _settle(self, document: Any, text: str, outcome: Outcome, out: Any, err: Any) -> None:
        if isinstance(outcome, str):
            if outcome != text:
                data = outcome.encode()
                _done(lib.lw_document_set_text(document, data, len(data), err))
            _done(lib.lw_sink_put(out, document, err))
            return
        if isinstance(outcome, Supervised):
            data = outcome.text.encode()
            _done(lib.lw_document_set_text(document, data, len(data), err))
            _done(lib.lw_document_supervise(document, ffi.new("lw_text_span[]", list(outcome.spans)),
                                            len(outcome.spans), err))
            _done(lib.lw_sink_put(out, document, err))
            return
        for made in outcome or ():
            data = made.encode()
            _done(lib.lw_sink_make(out, document, data, len(data), err))
        _done(lib.lw_sink_drop(out, document, err))


class _Accumulator:
    """A lane's state of a transform, and the records it holds, by their keys."""

    def __init__(self, bound: _Bound, context: Any) -> None:
        self._bound = bound
        self._number = bound.run.new_number()
        self._records: dict[int, Any] = {}
        self._loaded: list[int] = []
        self._next = 0
        self.handle = ffi.new_handle(self)
        lane = Lane(context.seed, context.lane, context.context)
        self._call("create", bound.index, lane)

    def _call(self, method: str, *arguments: Any) -> list[Any]:
        done, error = self._bound.call(self._number, method, self._number, *arguments)
        if error is not None:
            raise _Raised from error
        return done

    def push(self, group: Any, count: int, done: Any, out: Any, err: Any) -> None:
        documents = []
        for i in range(count):
            documents.append((self._next, *_fields(group[i]), _tokens(group[i])))
            self._records[self._next] = group[i]
            self._next += 1
        actions, error = self._bound.call(self._number, "push", self._number, self._late_tokens(), documents)
        for some in actions:
            self._act(some, out, err)
            done[0] += 1
        if error is not None:
            raise _Raised from error

    def flush(self, out: Any, err: Any) -> None:
        for some in self._call("flush", self._late_tokens()):
            self._act(some, out, err)

    def _act(self, actions: Sequence[tuple[int, bool]], out: Any, err: Any) -> None:
        for key, put in actions:
            record = self._records.pop(key, None)
            if record is None:
                raise _Raised from ValueError(f"puts or drops document {key}, which it does not hold")
            _done((lib.lw_sink_put if put else lib.lw_sink_drop)(out, record, err))

    def _late_tokens(self) -> dict[int, bytes]:
        keys, self._loaded = self._loaded, []
        return {key: _tokens(self._records[key]) for key in keys}

    def save(self, carry: Any) -> None:
        data, = self._call("save")
        lib.lw_writer_put(carry, self._next)
        lib.lw_writer_bytes(carry, data, len(data))
        lib.lw_writer_put(carry, len(self._records))
        for key, record in self._records.items():
            lib.lw_writer_put(carry, key)
            lib.lw_writer_record(carry, record)

    def load(self, carry: Any, err: Any) -> None:
        self._next = lib.lw_reader_get(carry)
        data = span(lib.lw_reader_bytes(carry))
        record = ffi.new("lw_record **")
        for _ in range(lib.lw_reader_get(carry)):
            key = lib.lw_reader_get(carry)
            _done(lib.lw_reader_record(carry, record, err))
            self._records[key] = record[0]
        self._loaded = list(self._records)
        documents = [(key, *_fields(held), None) for key, held in self._records.items()]
        self._call("load", data, documents)

    def destroy(self) -> None:
        if not self._bound.run.stopping:
            self._bound.call(self._number, "destroy", self._number)
        self._bound.run.forget(self)
        self.handle = None


def _fields(record: Any) -> tuple[int, int]:
    return int(lib.lw_document_source(record)), int(lib.lw_document_length(record))


def _tokens(record: Any) -> bytes:
    count = ffi.new("size_t *")
    tokens = lib.lw_document_tokens(record, count)
    return bytes(ffi.buffer(tokens, 4 * count[0])) if count[0] else b""


# ---- callbacks -------------------------------------------------------------------------------------


def _guarded(bound: _Bound, err: Any, call: Callable[..., None], *arguments: Any) -> int:
    """Calls, and turns what is raised into a status and the error's line."""
    try:
        call(*arguments)
        return int(lib.LW_OK)
    except _Failed as failed:
        return failed.status
    except _Raised as raised:
        bound.run.fill_error(bound.operator, raised.__cause__ or raised, err)
    except BaseException as error:
        bound.run.fill_error(bound.operator, error, err)
    return int(lib.LW_E_OPERATOR)


def _work(op: Any, group: Any, count: int, out: Any, err: Any) -> int:
    bound: _Bound = ffi.from_handle(op)
    return _guarded(bound, err, bound.work, group, count, out, err)


def _create(op: Any, context: Any, acc: Any, err: Any) -> int:
    bound: _Bound = ffi.from_handle(op)

    def create() -> None:
        made = _Accumulator(bound, context)
        bound.run.keep(made)
        acc[0] = made.handle

    return _guarded(bound, err, create)


def _push(acc: Any, group: Any, count: int, done: Any, out: Any, err: Any) -> int:
    made: _Accumulator = ffi.from_handle(acc)
    return _guarded(made._bound, err, made.push, group, count, done, out, err)


def _flush(acc: Any, out: Any, err: Any) -> int:
    made: _Accumulator = ffi.from_handle(acc)
    return _guarded(made._bound, err, made.flush, out, err)


def _save(acc: Any, carry: Any, err: Any) -> int:
    made: _Accumulator = ffi.from_handle(acc)
    return _guarded(made._bound, err, made.save, carry)


def _load(acc: Any, carry: Any, err: Any) -> int:
    made: _Accumulator = ffi.from_handle(acc)
    return _guarded(made._bound, err, made.load, carry, err)


def _destroy(acc: Any) -> None:
    made: _Accumulator = ffi.from_handle(acc)
    made.destroy()


@functools.lru_cache(maxsize=None)
def _callbacks() -> dict[str, Any]:
    """One set for all operators, made when the first one is there and kept for good."""
    functions = {"work": _work, "acc_create": _create, "acc_push_group": _push, "acc_flush": _flush,
                 "acc_save": _save, "acc_load": _load, "acc_destroy": _destroy}
    types = {name: field.type for name, field in ffi.typeof("lw_op_type").fields}
    return {name: ffi.callback(types[name], function, **({} if name == "acc_destroy" else {"error": lib.LW_E_INTERNAL}))
            for name, function in functions.items()}


def type_of(operator: Operator) -> tuple[Any, Any]:
    """The library's description of an operator, and what it borrows."""
    name = ffi.new("char[]", encode(operator.name))
    made = ffi.new("lw_op_type *", {"struct_size": ffi.sizeof("lw_op_type"), "name": name,
                                    "version": operator.version, "phase": lib.LW_PHASE_DOCUMENT})
    for function, callback in _callbacks().items():
        if (function == "work") != isinstance(operator, Stateful):
            setattr(made, function, callback)
    if isinstance(operator, Stateful):
        made.group_count = operator.group
    return made, name


def add_operator(recipe: Any, operator: Operator, kept: tuple[Any, Any], handle: Any) -> None:
    err = new_error()
    check(lib.lw_recipe_add_operator(recipe, kept[0], handle, encode(operator.options()), err), err)


# ---- runs ------------------------------------------------------------------------------------------


@atexit.register
def _close_all() -> None:
    """Pipelines whose loader is gone but which are not closed yet: the callbacks end with the interpreter."""
    for run in list(_runs):
        run.close()


class Run:
    """The operators of one running pipeline: from before it is opened to after it is closed."""

    def __init__(self, operators: Sequence[Operator], runner: str, processes: int) -> None:
        self._lock, self._closing = threading.Lock(), threading.RLock()
        self._pid = os.getpid()
        self._pipeline: Any = ffi.NULL
        self._numbers = itertools.count()
        self._accumulators: set[_Accumulator] = set()
        self._errors: dict[int, BaseException] = {}
        self._bound = [_Bound(self, index, operator) for index, operator in enumerate(operators)]
        self.stopping = False
        self.runner = operator_runner.start(operators, runner, processes)
        _runs.add(self)

    def add_to(self, recipe: Any) -> None:
        for bound in self._bound:
            add_operator(recipe, bound.operator, bound.type, bound.handle)

    def own(self, pipeline: Any) -> Any:
        """The handle of the pipeline, opened: with the last reference to it, pipeline and run are closed."""
        self._pipeline = pipeline
        return ffi.gc(pipeline, self.close)

    def close(self, pipeline: Any = None) -> None:
        """Closes the pipeline, if it was opened, then the rest. Does nothing the second time, and in a forked child,
        where a lock may be one that is never given back."""
        if os.getpid() != self._pid:
            return
        if not self.is_inside():
            self._close()
            return
        # The garbage collector came by on one of the pipeline's own threads, which cannot wait for itself. At the end
        # of the program there are no new threads: there it is closed by _close_all.
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=self._close, name="laneway-close", daemon=False).start()

    def _close(self) -> None:
        with self._closing:
            if self in _runs:
                self.stopping = True
                self.runner.stop()
                lib.lw_pipeline_close(self._pipeline)
                self.runner.join()
                _runs.discard(self)

    def is_inside(self) -> bool:
        """Whether this is called by a function of one of these operators."""
        return getattr(_inside, "run", None) is self

    # ---- for the callbacks -----------------------------------------------------------------------

    def new_number(self) -> int:
        with self._lock:
            return next(self._numbers)

    def keep(self, accumulator: _Accumulator) -> None:
        with self._lock:
            self._accumulators.add(accumulator)

    def forget(self, accumulator: _Accumulator) -> None:
        with self._lock:
            self._accumulators.discard(accumulator)

    def fill_error(self, operator: Operator, error: BaseException, err: Any) -> None:
        line = " ".join(f"{operator.name}: {type(error).__name__}: {error}".split())
        data = line.encode("utf-8", "replace")[:_MESSAGE_BYTES].decode("utf-8", "ignore").encode()
        with self._lock:
            tag = len(self._errors) + 1
            self._errors[tag] = error
        err.status, err.tag = lib.LW_E_OPERATOR, tag
        ffi.memmove(err.message, data + b"\0", len(data) + 1)

    def caused(self, failure: LanewayError, err: Any) -> LanewayError:
        """The failure, with the exception that is behind it as its cause."""
        failure.__cause__ = self._errors.get(err.tag)
        return failure

    def check_caller(self) -> None:
        if self.is_inside():
            raise InvalidError("pipeline: called by one of its own operators, expected another thread than its own")
