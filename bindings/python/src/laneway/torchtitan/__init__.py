# SPDX-License-Identifier: Apache-2.0
"""TorchTitan's data loader: ``LanewayDataLoader``, for the version of TorchTitan that is installed.

>>> config.dataloader = LanewayDataLoader.Config(recipe="data.toml")

Every config that TorchTitan 0.3.0 ships is in ``laneway.torchtitan.recipes``, with its data from Laneway:
``--module laneway.torchtitan.recipes --config llama3_debugmodel --dataloader.recipe data.toml``.
"""
from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .contract_a import LanewayDataLoader

__all__ = ["LanewayDataLoader"]


def __getattr__(name: str) -> Any:
    if name != "LanewayDataLoader":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f".{_contract()}", __name__).LanewayDataLoader


def _contract() -> str:
    """The module for the TorchTitan that is installed."""
    for module, contract in (("torchtitan.components.data.types", "contract_d"),
                             ("torchtitan.components.dataloader", "contract_a")):
        if _has(module):
            return contract
    raise ImportError("laneway.torchtitan: TorchTitan is not installed, or in a version without a loader that is known "
                      "here, expected 0.3.0 or newer: pip install torchtitan==0.3.0")


def _has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
