# SPDX-License-Identifier: Apache-2.0
"""What is checked before training starts. Every message names the argument to change."""
from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from ..errors import InvalidError, UnsupportedError
from ..recipe import Recipe
from ..tokenizer import Tokenizer
from .settings import Settings

# Arguments that change, while training runs, how many rows an iteration has, or how batches are asked for.
_UNSUPPORTED = {
    "rampup_batch_size": "a global batch of one size",
    "step_batch_size_schedule": "a global batch of one size",
    "decrease_batch_size_if_needed": "a global batch of one size",
    "full_validation": "--eval-iters",
    "multiple_validation_sets": "one --laneway-valid-data-config",
    "hybrid_context_parallel": "--context-parallel-size alone",
    "inprocess_restart": "a restart of the process",
}


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def check(args: Any, settings: Settings, world: int) -> None:
    """Checks arguments that go together, before anything is opened."""
    if settings.dataloader_type != "external":
        raise InvalidError(f"megatron: --dataloader-type is {settings.dataloader_type}, expected external")
    for name, expected in _UNSUPPORTED.items():
        if getattr(args, name, None):
            raise UnsupportedError(f"megatron: {_flag(name)} is given, expected {expected}")
    rows = settings.micro_batch_size * world
    if settings.global_batch_size % rows != 0:
        raise InvalidError(f"megatron: --global-batch-size is {settings.global_batch_size}, expected a multiple of "
                           f"--micro-batch-size {settings.micro_batch_size} times {world} data-parallel ranks")
    _check_data(settings)
    _check_masks(settings)
    _check_saving(settings)


def _check_data(settings: Settings) -> None:
    if not settings.skip_train and settings.data_config is None:
        raise InvalidError("megatron: --laneway-data-config is not given, expected the recipe of the training data")
    if settings.eval_iters and settings.valid_data_config is None:
        raise InvalidError(f"megatron: --eval-iters is {settings.eval_iters} and --laneway-valid-data-config is not "
                           "given, expected a recipe, or --eval-iters 0")


def _check_masks(settings: Settings) -> None:
    if settings.reset_attention_mask and not (settings.document_masks or settings.create_attention_mask):
        raise InvalidError("megatron: --reset-attention-mask is given without a mask, expected "
                           "--dataloader-inter-document-masking with it")
    if settings.sft and settings.context_parallel_size > 1:
        raise UnsupportedError(f"megatron: --context-parallel-size is {settings.context_parallel_size} with --sft, "
                               "expected 1: each document would be cut for the ranks, and the documents of a row are "
                               "not padded for that")


def _check_saving(settings: Settings) -> None:
    if settings.save and not settings.dataloader_save and not settings.skip_train:
        raise InvalidError("megatron: --save is given without --dataloader-save, expected both: the model could be "
                           "resumed and its data could not")
    checkpointing = sys.modules.get("megatron.training.checkpointing")
    save = getattr(checkpointing, "maybe_save_dataloader_state", None)
    if settings.pipeline_stages and settings.dataloader_save and not getattr(save, "takes_stages", False):
        raise InvalidError("megatron: --dataloader-save is given with virtual pipeline stages, expected "
                           "laneway.megatron.save_stages(megatron.training.checkpointing) before pretrain")


def check_recipe(recipe: Recipe, settings: Settings, world: int, argument: str) -> None:
    """Checks a recipe against the arguments."""
    try:
        lanes = recipe.value("lanes")
    except InvalidError as error:
        raise InvalidError(f"megatron: {argument} with {_decided(settings)}: {error}") from error
    if lanes % world != 0:
        warnings.warn(f"megatron: {argument} has {lanes} lanes for {world} data-parallel ranks: lanes that two ranks "
                      "share are computed by both; a multiple of the ranks saves that", RuntimeWarning, stacklevel=2)
    _check_vocabulary(recipe, settings.padded_vocab_size, argument)


def _decided(settings: Settings) -> str:
    """The arguments that decide options of a recipe."""
    values = {"--global-batch-size": settings.global_batch_size, "--seq-length": settings.seq_length,
              "--laneway-canonical-replicas": settings.canonical_replicas}
    given = [f"{name} {value}" for name, value in values.items() if value is not None]
    return ", ".join(given + ["--eod-mask-loss"] * settings.eod_mask_loss)


def _check_vocabulary(recipe: Recipe, limit: int | None, argument: str) -> None:
    if limit is None:
        return
    path, name, pattern = (recipe.value(f"tokenizer.{key}") for key in ("path", "name", "pattern"))
    tokenizer = Tokenizer(path and os.path.join(recipe.folder, path), name=name, pattern=pattern)
    if tokenizer.vocabulary > limit:
        raise InvalidError(f"megatron: the tokenizer of {argument} has {tokenizer.vocabulary} ids, expected at most "
                           f"the {limit} of the model (--vocab-size, --make-vocab-size-divisible-by)")
    pad = recipe.value("pack.pad")
    if pad is not None and pad >= limit:
        raise InvalidError(f"megatron: pack.pad is {pad} in {argument}, expected less than the {limit} ids of the "
                           "model")
