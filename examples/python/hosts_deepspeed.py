# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"
# pyright: reportMissingImports=false
"""DeepSpeed: stopped, and resumed from its checkpoint.

    torchrun --nproc-per-node 1 hosts_deepspeed.py
"""
import tempfile

import deepspeed
import torch

from hosts_common import RECIPE, STEPS, STOP, Recorded, TinyModel, compare
from laneway.hosts import WholeState
from laneway.torch import StreamDataset

CONFIG = {"train_batch_size": 48, "gradient_accumulation_steps": 2, "zero_optimization": {"stage": 1}}


def train(record: Recorded, steps: int, save: str | None = None, load: str | None = None) -> torch.nn.Module:
    model = TinyModel()
    engine, _, _, _ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=0.01),
                                           config=CONFIG)
    rows = engine.train_micro_batch_size_per_gpu()
    data = StreamDataset(RECIPE, convert=record, options={"runtime.microbatch": rows})
    place = WholeState(data)
    if load is not None:
        _, kept = engine.load_checkpoint(load)
        place.load_state_dict(kept)
    batches = iter(data)
    while engine.global_steps < steps:
        engine.backward(engine(**next(batches)))
        engine.step()
    place.steps = engine.global_steps
    if save is not None:
        engine.save_checkpoint(save, client_state=place.state_dict())
    data.close()
    return model


def main() -> None:
    whole, resumed = Recorded(), Recorded()
    deepspeed.init_distributed("gloo")
    with tempfile.TemporaryDirectory() as folder:
        expected = train(whole, STEPS)
        train(Recorded(), STOP, save=folder)
        found = train(resumed, STEPS, load=folder)
    torch.distributed.destroy_process_group()
    compare("DeepSpeed", whole, resumed, expected, found)


if __name__ == "__main__":
    main()
