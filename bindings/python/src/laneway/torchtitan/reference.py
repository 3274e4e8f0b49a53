# SPDX-License-Identifier: Apache-2.0
"""Recipes of the reference integration: one flat TOML table, each field of which becomes an option of a
recipe, has no effect because it asks for what is always so, or is refused with what to use instead.
"""
from __future__ import annotations

import difflib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidError, UnsupportedError

_NUMBER_OR_NONE = (int, type(None))
_TEXT_OR_NONE = (str, type(None))


@dataclass(frozen=True)
class _Field:
    default: Any
    types: tuple[type, ...]


FIELDS = {
    "sources": _Field((), (list, tuple)),
    "text_field": _Field("text", (str,)),
    "tokenize_special_tokens": _Field("bos_eos", (str,)),
    "pack_algorithm": _Field("wrap", (str,)),
    "pack_num_bins": _Field(None, _NUMBER_OR_NONE),
    "max_num_documents": _Field(None, _NUMBER_OR_NONE),
    "max_num_documents_scope": _Field("batch", (str,)),
    "pad_token_id": _Field(None, _NUMBER_OR_NONE),
    "cache_dir": _Field(None, _TEXT_OR_NONE),
    "cache_limit_bytes": _Field(None, (int, str, type(None))),
    "fetch_parallelism": _Field(None, _NUMBER_OR_NONE),
    "tokenize_parallelism": _Field(None, _NUMBER_OR_NONE),
    "pack_parallelism": _Field(None, _NUMBER_OR_NONE),
    "shuffle_parallelism": _Field(None, _NUMBER_OR_NONE),
    "prefetch_buffer_size": _Field(0, (int,)),
    "prefetch_parallelism": _Field(None, _NUMBER_OR_NONE),
    "seed": _Field(42, (int,)),
    "chunk_size": _Field(16384, (int,)),
    "shuffle_shards": _Field(True, (bool,)),
    "shuffle_within_shard": _Field(True, (bool,)),
    "shuffle_block_size": _Field("auto", (int, str, type(None))),
    "shuffle_after_pack": _Field(True, (bool,)),
    "shuffle_buffer_size": _Field(None, _NUMBER_OR_NONE),
    "token_estimation": _Field(True, (bool,)),
    "repeat": _Field(True, (bool,)),
    "canonical_replicas": _Field(None, _NUMBER_OR_NONE),
    "aggregate_dir": _Field(None, _TEXT_OR_NONE),
    "run_id": _Field(None, _TEXT_OR_NONE),
    "runner": _Field("process", (str,)),
    "mtp_mode": _Field(None, (bool, type(None))),
}
_SOURCE_FIELDS = ("name", "path", "fmt", "weight")
_SPECIAL_TOKENS = ("bos_eos", "bos", "eos", "none", "tokenizer_default")

# Rows that are shuffled among each other where the recipe says that they are, and not how many.
SHUFFLED_ROWS = 1024


def is_reference(table: Mapping[str, Any]) -> bool:
    """Whether a table is of the reference integration: a recipe of Laneway's own has its lanes and its context."""
    return "lanes" not in table and "context" not in table


def options_of(table: Mapping[str, Any], tokenizer: Any, *, lanes: int, context: int) -> dict[str, Any]:
    """The options of the recipe that a table comes to, but for ``global_batch``; relative paths stay relative.

    tokenizer: TorchTitan's, which knows where its files are and what its BOS and EOS are called.
    lanes: how many, where ``canonical_replicas`` does not say.
    """
    fields = _checked(table)
    shuffled = fields["shuffle_shards"] or fields["shuffle_within_shard"] or fields["shuffle_block_size"] is not None
    rows = SHUFFLED_ROWS if fields["shuffle_buffer_size"] is None else fields["shuffle_buffer_size"]
    return {
        "seed": fields["seed"],
        "lanes": lanes if fields["canonical_replicas"] is None else fields["canonical_replicas"],
        "context": context,
        "order": "permuted" if shuffled else "file",
        "sources": [_source(source, fields["text_field"], i) for i, source in enumerate(fields["sources"])],
        "mixture": {"unit": "tokens" if fields["token_estimation"] else "documents"},
        "tokenizer": _tokenizer(fields["tokenize_special_tokens"], tokenizer),
        "pack": _pack(fields),
        "shuffle": {"rows": rows if fields["shuffle_after_pack"] else 0},
        "end": "repeat" if fields["repeat"] else "drop",
        "runtime": {"threads": fields["tokenize_parallelism"] or 0},
    }


