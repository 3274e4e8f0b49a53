# SPDX-License-Identifier: Apache-2.0
"""Conversations: the messages of a record become one text by a Jinja template, and some of it is learnt.

Which tokens those are is decided by the library, from the bytes of the text that are named here.
"""
from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Union

from ._native import PathLike
from .chat_template import Compiled, Spans, compiled, find_template
from .errors import InvalidError, LanewayError
from .operators import Outcome, Supervised, TextOperator

_HALF_OF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")

Mask = Union[str, Sequence[str]]


@dataclass(frozen=True)
class Conversation:
    """How a record's text is made. Called with a record, as JSON, it gives the text and its spans.

    roles: whose messages are learnt; None: everything is.
    last: only the last message of those roles.
    """

    template: str
    with_tools: str | None  # in its place, for records with tools
    variables: Mapping[str, Any]
    field: str
    tools_field: str
    roles: tuple[str, ...] | None
    last: bool
    date: str | None
    add_generation_prompt: bool

    def __call__(self, record: str) -> str | Supervised:
        fields = _parse(record)
        messages = [_message(message, turn) for turn, message in enumerate(_messages_of(fields, self.field))]
        render = _Render(self, fields)
        text, generated = render(messages)
        if self.roles is None:
            _refuse_choices(messages)
            return text
        turns = [turn for turn, message in enumerate(messages) if message.values["role"] in self.roles]
        learnt = [turn for turn in (turns[-1:] if self.last else turns) if messages[turn].is_learnt]
        if self.roles == ("assistant",) and render.template.generates:
            spans = _of_generated(generated, turns, learnt)
        else:
            spans = [_of_turn(render, messages, text, turn) for turn in learnt]
        return Supervised(text, _in_bytes(text, spans))

    def fingerprint(self) -> str:
        """All that decides the text and its spans, the templates by their hash."""
        templates = "\0".join((self.template, self.with_tools or "")).encode()
        said = {**self.__dict__, "variables": dict(self.variables), "with_tools": self.with_tools is not None,
                "template": hashlib.sha256(templates).hexdigest()}
        return json.dumps(said, sort_keys=True, default=str)


@dataclass(frozen=True)
class _Message:
    values: dict[str, Any]
    is_learnt: bool
    is_chosen: bool  # the message itself says so


class _Render:
    """Renders the first messages of one record."""

    def __init__(self, conversation: Conversation, fields: Mapping[str, Any]) -> None:
        tools = _tools_of(fields.get(conversation.tools_field))
        self._values = {"tools": None, "documents": None, **conversation.variables,
                        **({} if tools is None else {"tools": tools})}
        has_tools = self._values["tools"] is not None and conversation.with_tools is not None
        text = conversation.with_tools if has_tools else conversation.template
        self.template: Compiled = compiled(text or "", conversation.date)
        self.prompts = conversation.add_generation_prompt

    def __call__(self, messages: Sequence[_Message], prompt: bool = False) -> tuple[str, Spans]:
        return self.template.render(messages=[message.values for message in messages],
                                    add_generation_prompt=prompt, **self._values)


# ---- records ---------------------------------------------------------------------------------------


def _parse(record: str) -> dict[str, Any]:
    value = json.loads(record)
    if not isinstance(value, dict):
        raise TypeError(f"a record that is a {type(value).__name__}, expected an object: the source's text is \".\"")
    if _HALF_OF_A_PAIR.search(record):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair in the record, expected characters") from None
    return value


def _messages_of(fields: Mapping[str, Any], path: str) -> list[Any]:
    found: Any = fields
    for name in path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            raise KeyError(f"field {path!r} is missing, expected a list of messages")
        found = found[name]
    if not isinstance(found, list) or not found:
        raise ValueError(f"field {path!r} is {'empty' if found == [] else f'a {type(found).__name__}'}, "
                         "expected a list of messages")
    return found


def _message(message: Any, turn: int) -> _Message:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise ValueError(f"turn {turn} is no message, expected an object with a role")
    values = {name: value for name, value in message.items() if name not in ("train", "weight")}
    if isinstance(values.get("content"), list):
        values["content"] = "".join(_part(part, turn) for part in values["content"])
    choice = message.get("train", message.get("weight"))
    if choice not in (None, 0, 1):
        raise ValueError(f"turn {turn}: its train or weight is {choice!r}, expected true or 1, or false or 0")
    return _Message(values, choice in (None, 1), choice is not None)


def _part(part: Any, turn: int) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
        kind = part.get("type") if isinstance(part, dict) else type(part).__name__
        raise ValueError(f"turn {turn}: its content has a part of type {kind!r}, expected \"text\"")
    return str(part["text"])


def _tools_of(tools: Any) -> Any:
    """Some data sets keep them as a text, so that all records have columns of the same types."""
    return json.loads(tools) if isinstance(tools, str) and tools else tools


def _refuse_choices(messages: Sequence[_Message]) -> None:
    for turn, message in enumerate(messages):
        if message.is_chosen:
            raise ValueError(f"turn {turn} says whether it is learnt, expected no such choice where all is (mask=\"all\")")


