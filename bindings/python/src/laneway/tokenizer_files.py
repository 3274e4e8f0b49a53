# SPDX-License-Identifier: Apache-2.0
"""Where the file of a tokenizer is, given a path or a model's name. Nothing is downloaded."""
from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

from ._native import PathLike
from .errors import NotFoundError

_NAMES = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.bpe", "merges.txt")


def find_tokenizer(tokenizer_id: PathLike) -> str:
    """The path of a tokenizer's file or folder.

    Looked for in this order: the path itself; below the folders of ``LANEWAY_TOKENIZERS`` (separated by
    colons), as ``NAME/tokenizer.json``, ``NAME.tiktoken`` and the like; the cache of the Hugging Face hub.
    """
    name = os.fspath(tokenizer_id)
    if os.path.exists(name):
        return name
    for candidate in (*_in_folders(name), *_in_hub_cache(name)):
        if candidate.exists():
            return str(candidate)
    raise NotFoundError(
        f"tokenizer: {name!r} is no file, and is neither below LANEWAY_TOKENIZERS nor in the Hugging Face cache, "
        f"expected the path of a tokenizer.json, .tiktoken, tekken.json, tokenizer.model or vocab.bpe, or of its folder")


def _in_folders(name: str) -> Iterator[pathlib.Path]:
    for folder in filter(None, os.environ.get("LANEWAY_TOKENIZERS", "").split(":")):
        base = pathlib.Path(folder)
        yield from (base / name / file for file in _NAMES)
        yield from (base / f"{name}{ending}" for ending in (".json", ".tiktoken", ".model"))
        yield from (base / f"{name}.{file}" for file in _NAMES)


def _in_hub_cache(name: str) -> Iterator[pathlib.Path]:
    home = os.environ.get("HF_HOME") or os.path.join(os.path.expanduser("~"), ".cache", "huggingface")
    cache = pathlib.Path(os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub"))
    model = cache / ("models--" + name.replace("/", "--"))
    try:
        revision = (model / "refs" / "main").read_text(encoding="utf-8").strip()
    except OSError:
        return
    yield from (model / "snapshots" / revision / file for file in _NAMES)
