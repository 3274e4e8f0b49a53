# SPDX-License-Identifier: Apache-2.0
"""Recipes: a file (YAML, JSON, TOML), a mapping or a text, read by the library.

A mapping is written as JSON, which the library's YAML reader takes; what an option means, and whether it
is known, is decided there.
"""
from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Union

from ._native import PathLike, check, encode, ffi, lib, new_error, taken_text
from . import operator_bridge
from .errors import InvalidError, NotFoundError
from .operators import Operator

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RecipeLike = Union["Recipe", Mapping[str, Any], PathLike]


def _value_text(value: object, where: str) -> str:
    """A value as JSON; numbers with a point are written out, for the library takes no exponents."""
    if isinstance(value, Mapping):
        fields = (f"{json.dumps(str(key))}: {_value_text(item, f'{where}.{key}')}" for key, item in value.items())
        return "{" + ", ".join(fields) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value_text(item, f"{where}.{i}") for i, item in enumerate(value)) + "]"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, (Real, Decimal)):
        return format(Decimal(repr(float(value)) if isinstance(value, Real) else value), "f")
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    raise InvalidError(f"recipe: {where.lstrip('.')} is a {type(value).__name__}, expected a map, list, text, "
                       "number, boolean or None")


class Recipe:
    """What a stream is made of, as the library has read it.

    >>> Recipe({"lanes": 8, "global_batch": 48, "context": 128, ...}, folder="data")
    >>> Recipe.open("train.yaml")
    """

    def __init__(self, options: Mapping[str, Any], folder: PathLike | None = None) -> None:
        """A recipe of options as in a file; relative paths start at ``folder`` (the working directory)."""
        self._become(_parse(_value_text(options, ""), folder), folder)

    def _become(self, handle: Any, folder: PathLike | None) -> Recipe:
        self._handle = handle
        self._types: tuple[Any, ...] = ()
        self.operators: tuple[Operator, ...] = ()
        self.folder = os.path.abspath(os.fspath(folder) if folder else ".")
        return self

    @classmethod
    def open(cls, path: PathLike) -> Recipe:
        """Reads a file: ``.toml``, else YAML or JSON. Relative paths in it start at its folder."""
        folder = os.path.dirname(os.fspath(path))
        if os.fspath(path).endswith(".toml"):
            return cls(_read_toml(path), folder)
        out, err = ffi.new("lw_recipe **"), new_error()
        check(lib.lw_recipe_open(encode(path), out, err), err)
        return cls.__new__(cls)._become(_own(out), folder)

    @classmethod
    def parse(cls, text: str, folder: PathLike | None = None) -> Recipe:
        """Reads YAML text."""
        return cls.__new__(cls)._become(_parse(text, folder), folder)

    @classmethod
    def of(cls, recipe: RecipeLike) -> Recipe:
        """A recipe, whatever it is given as: itself, a mapping, or the path of a file."""
        if isinstance(recipe, Recipe):
            return recipe
        return cls(recipe) if isinstance(recipe, Mapping) else cls.open(recipe)

    def copy(self) -> Recipe:
        """Another recipe with the same options and operators."""
        out, err = ffi.new("lw_recipe **"), new_error()
        check(lib.lw_recipe_copy(self._handle, out, err), err)
        made = type(self).__new__(type(self))._become(_own(out), self.folder)
        made.operators, made._types = self.operators, self._types
        return made

    def add(self, *operators: Operator) -> Recipe:
        """Adds operators in Python (``laneway.operators``), which run in this order; the recipe itself again."""
        for operator in operators:
            described = operator_bridge.type_of(operator)
            operator_bridge.add_operator(self._handle, operator, described, ffi.NULL)
            self._types += (described,)
            self.operators += (operator,)
        return self

    def _running(self, run: operator_bridge.Run) -> Any:
        """Another handle of this recipe, with the operators of a run in the place of their descriptions."""
        handle = _parse(self.text(), self.folder)
        run.add_to(handle)
        return handle

    def set(self, key: str, value: object) -> None:
        """Sets one option by its dotted name, as ``set("runtime.dtype", "int64")``."""
        err = new_error()
        check(lib.lw_recipe_set(self._handle, encode(key), encode(_value_text(value, key)), err), err)

    def text(self) -> str:
        """The canonical text: every option in a fixed order."""
        out, err = ffi.new("char **"), new_error()
        check(lib.lw_recipe_text(self._handle, out, err), err)
        return taken_text(out[0])

    def options(self) -> dict[str, Any]:
        """The options by dotted name, sources aside, each with its default if it was not set."""
        found: dict[str, Any] = {}
        section = ""
        for line in self.text().splitlines():
            name, _, value = line.strip().partition(":")
            if not line.startswith(" "):
                section = name
            elif section == "sources":
                continue
            if value:
                found[f"{section}.{name}" if line.startswith(" ") else name] = _read(value.strip())
        return found

    def value(self, key: str) -> Any:
        """One of the options."""
        return self.options()[key]

    def __reduce__(self) -> Any:
        return _restored, (self.text(), self.folder, self.operators)

    def __repr__(self) -> str:
        return f"<laneway.Recipe in {self.folder!r}>"


def _read(value: str) -> Any:
    """A value of the canonical text; words are not in quotes there."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def _restored(text: str, folder: str, operators: tuple[Operator, ...]) -> Recipe:
    return Recipe.parse(text, folder).add(*operators)


def _own(out: Any) -> Any:
    return ffi.gc(out[0], lib.lw_recipe_close)


def _parse(text: str, folder: PathLike | None) -> Any:
    out, err = ffi.new("lw_recipe **"), new_error()
    where = ffi.NULL if folder is None else encode(folder)
    check(lib.lw_recipe_parse(encode(text), where, out, err), err)
    return _own(out)



def _read_toml(path: PathLike) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise NotFoundError(f"recipe: {os.fspath(path)!r} is not there, expected a file") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidError(f"recipe: {os.fspath(path)!r}: {error}, expected TOML") from None
