# SPDX-License-Identifier: Apache-2.0
"""The examples of training frameworks, run: each stops, resumes, and compares batches and weights with a whole run."""
import importlib.util
import io
import os
import subprocess
import sys

import pytest

import laneway
from conftest import ROOT, SAMPLE

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from laneway.hosts import WholeState, unshifted_fields  # noqa: E402
from laneway.torch import StreamDataset  # noqa: E402

torch.set_num_threads(1)  # threads that PyTorch keeps are none that a test leaves behind

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node")


def run(*line):
    return subprocess.run([sys.executable, *map(str, line)], capture_output=True, text=True, timeout=900,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})


@pytest.mark.parametrize(("host", "launcher"), [
    ("transformers", ()), ("accelerate", ()), ("lightning", ()), ("composer", ()), ("deepspeed", (*TORCHRUN, 1)),
    ("torchrun", (*TORCHRUN, 2)),
])
def test_a_host_resumes_with_the_same_batches_and_weights(host, launcher):
    if host != "torchrun" and importlib.util.find_spec(host) is None:
        pytest.skip(f"{host} is not installed")
    done = run(*launcher, ROOT / f"examples/python/hosts_{host}.py")
    assert done.returncode == 0, done.stderr
    assert "batches the same: yes, weights the same: yes" in done.stdout


def test_the_data_side_of_megatron():
    done = run(ROOT / "examples/python/megatron_data.py", "--changes", "2-1", "--iterations", 2, "--save-after", 1)
    assert done.returncode == 0, done.stderr
    assert "2 ranks, then 1: the same" in done.stdout


def test_unshifted_labels_are_what_a_model_that_shifts_them_predicts():
    with laneway.open(SAMPLE, options={"labels.mask_eos": True}) as loader:
        batch = next(loader)
        fields = unshifted_fields(batch)
        assert sorted(fields) == ["input_ids", "labels", "position_ids"]
        assert (fields["labels"][:, 0] == -100).all()
        assert (fields["labels"][:, 1:].numpy() == batch.labels[:, :-1]).all()
        learnt = fields["labels"] != -100
        assert not learnt[:, 1:].all() and torch.equal(fields["labels"][learnt], fields["input_ids"][learnt])
        assert (fields["position_ids"].numpy() == batch.positions).all()


@pytest.mark.parametrize("newest", [False, True])
def test_a_whole_state_is_that_of_the_steps_trained_or_taken(newest):
    ahead, resumed = StreamDataset(SAMPLE), StreamDataset(SAMPLE)
    place, other = WholeState(ahead, newest=newest), WholeState(resumed, newest=newest)
    batches = iter(ahead)
    taken = [next(batches)["input_ids"] for _ in range(4)]
    place.steps = 2
    other.load_state_dict(torch.load(kept(place), weights_only=True))
    assert other.steps == (4 if newest else 2)
    expected = next(batches)["input_ids"] if newest else taken[2]
    assert torch.equal(next(iter(resumed))["input_ids"], expected)
    ahead.close()
    resumed.close()


def kept(place):
    """As a host keeps it: in a file of ``torch.save``."""
    file = io.BytesIO()
    torch.save(place.state_dict(), file)
    file.seek(0)
    return file
