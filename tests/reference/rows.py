# SPDX-License-Identifier: Apache-2.0
"""What a row delivers, and its digest. Written from docs/stream.md sections 6 and 9."""

import hashlib

IGNORED = -100


class DeliveredRow:
    """Tokens, positions, labels and loss mask of a row, `context` of each."""

    def __init__(self, row, recipe, eos):
        self.segments = row.segments
        self.tokens, self.positions, self.labels = [], [], []
        for number, segment in enumerate(row.segments):
            inputs = segment.document.tokens[segment.first:segment.first + segment.count]
            self.tokens += inputs
            self.positions += range(segment.count)
            self.labels += inputs[1:] + [last_label(row, number, recipe)]
        if recipe.mask_eos:
            self._mask(eos)
        self._pad(recipe, eos)
        self.loss_mask = [0 if label == IGNORED else 1 for label in self.labels]
        self.starts = [i for i, position in enumerate(self.positions) if position == 0]

    def _mask(self, eos):
        self.labels = [IGNORED if token == eos else label
                       for token, label in zip(self.tokens, self.labels)]

    def _pad(self, recipe, eos):
        missing = recipe.context - len(self.tokens)
        self.tokens += [pad_token(recipe, eos)] * missing
        self.positions += range(missing)
        self.labels += [IGNORED] * missing

    def digest(self):
        """SHA-256 of the row's bytes."""
        data = b"".join((words(self.tokens), words(self.positions), bytes(self.loss_mask),
                         words([len(self.starts)]), words(self.starts)))
        return hashlib.sha256(data).digest()


def words(values):
    """Each value as four bytes, little-endian."""
    return b"".join(value.to_bytes(4, "little") for value in values)


def pad_token(recipe, eos):
    """The token that fills a row up."""
    if recipe.pad is not None:
        return recipe.pad
    return 0 if eos is None else eos


def last_label(row, number, recipe):
    """The label of the last input token of a row's segment."""
    segment = row.segments[number]
    after = segment.first + segment.count
    if recipe.shift == "document":
        return segment.document.tokens[after]
    if number + 1 < len(row.segments):
        following = row.segments[number + 1]
        return following.document.tokens[following.first]
    if recipe.algorithm == "wrap":
        return IGNORED if row.next_token is None else row.next_token
    tokens = segment.document.tokens
    return tokens[after] if after < len(tokens) else IGNORED


def step_digest(rows):
    """SHA-256 of the digests of a step's rows, in hexadecimal."""
    return hashlib.sha256(b"".join(row.digest() for row in rows)).hexdigest()
