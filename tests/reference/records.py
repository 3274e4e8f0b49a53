# SPDX-License-Identifier: Apache-2.0
"""From the bytes of a record to its text, and what happens to a bad one.

Written from docs/stream.md section 3. The `json` module is made strict where
it is lenient: NaN and Infinity are no JSON. Numbers are not converted, so
that no limit of Python's integers decides what a record is.
"""

import json
import re

LEVELS = 256
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


class BadRecord(Exception):
    """The record has no text that can be used."""


def refuse_constant(name):
    """json's hook for NaN and Infinity."""
    raise BadRecord(f"{name} is no JSON value")


def levels_of(text):
    """How deep the brackets of a JSON text are nested; those in strings are none."""
    deepest = level = 0
    for character in STRING.sub("", text):
        level += (character in "{[") - (character in "}]")
        deepest = max(deepest, level)
    return deepest


def parse(text):
    """The JSON value of a line."""
    try:
        value = json.loads(text, parse_constant=refuse_constant, parse_int=lambda _: 0,
                           parse_float=lambda _: 0.0)
    except (ValueError, RecursionError) as error:
        raise BadRecord(str(error)) from error
    if levels_of(text) > LEVELS:
        raise BadRecord(f"more than {LEVELS} levels")
    return value


def field_of(value, field):
    """The text at a dotted path, each name of which is a key of an object."""
    for name in field:
        if not isinstance(value, dict) or name not in value:
            raise BadRecord(f"there is no field {name}")
        value = value[name]
    if not isinstance(value, str):
        raise BadRecord("the text field is no string")
    return value


def is_surrogate(character):
    """Half of a UTF-16 pair, which alone is no character."""
    return 0xD800 <= ord(character) <= 0xDFFF


def text_of(content, field, replace):
    """The text of a record, or with no field the record as it stands in its line; with `replace`, U+FFFD stands for what
    is no Unicode."""
    try:
        line = content.decode("utf-8", "replace" if replace else "strict")
    except UnicodeDecodeError as error:
        raise BadRecord(str(error)) from error
    value = parse(line)
    if not isinstance(value, dict):
        raise BadRecord("the line is no object")
    if not field:
        return line.strip(" \t\r")
    text = field_of(value, field)
    if replace:
        return "".join("\ufffd" if is_surrogate(c) else c for c in text)
    if any(is_surrogate(c) for c in text):
        raise BadRecord("the text holds half of a surrogate pair")
    return text


class BadRecordPolicy:
    """What one lane does about bad records: it counts those it passed over."""

    def __init__(self, policy, limit):
        self.policy = policy
        self.limit = limit
        self.passed_over = 0

    @property
    def replaces(self):
        """Whether what is no Unicode is repaired rather than bad."""
        return self.policy == "replace"

    def may_pass_over(self):
        """Count one more bad record; False when the lane must fail at it."""
        if self.policy != "skip":
            return False
        self.passed_over += 1
        return self.limit == 0 or self.passed_over <= self.limit
