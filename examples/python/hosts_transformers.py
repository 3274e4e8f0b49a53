# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="arg-type,import-not-found,import-untyped,misc,no-any-return"
# pyright: reportMissingImports=false
"""Hugging Face Trainer, with gradient accumulation: stopped, and resumed from its checkpoint.

    hosts_transformers.py
"""
import pathlib
import tempfile
from typing import Any

import torch
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments

from hosts_common import RECIPE, STEPS, STOP, VOCABULARY, Recorded, compare
from laneway.hosts import WholeState, unshifted_fields
from laneway.torch import StreamDataset


class StreamTrainer(Trainer):
    """Takes this rank's batches as they come: preparing the loader would divide them among the ranks again."""

    def get_train_dataloader(self) -> DataLoader[Any]:
        return DataLoader(self.train_dataset, batch_size=None)


class KeepPlace(TrainerCallback):
    """Keeps the place in the data in each checkpoint."""

    def __init__(self, data: StreamDataset) -> None:
        self._whole = WholeState(data)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._whole.steps = state.global_step
        kept = self._whole.state_dict()
        if state.is_world_process_zero:
            torch.save(kept, pathlib.Path(args.output_dir, f"checkpoint-{state.global_step}", "data.pt"))


def train(folder: str, record: Recorded, steps: int, checkpoint: str | None = None) -> torch.nn.Module:
    torch.manual_seed(1)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=VOCABULARY, hidden_size=16, intermediate_size=32,
                                         num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=128))
    # Two microbatches of 24 rows are a step of 48, as of the optimizer.
    data = StreamDataset(RECIPE, convert=record, options={"runtime.microbatch": 24})
    if checkpoint is not None:
        WholeState(data).load_state_dict(torch.load(pathlib.Path(checkpoint, "data.pt"), weights_only=True))
    arguments = TrainingArguments(output_dir=folder, max_steps=steps, gradient_accumulation_steps=2, save_steps=STOP,
                                  ignore_data_skip=True, lr_scheduler_type="constant", use_cpu=True, report_to=[],
                                  disable_tqdm=True)
    trainer = StreamTrainer(model=model, args=arguments, train_dataset=data, callbacks=[KeepPlace(data)])
    trainer.train(resume_from_checkpoint=checkpoint)
    data.close()
    return model


def main() -> None:
    whole, resumed = Recorded(unshifted_fields), Recorded(unshifted_fields)
    with tempfile.TemporaryDirectory() as folder:
        expected = train(f"{folder}/whole", whole, STEPS)
        train(f"{folder}/stopped", Recorded(unshifted_fields), STOP)
        found = train(f"{folder}/stopped", resumed, STEPS, f"{folder}/stopped/checkpoint-{STOP}")
    compare("Trainer", whole, resumed, expected, found)


if __name__ == "__main__":
    main()
