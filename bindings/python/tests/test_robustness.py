# SPDX-License-Identifier: Apache-2.0
"""Misuse, signals, forks, threads and exits: an error or a clean end, and nothing left behind."""
import os
import pickle
import signal
import subprocess
import sys
import threading

import pytest

import laneway
from conftest import SAMPLE, run_python, take

# Opens a loader whose first batch takes long: a window of a million rows has to be filled before it.
SLOW = """
import laneway, os, signal, sys, threading, time
options = {"shuffle.rows": 1048576, "lanes": 1, "runtime.threads": 2, "runtime.memory": "4GB"}
loader = laneway.open(sys.argv[1], options=options)
"""


def test_use_after_close_is_an_error():
    loader = laneway.open(SAMPLE)
    next(loader)
    loader.close()
    loader.close()
    assert loader.closed
    for call in (lambda: next(loader), loader.checkpoint, loader.state_dict, loader.stats):
        with pytest.raises(laneway.InvalidError, match="closed, expected an open one"):
            call()


def test_a_pipeline_that_is_closed_stays_closed(texts):
    source = laneway.StaticMixtureWorkSource([laneway.Dataset.from_path("texts", texts)])
    with laneway.Pipeline(source).tokenize("bytes").pack_flat(32).batch(3) as pipeline:
        state = pipeline.checkpoint()
    for call in (lambda: next(iter(pipeline)), pipeline.checkpoint, pipeline.stats, lambda: pipeline.restore(state)):
        with pytest.raises(laneway.InvalidError, match="closed, expected an open one"):
            call()


def test_a_context_closes_and_repr_says_so():
    with laneway.open(SAMPLE, rank=1, world=2) as loader:
        assert repr(loader) == "<laneway.Loader rank 1 of 2>"
    assert repr(loader) == "<laneway.Loader rank 1 of 2, closed>"


def test_close_while_another_thread_takes():
    for _ in range(20):
        loader = laneway.open(SAMPLE)
        started, ended = threading.Event(), []

        def consume(loader=loader, started=started, ended=ended):
            try:
                for _batch in loader:
                    started.set()
            except laneway.InvalidError as error:
                ended.append(str(error))

        thread = threading.Thread(target=consume)
        thread.start()
        started.wait()
        loader.close()
        thread.join(20)
        assert ended == ["pipeline: it is closed, expected an open one"]


def test_close_while_another_thread_waits_long():
    done = run_python(SLOW + """
def wait():
    try:
        next(loader)
    except laneway.InvalidError as error:
        print(error)
thread = threading.Thread(target=wait)
thread.start()
time.sleep(0.2)
assert loader.stats()["steps"] == 0
loader.close()
thread.join()
""", SAMPLE)
    assert (done.returncode, done.stdout) == (0, "pipeline: it is closed, expected an open one\n"), done.stderr


def test_several_threads_share_a_loader():
    expected = take(laneway.open(SAMPLE), 12)
    with laneway.open(SAMPLE, options={"runtime.prefetch_steps": 8}) as loader:
        found = {}
        lock = threading.Lock()

        def consume():
            for _ in range(4):
                batch = next(loader)
                with lock:
                    found[batch.step] = batch.tokens.tobytes()

        threads = [threading.Thread(target=consume) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == list(range(len(expected)))


def test_an_interrupt_ends_a_long_wait_and_nothing_is_lost():
    done = run_python(SLOW + """
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    next(loader)
except KeyboardInterrupt:
    print(time.monotonic() - begin < 2, laneway.State(loader.checkpoint()).step)
loader.close()
""", SAMPLE)
    assert (done.returncode, done.stdout) == (0, "True 0\n"), done.stderr


def test_interrupts_at_any_time_leave_the_stream_in_order_and_nothing_held():
    done = run_python("""
import laneway, os, signal, sys, threading
class Disturbed(Exception):
    pass
armed, steps, disturbed, stop = [], [], 0, threading.Event()
def handle(*_):
    if armed:
        armed.clear()
        raise Disturbed
def disturb():
    while not stop.wait(0.001):
        os.kill(os.getpid(), signal.SIGUSR1)
def pull():
    try:
        armed.append(1)
        return next(loader).step
    finally:
        armed.clear()
loader = laneway.open(sys.argv[1])
signal.signal(signal.SIGUSR1, handle)
thread = threading.Thread(target=disturb)
thread.start()
while len(steps) < 400 or disturbed < 20:
    try:
        steps.append(pull())
    except Disturbed:
        disturbed += 1
stop.set()
thread.join()
print(steps == sorted(set(steps)), steps[-1] < len(steps) + disturbed)
loader.close()
""", SAMPLE)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr


def test_a_signal_handler_may_close_and_save():
    done = run_python(SLOW + """
def handle(*_):
    print(laneway.State(loader.checkpoint()).step)
    loader.close()
signal.signal(signal.SIGTERM, handle)
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
try:
    next(loader)
except laneway.InvalidError as error:
    print(error)
""", SAMPLE)
    assert (done.returncode, done.stdout) == (0, "0\npipeline: it is closed, expected an open one\n"), done.stderr


def test_sigterm_ends_a_process_that_waits():
    with subprocess.Popen([sys.executable, "-c", SLOW + "print('ready', flush=True)\nnext(loader)", str(SAMPLE)],
                          stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(20) == -signal.SIGTERM


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_refused_and_leaves_the_parent_alone(sample):
    batch = next(sample)
    state = sample.checkpoint()
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (lambda: next(sample), sample.checkpoint, sample.stats, lambda: sample.restore(state),
                     lambda: sample.locate(batch.segments(0)[0])):
            try:
                call()
            except laneway.InvalidError as error:
                refused += "used after a fork, expected the process that opened it" in str(error)
        readable = batch.tokens.any()
        sample.close()
        del batch
        os._exit(0 if readable and refused == 5 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert next(sample).step == 1


@pytest.mark.parametrize("ending", ["", "loader.close()", "del loader", "sys.exit(3)", "1/0"])
def test_a_process_may_end_at_any_time(ending):
    done = run_python(f"""
import laneway, sys
loader = laneway.open(sys.argv[1])
batch = next(loader)
tokens = batch.tokens
{ending}
""", SAMPLE)
    assert done.returncode == {"sys.exit(3)": 3, "1/0": 1}.get(ending, 0), done.stderr
    assert ("Error" in done.stderr) == (ending == "1/0")


def test_a_loader_is_not_pickled_but_its_parts_are(sample):
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(sample)
    state = pickle.loads(pickle.dumps(sample.state()))
    recipe = pickle.loads(pickle.dumps(sample.recipe))
    with laneway.open(recipe, state=state) as other:
        assert take(other, 2) == take(sample, 2)
