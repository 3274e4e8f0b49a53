# SPDX-License-Identifier: Apache-2.0
"""The names of this module in the fluent surface: pipelines."""
from .pipeline import Pipeline

__all__ = ["Pipeline"]
