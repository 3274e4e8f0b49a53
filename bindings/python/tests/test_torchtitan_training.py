# SPDX-License-Identifier: Apache-2.0
"""TorchTitan 0.3.0's own classes around the loader: its config, checkpoints, trainer. It runs on one CPU core."""
import re

import pytest

from conftest import ROOT
from titan_runs import HERE, phases

pytest.importorskip("torchtitan", reason="TorchTitan is not installed")
TRAIN = ROOT / "examples" / "python" / "torchtitan_train.py"
STEP = re.compile(r"^step (\d+) ([0-9a-f]{64}) (\S+)$", re.MULTILINE)


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


def test_torchtitans_own_loader_refuses_the_same_resume(tmp_path):
    def to(steps):
        return ["--dump-folder", str(tmp_path / "run"), "--training.steps", str(steps),
                "--checkpoint.no-last-save-model-only"]

    with pytest.raises(AssertionError, match="dataloader resharding is not supported"):
        phases(tmp_path, HERE / "titan_stock.py", (2, to(2)), (1, to(4)))
    assert set(steps((tmp_path / "0").read_text())) == {1, 2}
    assert not steps((tmp_path / "1").read_text())


def test_torchtitans_trainer_resumes_where_it_stopped(tmp_path):
    def to(folder, steps):
        return ["--dump-folder", str(tmp_path / folder), "--training.steps", str(steps),
                "--checkpoint.no-last-save-model-only"]

    whole, first, second = phases(tmp_path, HERE / "titan_trainer.py", (1, to("whole", 4)), (1, to("run", 2)),
                                  (1, to("run", 4)))
    lines = re.compile(r"^trainer (\d+) (\d+) (\S+)$", re.MULTILINE)
    assert lines.findall(first) + lines.findall(second) == lines.findall(whole)
    assert [line[:2] for line in lines.findall(whole)] == [(str(step), str(step * 8 * 128)) for step in (1, 2, 3, 4)]
