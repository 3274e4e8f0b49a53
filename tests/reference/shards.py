# SPDX-License-Identifier: Apache-2.0
"""From a source's paths to its blocks, and from a block to its records.

Written from docs/stream.md sections 2 and 3. A shard is decoded whole and its
lines are listed once; a block then picks the lines that are its own.
"""

import glob
import gzip
import os

import zstd_frames
from recipe import RecipeError

SUFFIXES = tuple(kind + packed for kind in (".jsonl", ".ndjson") for packed in ("", ".gz", ".zst"))
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Line:
    """A line that is a record: where it starts in its shard and which it is."""

    def __init__(self, start, number, content):
        self.start = start
        self.number = number
        self.content = content


class Block:
    """A range of a shard's decoded bytes, read as its own unit."""

    def __init__(self, shard, begin, end, is_first):
        self.shard = shard
        self.begin = begin
        self.end = end
        self.is_first = is_first

    def parts(self, block_bytes):
        """The block's records, a list for each part."""
        size = self.end - self.begin
        count = max(1, -(-size // block_bytes))
        parts = [[] for _ in range(count)]
        for line in self.shard.records:
            s = line.start - self.begin
            if 0 < s <= size:
                parts[(s - 1) // block_bytes].append(line)
            elif s == 0 and self.is_first:
                parts[0].append(line)
        return parts


class Shard:
    """One file: its decoded bytes, its blocks and its records."""

    def __init__(self, path, block_bytes):
        self.path = path
        with open(path, "rb") as file:
            stored = file.read()
        self.is_sequential = False
        pieces = self._pieces(stored, block_bytes)
        self.records = records_of(b"".join(pieces))
        self.blocks = self._blocks_of(pieces)

    def _pieces(self, stored, block_bytes):
        """The decoded bytes, cut where a block ends."""
        if not stored:
            return []
        if self.path.endswith(".gz"):
            self.is_sequential = True
            return [gzip.decompress(stored)]
        if self.path.endswith(".zst"):
            groups = frame_groups(zstd_frames.data_frames(stored), block_bytes)
            self.is_sequential = len(groups) == 1 and len(groups[0]) == 1
            return [b"".join(map(zstd_frames.decode, group)) for group in groups]
        return [stored[at:at + block_bytes] for at in range(0, len(stored), block_bytes)]

    def _blocks_of(self, pieces):
        blocks = []
        begin = 0
        for piece in pieces:
            blocks.append(Block(self, begin, begin + len(piece), begin == 0 and not blocks))
            begin += len(piece)
        return blocks


def frame_groups(frames, block_bytes):
    """Whole frames in groups whose compressed bytes reach the block size."""
    groups = []
    open_group = []
    for frame in frames:
        open_group.append(frame)
        if sum(map(len, open_group)) >= block_bytes:
            groups.append(open_group)
            open_group = []
    if open_group:
        groups.append(open_group)
    return groups


def lines_of(data):
    """(start, bytes) of each line, without its newline."""
    lines = []
    start = 0
    while start < len(data):
        newline = data.find(b"\n", start)
        end = len(data) if newline < 0 else newline
        lines.append((start, data[start:end]))
        start = end + 1
    return lines


def records_of(data):
    """The lines of a shard that are records, numbered; blank lines are none."""
    records = []
    for start, content in lines_of(data):
        if start == 0 and content.startswith(BYTE_ORDER_MARK):
            content = content[len(BYTE_ORDER_MARK):]
        if content.strip(b" \t\r"):
            records.append(Line(start, len(records), content))
    return records


def is_passed_over(name):
    """Hidden and private names are left out of a folder's search."""
    return name.startswith((".", "_"))


def files_in_folder(folder):
    """Every file of JSON lines below the folder, to any depth."""
    found = []
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if is_passed_over(name):
            continue
        if os.path.isdir(path):
            found += files_in_folder(path)
        elif name.endswith(SUFFIXES):
            found.append(path)
    return found


def shard_paths(paths, folder):
    """The files that a source's path entries name, in order of their bytes."""
    found = []
    for entry in paths:
        path = os.path.join(folder, entry)
        if os.path.isdir(path):
            found += files_in_folder(path)
        elif os.path.exists(path):
            found.append(path)
        else:
            found += glob.glob(path)
    if not found:
        raise RecipeError(f"{paths} names no file")
    return sorted(found, key=os.fsencode)


def block_bytes_of(option, total_bytes, lanes):
    """S of docs/stream.md section 2."""
    return option or max(2048, min(262144, total_bytes // (lanes * 32)))


class SourceData:
    """A source's block size and its blocks, numbered over all its shards."""

    def __init__(self, source, recipe):
        paths = shard_paths(source.paths, recipe.folder)
        total_bytes = sum(os.path.getsize(path) for path in paths)
        self.block_bytes = block_bytes_of(source.block, total_bytes, recipe.lanes)
        shards = [Shard(path, self.block_bytes) for path in paths]
        self.blocks = [block for shard in shards for block in shard.blocks]
        self._check(source, shards, recipe)

    def _check(self, source, shards, recipe):
        if any(shard.is_sequential for shard in shards) and len(self.blocks) < recipe.lanes:
            raise RecipeError(f"source {source.name} has fewer blocks than lanes and a shard "
                              "that cannot be cut")
        if not self.blocks:
            raise RecipeError(f"source {source.name} has no blocks")
        if recipe.end == "repeat" and not any(block.shard.records for block in self.blocks):
            raise RecipeError(f"source {source.name} has no record to repeat")