def _checked(table: Mapping[str, Any]) -> dict[str, Any]:
    """All fields, by their defaults where they are missing."""
    for name, value in table.items():
        if name not in FIELDS:
            raise InvalidError(f"recipe: {name} is no field{_nearest(name, FIELDS)}")
        if type(value) not in FIELDS[name].types:
            expected = " or ".join("none" if one is type(None) else one.__name__ for one in FIELDS[name].types)
            raise InvalidError(f"recipe: {name} is {value!r}, expected {expected}")
    fields = {name: table.get(name, field.default) for name, field in FIELDS.items()}
    if fields["shuffle_block_size"] == "none":
        fields["shuffle_block_size"] = None
    if not fields["sources"]:
        raise InvalidError("recipe: sources is empty, expected one or more")
    if fields["canonical_replicas"] is not None and fields["canonical_replicas"] < 1:
        raise InvalidError(f"recipe: canonical_replicas is {fields['canonical_replicas']}, expected 1 or more")
    if fields["max_num_documents"] is not None:
        raise UnsupportedError(f"recipe: max_num_documents is {fields['max_num_documents']}, expected none: leave it "
                               "out; a row takes as many documents as fit")
    return fields


def _source(source: Any, text: str, index: int) -> dict[str, Any]:
    where = f"recipe: sources[{index}]"
    if not isinstance(source, Mapping):
        raise InvalidError(f"{where} is {source!r}, expected a table with name and path")
    for name in source:
        if name not in _SOURCE_FIELDS:
            raise InvalidError(f"{where}.{name} is no field{_nearest(name, _SOURCE_FIELDS)}")
    for name in ("name", "path"):
        if not source.get(name):
            raise InvalidError(f"{where}.{name} is missing, expected a text")
    weight = source.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not math.isfinite(weight) or weight <= 0:
        raise InvalidError(f"{where}.weight is {weight!r}, expected a number above 0")
    path = source["path"]
    paths = [os.fspath(one) for one in path] if isinstance(path, (list, tuple)) else os.fspath(path)
    return {"name": source["name"], "path": paths, "format": source.get("fmt"), "text": text, "weight": weight}


def _tokenizer(special: str, tokenizer: Any) -> dict[str, Any]:
    if special not in _SPECIAL_TOKENS:
        raise InvalidError(f"recipe: tokenize_special_tokens is {special!r}, expected one of "
                           f"{', '.join(_SPECIAL_TOKENS)}")
    path = getattr(tokenizer, "tokenizer_path", None)
    if not isinstance(path, str):
        raise InvalidError(f"tokenizer: {type(tokenizer).__name__} has no tokenizer_path, expected the trainer's "
                           "tokenizer to be read from hf_assets_path, or a Laneway recipe with a tokenizer of its own")
    added = {"bos": special in ("bos", "bos_eos"), "eos": special in ("eos", "bos_eos")}
    if special == "tokenizer_default":
        added = {end: bool(getattr(tokenizer, f"hf_adds_{end}", False) or getattr(tokenizer, f"default_add_{end}", False))
                 for end in added}
    return {"path": os.path.abspath(path), **{end: wanted and _token(tokenizer, end) for end, wanted in added.items()}}


def _token(tokenizer: Any, end: str) -> str:
    """The text of the trainer's BOS or EOS."""
    text = getattr(tokenizer, f"{end}_token", None)
    if not text:
        other = "eos" if end == "bos" else "bos"
        raise InvalidError(f"recipe: tokenize_special_tokens asks for the {end.upper()}, and tokenizer_config.json "
                           f'names none, expected "{other}" or "none"')
    return str(text)


def _pack(fields: Mapping[str, Any]) -> dict[str, Any]:
    algorithm = fields["pack_algorithm"]
    if algorithm in ("first_fit", "best_fit_wrap"):
        other = "best_fit" if algorithm == "first_fit" else "wrap"
        raise UnsupportedError(f'recipe: pack_algorithm is "{algorithm}", expected "{other}" in its place')
    if algorithm not in ("wrap", "best_fit"):
        raise InvalidError(f'recipe: pack_algorithm is {algorithm!r}, expected "wrap" or "best_fit"')
    pack = {"algorithm": algorithm, "pad": fields["pad_token_id"], "open_rows": fields["pack_num_bins"]}
    return {key: value for key, value in pack.items() if value is not None}


def _nearest(name: str, known: Any) -> str:
    found = difflib.get_close_matches(name, list(known), n=1)
    return f", expected {found[0]}" if found else f", expected one of {', '.join(known)}"
