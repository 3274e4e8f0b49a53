# SPDX-License-Identifier: Apache-2.0
"""Signals while the library waits or works: they come through at once, lose nothing and leave no process behind."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import laneway
from conftest import SAMPLE, run_python, take

# A function that sends a signal to the waiting program, once, and returns only when the program says so.
INTERRUPTING = """
import os, signal, sys, threading
sys.path.insert(0, sys.argv[2])
import laneway
from conftest import left_over, stays, take
ready, gate, once = threading.Event(), threading.Event(), threading.Lock()
def send(text):
    ready.wait(60)
    if once.acquire(blocking=False):
        os.kill(os.getpid(), signal.SIGINT)
    gate.wait(60)
    return text
before = left_over()
loader = laneway.open(sys.argv[1], operators=[laneway.Map(send)])
"""
HERE = str(pathlib.Path(__file__).parent)


def test_an_interrupt_in_next_comes_through_and_the_loader_goes_on():
    done = run_python(INTERRUPTING + """
try:
    ready.set()
    next(loader)
except KeyboardInterrupt:
    print("interrupted")
gate.set()
print(*take(loader, 3))
loader.close()
""", SAMPLE, HERE)
    with laneway.open(SAMPLE) as loader:
        expected = take(loader, 3)
    assert (done.returncode, done.stdout.split()) == (0, ["interrupted", *expected]), done.stderr


def test_an_interrupt_that_nobody_handles_closes_the_loader_and_ends_the_program():
    done = run_python(INTERRUPTING + """
try:
    with loader:
        ready.set()
        try:
            next(loader)
        finally:
            gate.set()
finally:
    print(loader.closed, stays(before))
""", SAMPLE, HERE)
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "True []\n"), done.stderr


# ---- process groups --------------------------------------------------------------------------------


def members(group):
    """Processes of a group that have not ended; init may take its time to collect those that have."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            fields = pathlib.Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended since, or is none
        if entry.isdigit() and int(fields[2]) == group and fields[0] not in "ZX":
            found.append(int(entry))
    return found


def all_end(group):
    deadline = time.monotonic() + 60
    while members(group) and time.monotonic() < deadline:
        os.sched_yield()
    return not members(group)


WORKING = """
import laneway, sys
if __name__ == "__main__":
    loader = laneway.open(sys.argv[1], operators=[laneway.Map(str.upper)], runner="process", processes=2)
    next(loader)
    print("ready", flush=True)
    for _batch in loader:
        pass
"""


@pytest.mark.parametrize("send", [os.killpg, os.kill])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_process_of_a_runner_outlives_its_program(send, number):
    with subprocess.Popen([sys.executable, "-c", WORKING, str(SAMPLE)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, start_new_session=True) as process:
        assert process.stdout.readline() == b"ready\n"
        assert len(members(process.pid)) >= 3
        send(process.pid, number)
        assert process.wait(60) == -number
        assert all_end(process.pid)
