# SPDX-License-Identifier: Apache-2.0
"""Functions and transforms that the tests of operators use; where processes can import them."""
import json
import os
import struct
import time

from laneway import StatefulTransform, Supervised


def shout(text):
    return text.upper()


def shout_all(texts):
    return [text.upper() for text in texts]


def is_long(text):
    return len(text) > 14


def are_long(texts):
    return [len(text) > 14 for text in texts]


def words(text):
    """Runs of seven words, none of a text that begins with a vowel."""
    found = text.split() if text[:1].lower() not in "aeiou" else []
    return (" ".join(found[i: i + 7]) for i in range(0, len(found), 7))


def words_of_all(texts):
    return [list(words(text)) for text in texts]


class Refused(ValueError):
    """An exception with a message of its own."""


def refuse(text):
    if "x7" in text:
        raise Refused(f"no {text[-4:]!r}\nplease")
    return text


def refuse_all(texts):
    return [refuse(text) for text in texts]


def refuse_groups(texts):
    if len(texts) > 1:
        raise Refused("one at a time")
    return texts


class Unpicklable(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def refuse_unpicklably(text):
    raise Unpicklable(1, 2)


def give_a_number(text):
    return len(text)


def give_nothing(text):
    return None


def give_one_fewer(texts):
    return texts[1:]


def give_half_a_character(text):
    return text + "\ud800"


def leave(text):
    raise SystemExit(3)


def end_the_process(text):
    os._exit(7)


def wait_long(text):
    time.sleep(0.05)
    return text


class SortPairs(StatefulTransform):
    """Of each two documents the shorter first; drops every fifth. Holds one at most, and counts."""

    def init(self, lane):
        return {"count": lane.number, "held": None}

    def push(self, state, document, out):
        state["count"] += 1
        if state["count"] % 5 == 0:
            out.drop(document)
        elif state["held"] is None:
            state["held"] = document
        else:
            pair = sorted((state["held"], document), key=lambda one: (one.length, one.key))
            assert all(len(one.tokens) >= one.length for one in pair)
            state["held"] = None
            for one in pair:
                out.put(one)

    def flush(self, state, out):
        if state["held"] is not None:
            out.put(state["held"])

    def save(self, state):
        return struct.pack("<qq", state["count"], -1 if state["held"] is None else state["held"].key)

    def load(self, lane, data, held):
        count, key = struct.unpack("<qq", data)
        return {"count": count, "held": held.get(key)}


class ByTokens(SortPairs):
    """The same, by what the tokens are, also of one that was held over a save."""

    def push(self, state, document, out):
        if state["held"] is None:
            state["held"] = document
        else:
            for one in sorted((state["held"], document), key=lambda one: one.tokens.tolist()):
                out.put(one)
            state["held"] = None


class Fuse(StatefulTransform):
    """Fails at its tenth document."""

    def init(self, lane):
        return [0]

    def push(self, state, document, out):
        state[0] += 1
        if state[0] == 10:
            out.put(document)
            raise Refused("ten")
        out.put(document)

    def save(self, state):
        return bytes(state)

    def load(self, lane, data, held):
        return list(data)


class PutsTwice(StatefulTransform):
    def push(self, state, document, out):
        out.put(document)
        out.put(document)


class KeepsAll(StatefulTransform):
    """Holds what it never hands on."""

    def push(self, state, document, out):
        pass


class ForgetsToSave(StatefulTransform):
    def init(self, lane):
        return 1

    def push(self, state, document, out):
        out.put(document)


class ReadsTooEarly(StatefulTransform):
    """Holds the lane's first document to the end."""

    def init(self, lane):
        return []

    def push(self, state, document, out):
        if state:
            out.put(document)
        else:
            state.append(document)

    def save(self, state):
        return b""

    def load(self, lane, data, held):
        return [one.tokens for one in held.values()]


class FailsToBegin(StatefulTransform):
    def init(self, lane):
        raise Refused("not today")


def has_two_turns(record):
    return len(json.loads(record)["messages"]) > 1


def learn_digits(text):
    """A text whose digits are learnt."""
    data = text.encode()
    return Supervised(text, [(at, at + 1) for at in range(len(data)) if chr(data[at]).isdigit()])


class Keeper(StatefulTransform):
    """Keeps what it sees."""

    def __init__(self):
        self.seen = []

    def push(self, state, document, out):
        self.seen.append((bytes(document.tokens.tolist()).decode(), document.supervised.tolist()))
        out.put(document)


class Counter(StatefulTransform):
    """Keeps the source of each document, and how many of its tokens are learnt."""

    def __init__(self):
        self.seen = []

    def push(self, state, document, out):
        self.seen.append((document.source, int(document.supervised.sum())))
        out.put(document)
