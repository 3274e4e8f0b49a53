# SPDX-License-Identifier: Apache-2.0
"""Configs for TorchTitan 0.3.0: every one that it ships, with its data from Laneway.

    --module laneway.torchtitan.recipes --config llama3_8b --dataloader.recipe data.toml

A config function of one's own ends with ``return with_laneway(config, "data.toml")``.
"""
from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from torchtitan.models import _supported_models
from torchtitan.trainer import Trainer

from .contract_a import LanewayDataLoader


@dataclass(kw_only=True, slots=True)
class TrainerConfig(Trainer.Config):
    """TorchTitan's own, which also tells its loaders the rows of a step and the model's vocabulary."""

    def __post_init__(self) -> None:
        Trainer.Config.__post_init__(self)
        training = _loader_config(self.dataloader)
        if training is not None:
            training.global_batch_size = self.training.global_batch_size
        for loader in (training, _loader_config(self.validator.dataloader)):
            if loader is not None:
                loader.rank_batch_size = self.training.local_batch_size
                loader.vocabulary = getattr(getattr(self.model_spec, "model", None), "vocab_size", 0)


def _loader_config(config: Any) -> Any:
    return config if isinstance(config, LanewayDataLoader.Config) else None


def with_laneway(config: Any, recipe: str = "", validation: str = "", **loader: Any) -> TrainerConfig:
    """A config of TorchTitan with its data from Laneway.

    recipe, validation: paths of recipes; ``--dataloader.recipe`` and ``--validator.dataloader.recipe`` set them too.
        Whether there is validation, ``validator.enable`` says.
    loader: other fields of ``LanewayDataLoader.Config``, for training.
    """
    config.dataloader = LanewayDataLoader.Config(recipe=recipe, **loader)
    config.validator.dataloader = LanewayDataLoader.Config(recipe=validation, validation=True, infinite=False)
    return TrainerConfig(**{field.name: getattr(config, field.name) for field in fields(Trainer.Config)})


def _shipped(name: str) -> Callable[[], Any] | None:
    """The config function of that name, in whichever of TorchTitan's models has it."""
    for model in sorted(_supported_models, key=lambda model: (not name.startswith(model), model)):
        try:
            registry = importlib.import_module(f"torchtitan.models.{model}.config_registry")
        except ImportError:  # a model that needs packages which are not installed
            continue
        found: Callable[[], Any] | None = getattr(registry, name, None)
        if found is not None:
            return found
    return None


def __getattr__(name: str) -> Callable[[], TrainerConfig]:
    found = None if name.startswith("_") else _shipped(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no config {name!r}: TorchTitan's models have none of that name")
    return lambda: with_laneway(found())
