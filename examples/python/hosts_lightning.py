# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import-not-found,import-untyped,misc"
# pyright: reportMissingImports=false
"""Lightning: stopped, and resumed from its checkpoint.

    hosts_lightning.py
"""
import tempfile
from typing import Any

import lightning
import torch
from torch.utils.data import DataLoader

from hosts_common import RECIPE, STEPS, STOP, Recorded, TinyModel, compare
from laneway.hosts import WholeState
from laneway.torch import StreamDataset


class Module(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.model = TinyModel()

    def training_step(self, fields: dict[str, torch.Tensor], index: int) -> torch.Tensor:
        loss: torch.Tensor = self.model(**fields)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=0.01)


class KeepPlace(lightning.Callback):
    """Keeps the place in the data in each checkpoint: after the steps trained, as the trainer reads ahead."""

    def __init__(self, data: StreamDataset) -> None:
        self._whole = WholeState(data)

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: Any) -> None:
        self._whole.steps = trainer.global_step

    def state_dict(self) -> dict[str, Any]:
        return dict(self._whole.state_dict())

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._whole.load_state_dict(state_dict)


def train(record: Recorded, steps: int, save: str | None = None, load: str | None = None) -> torch.nn.Module:
    module, data = Module(), StreamDataset(RECIPE, convert=record)
    trainer = lightning.Trainer(max_steps=steps, accelerator="cpu", use_distributed_sampler=False, logger=False,
                                enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                                callbacks=[KeepPlace(data)])
    trainer.fit(module, DataLoader(data, batch_size=None), ckpt_path=load)
    if save is not None:
        trainer.save_checkpoint(save)
    data.close()
    return module


def main() -> None:
    whole, resumed = Recorded(), Recorded()
    with tempfile.TemporaryDirectory() as folder:
        expected = train(whole, STEPS)
        train(Recorded(), STOP, save=f"{folder}/stopped.ckpt")
        found = train(resumed, STEPS, load=f"{folder}/stopped.ckpt")
    compare("Lightning", whole, resumed, expected, found)


if __name__ == "__main__":
    main()
