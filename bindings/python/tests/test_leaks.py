# SPDX-License-Identifier: Apache-2.0
"""Opening and closing, letting go in any order, and ending the program leave nothing behind."""
import gc
import itertools
import os
import pathlib
import tempfile
import weakref

import pytest

import laneway
import operator_functions
from conftest import SAMPLE, run_python, take

HERE = str(pathlib.Path(__file__).parent)

# Prints what there is more of after 200 openings than after the first 50: memory in KiB, objects, threads and files.
OPENING = """
import gc, os, sys
sys.path.insert(0, sys.argv[2])
import laneway, numpy
from conftest import left_over, stays
def once():
    with laneway.open(sys.argv[1], operators=OPERATORS) as loader:
        array = next(loader).tokens
        loader.restore(loader.checkpoint())
        next(loader)
        loader.stats()
    return array.sum()
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
for number in range(250):
    if number == 50:
        gc.collect()
        before, memory, objects = left_over(), resident(), len(gc.get_objects())
    once()
gc.collect()
print(resident() - memory, len(gc.get_objects()) - objects, stays(before))
"""

# Of 200 openings, 20 KiB each: less than any block, slot or stack of a pipeline. Python's own heap grows and shrinks by
# some arenas of 1 MiB.
MOST_GROWTH_KIB = 4000


def names():
    """Shared memory, and temporary files: what a process could leave lying about."""
    return {(folder, name) for folder in ("/dev/shm", tempfile.gettempdir()) if os.path.isdir(folder)
            for name in os.listdir(folder) if name.startswith(("pymp-", "psm_", "sem.", "laneway", "lw"))}


@pytest.mark.parametrize("operators", ["[]", "[laneway.Map(str.upper)]"])
def test_two_hundred_openings_keep_no_memory_thread_or_file(operators):
    # A heap that gives back what is free, at once: then what is resident is what is held.
    heap = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    done = run_python(OPENING.replace("OPERATORS", operators), SAMPLE, HERE, env={**os.environ, **heap})
    assert done.returncode == 0, done.stderr
    memory, objects, more = done.stdout.split(maxsplit=2)
    assert int(memory) < MOST_GROWTH_KIB and int(objects) < 200 and more == "[]\n"


def test_processes_of_a_runner_leave_no_file_name_or_process(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # other programs use the common folder meanwhile
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = names()
    for _ in range(3):
        with laneway.open(SAMPLE, operators=[laneway.Map(operator_functions.shout)], runner="process",
                          processes=2) as loader:
            take(loader, 1)
    assert names() - before == set()


# ---- in any order ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
@pytest.mark.parametrize("closed", [False, True])
def test_loader_iterator_batch_and_view_in_cycles_go_in_any_order(order, closed):
    """Each holds itself, so that the collector finds it alone; the view is read until it is gone."""
    class Cycle:
        def __init__(self, held):
            self.held, self.itself = held, self

    loader = laneway.open(SAMPLE)
    iterator = iter([loader])
    batch = next(loader)
    view = batch.labels[2:5]
    expected, gone = view.copy(), weakref.ref(loader)
    held = [Cycle(loader), Cycle(iterator), Cycle(batch), Cycle(view)]
    if closed:
        loader.close()
    del loader, iterator, batch, view
    for index in order:
        held[index] = None
        gc.collect()
        if held[3] is not None:
            assert (held[3].held == expected).all()
    assert gone() is None


def test_one_cycle_of_all_is_collected_whole():
    loader = laneway.open(SAMPLE, operators=[laneway.Map(str.upper)])
    batch = next(loader)
    loader.batch, batch.loader, batch.kept = batch, loader, [batch.tokens, batch.positions[1:]]
    gone = weakref.ref(loader), weakref.ref(batch)
    del loader, batch
    gc.collect()
    assert [one() for one in gone] == [None, None]


# ---- the end of the program ------------------------------------------------------------------------

# How a program ends, with what in hand; all of these are fine.
ENDS = {
    "one not taken from": """
loader = laneway.open(sys.argv[1])""",
    "sixteen": """
loaders = [laneway.open(sys.argv[1]) for _ in range(16)]
batches = [next(loader).tokens for loader in loaders]""",
    "an exit in the loop": """
for batch in laneway.open(sys.argv[1]):
    sys.exit(0)""",
    "a generator in the middle": """
def walk():
    for batch in laneway.open(sys.argv[1]):
        yield batch
walker = walk()
next(walker)""",
    "cycles": """
loader = laneway.open(sys.argv[1])
batch = next(loader)
loader.batch, batch.loader = batch, loader""",
    "a batch in a module that goes late": """
sys.modules["held"] = type(sys)("held")
sys.held = sys.modules["held"].batch = next(laneway.open(sys.argv[1])).tokens""",
    "an exit handler that takes": """
import atexit
loader = laneway.open(sys.argv[1])
atexit.register(lambda: next(loader))""",
    "a thread that waits": """
import threading
options = {"shuffle.rows": 1048576, "lanes": 1, "runtime.memory": "4GB"}
loader, started = laneway.open(sys.argv[1], options=options), threading.Event()
def wait():
    started.set()
    try:
        next(loader)
    except laneway.InvalidError:
        pass
threading.Thread(target=wait, daemon=True).start()
started.wait()""",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_program_ends_quietly_with(end):
    done = run_python("import laneway, sys" + ENDS[end], SAMPLE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
