# SPDX-License-Identifier: Apache-2.0
"""Runners: who calls the functions of operators. All give the same; they differ in what runs side by side.

threads   on the library's threads, as they come
inline    the same, one call at a time
process   in processes of their own, started anew (spawn)
"""
from __future__ import annotations

import itertools
import os
import pickle
import threading
from collections.abc import Sequence
from typing import Any

from .errors import InvalidError, OperatorError
from .operator_host import Answer, Host, serve, unpack_error
from .operators import Operator

RUNNERS = ("threads", "process", "inline")

# A process more than that is asked for by name.
_MOST_BY_DEFAULT = 8


class Threads:
    """Calls where they come from."""

    def __init__(self, operators: Sequence[Operator]) -> None:
        self._host = Host(operators)

    def call(self, state: int | None, method: str, *arguments: Any) -> Answer:
        return self._host.call(method, *arguments)

    def stop(self) -> None:
        """A function that runs is waited for, not the rest of its group."""
        self._host.stop()

    def join(self) -> None:
        pass


class Inline(Threads):
    """One call at a time."""

    def __init__(self, operators: Sequence[Operator]) -> None:
        super().__init__(operators)
        self._lock = threading.Lock()

    def call(self, state: int | None, method: str, *arguments: Any) -> Answer:
        with self._lock:
            return super().call(state, method, *arguments)


class _Process:
    def __init__(self, context: Any, pickled: bytes) -> None:
        self.lock = threading.Lock()
        self.connection, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, pickled), name="laneway-operators", daemon=True)
        try:
            self._process.start()
        except BaseException:
            self.connection.close()
            raise
        finally:
            other.close()

    def wait_ready(self) -> None:
        try:
            self.connection.recv()
        except (EOFError, OSError):
            self._process.join()
            raise OperatorError(
                f"operators: a process ended with code {self._process.exitcode} as it started, expected the functions "
                "to be importable, and a main module that does its work below `if __name__ == \"__main__\"`") from None

    def call(self, method: str, arguments: Sequence[Any]) -> Answer:
        """With the lock held."""
        try:
            self.connection.send((method, arguments))
            done, error = self.connection.recv()
        except (EOFError, OSError, ValueError):
            return [], OperatorError("a process of its runner has ended, expected it to run as long as the pipeline")
        return done, unpack_error(error)

    def stop(self) -> None:
        self._process.terminate()

    def join(self) -> None:
        self._process.join(5)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        with self.lock:
            self.connection.close()
        self._process.close()


class Processes:
    """Calls in processes: a lane's state lives in one of them, all else goes where there is room."""

    def __init__(self, operators: Sequence[Operator], count: int) -> None:
        try:
            pickled = pickle.dumps(tuple(operators))
        except Exception as error:
            raise InvalidError(f"operators: {error}, expected operators that can be pickled for runner=\"process\"") \
                from error
        import multiprocessing

        self._pid = os.getpid()
        self._turn = itertools.count()
        self._processes: list[_Process] = []
        context = multiprocessing.get_context("spawn")
        try:
            for _ in range(count):
                self._processes.append(_Process(context, pickled))
            for process in self._processes:
                process.wait_ready()
        except BaseException:
            self.stop()
            self.join()
            raise

    def call(self, state: int | None, method: str, *arguments: Any) -> Answer:
        process = self._process_of(state) if state is not None else self._free()
        try:
            return process.call(method, arguments)
        finally:
            process.lock.release()

    def _process_of(self, state: int) -> _Process:
        process = self._processes[state % len(self._processes)]
        process.lock.acquire()
        return process

    def _free(self) -> _Process:
        """One that is idle; else the next in turn, when it is."""
        first = next(self._turn) % len(self._processes)
        for process in self._processes[first:] + self._processes[:first]:
            if process.lock.acquire(blocking=False):
                return process
        self._processes[first].lock.acquire()
        return self._processes[first]

    def stop(self) -> None:
        """Ends the processes, also in the middle of a call."""
        for process in self._processes if os.getpid() == self._pid else ():
            process.stop()

    def join(self) -> None:
        for process in self._processes if os.getpid() == self._pid else ():
            process.join()


def start(operators: Sequence[Operator], runner: str, processes: int) -> Threads | Processes:
    """The runner of that name; processes: how many, 0 for as many as there are processors, up to 8."""
    if runner not in RUNNERS:
        raise InvalidError(f"operators: runner is {runner!r}, expected one of {', '.join(RUNNERS)}")
    if processes < 0:
        raise InvalidError(f"operators: processes is {processes}, expected 0 or more")
    if runner == "process":
        return Processes(operators, processes or min(len(os.sched_getaffinity(0)), _MOST_BY_DEFAULT))
    return Inline(operators) if runner == "inline" else Threads(operators)
