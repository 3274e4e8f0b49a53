# SPDX-License-Identifier: Apache-2.0
"""Slots in pinned memory, with a stand-in for CUDA that records (pinned_runtime.py): each is registered once and
unregistered once, before it is freed, and none is used again while a copy may read it."""
import ctypes
import gc
import importlib.util
import os
import pathlib
import warnings

import pytest

import laneway
from conftest import SAMPLE, run_python, take
from laneway import pinning
from pinned_runtime import Recorder

HERE = str(pathlib.Path(__file__).parent)
ARRAYS = ("tokens", "positions", "labels", "loss_mask", "document_starts", "row_digests")


@pytest.fixture
def cuda(monkeypatch):
    return use(monkeypatch, Recorder())


def use(monkeypatch, recorder):
    monkeypatch.setattr(pinning, "find_runtime", lambda wanted: None if wanted is False else recorder)
    return recorder


def opened(**more):
    options = {"runtime.prefetch_steps": 2, **more.pop("options", {})}
    return laneway.open(SAMPLE, options=options, **more)


@pytest.mark.parametrize("options", [{}, {"runtime.microbatch": 5, "runtime.digests": True, "runtime.dtype": "int64"}])
@pytest.mark.parametrize("operators", [[], [laneway.Map(str.upper)]])
def test_each_slot_is_registered_once_and_unregistered_once(cuda, options, operators):
    with opened(options=options, operators=operators) as loader:
        for _ in range(60):
            batch = next(loader)
            arrays = [getattr(batch, name) for name in ARRAYS]
            assert all(cuda.holds(array) for array in arrays if array is not None)
        assert len(cuda.known) == 3 and not cuda.unregistered
    assert sorted(cuda.unregistered) == sorted(cuda.known) and len(set(cuda.known)) == 3 and not cuda.registered


def test_the_stream_is_the_same(cuda):
    with opened() as loader, opened(pin_memory=False) as plain:
        assert take(loader, 12) == take(plain, 12)
    assert cuda.known


def test_what_is_held_over_a_close_is_unregistered_then_and_stays_readable(cuda):
    loader = opened()
    tokens = next(loader).tokens
    expected = tokens.copy()
    loader.close()
    assert len(cuda.unregistered) == 1 and not cuda.registered and cuda.synchronized == 1
    assert (tokens == expected).all()
    events = len(cuda.events)
    del tokens
    gc.collect()
    assert len(cuda.events) == events and len(cuda.unregistered) == 1


@pytest.mark.parametrize("operators", [[], [laneway.Map(str.upper)]])
def test_a_loader_that_is_let_go_or_restored_unregisters(cuda, operators):
    loader = opened(operators=operators)
    next(loader)
    loader.restore(loader.checkpoint())
    assert len(cuda.known) == 1 and cuda.unregistered == cuda.known
    next(loader)
    assert len(cuda.registered) == 1
    cycle = [loader]
    cycle.append(cycle)
    del loader, cycle
    gc.collect()
    gc.collect()
    assert len(cuda.unregistered) == 2 and not cuda.registered


# ---- copies that run beside the program ------------------------------------------------------------


def test_a_slot_is_not_written_to_while_a_copy_may_read_it(cuda):
    cuda.idle = False
    with opened(options={"runtime.prefetch_steps": 1}) as loader:
        seen = []
        for step in range(8):
            tokens = next(loader).tokens
            seen.append((tokens.ctypes.data, tokens.tobytes()))
            del tokens
            # Two slots: what is asked for third has to wait for the first copy, and for that one alone.
            assert cuda.waits == max(0, step - 1)
            for address, expected in seen[-2:]:
                assert ctypes.string_at(address, len(expected)) == expected
        assert len(loader._pins._late) == 2
    assert cuda.synchronized == 1 and not loader._pins._late


def test_a_slot_is_given_back_as_soon_as_its_copies_are_done(cuda):
    cuda.idle = False
    with opened(options={"runtime.prefetch_steps": 1}) as loader:
        for _ in range(8):
            next(loader)
            cuda.finish()
        assert cuda.waits == 0 and len(cuda.known) == 2


