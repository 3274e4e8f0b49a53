# SPDX-License-Identifier: Apache-2.0
"""The examples that need NumPy alone, run."""
import subprocess
import sys

from conftest import ROOT


def test_quickstart():
    done = subprocess.run([sys.executable, str(ROOT / "examples/python/quickstart.py")], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    steps = [line.split(":")[0] for line in done.stdout.splitlines() if line.startswith("step")]
    assert steps == ["step 0", "step 1", "step 2", "step 3"]
