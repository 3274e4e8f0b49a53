# SPDX-License-Identifier: Apache-2.0
"""The example of elastic resume and the experiment on topologies, run; and the types of the examples."""
import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT

pytest.importorskip("torch", reason="PyTorch is not installed")


def run(*line, **more):
    return subprocess.run([sys.executable, *map(str, line)], capture_output=True, text=True, timeout=900, **more)


def test_elastic_resume():
    done = run(ROOT / "examples/python/elastic_resume.py", "--steps", 4, "--save-after", 2)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "every step has the same SHA-256 and loss: yes"
    assert done.stdout.count(": the same\n") == 3
    assert done.stdout.count("\n  step ") == 16  # four of each run


def test_topology_spread(tmp_path):
    done = run(ROOT / "bench/topology_spread.py", "--quick", "--json", tmp_path / "found", "--svg", tmp_path / "chart")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found").read_text())
    assert found["laneway_largest_spread"] == 0 < found["stock_mean_spread"]
    assert (tmp_path / "chart").read_text().count("<polyline") == 2


def test_types_of_the_examples(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = run("-m", "mypy", "--strict", *sorted((ROOT / "examples/python").glob("*.py")), cwd=tmp_path,
               env={**os.environ, "MYPY_CACHE_DIR": str(tmp_path)})
    assert done.returncode == 0, done.stdout
