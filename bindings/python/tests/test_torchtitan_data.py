# SPDX-License-Identifier: Apache-2.0
"""TorchTitan's loader on ranks that talk by gloo: its data alone, no TorchTitan."""
import json

import pytest

from test_titan_core import written
from titan_runs import HERE, phases

pytest.importorskip("torch", reason="PyTorch is not installed")


def runs(folder, recipe, *described):
    """What each run has said: how many rows, and their digest."""
    arguments = [(processes, [json.dumps({"recipe": recipe, "replicas": replicas, "steps": steps, **more})])
                 for processes, replicas, steps, more in described]
    return [[line for line in output.splitlines() if line.startswith("rows ")]
            for output in phases(folder, HERE / "titan_data.py", *arguments)]


def test_1_2_and_4_ranks_and_replicas_of_2_have_the_same_steps(tmp_path):
    recipe = written(tmp_path, tokenize_special_tokens="eos", shuffle_buffer_size=8)
    one, *others = runs(tmp_path, recipe, (1, 1, 4, {}), (2, 1, 4, {}), (4, 1, 4, {}), (4, 2, 4, {}))
    assert len(set(one)) == 4
    assert others == [one, one, one]


def test_distributed_checkpoints_resume_on_2_then_1_then_4_ranks(tmp_path):
    recipe = written(tmp_path, tokenize_special_tokens="eos", shuffle_buffer_size=8)
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    whole, *parts = runs(tmp_path, recipe, (1, 1, 6, {}), (2, 1, 2, {"save": a}), (1, 1, 2, {"load": a, "save": b}),
                         (4, 1, 2, {"load": b}))
    assert [digest for part in parts for digest in part] == whole


def test_validation_ends_at_the_same_step_on_every_rank(tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": f"{i} " * (i * 37 % 90)}) + "\n" for i in range(61)))
    recipe = written(tmp_path, tokenize_special_tokens="eos", sources=[{"name": "texts", "path": "texts.jsonl"}])
    one, four, two = runs(tmp_path, recipe, (1, 1, None, {}), (4, 1, None, {}), (4, 2, None, {}))
    assert one == two == four and len(one) == 1
    assert int(one[0].split()[1]) > 20
