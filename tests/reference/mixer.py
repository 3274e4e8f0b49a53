# SPDX-License-Identifier: Apache-2.0
"""The mixer of one lane: which source gives the next document.

Written from docs/stream.md section 5. Python's integers and fractions are
exact, so the comparisons are too.
"""

from fractions import Fraction


class Mixer:
    """Draws documents so that every source stays near its weight."""

    def __init__(self, sources, weights, unit):
        self.sources = sources
        self.weights = weights
        self.unit = unit
        self.active = list(range(len(sources)))
        self.drawn = [0] * len(sources)

    def cost(self, document):
        """What a document counts in the mixture."""
        if self.unit == "supervised":
            return len(document.tokens)
        return document.length if self.unit == "tokens" else 1

    def eligible(self):
        """The sources that have not had more than their share."""
        total = sum(self.drawn)
        weight = sum(self.weights[s] for s in self.active)
        return [s for s in self.active if self.weights[s] * total >= weight * self.drawn[s]]

    def end(self, s):
        """Take an ended source out; the others begin to count anew."""
        self.active.remove(s)
        self.drawn = [0] * len(self.sources)

    def candidates(self):
        """(source, cost) of every eligible source; None if one of them has ended."""
        shown = []
        for s in self.eligible():
            document = self.sources[s].show()
            if document is None:
                self.end(s)
                return None
            shown.append((s, self.cost(document)))
        return shown

    def draw(self):
        """The next document of the lane; None when every source has ended."""
        while self.active:
            shown = self.candidates()
            if shown is None:
                continue
            s, cost = min(shown, key=lambda c: (Fraction(self.drawn[c[0]] + c[1], self.weights[c[0]]),
                                                c[0]))
            self.drawn[s] += cost
            return self.sources[s].take()
        return None
