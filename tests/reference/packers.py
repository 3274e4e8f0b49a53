# SPDX-License-Identifier: Apache-2.0
"""Documents into rows of at most `context` input tokens.

Written from docs/stream.md section 6. A packer is fed a document and gives
the rows that leave because of it; `finish` gives those that are left.
"""


class Segment:
    """`count` input tokens of a document, from token `first` on."""

    def __init__(self, document, first, count):
        self.document = document
        self.first = first
        self.count = count


class Row:
    """The segments of a row; `next_token` follows it in the packed stream."""

    def __init__(self, context, segments=()):
        self.segments = list(segments)
        self.free = context - sum(segment.count for segment in self.segments)
        self.next_token = None

    def add(self, segment):
        """Append a segment that fits."""
        self.segments.append(segment)
        self.free -= segment.count


class Wrap:
    """One row is open; documents run on from row to row."""

    def __init__(self, recipe):
        self.context = recipe.context
        self.waits = recipe.shift == "stream"
        self.row = Row(self.context)

    def feed(self, document):
        """The rows that leave as the document enters."""
        leaving = []
        first = 0
        while first < document.length:
            if self.row.free == 0:
                self.row.next_token = document.tokens[first]
                leaving.append(self._replace())
            count = min(self.row.free, document.length - first)
            self.row.add(Segment(document, first, count))
            first += count
            if self.row.free == 0 and not self.waits:
                leaving.append(self._replace())
        return leaving

    def finish(self):
        """The open row, if it holds anything."""
        return [self._replace()] if self.row.segments else []

    def _replace(self):
        row, self.row = self.row, Row(self.context)
        return row


class BestFit:
    """Up to `open_rows` rows are open; what is left of a document stays whole."""

    def __init__(self, recipe):
        self.context = recipe.context
        self.open_rows = recipe.open_rows
        self.rows = []

    def feed(self, document):
        """The rows that leave as the document enters."""
        leaving = []
        first = 0
        while document.length - first >= self.context:
            leaving.append(Row(self.context, [Segment(document, first, self.context)]))
            first += self.context
        rest = document.length - first
        if rest > 0:
            leaving += self._place(Segment(document, first, rest))
        return leaving

    def _place(self, segment):
        """Put a segment into the tightest row that holds it; rows are in opening order."""
        leaving = []
        fitting = [row for row in self.rows if row.free >= segment.count]
        if fitting:
            row = min(fitting, key=lambda r: r.free)
        else:
            if len(self.rows) == self.open_rows:
                leaving.append(self._remove(min(self.rows, key=lambda r: r.free)))
            row = Row(self.context)
            self.rows.append(row)
        row.add(segment)
        if row.free == 0:
            leaving.append(self._remove(row))
        return leaving

    def _remove(self, row):
        self.rows.remove(row)
        return row

    def finish(self):
        """The open rows in the order they were opened."""
        rows, self.rows = self.rows, []
        return rows


def create(recipe):
    """The packer that the recipe names."""
    return {"wrap": Wrap, "best_fit": BestFit}[recipe.algorithm](recipe)
