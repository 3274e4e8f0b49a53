# SPDX-License-Identifier: Apache-2.0
"""The dictionary that Megatron-LM takes of a microbatch."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..batch import Batch
from .settings import Settings

if TYPE_CHECKING:
    import numpy.typing as npt

# The id of a label that no loss is taken of: the model looks it up all the same.
_UNUSED_LABEL = 0


def fields(batch: Batch, settings: Settings) -> dict[str, torch.Tensor]:
    """tokens, labels, position_ids: int64, [rows, sequence]. loss_mask: float32, the same shape.

    attention_mask: bool, [rows, 1, sequence, sequence], true where attention may not look; with
        ``--create-attention-mask-in-dataloader`` alone.
    cu_seqlens: int32, [rows, sequence + 1], the boundaries of each row's documents and then the length of the row;
        max_seqlen: int32, [rows]; cu_seqlens_padded: the same as cu_seqlens, with context parallelism. With
        ``--dataloader-inter-document-masking`` or ``--sft`` alone.

    Tensors are in page-locked memory where there is a GPU.
    """
    mode = "preserve" if settings.reset_position_ids or settings.document_masks else "sequence"
    found: dict[str, torch.Tensor] = batch.to_training(
        return_labels=True, framework="torch", position_mode=mode, ignore_index=_UNUSED_LABEL,
        rename_fields={"input_ids": "tokens", "positions": "position_ids"})
    found["loss_mask"] = torch.from_numpy(batch.loss_mask.astype(np.float32))
    if settings.create_attention_mask:
        found["attention_mask"] = torch.from_numpy(_attention_mask(batch, settings.reset_attention_mask))
    if settings.document_masks:
        found |= _boundaries(batch, settings.context_parallel_size)
    if torch.cuda.is_available():
        return {name: tensor.pin_memory() for name, tensor in found.items()}
    return found


def _attention_mask(batch: Batch, within_documents: bool) -> npt.NDArray[np.bool_]:
    """True above the diagonal, and between documents if asked for."""
    later = np.triu(np.ones((batch.context, batch.context), dtype=np.bool_), k=1)
    mask = np.repeat(later[None, None], batch.rows, axis=0)
    if within_documents:
        document = np.cumsum(batch.document_starts, axis=1)
        mask[:, 0] |= document[:, :, None] != document[:, None, :]
    return mask


def _boundaries(batch: Batch, context_parallel_size: int) -> dict[str, Any]:
    # One shape for every batch, whatever its documents: CUDA graphs and broadcasts want that.
    lengths = np.full((batch.rows, batch.context + 1), batch.context, dtype=np.int32)
    longest = np.empty(batch.rows, dtype=np.int32)
    for row in range(batch.rows):
        found, longest[row] = batch.cumulative_lengths(row)
        lengths[row, : len(found)] = found
    tensors = {"cu_seqlens": torch.from_numpy(lengths), "max_seqlen": torch.from_numpy(longest)}
    if context_parallel_size > 1:
        tensors["cu_seqlens_padded"] = torch.from_numpy(lengths.copy())
    return tensors
