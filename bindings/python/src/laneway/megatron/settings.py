# SPDX-License-Identifier: Apache-2.0
"""What is read of Megatron-LM: its arguments, and the place of a process among the others."""
from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any, Protocol


class Ranks(Protocol):
    """The part of ``megatron.core.mpu`` that is used. Ranks of context parallelism share a data-parallel rank."""

    def get_data_parallel_rank(self) -> int: ...

    def get_data_parallel_world_size(self) -> int: ...

    def get_tensor_model_parallel_rank(self) -> int: ...

    def get_pipeline_model_parallel_rank(self) -> int: ...

    def get_pipeline_model_parallel_world_size(self) -> int: ...


def add_arguments(parser: ArgumentParser) -> ArgumentParser:
    """The arguments of this loader, for ``extra_args_provider``."""
    group = parser.add_argument_group("laneway")
    group.add_argument("--laneway-data-config", metavar="FILE", help="recipe of the training data")
    group.add_argument("--laneway-valid-data-config", metavar="FILE", help="recipe of the validation data")
    group.add_argument("--laneway-canonical-replicas", type=int, metavar="N",
                       help="lanes of the training data, in place of those of its recipe")
    group.add_argument("--dataloader-save", metavar="FOLDER", help="where states of the training data are saved")
    group.add_argument("--dataloader-load", metavar="FOLDER",
                       help="where they are restored from; without it, from --dataloader-save")
    return parser


@dataclass(frozen=True)
class Settings:
    """The arguments that matter here. Those that a version of Megatron-LM does not have are off."""

    data_config: str | None
    valid_data_config: str | None
    canonical_replicas: int | None
    save: str | None
    dataloader_save: str | None
    dataloader_load: str | None
    dataloader_type: str | None
    iteration: int
    micro_batch_size: int
    global_batch_size: int
    seq_length: int
    train_iters: int | None
    eval_iters: int
    padded_vocab_size: int | None
    pipeline_stages: int | None
    context_parallel_size: int
    skip_train: bool
    sft: bool
    eod_mask_loss: bool
    reset_position_ids: bool
    reset_attention_mask: bool
    create_attention_mask: bool
    inter_document_masking: bool

    @classmethod
    def of(cls, args: Any) -> Settings:
        """Reads a namespace of arguments, once Megatron-LM has loaded the model: it has the iteration by then."""
        def of(name: str, default: Any = None) -> Any:
            return getattr(args, name, default)

        return cls(
            data_config=of("laneway_data_config"), valid_data_config=of("laneway_valid_data_config"),
            canonical_replicas=of("laneway_canonical_replicas"), save=of("save"),
            dataloader_save=of("dataloader_save"), dataloader_load=of("dataloader_load") or of("dataloader_save"),
            dataloader_type=of("dataloader_type"), iteration=of("iteration", 0),
            micro_batch_size=args.micro_batch_size, global_batch_size=args.global_batch_size,
            seq_length=args.seq_length, train_iters=of("train_iters"), eval_iters=of("eval_iters", 0),
            padded_vocab_size=of("padded_vocab_size"), pipeline_stages=of("virtual_pipeline_model_parallel_size"),
            context_parallel_size=of("context_parallel_size", 1), skip_train=bool(of("skip_train")),
            sft=bool(of("sft")), eod_mask_loss=bool(of("eod_mask_loss")),
            reset_position_ids=bool(of("reset_position_ids")), reset_attention_mask=bool(of("reset_attention_mask")),
            create_attention_mask=bool(of("create_attention_mask_in_dataloader")),
            inter_document_masking=bool(of("dataloader_inter_document_masking")))

    @property
    def document_masks(self) -> bool:
        """Whether attention stays within documents by their boundaries."""
        return self.inter_document_masking or self.sft

    def microbatches(self, world: int) -> int:
        """Microbatches of a rank in one iteration."""
        return self.global_batch_size // (self.micro_batch_size * world)
