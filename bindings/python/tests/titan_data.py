# SPDX-License-Identifier: Apache-2.0
"""TorchTitan's loader, its data alone, on ranks that talk by gloo. Rank 0 prints what it has heard from all.

main takes what a run is: {"recipe", "replicas" of each data-parallel rank, "steps" or null for one validation pass,
"save" and "load": folders of distributed checkpoints}.
"""
import hashlib
import json
import pathlib
import types

import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.stateful import Stateful

from laneway.torchtitan.core import Core
from laneway.torchtitan.place import Place, Wanted

DATA = pathlib.Path(__file__).resolve().parents[3] / "examples" / "data"
TOKENIZER = types.SimpleNamespace(tokenizer_path=str(DATA / "tokenizer.json"), eos_token="<|endoftext|>")
ROWS, MICROBATCH, CONTEXT = 8, 2, 64


def rows_of(batch):
    """The digests of a batch's rows; None for padding."""
    return [hashlib.sha256(batch.tokens[row].tobytes() + batch.positions[row].tobytes()
                           + batch.labels[row].tobytes()).hexdigest() if batch.loss_mask[row].any() else None
            for row in range(batch.rows)]


def gathered(rows, replicas):
    """The rows of all ranks, after a look whether they are as many on each and replicas agree."""
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, rows)
    assert len({len(of_rank) for of_rank in everyone}) == 1
    assert all(rows == everyone[rank - rank % replicas] for rank, rows in enumerate(everyone))
    return [row for of_rank in everyone[::replicas] for row in of_rank]


def said(rows):
    if dist.get_rank() == 0:
        print("rows", len(rows), hashlib.sha256(" ".join(rows).encode()).hexdigest(), flush=True)


def train(run, world, rank):
    core = Core(Wanted(run["recipe"], lanes=4), Place(rank, world, MICROBATCH, CONTEXT, ROWS), TOKENIZER)
    assert isinstance(core, Stateful)  # so a distributed checkpoint takes it as it is
    if run.get("load"):
        dcp.load({"dataloader": core}, checkpoint_id=run["load"])
    for _ in range(run["steps"]):
        batches = [core.next() for _ in range(ROWS // world // MICROBATCH)]
        said(gathered([row for batch in batches for row in rows_of(batch)], run["replicas"]))
    if run.get("save"):
        dcp.save({"dataloader": core}, checkpoint_id=run["save"])
    core.close()


def validate(run, world, rank):
    """One pass: its rows in no order, for that depends on the rows of a step, and so on the number of ranks."""
    core = Core(Wanted(run["recipe"], lanes=4, validation=True, repeat=False),
                Place(rank, world, MICROBATCH, CONTEXT), TOKENIZER)
    rows = []
    while True:
        try:
            rows += rows_of(core.next())
        except StopIteration:
            break
    said(sorted(row for row in gathered(rows, run["replicas"]) if row))
    core.close()


def main(arguments):
    run = json.loads(arguments[0])
    dist.init_process_group("gloo")
    place = dist.get_world_size() // run["replicas"], dist.get_rank() // run["replicas"]
    (validate if run["steps"] is None else train)(run, *place)
    dist.destroy_process_group()
