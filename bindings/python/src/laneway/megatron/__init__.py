# SPDX-License-Identifier: Apache-2.0
"""Laneway as the external data loader of Megatron-LM.

>>> pretrain(laneway.megatron.train_valid_test_datasets_provider, model_provider, ModelType.encoder_or_decoder,
...          forward_step, extra_args_provider=laneway.megatron.add_arguments,
...          args_defaults={"dataloader_type": "external"})

Importing it imports PyTorch and nothing of Megatron-LM. What it needs of that is in ``settings``: the namespace of
arguments, and the five functions of ``Ranks``.
"""
from .loader import TrainLoader, ValidationLoader
from .provider import build_loaders, train_valid_test_datasets_provider
from .settings import Ranks, Settings, add_arguments
from .state import save_stages

__all__ = [
    "Ranks", "Settings", "TrainLoader", "ValidationLoader", "add_arguments", "build_loaders",
    "save_stages", "train_valid_test_datasets_provider",
]
