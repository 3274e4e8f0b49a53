# SPDX-License-Identifier: Apache-2.0
"""Runs programs on several ranks for the tests of TorchTitan's loader."""
import json
import os
import pathlib
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def _port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def phases(folder, program, *runs):
    """The outputs of runs of a program, each on so many ranks with these arguments, one after the other."""
    described = json.dumps([[world, _port(), list(arguments)] for world, arguments in runs])
    environment = {**os.environ, "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder), "TMPDIR": str(folder),
                   "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, str(HERE / "titan_ranks.py"), str(program), str(folder), described],
                          capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return [(folder / str(number)).read_text() for number in range(len(runs))]
