# SPDX-License-Identifier: Apache-2.0
"""The documents that one lane gets from one source, in their order.

Written from docs/stream.md section 4.
"""

from randomness import PURPOSE_BLOCKS, PURPOSE_DOCUMENTS, key, permute
from records import BadRecord, text_of

# Under `repeat`, blocks that give no document would be searched for ever.
MAX_EPOCHS_WITHOUT_DOCUMENT = 64


class Failure(Exception):
    """The lane cannot go on: every row that left before stays good."""


class Document:
    """The tokens of a record, cut as pack.overflow says, and where they come from."""

    def __init__(self, source, shard, record, tokens, length):
        self.source = source
        self.shard = shard
        self.record = record
        self.tokens = tokens
        self.length = length


def input_length(tokens, shift):
    """The number of input tokens of a document with these tokens."""
    return len(tokens) if shift == "stream" else max(0, len(tokens) - 1)


def fit(tokens, recipe):
    """The tokens after pack.overflow; None if the document is dropped."""
    over = input_length(tokens, recipe.shift) - recipe.context
    if over <= 0 or recipe.overflow == "split":
        return tokens
    return tokens[:len(tokens) - over] if recipe.overflow == "truncate" else None


class LaneSource:
    """One lane's part of one source."""

    def __init__(self, recipe, source, data, tokenizer, lane, policy):
        self.recipe = recipe
        self.source = source
        self.data = data
        self.tokenizer = tokenizer
        self.lane = lane
        self.policy = policy
        self.documents = self._documents()
        self.shown = None
        self.blocks_since_document = 0

    def show(self):
        """The next document, which stays the next until taken; None at the end."""
        if self.shown is None:
            self.shown = next(self.documents, None)
        return self.shown

    def take(self):
        """Take the document that was shown."""
        document, self.shown = self.shown, None
        return document

    def _documents(self):
        for line, shard in self._lines():
            document = self._document_of(line, shard)
            if document is not None:
                self.blocks_since_document = 0
                yield document

    def _lines(self):
        """The lane's records in their order, block after block."""
        blocks = self.data.blocks
        g = self.lane
        while blocks and (self.recipe.end == "repeat" or g < len(blocks)):
            block = blocks[self._block_number(g)]
            for part, lines in enumerate(block.parts(self.data.block_bytes)):
                for line in self._permuted(lines, g, part):
                    yield line, block.shard
            g += self.recipe.lanes
            if self.recipe.end == "repeat":
                self._count_block()

    def _count_block(self):
        self.blocks_since_document += 1
        if self.blocks_since_document >= MAX_EPOCHS_WITHOUT_DOCUMENT * len(self.data.blocks):
            raise Failure(f"source {self.source.name} has no document to repeat")

    def _block_number(self, g):
        n = len(self.data.blocks)
        if self.recipe.order == "file":
            return g % n
        return permute(key(self.recipe.seed, PURPOSE_BLOCKS, self.source.index, g // n, 0), n, g % n)

    def _permuted(self, lines, g, part):
        if self.recipe.order == "file":
            return lines
        k = key(self.recipe.seed, PURPOSE_DOCUMENTS, self.source.index, g, part)
        return [lines[permute(k, len(lines), i)] for i in range(len(lines))]

    def _document_of(self, line, shard):
        """The document of a record; None where the record gives none."""
        try:
            text = text_of(line.content, self.source.field, self.policy.replaces)
        except BadRecord as error:
            if not self.policy.may_pass_over():
                raise Failure(f"{shard.path} record {line.number}: {error}") from error
            return None
        tokens = fit(self.tokenizer.tokens_of(text), self.recipe)
        length = 0 if tokens is None else input_length(tokens, self.recipe.shift)
        if length == 0:
            return None
        return Document(self.source, shard, line.number, tokens, length)
