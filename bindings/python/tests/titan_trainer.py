# SPDX-License-Identifier: Apache-2.0
"""TorchTitan's own trainer, by subclass alone, on one rank without a GPU: its steps, its batches, its checkpoints."""
import types

import torch
import torch.distributed as dist
import torchtitan_train
from torchtitan.config import ConfigManager
from torchtitan.distributed import ParallelDims
from torchtitan.distributed import utils as dist_utils
from torchtitan.trainer import Trainer


class CpuDims(ParallelDims):
    """Of one rank: it has no mesh, so none is made on a GPU."""

    def get_optional_mesh(self, dims):
        return None


class CpuTrainer(Trainer):
    def __init__(self, config):
        parts = torchtitan_train.Loop(config)
        self.config, self.device = config, torch.device("cpu")
        self.parallel_dims = CpuDims(dp_replicate=1, dp_shard=1, cp=1, tp=1, pp=1, ep=1, world_size=1,
                                     spmd_backend=config.parallelism.spmd_backend)
        self.model_config, self.model_parts = config.model_spec.model, [parts.model]
        self.loss_fn, self.optimizers, self.lr_schedulers = parts.loss, parts.optimizers, parts.schedulers
        self.dataloader, self.checkpointer = parts.loader, parts.checkpointer
        self.checkpointer.states["train_state"] = self
        self.step = self.ntokens_seen = 0
        self.gradient_accumulation_steps = config.training.global_batch_size // config.training.local_batch_size
        self.num_pipeline_parallel_microbatches = 1
        self.train_context = dist_utils.get_spmd_context(parallel_dims=self.parallel_dims)
        self.fwd_bwd_fn = self._forward_backward_body
        self.metrics_processor = types.SimpleNamespace(should_log=lambda step: False, ntokens_since_last_log=0,
                                                       data_loading_times=[])

    def train(self):
        self.checkpointer.load(step=self.config.checkpoint.load_step)
        batches = self.batch_generator(self.dataloader)
        while self.should_continue_training():
            self.step += 1
            self.train_step(batches)
            total = sum(float(parameter.detach().double().sum()) for parameter in self.model_parts[0].parameters())
            print(f"trainer {self.step} {self.ntokens_seen} {total:.6f}", flush=True)
            self.checkpointer.save(self.step, last_step=self.step == self.config.training.steps)
        self.checkpointer.close()


def main(arguments):
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    config = ConfigManager().parse_args(["--module", "torchtitan_train", "--config", "small_llama",
                                         "--parallelism.spmd-backend", "partial_dtensor", *arguments])
    CpuTrainer(config).train()
    dist.destroy_process_group()