# ---- spans -----------------------------------------------------------------------------------------


def _of_generated(generated: Spans, turns: Sequence[int], learnt: Sequence[int]) -> Spans:
    """Those of the turns that are learnt, by the tags of the template."""
    if len(learnt) == len(turns):
        return generated
    if len(generated) != len(turns):
        raise ValueError(f"the template generates {len(generated)} times for {len(turns)} turns of the assistant, "
                         "expected once for each: which are to be learnt can not be told")
    return [generated[turns.index(turn)] for turn in learnt]


def _of_turn(render: _Render, messages: Sequence[_Message], text: str, turn: int) -> tuple[int, int]:
    """What the turn adds: to the text of the messages before it, with the prompt to answer, and no more than its own."""
    is_answer = messages[turn].values["role"] == "assistant"
    before = render(messages[:turn], is_answer and render.prompts)[0]
    after = render(messages[: turn + 1])[0] if turn + 1 < len(messages) else text
    if not after.startswith(before) or not text.startswith(after):
        what = "rendered with more turns behind it" if after.startswith(before) else "put behind those before it"
        raise ValueError(f"turn {turn}: the text up to it changes when it is {what}, expected a template that only "
                         "adds to the text, or one with generation tags")
    return len(before), len(after)


def _in_bytes(text: str, spans: Spans) -> Spans:
    if text.isascii():
        return spans
    found, at, place = [], 0, 0
    for begin, end in spans:
        first = place + len(text[at:begin].encode())
        at, place = end, first + len(text[begin:end].encode())
        found.append((first, place))
    return found


# ---- the operator ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chat(TextOperator):
    """Renders conversations; the texts it is given are records, as a source's text ``.`` gives them.

    >>> laneway.open({..., "sources": [{..., "text": "."}], "tokenizer": {"path": path, "special_text": True}},
    ...              operators=[Chat.from_tokenizer(path)])

    It is the last operator on texts. Without it in a recipe, see ``Pipeline.tokenize_chat``.
    """

    name: str = "chat"
    kind: ClassVar[str] = "chat"

    @classmethod
    def from_tokenizer(cls, tokenizer_id: PathLike | None = None, *, template: PathLike | None = None,
                       field: str = "messages", mask: Mask = "assistant", scope: str = "all",
                       tools_field: str = "tools", template_kwargs: Mapping[str, Any] | None = None,
                       date: str | datetime.date | None = None, add_generation_prompt: bool = True,
                       version: int = 1) -> Chat:
        """tokenizer_id: a path, or a name that ``find_tokenizer`` finds; its files have the template and its tokens.
        template: the text of a template, its file, or the name of one of the tokenizer's; None: the tokenizer's.
        field, tools_field: the fields of a record with the messages and with the tools, if it has any.
        mask: what is learnt: "assistant", "all", or a list of roles.
        scope: "all" of their turns, or the "last".
        template_kwargs: more values for the template.
        date: what ``strftime_now`` says to the template. Without it there is no such function: a stream depends on
            no clock.
        add_generation_prompt: whether what asks the assistant to speak is no part of its turn; where the template has
            no generation tags.
        """
        if scope not in ("all", "last"):
            raise InvalidError(f'chat: scope is {scope!r}, expected "all" or "last"')
        taken = {"messages", "add_generation_prompt"} & set(template_kwargs or ())
        if taken:
            raise InvalidError(f"chat: template_kwargs has {sorted(taken)[0]!r}, expected names that are free")
        found = find_template(tokenizer_id, template)
        made = Conversation(found.text, found.with_tools, {**found.variables, **(template_kwargs or {})}, field,
                            tools_field, _roles(mask), scope == "last", _iso(date), add_generation_prompt)
        _check(made)
        return cls(made, version=version)

    def outcome(self, text: str, result: Any) -> Outcome:
        if not isinstance(result, (str, Supervised)):
            raise TypeError(f"a {type(result).__name__}, expected a text")
        return result

    def options(self) -> str:
        return f"{super().options()} {self.function.fingerprint()}"


def _roles(mask: Mask) -> tuple[str, ...] | None:
    if isinstance(mask, str) and mask not in ("assistant", "all"):
        raise InvalidError(f'chat: mask is {mask!r}, expected "assistant", "all" or a list of roles')
    return None if mask == "all" else (mask,) if isinstance(mask, str) else tuple(mask)


def _iso(date: str | datetime.date | None) -> str | None:
    if date is None or isinstance(date, datetime.date):
        return None if date is None else date.isoformat()
    try:
        return datetime.datetime.fromisoformat(date).isoformat()
    except ValueError:
        raise InvalidError(f"chat: date is {date!r}, expected one such as \"2025-01-31\"") from None


def _check(conversation: Conversation) -> None:
    """A template that can not be read is told before the data is."""
    try:
        for text in (conversation.template, conversation.with_tools or ""):
            compiled(text, conversation.date)
    except LanewayError:
        raise
    except Exception as error:
        raise InvalidError(f"chat: the template: {type(error).__name__}: {error}, expected one of Jinja") from error
