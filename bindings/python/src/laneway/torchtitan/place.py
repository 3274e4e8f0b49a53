# SPDX-License-Identifier: Apache-2.0
"""What a trainer tells its loader, and what its config asks for: the same for every version of TorchTitan."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A data-parallel coordinate and the shape of a batch.

    rank, world: of the data-parallel dimension; replicas of tensor, pipeline and context parallelism share one.
    microbatch: rows of a batch. context: tokens of a row.
    step: rows of a step of the trainer over all ranks; 0: not known.
    rank_step: where that is not known, the rows of a rank's step; 0: those of a batch.
    """

    rank: int
    world: int
    microbatch: int
    context: int
    step: int = 0
    rank_step: int = 0

    @property
    def rows(self) -> int:
        """Rows of a step, by the best that is known."""
        return self.step or self.world * (self.rank_step or self.microbatch)


@dataclass(frozen=True)
class Wanted:
    """A config's fields, under one name for all versions of TorchTitan.

    recipe: the path of a recipe, Laneway's or one of the reference integration.
    lanes: in place of the recipe's; None: the recipe's, or as many as ranks.
    shift, mask_eos: in place of the recipe's; None: the recipe's, or "document" and False.
    validation: one unshuffled pass, padded so that every rank ends at the same step.
    repeat: in place of what the recipe says; None: the recipe's.
    vocabulary: of the model; 0: not known.
    step_field, context_field: what the trainer calls them, for messages.
    """

    recipe: str
    lanes: int | None = None
    shift: str | None = None
    mask_eos: bool | None = None
    validation: bool = False
    repeat: bool | None = None
    vocabulary: int = 0
    step_field: str = "training.global_batch_size"
    context_field: str = "training.seq_len"
