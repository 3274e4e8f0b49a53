# SPDX-License-Identifier: Apache-2.0
"""The row shuffle of one lane. Written from docs/stream.md section 7."""

from randomness import PURPOSE_ROWS, key, permute


class Shuffle:
    """Collects windows of rows and lets each go in its own order."""

    def __init__(self, seed, lane, window_rows):
        self.seed = seed
        self.lane = lane
        self.window_rows = max(1, window_rows)
        self.window = 0
        self.held = []

    def feed(self, row):
        """The rows that leave as the row enters: a whole window, or none."""
        self.held.append(row)
        return self.finish() if len(self.held) == self.window_rows else []

    def finish(self):
        """Let the window go as it is."""
        k = key(self.seed, PURPOSE_ROWS, self.lane, self.window, 0)
        count = len(self.held)
        rows = [self.held[permute(k, count, i)] for i in range(count)]
        self.window += 1
        self.held = []
        return rows
