# SPDX-License-Identifier: Apache-2.0
"""Runs a program on several ranks, several times: TorchTitan is imported once, and each rank is a fork of that.

    python titan_ranks.py PROGRAM FOLDER '[[RANKS, PORT, [ARGUMENT...]], ...]'

The output of phase 0 goes to FOLDER/0, and so on. The first phase that fails ends it, with its exit status.
"""
import json
import os
import pathlib
import runpy
import sys


def rank_of(program, out, rank, world, port, arguments):
    """One rank, in a process of its own; its number."""
    child = os.fork()
    if child:
        return child
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1",
                      MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    os.dup2(1, 2)
    status = 1
    try:
        program["main"](arguments)
        status = 0
    finally:
        sys.stdout.flush()
        if status:
            sys.excepthook(*sys.exc_info())
        os._exit(status)


def main():
    path, folder, phases = sys.argv[1], pathlib.Path(sys.argv[2]), json.loads(sys.argv[3])
    sys.path.insert(0, str(pathlib.Path(path).parent))
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "examples" / "python"))
    program = runpy.run_path(path)
    for number, (world, port, arguments) in enumerate(phases):
        children = [rank_of(program, folder / str(number), rank, world, port, arguments) for rank in range(world)]
        if any([os.waitpid(child, 0)[1] for child in children]):
            sys.exit(f"phase {number} failed:\n{(folder / str(number)).read_text()}")


main()
