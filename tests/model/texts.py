# SPDX-License-Identifier: Apache-2.0
"""Random documents and the lines of JSON that hold them, odd ones included."""

import json

WORDS = ("the", "of", "a", "lane", "block", "I'll", "don't", "it's", "Row", "STEP", "x",
         "http://a.b/c?d=1", "12", "2026", "3.14", "naïve", "Übung", "中文", "日本語", "слово", "😀", "𝔘", "e\u0301",
         "²½", "٣٤", "ſ", "--", "!?", "(", ")", "\"", "\\", "/", "\u2028", "<|endoftext|>", "<|begin|>")
SPACES = (" ", " ", " ", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u3000", "")
BAD_LINES = (b'{"text": 5}', b'{"tex": "a"}', b'{"text": "abc', b"null", b"[1]", b"{}",
             b'{"text": null}',
             b'{"text": "a"} x', b'{"text": "a", "n": NaN}', b'{"text": "a\tb"}', b'{"text": "\\ud800"}',
             b'{"text": "\\udc00\\ud83d x"}', b'{"text": "a\xfb b"}', b'{"text": "\xf0\x9f\x98"}',
             b'{"text": "\xed\xa0\x80"}', b'{"text": "a", "\xff": 1}', b'{"text": {"text": "a"}}',
             b'{"text": "a",}', b'{"text": "a", "n": 01}', b'{"text": "\\q"}', b"\x00", b'"text"')


def text(random):
    """The text of a document: mostly short, sometimes empty, seldom long."""
    kind = random.random()
    if kind < 0.05:
        return ""
    if kind < 0.15:
        return random.choice(("a", "ok", "\0", "é", "\n"))
    count = random.randint(20, 150) if kind > 0.95 else random.randint(1, 12)
    return "".join(random.choice(WORDS) + random.choice(SPACES) for _ in range(count))


def escaped(random, character):
    """A character in one of the ways that JSON has for it."""
    plain = json.dumps(character, ensure_ascii=False)[1:-1]
    if random.random() < 0.9:
        return plain
    if character == "/":
        return "\\/"
    return "".join(f"\\u{unit:04{random.choice('xX')}}" for unit in utf16_units(character))


def utf16_units(character):
    """The one or two UTF-16 units of a character."""
    data = character.encode("utf-16-be")
    return [int.from_bytes(data[i:i + 2], "big") for i in range(0, len(data), 2)]


def json_string(random, value):
    """A string of JSON, escaped here and there where it need not be."""
    return '"' + "".join(escaped(random, c) for c in value) + '"'


def members(random, name, value):
    """A field among others, one of which may have the same name before it."""
    others = ['"id": 17', '"x": [1, {"text": "no"}, null]', '"f": -1.5e-3', '"o": {"text": false}',
              '"s": "\\\\\\""', '"big": 123456789012345678901234567890', '"é": true']
    before = random.sample(others, random.choice((0, 0, 1, 3)))
    if random.random() < 0.05:
        before.append(json_string(random, name) + ': "earlier"')
    after = random.sample(others, random.choice((0, 0, 1)))
    return before + [json_string(random, name) + random.choice((":", ": ", " :\t")) + value] + after


def line(random, field, value):
    """The line of a document whose text is at a dotted path."""
    found = json_string(random, value)
    for name in reversed(field.split(".")):
        found = "{" + random.choice((",", ", ")).join(members(random, name, found)) + "}"
    return random.choice(("", "", "", " ")).encode() + found.encode("utf-8")


def shard(random, field, count, bad_rate):
    """The bytes of a shard of about `count` records."""
    end = random.choice((b"\n", b"\n", b"\n", b"\r\n"))
    data = b"\xef\xbb\xbf" if random.random() < 0.1 else b""
    for _ in range(count):
        if random.random() < 0.05:
            data += random.choice((b"", b" ", b"\t \r")) + end
        if random.random() < bad_rate:
            data += random.choice(BAD_LINES) + end
        data += line(random, field, text(random)) + end
    return data if random.random() < 0.7 else data.rstrip(b"\r\n")
