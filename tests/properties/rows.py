# SPDX-License-Identifier: Apache-2.0
"""What the properties are read from: the rows of `dump`, and the documents as `tokenize` gives them."""
import os

from bench import EOS, equal

DATA = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../examples/data"))
TOKENIZER = os.path.join(DATA, "tokenizer.json")
SAMPLES = ("notes", "guides", "tales")
ALL_STEPS = 1000000


def sample_copies(bench, copies):
    """Each sample source so many times over, in folders of the bench; their `sources`."""
    for name in SAMPLES:
        with open(os.path.join(DATA, name + ".jsonl"), "rb") as file:
            data = file.read()
        for number in range(copies):
            bench.write(f"{name}/{number}.jsonl", data)
    return [{"name": name, "path": name} for name in SAMPLES]


def sample_documents(bench, sources, copies):
    """{(source, shard, record): ids} of all documents, each with its EOS."""
    documents = {}
    for source in sources:
        for number in range(copies):
            shard = f"{source['path']}/{number}.jsonl"
            lines = bench.call("tokenize", shard, "--tokenizer", TOKENIZER, "--eos").stdout.splitlines()
            for record, line in enumerate(lines):
                documents[source["name"], shard, record] = ids_of(line)
    return documents


def ids_of(line):
    """The ids of one line of `tokenize`."""
    return [int(word) for word in line.strip("[]").replace(",", " ").split()]


def count_of(bench, sources, copies):
    """What `tokenize --count` counts over the same shards: tokens with the EOS."""
    shards = [f"{source['path']}/{number}.jsonl" for source in sources for number in range(copies)]
    return bench.count(*shards, "--tokenizer", TOKENIZER, "--eos")["tokens"]


def key_of(segment):
    """(source, shard, record)"""
    return segment["source"], segment["shard"], segment["record"]


def check_segments_tile(rows, documents):
    """Every token of every document is in exactly one segment, and the row holds that token there."""
    pieces = {key: [] for key in documents}
    for row in rows:
        place = 0
        for segment in row["segments"]:
            first, count = segment["first"], segment["count"]
            key = key_of(segment)
            equal(row["tokens"][place:place + count], documents[key][first:first + count], f"tokens of {key}")
            pieces[key].append((first, count))
            place += count
    for key, found in pieces.items():
        end = 0
        for first, count in sorted(found):
            equal(first, end, f"the next segment of {key}")
            end += count
        equal(end, len(documents[key]), f"tokens of {key} in segments")


def filled(row):
    """Tokens of a row that are no padding."""
    return sum(segment["count"] for segment in row["segments"])


def lanes_of(rows):
    """{lane: its rows in the order of delivery}"""
    lanes = {}
    for row in rows:
        lanes.setdefault(row["lane"], []).append(row)
    return lanes


def byte_ids(text):
    """The ids of a text and its EOS by the bytes tokenizer."""
    return [*text.encode(), EOS]
