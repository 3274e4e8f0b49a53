# SPDX-License-Identifier: Apache-2.0
"""The provider of data that Megatron-LM's ``pretrain`` calls."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..recipe import Recipe
from .checks import check, check_recipe
from .loader import TrainLoader, ValidationLoader
from .settings import Ranks, Settings
from .state import restored

Loaders = tuple["TrainLoader | None", "ValidationLoader | None", None]


def train_valid_test_datasets_provider(train_val_test_num_samples: Sequence[int | None],
                                       vp_stage: int | None = None) -> Loaders:
    """Loaders of training and validation data, for ``pretrain``; there is no test data.

    train_val_test_num_samples: not used: iterations are counted by the loaders.
    vp_stage: the virtual pipeline stage; every stage gets loaders of its own with the same batches.
    """
    from megatron.core import mpu
    from megatron.training import get_args

    return build_loaders(get_args(), mpu, vp_stage)


# Megatron-LM looks for it: all ranks call the provider.
train_valid_test_datasets_provider.is_distributed = True  # type: ignore[attr-defined]


def build_loaders(args: Any, ranks: Ranks, vp_stage: int | None = None) -> Loaders:
    """The same from the namespace of arguments and the places of this process. Ranks of tensor parallelism but
    the first get none: batches are broadcast to them."""
    settings = Settings.of(args)
    rank, world = ranks.get_data_parallel_rank(), ranks.get_data_parallel_world_size()
    check(args, settings, world)
    if ranks.get_tensor_model_parallel_rank() != 0:
        return None, None, None
    train = None if settings.skip_train else _train(settings, rank, world)
    valid = _valid(settings, rank, world) if settings.eval_iters else None
    if train is not None and _asks_first(settings, ranks, vp_stage):
        train.open()
    return train, valid, None


def _asks_first(settings: Settings, ranks: Ranks, vp_stage: int | None) -> bool:
    """Whether this stage surely asks for batches; others may, depending on the model."""
    stage, stages = ranks.get_pipeline_model_parallel_rank(), ranks.get_pipeline_model_parallel_world_size()
    chunk, chunks = vp_stage or 0, settings.pipeline_stages or 1
    return (stage == 0 and chunk == 0) or (stage == stages - 1 and chunk == chunks - 1)


def _train(settings: Settings, rank: int, world: int) -> TrainLoader:
    recipe = _recipe(settings.data_config, settings, settings.canonical_replicas)
    check_recipe(recipe, settings, world, "--laneway-data-config")
    state = restored(settings.dataloader_load, settings.iteration, rank, world)
    return TrainLoader(recipe, settings, rank=rank, world=world, state=state)


def _valid(settings: Settings, rank: int, world: int) -> ValidationLoader:
    recipe = _recipe(settings.valid_data_config, settings)
    for key, value in (("order", "file"), ("shuffle.rows", 0), ("end", "pad")):
        recipe.set(key, value)
    check_recipe(recipe, settings, world, "--laneway-valid-data-config")
    return ValidationLoader(recipe, settings, rank=rank, world=world)


def _recipe(path: str | None, settings: Settings, lanes: int | None = None) -> Recipe:
    """A recipe, with what the arguments of the model decide."""
    assert path is not None  # checked at the start
    recipe = Recipe.open(path)
    if lanes is not None:
        recipe.set("lanes", lanes)
    recipe.set("global_batch", settings.global_batch_size)
    recipe.set("context", settings.seq_length)
    if settings.eod_mask_loss:
        recipe.set("labels.mask_eos", True)
    recipe.set("runtime.microbatch", settings.micro_batch_size)
    recipe.set("runtime.dtype", "int64")
    return recipe
