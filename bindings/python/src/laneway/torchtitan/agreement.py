# SPDX-License-Identifier: Apache-2.0
"""The end of the data, agreed on by all processes of a job through torch.distributed."""
from __future__ import annotations

import sys

from ..loader import Agree


def agree_by_distributed() -> Agree | None:
    """An all-reduce of one integer over all processes; None where there is one process, as there is without a
    PyTorch that somebody has imported.

    All of them take part, replicas of a data-parallel rank too: they take the same batches, so they ask equally
    often, and their answers are equal.
    """
    if "torch.distributed" not in sys.modules:
        return None
    import torch.distributed as distributed

    from ..torch import agreement

    if not distributed.is_available() or not distributed.is_initialized() or distributed.get_world_size() == 1:
        return None
    return agreement(device="cpu" if "gloo" in str(distributed.get_backend_config()) else "cuda")
