# SPDX-License-Identifier: Apache-2.0
"""Cases for the JSON reader and the UTF-8 check, with Python's own verdicts.

`oracle.py json` prints a case a line: the input in hex, then what strict JSON
says of it: "bad", or "good" and the canonical form of the value in hex.
`oracle.py utf8` prints the input, the offset of its first bad byte (its length
if there is none) and its repaired form. Lines come from a fixed seed.
"""

import json
import random
import sys


def refuse(name):
    raise ValueError(name)


def canonical(value):
    """A form that needs no number printing: kinds, and the UTF-8 of strings and keys."""
    if isinstance(value, dict):
        return b"{" + b"".join(canonical(k) + b":" + canonical(v) + b"," for k, v in value) + b"}"
    if isinstance(value, list):
        return b"[" + b"".join(canonical(v) + b"," for v in value) + b"]"
    if isinstance(value, str):
        return b"<" + value.encode("utf-8") + b">"
    if isinstance(value, Number):
        return b"#"
    return {None: b"n", True: b"t", False: b"f"}[value]


class Pairs(dict):
    """An object that keeps its members as they came, doubles included."""

    def __init__(self, pairs):
        super().__init__()
        self.pairs = pairs

    def __iter__(self):
        return iter(self.pairs)


class Number:
    """Stands for any number."""

    def __init__(self, _):
        pass


def verdict(text):
    try:
        value = json.loads(text.decode("utf-8"), parse_constant=refuse, parse_int=Number,
                           parse_float=Number, object_pairs_hook=Pairs)
        return "good " + canonical(value).hex()
    except (ValueError, RecursionError):
        return "bad"


PIECES = ['"', "\\", "\\n", "\\u0041", "\\ud83d\\ude00", "\\uD800", "\\udc00", "\\u00", "\\x",
          "\\/", "\\\"", "{", "}", "[", "]", ",", ":", " ", "\t", "\r", "\n", "\x01", "\x1f", "\x7f", "0",
          "-", "1", "9", ".", "e", "E+", "true", "false", "null", "nul", "NaN", "Infinity", "a",
          "\u00e9", "\u20ac", "\U0001f600", "text", "0123456789abcdef0123456789abcdef"]


def random_string(rng):
    parts = []
    for _ in range(rng.choice([0, 1, 3, 10, 60])):
        kind = rng.randrange(12)
        if kind < 7:
            parts.append("x" * rng.randrange(70))
        elif kind < 9:
            parts.append(rng.choice(["\\n", "\\t", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r"]))
        elif kind < 11:
            parts.append(rng.choice(["\\u0000", "\\u00e9", "\\u20AC", "\\ud83d\\ude00", "\u00e9"]))
        else:
            parts.append(rng.choice(["\\u12g4", "\\ud800", "\\ude00x", "\n", "\\q"])
                         if rng.random() < 0.05 else "z")
    return '"' + "".join(parts) + '"'


def random_number(rng):
    good = ["0", "-0", "1", "-12", "1.5", "1e9", "1E+9", "-0.0e-1", "123456789012345678901"]
    bad = ["01", "-", "1.", ".5", "1e", "+1", "1e+"]
    return rng.choice(good if rng.random() < 0.97 else bad)


def random_value(rng, depth):
    space = lambda: rng.choice(["", "", "", " ", "\n\t", "\r "])
    kind = rng.randrange(8 if depth else 5)
    if kind == 0:
        return space() + rng.choice(["null", "true", "false"]) + space()
    if kind == 1:
        return space() + random_number(rng) + space()
    if kind < 5:
        return space() + random_string(rng) + space()
    items = [random_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    if kind < 7:
        items = [space() + random_string(rng) + space() + ":" + item for item in items]
        return space() + "{" + (",".join(items) or space()) + "}" + space()
    return space() + "[" + (",".join(items) or space()) + "]" + space()


def damaged(rng, text):
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(3)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + rng.choice(PIECES) + text[at:]
    return text[:at] + text[at + 1:]


def json_cases(rng):
    for _ in range(6000):
        text = random_value(rng, rng.randrange(5))
        yield text
        yield damaged(rng, text)
    for _ in range(6000):
        yield "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 12)))


def utf8_cases(rng):
    wholes = ["a", "\u00e9", "\u20ac", "\ud7ff", "\ue000", "\U00010000", "\U0010ffff", "0" * 40]
    for _ in range(12000):
        data = b""
        for _ in range(rng.randrange(1, 40)):
            data += rng.choice(wholes).encode()
        for _ in range(rng.choice([0, 1, 1, 4])):
            at = rng.randrange(len(data) + 1)
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + rng.randrange(3):]
        yield data
    for first in range(0x80, 0x100):
        for second in range(0, 0x100, 3):
            yield b"x" * 31 + bytes([first, second, 0x80, 0x80]) + b"y" * 33
            yield bytes([first, second])


def first_bad(data):
    try:
        data.decode("utf-8")
        return len(data)
    except UnicodeDecodeError as error:
        return error.start


def main():
    rng = random.Random(20)
    if sys.argv[1] == "json":
        for text in json_cases(rng):
            data = text.encode("utf-8")
            print(data.hex() or "-", verdict(data))
    else:
        for data in utf8_cases(rng):
            print(data.hex() or "-", first_bad(data),
                  data.decode("utf-8", "replace").encode("utf-8").hex() or "-")


main()
