# SPDX-License-Identifier: Apache-2.0
"""Many pipelines, threads and processes at once: each stream is the one it is alone."""
import json
import subprocess
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import laneway
from conftest import SAMPLE, row_digests, run_python, take
from laneway import operator_bridge

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def fluent(texts):
    source = laneway.StaticMixtureWorkSource([laneway.Dataset.from_path("texts", texts)], exhausted_policy="repeat")
    return laneway.Pipeline(source).map_transform(str.swapcase).tokenize("bytes").pack_flat(32).batch(3)


def at_once(count, call):
    """What so many threads get from a call, all let go at the same moment."""
    barrier = threading.Barrier(count)

    def one(number):
        barrier.wait(60)
        return call(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_sixteen_pipelines_are_opened_taken_and_closed_at_once(texts):
    def run(_number):
        with fluent(texts) as pipeline:
            return take(iter(pipeline), 8)

    expected = run(0)
    assert at_once(16, run) == [expected] * 16


def test_eight_threads_have_a_pipeline_each(texts):
    recipe = laneway.Recipe.open(SAMPLE)

    def run(rank):
        with laneway.open(recipe, rank=rank, world=8) as loader:
            return [row for _ in range(4) for row in row_digests(next(loader))]

    assert at_once(8, run) == [run(rank) for rank in range(8)]


def test_two_threads_on_one_pipeline_share_its_stream(texts):
    pipeline = fluent(texts).options(prefetch_batches=12)

    def run(_number):
        return [(batch.step, row_digests(batch)) for _, batch in zip(range(6), pipeline)]

    found = dict(pair for pairs in at_once(2, run) for pair in pairs)
    with fluent(texts) as alone:
        expected = {step: row_digests(batch) for step, batch in zip(range(12), alone)}
    assert found == expected
    pipeline.close()


def test_callbacks_are_made_once_and_by_one_thread(monkeypatch):
    """A second set of them would be let go while a pipeline calls it."""
    made = []

    def make():
        assert operator_bridge._callbacks_lock.locked()
        made.append(1)
        return {"work": None}

    monkeypatch.setattr(operator_bridge, "_callbacks_made", {})
    monkeypatch.setattr(operator_bridge, "_make_callbacks", make)
    first, second = at_once(2, lambda _number: operator_bridge._callbacks())
    assert first is second and made == [1]


def test_eight_processes_on_one_folder_give_the_rows_of_one():
    code = """
import json, sys
sys.path.insert(0, sys.argv[3])
import laneway
from conftest import row_digests
with laneway.open(sys.argv[1], rank=int(sys.argv[2]), world=8) as loader:
    print(json.dumps([[row.hex() for row in row_digests(next(loader))] for _ in range(4)]))
"""
    folder = __file__.rpartition("/")[0]
    processes = [subprocess.Popen([sys.executable, "-c", code, str(SAMPLE), str(rank), folder], stdout=subprocess.PIPE)
                 for rank in range(8)]
    ranks = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    with laneway.open(SAMPLE) as loader:
        expected = [[row.hex() for row in row_digests(next(loader))] for _ in range(4)]
    assert [[row for rank in ranks for row in rank[step]] for step in range(4)] == expected


def test_several_threads_close_at_once():
    for _ in range(5):
        loader = laneway.open(SAMPLE)
        next(loader)
        assert at_once(4, lambda _number, loader=loader: loader.close()) == [None] * 4
        with pytest.raises(laneway.InvalidError, match="closed, expected an open one"):
            next(loader)


def test_a_close_meets_restores_and_states_of_another_thread():
    for _ in range(5):
        loader = laneway.open(SAMPLE)
        state, begun, ended = loader.checkpoint(), threading.Event(), []

        def work(loader=loader, state=state, begun=begun, ended=ended):
            try:
                while True:
                    loader.restore(state)
                    loader.checkpoint()
                    loader.stats()
                    begun.set()
            except laneway.InvalidError as error:
                ended.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        assert begun.wait(60)
        loader.close()
        thread.join(60)
        assert ended == ["pipeline: it is closed, expected an open one"]


@pytest.mark.skipif(not FREE_THREADED, reason="this Python has the GIL, always")
def test_on_a_free_threaded_python_the_gil_stays_off():
    done = run_python("import laneway, sys; next(laneway.open(sys.argv[1])).tokens; print(sys._is_gil_enabled())", SAMPLE)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr
