# SPDX-License-Identifier: Apache-2.0
"""A plain loop with DistributedDataParallel: stopped, and resumed from a distributed checkpoint.

    torchrun --nproc-per-node 2 hosts_torchrun.py
"""
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict_loader import load as load_checkpoint
from torch.distributed.checkpoint.state_dict_saver import save as save_checkpoint
from torch.nn.parallel import DistributedDataParallel

from hosts_common import RECIPE, STEPS, STOP, Recorded, TinyModel, compare
from laneway.torch import StreamDataset


def train(record: Recorded, steps: int, save: str | None = None, load: str | None = None) -> torch.nn.Module:
    model, data = TinyModel(), StreamDataset(RECIPE, convert=record)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if load is not None:
        weights = model.state_dict()
        load_checkpoint({"model": weights, "data": data}, checkpoint_id=load)
        model.load_state_dict(weights)
    for _ in range(STOP if load else 0, steps):
        optimizer.zero_grad()
        parallel(**next(iter(data))).backward()
        optimizer.step()
    if save is not None:
        save_checkpoint({"model": model.state_dict(), "data": data}, checkpoint_id=save)
    data.close()
    return model


def main() -> None:
    whole, resumed = Recorded(), Recorded()
    dist.init_process_group("gloo")
    with tempfile.TemporaryDirectory() as folder:
        shared = [folder]
        dist.broadcast_object_list(shared)
        expected = train(whole, STEPS)
        train(Recorded(), STOP, save=f"{shared[0]}/stopped")
        found = train(resumed, STEPS, load=f"{shared[0]}/stopped")
        dist.barrier()
    dist.destroy_process_group()
    compare("torchrun", whole, resumed, expected, found)


if __name__ == "__main__":
    main()
