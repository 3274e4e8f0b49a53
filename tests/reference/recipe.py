# SPDX-License-Identifier: Apache-2.0
"""A recipe with its defaults filled in, read from a JSON file.

The reference reads right recipes only: it checks what would make its own
answers meaningless and leaves every other check to the engine.
"""

import decimal
import json
import os

UNITS = {"KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4,
         "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}


class RecipeError(Exception):
    """The recipe or its data cannot be a stream."""


def field_of(text):
    """The names that lead to the text; none when the record itself is it."""
    return [] if text == "." else text.split(".")


class Source:
    """One entry of `sources`."""

    def __init__(self, index, entry):
        self.index = index
        self.name = entry["name"]
        path = entry["path"]
        self.paths = [path] if isinstance(path, str) else path
        self.field = field_of(entry.get("text", "text"))
        self.weight = weight_of(entry.get("weight", 1))
        self.block = bytes_of(entry.get("block", 0))


class Recipe:
    """The settings that change the stream, and the folder paths start at."""

    def __init__(self, data, folder):
        self.folder = folder
        self.seed = data.get("seed", 0)
        self.lanes = data["lanes"]
        self.global_batch = data["global_batch"]
        self.context = data["context"]
        self.order = data.get("order", "permuted")
        self.end = data.get("end", "repeat")
        self.sources = [Source(i, entry) for i, entry in enumerate(data["sources"])]
        self.unit = data.get("mixture", {}).get("unit", "tokens")
        self.tokenizer = data["tokenizer"]
        self.shuffle_rows = data.get("shuffle", {}).get("rows", 0)
        self._read_pack(data.get("pack", {}))
        self._read_labels(data.get("labels", {}))
        self._read_bad_records(data.get("on_bad_record", {}))
        if self.global_batch % self.lanes:
            raise RecipeError("global_batch is no multiple of lanes")

    def _read_pack(self, pack):
        self.algorithm = pack.get("algorithm", "wrap")
        self.overflow = pack.get("overflow", "split")
        self.open_rows = pack.get("open_rows", 64)
        self.pad = pack.get("pad")

    def _read_labels(self, labels):
        self.shift = labels.get("shift", "stream")
        self.mask_eos = labels.get("mask_eos", False)

    def _read_bad_records(self, bad):
        self.bad_policy = bad.get("policy", "fail")
        self.bad_limit = bad.get("limit", 0)

    @property
    def rows_per_lane(self):
        """q of docs/stream.md section 8."""
        return self.global_batch // self.lanes


def weight_of(value):
    """A decimal weight as the integer it is times 10^9."""
    scaled = decimal.Decimal(value) * 10**9
    if scaled != int(scaled) or scaled <= 0:
        raise RecipeError(f"weight {value} is not above 0 with nine digits at most")
    return int(scaled)


def bytes_of(value):
    """A size: a number of bytes, or text with a unit."""
    if isinstance(value, int):
        return value
    digits = value.rstrip("KMGTiB")
    unit = value[len(digits):]
    return int(digits) * (UNITS[unit] if unit else 1)


def load(path):
    """Read the recipe at `path`; relative paths in it start at its folder."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file, parse_float=decimal.Decimal)
    return Recipe(data, os.path.dirname(path))
