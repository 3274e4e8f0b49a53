# SPDX-License-Identifier: Apache-2.0
"""The names of this module in the fluent surface: sources of work."""
from .sources import MixtureSpec, StaticMixtureWorkSource, TokenEstimation

__all__ = ["MixtureSpec", "StaticMixtureWorkSource", "TokenEstimation"]
