# SPDX-License-Identifier: Apache-2.0
"""The stream of a recipe: lanes into steps. Written from docs/stream.md section 8."""

import itertools

import packers
from documents import Failure, LaneSource
from mixer import Mixer
from packers import Row
from records import BadRecordPolicy
from rows import DeliveredRow
from shards import SourceData
from shuffle import Shuffle
from tokens import DocumentTokenizer


class Stream:
    """A recipe with its data read; `steps` walks it from the start."""

    def __init__(self, recipe):
        self.recipe = recipe
        self.tokenizer = DocumentTokenizer(recipe)
        self.data = [SourceData(source, recipe) for source in recipe.sources]

    def documents(self, lane):
        """The documents of a lane in the order drawn."""
        recipe = self.recipe
        policy = BadRecordPolicy(recipe.bad_policy, recipe.bad_limit)
        sources = [LaneSource(recipe, source, data, self.tokenizer, lane, policy)
                   for source, data in zip(recipe.sources, self.data)]
        mixer = Mixer(sources, [source.weight for source in recipe.sources], recipe.unit)
        return iter(mixer.draw, None)

    def packed(self, lane):
        """The rows of a lane in the order they leave the packer."""
        packer = packers.create(self.recipe)
        for document in self.documents(lane):
            yield from packer.feed(document)
        yield from packer.finish()

    def rows(self, lane):
        """The rows of a lane in the order they leave the shuffle."""
        shuffle = Shuffle(self.recipe.seed, lane, self.recipe.shuffle_rows)
        for row in self.packed(lane):
            yield from shuffle.feed(row)
        yield from shuffle.finish()

    def deliver(self, row):
        """A row as it is handed to the consumer."""
        return DeliveredRow(row, self.recipe, self.tokenizer.eos)

    def steps(self):
        """Each step's rows. Raises Failure behind the last step before a failure."""
        recipe = self.recipe
        q = recipe.rows_per_lane
        lanes = [self.rows(lane) for lane in range(recipe.lanes)]
        while True:
            taken, failures = take_from_all(lanes, q)
            if failures:
                raise failures[0]
            if recipe.end == "drop" and any(len(rows) < q for rows in taken):
                return
            if not any(taken):
                return
            for rows in taken:
                rows += [Row(recipe.context) for _ in range(q - len(rows))]
            yield [self.deliver(row) for rows in taken for row in rows]


def take_from_all(lanes, q):
    """The next q rows of every lane, fewer where one has ended, and the failures met."""
    taken, failures = [], []
    for rows in lanes:
        try:
            taken.append(list(itertools.islice(rows, q)))
        except Failure as failure:
            failures.append(failure)
    return taken, failures
