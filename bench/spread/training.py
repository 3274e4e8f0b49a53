# SPDX-License-Identifier: Apache-2.0
"""The runs: processes that train together, on arithmetic that does not depend on how many they are.

A step is always computed in PARTS parts of the same rows each, whatever rank has them; the gradients of all
parts are gathered and summed in the order of the parts, in one operation of the same shape everywhere. So two
runs that see the same rows in the same order have the same parameters, to the last bit.
"""
import os
import pathlib
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing

from spread import data, model

PARTS = 8
LEARNING_RATE = 3e-3


def gradient(net, rows):
    """The gradient of a part, as one vector."""
    return torch.cat([one.flatten() for one in torch.autograd.grad(net.loss(rows), list(net.parameters()))])


def take_step(net, optimizer, rows, ranks, group):
    own = torch.stack([gradient(net, part) for part in rows.chunk(PARTS // ranks)])
    gathered = [torch.empty_like(own) for _ in range(ranks)]
    dist.all_gather(gathered, own, group=group)
    total = torch.cat(gathered).sum(dim=0) / PARTS
    parameters = list(net.parameters())
    for parameter, part in zip(parameters, total.split([one.numel() for one in parameters])):
        parameter.grad = part.view_as(parameter)
    optimizer.step()


def train(run, corpus, steps, rank, group):
    """One run, as one of its ranks; the loss on the held-out rows."""
    loader, seed, ranks = run
    net = model.make(seed)
    optimizer = torch.optim.AdamW(net.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    batches = data.LOADERS[loader](corpus, seed, rank, ranks)
    for _ in range(steps):
        take_step(net, optimizer, next(batches), ranks, group)
        schedule.step()
    batches.close()
    with torch.no_grad():
        return net.loss(torch.tensor(corpus["held_out"])).item()


def work(rank, folder, runs, corpus, steps, ranks):
    """A process: takes part in the runs that have so many ranks."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks)
    groups = {number: dist.new_group(range(number)) for number in sorted({run[2] for run in runs})}
    found = {}
    for run in runs:
        if rank < run[2]:
            found[run] = train(run, corpus, steps, rank, groups[run[2]])
        if rank == 0:
            print(f"{run[0]}, seed {run[1]}, {run[2]} ranks: {found[run]:.6f}", file=sys.stderr, flush=True)
        dist.barrier()
    if rank == 0:
        torch.save(found, pathlib.Path(folder) / "found")
    dist.destroy_process_group()


def train_all(runs, corpus, steps, ranks):
    """The loss of each run (loader, seed, ranks)."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory(prefix="laneway-spread-") as folder:
        torch.multiprocessing.spawn(work, (folder, runs, corpus, steps, ranks), nprocs=ranks)
        return torch.load(pathlib.Path(folder) / "found", weights_only=True)
