# SPDX-License-Identifier: Apache-2.0
"""The names of this module in the fluent surface: data sets."""
from .sources import Dataset

__all__ = ["Dataset"]
