# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the sample recipe, the command to compare with, and a look for what was left behind."""
import gc
import hashlib
import multiprocessing.resource_tracker
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import laneway

ROOT = pathlib.Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "examples" / "data" / "recipe.yaml"
DIGESTS = {"runtime.digests": True}


def command(*arguments):
    """What the command prints."""
    program = os.path.join(os.environ.get("LANEWAY_BUILD", str(ROOT / "build" / "release")), "laneway")
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def digests_of_command(*arguments):
    """Step digests, by step, of `laneway digest`."""
    lines = (line.split() for line in command("digest", *arguments).splitlines())
    return {int(line[0]): line[1] for line in lines if len(line) == 2 and len(line[1]) == 64}


def row_digests(batch):
    """The digests of a batch's rows, computed from the arrays Python sees (docs/stream.md, section 9)."""
    found = []
    for row in range(batch.rows):
        starts = np.flatnonzero(batch.document_starts[row]).astype("<i4")
        hasher = hashlib.sha256(batch.tokens[row].astype("<i4").tobytes())
        hasher.update(batch.positions[row].astype("<i4").tobytes())
        hasher.update(batch.loss_mask[row].tobytes())
        hasher.update(np.int32(len(starts)).tobytes() + starts.tobytes())
        found.append(hasher.digest())
    return found


def take(loader, steps):
    """Step digests of the next steps, from the arrays."""
    return [hashlib.sha256(b"".join(row_digests(next(loader)))).hexdigest() for _ in range(steps)]


def run_python(code, *arguments, **more):
    """Runs a program of its own; its result."""
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, **more)


def left_over():
    """Threads and open files of this process."""
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def grew(before):
    """What there is more of than before."""
    return [(now, then) for now, then in zip(left_over(), before) if now > then]


def stays(before):
    """The same, of what does not go away: a joined thread's entry in /proc may be there for a moment."""
    deadline = time.monotonic() + 5
    while grew(before) and time.monotonic() < deadline:
        os.sched_yield()
    return grew(before)


@pytest.fixture(autouse=True, scope="session")
def tracker():
    """Python's own helper of spawned processes stays for as long as the program does: it is no file left behind."""
    multiprocessing.resource_tracker.ensure_running()


@pytest.fixture(autouse=True)
def nothing_stays():
    """No test may leave a thread or an open file behind."""
    gc.collect()
    before = left_over()
    yield
    gc.collect()
    assert not stays(before)


@pytest.fixture
def sample():
    """A loader of the sample recipe, with 64-bit integers."""
    with laneway.open(SAMPLE, options={"runtime.dtype": "int64"}) as loader:
        yield loader


@pytest.fixture
def texts(tmp_path):
    """The path of a small file of documents of very different lengths."""
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f'{{"text": "{"x" * (i * 37 % 90)}{i}"}}\n' for i in range(60)))
    return path


@pytest.fixture
def padded(texts):
    """A recipe whose data ends, with padding in its last step."""
    return {"lanes": 2, "global_batch": 4, "context": 32, "sources": [{"name": "texts", "path": str(texts)}],
            "tokenizer": {"name": "bytes", "bos": True, "eos": True}, "pack": {"algorithm": "best_fit", "pad": 7},
            "end": "pad", "runtime": {"dtype": "int64"}}
