# SPDX-License-Identifier: Apache-2.0
"""Jinja templates of conversations, as tokenizers come with them: where they are, and how they are rendered.

The text between ``{% generation %}`` and ``{% endgeneration %}`` is what the model is to produce. While a template is
rendered these places are marks in the text, two characters that no text can hold, since each is half of a pair.
"""
from __future__ import annotations

import datetime
import functools
import json
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ._native import PathLike
from .errors import InvalidError, UnsupportedError
from .tokenizer_files import find_tokenizer

_BEGIN, _END = "\ud800", "\ud801"
_MARKS = re.compile(f"([{_BEGIN}{_END}])")

_SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")

Spans = list[tuple[int, int]]


class Template(NamedTuple):
    """A template's text, and the values that its tokenizer gives it, such as ``bos_token``.

    with_tools: of a tokenizer with several templates, the one for conversations with tools.
    """

    text: str
    with_tools: str | None
    variables: dict[str, Any]


# ---- beside the tokenizer --------------------------------------------------------------------------


def find_template(tokenizer_id: PathLike | None, template: PathLike | None) -> Template:
    """The template, and the special tokens of the tokenizer's ``tokenizer_config.json``.

    template: its text, the path of a file, the name of one of several in the configuration, or None for that of the
        tokenizer: ``chat_template.jinja`` beside it, else ``chat_template`` in the configuration; of several there
        "default", and "tool_use" for conversations with tools.
    """
    folder = None if tokenizer_id is None else _folder_of(tokenizer_id)
    config = {} if folder is None else _read_json(os.path.join(folder, "tokenizer_config.json"))
    named = _named(folder, config)
    if template is None:
        if "default" not in named:
            raise InvalidError("chat: there is no chat_template.jinja beside the tokenizer and no chat_template in its "
                               "tokenizer_config.json, expected one of them or template=...")
        return Template(named["default"], named.get("tool_use"), _special_tokens(folder, config))
    text = os.fspath(template)
    chosen = named[text] if text in named else text if "{" in text or "\n" in text else _read_text(text)
    return Template(chosen, None, _special_tokens(folder, config))


def _folder_of(tokenizer_id: PathLike) -> str | None:
    if tokenizer_id in ("bytes", "__fallback__"):
        return None
    path = find_tokenizer(tokenizer_id)
    return path if os.path.isdir(path) else os.path.dirname(path)


def _read_json(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise InvalidError(f"chat: {path!r}: {error}, expected JSON") from None
    return found if isinstance(found, dict) else {}


def _named(folder: str | None, config: Mapping[str, Any]) -> dict[str, str]:
    """The templates of a tokenizer, by their names."""
    found = config.get("chat_template")
    if folder is not None and os.path.exists(beside := os.path.join(folder, "chat_template.jinja")):
        found = _read_text(beside)
    if isinstance(found, str):
        return {"default": found}
    return {one["name"]: one["template"] for one in found or ()}


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        raise InvalidError(f"chat: template {path!r} is no file, and no name of a template of the tokenizer, expected "
                           "the text of a template or its file") from None


def _special_tokens(folder: str | None, config: Mapping[str, Any]) -> dict[str, Any]:
    given = {**(_read_json(os.path.join(folder, "special_tokens_map.json")) if folder else {}), **config}
    tokens = {name: _token_text(given[name]) for name in _SPECIAL_TOKENS if given.get(name) is not None}
    more = given.get("additional_special_tokens")
    return {**tokens, "additional_special_tokens": [_token_text(token) for token in more]} if more else tokens


def _token_text(token: Any) -> str:
    return str(token["content"] if isinstance(token, Mapping) else token)


# ---- rendering -------------------------------------------------------------------------------------


class Compiled:
    """A template that is ready. Any threads may render it at once."""

    def __init__(self, text: str, date: str | None) -> None:
        environment, tags = _environment(date)
        self._template = environment.from_string(text)
        self.generates = bool(tags)

    def render(self, **values: Any) -> tuple[str, Spans]:
        """The text, and where in it what is generated stands, in characters."""
        text, spans, begins = "", [], []
        for part in _MARKS.split(self._template.render(**values)):
            if part == _BEGIN:
                begins.append(len(text))
            elif part != _END:
                text += part
            elif (begin := begins.pop()) < len(text) and not begins:
                spans.append((begin, len(text)))
        return text, spans


@functools.lru_cache(maxsize=64)
def compiled(text: str, date: str | None) -> Compiled:
    """A template; date: what ``strftime_now`` says, as ISO 8601; None: templates see that there is no such function."""
    return Compiled(text, date)


def _environment(date: str | None) -> tuple[Any, list[int]]:
    """As other libraries render these templates, but for the clock; and the lines with generation tags of what it has
    compiled."""
    try:
        import jinja2.ext
        import jinja2.sandbox
        from jinja2 import nodes
    except ImportError:
        raise UnsupportedError("chat: jinja2 is not installed, expected it to render templates: "
                               "pip install 'laneway[chat]'") from None

    lines: list[int] = []

    class Generation(jinja2.ext.Extension):
        """Puts a mark at both ends of what is generated."""

        tags = {"generation"}

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            lines.append(line)
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            begin, end = (nodes.Output([nodes.TemplateData(mark)]) for mark in (_BEGIN, _END))
            return nodes.Scope([begin, *body, end]).set_lineno(line)

    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
    made.filters["tojson"] = _to_json
    made.globals["raise_exception"] = _raise_exception
    if date is not None:
        made.globals["strftime_now"] = datetime.datetime.fromisoformat(date).strftime
    return made, lines


def _to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None,
             separators: tuple[str, str] | None = None, sort_keys: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise_exception(message: str) -> None:
    import jinja2

    raise jinja2.TemplateError(message)
