# SPDX-License-Identifier: Apache-2.0
"""The examples that need NumPy alone, run."""
import subprocess
import sys

import pytest

from conftest import ROOT


def test_quickstart():
    done = subprocess.run([sys.executable, str(ROOT / "examples/python/quickstart.py")], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    steps = [line.split(":")[0] for line in done.stdout.splitlines() if line.startswith("step")]
    assert steps == ["step 0", "step 1", "step 2", "step 3"]


def test_chat_sft():
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    done = subprocess.run([sys.executable, str(ROOT / "examples/python/chat_sft.py")], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("step")]
    assert [line.split(":")[0] for line in lines] == ["step 0", "step 0", "step 1", "step 1", "step 2"]
    assert all("'It is " in line and "know" not in line for line in lines)
