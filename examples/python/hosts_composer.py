# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import-not-found,import-untyped,misc,no-untyped-call"
# pyright: reportMissingImports=false
"""Composer: stopped, and resumed from its checkpoint.

    hosts_composer.py
"""
import tempfile
from collections.abc import Iterator
from typing import Any

import torch
from composer import ComposerModel, DataSpec, Trainer
from torch.utils.data import DataLoader, IterableDataset

from hosts_common import RECIPE, STEPS, STOP, Recorded, TinyModel, compare
from laneway.hosts import WholeState
from laneway.torch import StreamDataset


class Module(ComposerModel):
    def __init__(self) -> None:
        super().__init__()
        self.model = TinyModel()

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        loss: torch.Tensor = self.model(**batch)
        return loss

    def loss(self, outputs: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return outputs


class Stream(IterableDataset[Any]):
    """A data set as Composer asks it for its state: with numbers that a stream needs not, and on every rank, of which
    it keeps one."""

    def __init__(self, data: StreamDataset) -> None:
        self._data, self._whole = data, WholeState(data, newest=True)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._data)

    def state_dict(self, num_samples: int, from_beginning: bool) -> dict[str, bytes]:
        return self._whole.state_dict()

    def load_state_dict(self, state: dict[str, bytes]) -> None:
        self._whole.load_state_dict(state)


def train(folder: str, record: Recorded, steps: int, load: str | None = None) -> torch.nn.Module:
    module, data = Module(), StreamDataset(RECIPE, convert=record)
    spec = DataSpec(DataLoader(Stream(data), batch_size=None),
                    get_num_samples_in_batch=lambda batch: len(batch["input_ids"]))
    trainer = Trainer(model=module, train_dataloader=spec, optimizers=torch.optim.AdamW(module.parameters(), lr=0.01),
                      max_duration=f"{steps}ba", device="cpu", save_folder=folder, save_interval=f"{STOP}ba",
                      device_train_microbatch_size=24, load_path=load, progress_bar=False, save_overwrite=True)
    trainer.fit()
    trainer.close()
    data.close()
    return module


def main() -> None:
    whole, resumed = Recorded(), Recorded()
    with tempfile.TemporaryDirectory() as folder:
        expected = train(f"{folder}/whole", whole, STEPS)
        train(f"{folder}/stopped", Recorded(), STOP)
        found = train(f"{folder}/stopped", resumed, STEPS, load=f"{folder}/stopped/latest-rank0.pt")
    compare("Composer", whole, resumed, expected, found)


if __name__ == "__main__":
    main()
