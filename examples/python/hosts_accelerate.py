# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"
# pyright: reportMissingImports=false
"""Hugging Face Accelerate: stopped, and resumed from its checkpoint.

    hosts_accelerate.py
    accelerate launch --cpu --num_processes 2 hosts_accelerate.py
"""
import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list

from hosts_common import RECIPE, STEPS, STOP, Recorded, TinyModel, compare
from laneway.hosts import WholeState
from laneway.torch import StreamDataset


def train(accelerator: Accelerator, record: Recorded, steps: int, save: str | None = None,
          load: str | None = None) -> torch.nn.Module:
    model = TinyModel()
    # The data is not prepared: it has this rank's rows already.
    prepared, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=0.01))
    data = StreamDataset(RECIPE, convert=record)
    place = WholeState(data)
    accelerator.register_for_checkpointing(place)
    if load is not None:
        accelerator.load_state(load)
    batches = iter(data)
    while place.steps < steps:
        loss = prepared(**next(batches))
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        place.steps += 1
    if save is not None:
        accelerator.save_state(save)
    data.close()
    accelerator.free_memory()
    accelerator._custom_objects.clear()  # this process starts another run
    return model


def main() -> None:
    whole, resumed = Recorded(), Recorded()
    accelerator = Accelerator(cpu=True)
    with tempfile.TemporaryDirectory() as folder:
        shared = [folder]
        broadcast_object_list(shared)
        expected = train(accelerator, whole, STEPS)
        train(accelerator, Recorded(), STOP, save=shared[0])
        found = train(accelerator, resumed, STEPS, load=shared[0])
        accelerator.wait_for_everyone()
    accelerator.end_training()
    compare("Accelerate", whole, resumed, expected, found)


if __name__ == "__main__":
    main()
