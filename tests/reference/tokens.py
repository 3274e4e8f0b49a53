# SPDX-License-Identifier: Apache-2.0
"""Tokenizers: the bytes themselves, and byte-level BPE from a tokenizer.json.

A tokenizer turns the text of a document into ids and knows the ids of BOS and
EOS where the recipe asks for them. The BPE is the definition of BPE, merge by
merge; the pre-tokenizer is GPT-2's pattern written as a loop.
"""

import json
import os
import unicodedata

from recipe import RecipeError

BYTES_BOS = 256
BYTES_EOS = 257
COMMON_EOS = "<|endoftext|>"
SPACES = frozenset(map(chr, [0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
                             *range(0x09, 0x0E), *range(0x2000, 0x200B)]))
CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


def kind_of(character):
    """The class of a character in GPT-2's pattern: space, L, N or other."""
    if character in SPACES:
        return "space"
    category = unicodedata.category(character)[0]
    return category if category in "LN" else "other"


def run_end(text, start):
    """The end of the run of characters of one class that starts at `start`."""
    kind = kind_of(text[start])
    end = start
    while end < len(text) and kind_of(text[end]) == kind:
        end += 1
    return end


def piece_end(text, start):
    """The end of the pre-token that starts at `start`."""
    for contraction in CONTRACTIONS:
        if text.startswith(contraction, start):
            return start + len(contraction)
    word = start + 1 if text[start] == " " and start + 1 < len(text) else start
    if kind_of(text[word]) != "space":
        return run_end(text, word)
    end = run_end(text, start)
    has_more = end < len(text) and end - start > 1
    return end - 1 if has_more else end


def pieces_of(text):
    """The pre-tokens of a text."""
    start = 0
    while start < len(text):
        end = piece_end(text, start)
        yield text[start:end]
        start = end


def byte_characters():
    """The character that stands for each byte in a byte-level vocabulary."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    names = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in names:
            names[byte] = chr(256 + len(names) - len(printable))
    return names


class BytesTokenizer:
    """Each byte of the text is its own token."""

    def id_of(self, choice, is_bos):
        """The id of BOS or EOS; there is only one name for each: true."""
        if choice is not True:
            raise RecipeError("the bytes tokenizer has no token of that text")
        return BYTES_BOS if is_bos else BYTES_EOS

    def encode(self, text):
        """The ids of a text."""
        return list(text.encode("utf-8"))


class BpeTokenizer:
    """Byte-level BPE with GPT-2's pre-tokenizer."""

    def __init__(self, path, special_text):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        model = data["model"]
        pairs = [m.split(" ") if isinstance(m, str) else m for m in model["merges"]]
        self.vocabulary = model["vocab"]
        self.ranks = {tuple(pair): rank for rank, pair in enumerate(pairs)}
        self.ignore_merges = model.get("ignore_merges", False)
        self.added = {t["content"]: t["id"] for t in data.get("added_tokens", [])}
        self.special = self.added if special_text else {}
        self.names = byte_characters()
        self.known = {}

    def id_of(self, choice, is_bos):
        """The id of BOS or EOS by its text; of the names `true` may stand for, one is known here."""
        if choice is True and not is_bos:
            choice = COMMON_EOS
        token = self.added.get(choice, self.vocabulary.get(choice))
        if token is None:
            name = "bos" if is_bos else "eos"
            raise RecipeError(f"the vocabulary has no token {choice} for {name}")
        return token

    def merge(self, parts):
        """Merge the first pair of the lowest rank until no pair has one."""
        while True:
            ranked = [(self.ranks[pair], at) for at, pair in enumerate(zip(parts, parts[1:]))
                      if pair in self.ranks]
            if not ranked:
                return parts
            at = min(ranked)[1]
            parts = parts[:at] + [parts[at] + parts[at + 1]] + parts[at + 2:]

    def encode_piece(self, piece):
        """The ids of a pre-token."""
        word = "".join(self.names[byte] for byte in piece.encode("utf-8"))
        if self.ignore_merges and word in self.vocabulary:
            return [self.vocabulary[word]]
        return [self.vocabulary[part] for part in self.merge(list(word))]

    def encode_ordinary(self, text):
        """The ids of a text without special tokens; a piece's ids are kept, they cannot change."""
        ids = []
        for piece in pieces_of(text):
            if piece not in self.known:
                self.known[piece] = self.encode_piece(piece)
            ids += self.known[piece]
        return ids

    def encode(self, text):
        """The ids of a text; special tokens in it are found leftmost, then longest."""
        ids = []
        begin = at = 0
        while at < len(text):
            found = [name for name in self.special if text.startswith(name, at)]
            if not found:
                at += 1
                continue
            name = max(found, key=len)
            ids += self.encode_ordinary(text[begin:at]) + [self.special[name]]
            begin = at = at + len(name)
        return ids + self.encode_ordinary(text[begin:])


class DocumentTokenizer:
    """The recipe's tokenizer with its BOS and EOS: None where it asks for none."""

    def __init__(self, recipe):
        options = recipe.tokenizer
        if options.get("name") == "bytes":
            self.tokenizer = BytesTokenizer()
        else:
            path = os.path.join(recipe.folder, options["path"])
            self.tokenizer = BpeTokenizer(path, options.get("special_text", False))
        self.bos = self._special(options.get("bos", False), True)
        self.eos = self._special(options.get("eos", False), False)
        if recipe.mask_eos and self.eos is None:
            raise RecipeError("labels.mask_eos asks for tokenizer.eos")

    def _special(self, choice, is_bos):
        return None if choice is False else self.tokenizer.id_of(choice, is_bos)

    def tokens_of(self, text):
        """The tokens of a document: BOS, the ids of its text, EOS."""
        before = [] if self.bos is None else [self.bos]
        after = [] if self.eos is None else [self.eos]
        return before + self.tokenizer.encode(text) + after
