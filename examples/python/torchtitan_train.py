# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import-not-found,import-untyped"
# pyright: reportMissingImports=false
"""TorchTitan 0.3.0 with its data from Laneway: a config, and a loop of TorchTitan's own parts that runs without a GPU.

On GPUs, TorchTitan's trainer takes the config as it is (TorchTitan finds this file where PYTHONPATH says):

    torchrun --nproc-per-node 8 -m torchtitan.train --module torchtitan_train --config small_llama

Its trainer needs a GPU, so here is a loop without one. Each step prints a line with the SHA-256 of the step's rows and the
loss; they are the same for any number of processes and any stops:

    torchrun --nproc-per-node 2 torchtitan_train.py --dump-folder run --training.steps 4
    torchrun --nproc-per-node 1 torchtitan_train.py --dump-folder run --training.steps 8
"""
from __future__ import annotations

import hashlib
import pathlib
import sys
from typing import Any

import torch
import torch.distributed as dist
from torchtitan.components.loss import IGNORE_INDEX, CrossEntropyLoss
from torchtitan.config import ConfigManager
from torchtitan.distributed import utils as dist_utils
from torchtitan.models.common.attention import FlexAttention, ScaledDotProductAttention
from torchtitan.models.llama3.config_registry import llama3_debugmodel

from laneway.torchtitan.recipes import with_laneway

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def small_llama() -> Any:
    """TorchTitan's debug model with two layers, on the sample data; every value is also a flag."""
    config: Any = llama3_debugmodel()
    config.model_spec.model.layers = config.model_spec.model.layers[:2]
    config.training.local_batch_size, config.training.global_batch_size = 2, 8
    config.training.seq_len, config.training.steps = 128, 4
    config.lr_scheduler.total_steps = 100  # the same rate at a step, however many steps a run takes
    config.checkpoint.enable, config.checkpoint.interval = True, 2
    config.hf_assets_path = str(DATA)
    return with_laneway(config, str(DATA / "torchtitan.toml"))


class Progress:
    """What TorchTitan's trainer keeps in a checkpoint of its own."""

    step = 0

    def state_dict(self) -> dict[str, Any]:
        return {"step": self.step}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.step = state["step"]


class Loop:
    """TorchTitan's model, loss, optimizer, schedule, loader and checkpoints, and a step that any CPU can take."""

    def __init__(self, config: Any) -> None:
        self.config, self.progress = config, Progress()
        dist_utils.set_spmd_backend(config.parallelism.spmd_backend)
        model = config.model_spec.model
        model.update_from_config(config=config)
        for _, _, parent, name in list(model.traverse(FlexAttention.Config)):
            setattr(parent, name, ScaledDotProductAttention.Config())  # the other has no gradient on a CPU
        torch.manual_seed(0)
        self.model = model.build()
        self.model.init_weights(buffer_device=None)
        self.loss = CrossEntropyLoss.Config(global_vocab_size=model.vocab_size).build(compile_config=config.compile)
        self.optimizers = config.optimizer.build(model_parts=[self.model])
        self.schedulers = config.lr_scheduler.build(optimizers=self.optimizers, training_steps=config.training.steps)
        self.loader = config.dataloader.build(
            dp_world_size=dist.get_world_size(), dp_rank=dist.get_rank(), seq_len=config.training.seq_len,
            tokenizer=config.tokenizer.build(tokenizer_path=config.hf_assets_path),
            local_batch_size=config.training.local_batch_size)
        self.checkpointer = config.checkpoint.build(
            dataloader=self.loader, model_parts=[self.model], optimizers=self.optimizers, lr_schedulers=self.schedulers,
            states={"train_state": self.progress}, sd_adapter=None, base_folder=config.dump_folder)

    def run(self) -> None:
        training = self.config.training
        self.checkpointer.load(step=-1)
        batches = iter(self.loader)
        accumulated = training.global_batch_size // (training.local_batch_size * dist.get_world_size())
        while self.progress.step < training.steps:
            taken = [next(batches) for _ in range(accumulated)]
            digest, loss = digest_of(taken), self.step(taken)
            self.progress.step += 1
            if dist.get_rank() == 0:
                print(f"step {self.progress.step} {digest} {loss:.6f}", flush=True)
            self.checkpointer.save(self.progress.step, last_step=self.progress.step == training.steps)
        self.checkpointer.close()

    def step(self, taken: list[Any]) -> float:
        none, total = torch.zeros((), dtype=torch.int64), torch.zeros(())
        valid = sum(((labels != IGNORE_INDEX).sum() for _, labels in taken), none)
        dist.all_reduce(valid)
        for inputs, labels in taken:
            predicted = self.model(inputs["input"], positions=inputs["positions"])
            loss = self.loss(predicted, labels, valid)[0]
            loss.backward()
            total += loss.detach()
        for parameter in self.model.parameters():
            dist.all_reduce(parameter.grad)
        dist.all_reduce(total)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.training.max_norm)
        self.optimizers.step()
        self.schedulers.step()
        self.optimizers.zero_grad()
        return float(total)


def digest_of(taken: list[Any]) -> str:
    """The SHA-256 of the rows of a step, in their order over all ranks."""
    rows = [hashlib.sha256(b"".join(values[row].numpy().tobytes() for values in (*inputs.values(), labels))).digest()
            for inputs, labels in taken for row in range(len(labels))]
    of_ranks: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(of_ranks, rows)
    return hashlib.sha256(b"".join(row for of_rank in of_ranks for row in of_rank)).hexdigest()


def main(arguments: list[str]) -> None:
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    Loop(ConfigManager().parse_args(["--module", "torchtitan_train", "--config", "small_llama", *arguments])).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1:])