def test_what_the_caller_holds_is_still_told(cuda):
    with opened(options={"runtime.prefetch_steps": 1}) as loader:
        held = [next(loader), next(loader)]
        with pytest.raises(laneway.BusyError):
            next(loader)
        assert held[0].step == 0 and cuda.waits == 0


# ---- errors ----------------------------------------------------------------------------------------


def test_a_slot_that_cannot_be_registered_is_an_error_by_name_if_it_must_be(monkeypatch):
    cuda = use(monkeypatch, Recorder(fails=(2, 0)))
    with opened(pin_memory=True) as loader:
        for _ in range(2):
            with pytest.raises(laneway.UnsupportedError, match=r"pin_memory: cudaHostRegister of \d+ bytes: "
                                                               r"cudaErrorMemoryAllocation \(2\), expected memory"):
                next(loader)
        cuda.fails = (0, 0)
        assert next(loader).step == 0
    assert len(cuda.unregistered) == 1


def test_else_it_is_a_warning_once_and_the_run_goes_on(monkeypatch):
    cuda = use(monkeypatch, Recorder(fails=(999, 0)))
    with opened() as loader:
        with pytest.warns(RuntimeWarning, match=r"cudaHostRegister of \d+ bytes: CUDA error \(999\)"):
            next(loader)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert [next(loader).step for _ in range(5)] == [1, 2, 3, 4, 5]
    assert cuda.refused == 1 and not cuda.known and not cuda.events


def test_one_that_cannot_be_unregistered_is_a_warning_by_name(monkeypatch):
    cuda = use(monkeypatch, Recorder(fails=(0, 4)))
    loader = opened()
    next(loader)
    next(loader)
    with pytest.warns(RuntimeWarning, match=r"cudaHostUnregister: cudaErrorCudartUnloading \(4\)"):
        loader.close()
    assert sorted(cuda.unregistered) == sorted(cuda.known)


def test_without_a_gpu_it_is_refused_only_if_it_must_be():
    with pytest.raises(laneway.UnsupportedError, match="pin_memory: PyTorch (is not installed|finds no CUDA device)"):
        opened(pin_memory=True)
    for wanted in (None, False):
        with opened(pin_memory=wanted) as loader:
            assert next(loader)._pins is None


def test_importing_and_opening_load_no_pytorch_for_it():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    done = run_python("import laneway, sys; next(laneway.open(sys.argv[1])); print('torch' in sys.modules)", SAMPLE)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


# ---- ends ------------------------------------------------------------------------------------------

# The recorder reads what is unregistered; a heap that gives back at once makes that end the program if it is free.
ENDING = """
import sys
sys.path.insert(0, sys.argv[2])
import atexit, laneway
from laneway import pinning
from pinned_runtime import Recorder
cuda = Recorder()
pinning.find_runtime = lambda wanted: cuda
atexit.register(print, "end")
"""


@pytest.mark.parametrize("operators", ["[]", "[laneway.Map(str.upper)]"])
def test_the_end_of_the_program_unregisters_all(operators):
    done = run_python(f"""
import atexit, sys
atexit.register(lambda: print(len(cuda.known), sorted(cuda.known) == sorted(cuda.unregistered), len(cuda.registered)))
{ENDING}
loaders = [laneway.open(sys.argv[1], operators={operators}) for _ in range(4)]
held = [next(loader).tokens for loader in loaders]
loaders[0].close()
loaders[1].itself = loaders[1]
del loaders[1]
""", SAMPLE, HERE, env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "4096"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n4 True 0\n", "")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_touches_no_cuda(cuda):
    with opened() as loader:
        held = next(loader)
        next(loader)
        before = len(cuda.events), len(cuda.registered)
        child = os.fork()
        if child == 0:
            del held
            loader.close()
            del loader
            gc.collect()
            os._exit(0 if (len(cuda.events), len(cuda.registered)) == before and not cuda.unregistered else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
