# SPDX-License-Identifier: Apache-2.0
"""TorchTitan 0.3.0's own classes around the loader: its config, checkpoints, trainer. It runs on one CPU core."""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys

import pytest

from conftest import ROOT

pytest.importorskip("torchtitan", reason="TorchTitan is not installed")
HERE = pathlib.Path(__file__).resolve().parent
TRAIN = ROOT / "examples" / "python" / "torchtitan_train.py"
STEP = re.compile(r"^step (\d+) ([0-9a-f]{64}) (\S+)$", re.MULTILINE)


def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def phases(folder, program, *runs):
    """The outputs of runs of a program, each on so many ranks with these arguments, one after the other."""
    described = json.dumps([[world, port(), list(arguments)] for world, arguments in runs])
    done = subprocess.run([sys.executable, str(HERE / "titan_ranks.py"), str(program), str(folder), described],
                          capture_output=True, text=True, timeout=600,
                          env={**os.environ, "HF_DATASETS_OFFLINE": "1", "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    return [(folder / str(number)).read_text() for number in range(len(runs))]


def steps(output):
    return {int(step): (digest, float(loss)) for step, digest, loss in STEP.findall(output)}


def test_batches_and_loss_are_those_of_one_run_on_2_then_1_then_2_ranks(tmp_path):
    def to(steps):
        return ["--dump-folder", str(tmp_path / "run"), "--training.steps", str(steps),
                "--checkpoint.no-last-save-model-only"]

    whole, *parts = phases(tmp_path, TRAIN, (1, ["--dump-folder", str(tmp_path / "whole"), "--training.steps", "6"]),
                           (2, to(2)), (1, to(4)), (2, to(6)))
    expected, resumed = steps(whole), {}
    for output, wanted in zip(parts, ({1, 2}, {3, 4}, {5, 6})):
        assert set(steps(output)) == wanted
        resumed.update(steps(output))
    assert sorted(expected) == sorted(resumed) == [1, 2, 3, 4, 5, 6]
    for step, (digest, loss) in expected.items():
        assert resumed[step][0] == digest
        assert resumed[step][1] == pytest.approx(loss, abs=1e-6 * loss)
    assert len({digest for digest, _ in expected.values()}) == 6
