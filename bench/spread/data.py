# SPDX-License-Identifier: Apache-2.0
"""The text, and the two loaders: each gives this rank's rows of a step, [rows, context + 1] tokens.

Tokens are bytes, with an end after each document. The stock loader is the usual one: each rank has every n-th
document, draws the next source by a generator of its own, packs, and shuffles rows in a buffer.
"""
import itertools
import json
import pathlib
import random

import torch

import laneway

CONTEXT = 64
STEP_ROWS = 32
EOS = 257
VOCABULARY = 258
HELD_OUT = 20           # every so many-th document is for the evaluation
MOST_BYTES = 4_000_000  # of each source's file: far more than a run reads
MOST_TEXT = 1000        # characters of a document that are used: so short a run must not hang on a few long ones
EVALUATION_ROWS = 256
LANES = 8
LANE_SHUFFLE_ROWS = 64
BUFFER_ROWS = LANES * LANE_SHUFFLE_ROWS  # of the stock loader's shuffle, all ranks together


def split(folder, out):
    """Splits each source into text to learn from, a file in ``out``, and held-out rows; both."""
    paths, held = {}, []
    for source in sorted(pathlib.Path(folder).glob("*.jsonl")):
        with source.open("rb") as file:
            lines = file.read(MOST_BYTES).split(b"\n")[:-1]  # the last one may be cut
        short = [json.dumps({"text": json.loads(line)["text"][:MOST_TEXT]}) for line in lines]
        path = paths[source.stem] = pathlib.Path(out) / source.name
        path.write_text("".join(line + "\n" for i, line in enumerate(short) if i % HELD_OUT))
        held.append([document(line) for line in short[::HELD_OUT]])
    if not paths:
        raise SystemExit(f"topology_spread: {folder} has no .jsonl files, expected one for each source")
    interleaved = (one for group in itertools.zip_longest(*held, fillvalue=()) for one in group)
    rows = list(itertools.islice(packed(interleaved), EVALUATION_ROWS))
    return {"sources": {name: str(path) for name, path in paths.items()}, "held_out": rows}


def document(line):
    return [*json.loads(line)["text"].encode(), EOS]


def packed(documents):
    """Rows of one token more than the context; the one too many begins the next row too."""
    held = []
    for tokens in documents:
        held += tokens
        while len(held) > CONTEXT:
            yield held[: CONTEXT + 1]
            held = held[CONTEXT:]


def shuffled(rows, size, generator):
    buffer = []
    for row in rows:
        if len(buffer) < size:
            buffer.append(row)
            continue
        place = generator.randrange(size)
        yield buffer[place]
        buffer[place] = row


def drawn(sources, generator):
    streams = [itertools.cycle(lines) for lines in sources]
    while True:
        yield document(next(generator.choice(streams)))


def stock(corpus, seed, rank, ranks):
    """A loader as it is mostly written: what a step holds depends on how many ranks there are."""
    generator = random.Random(seed * 1000 + rank)
    sources = [pathlib.Path(path).read_bytes().splitlines()[rank::ranks] for path in corpus["sources"].values()]
    rows = shuffled(packed(drawn(sources, generator)), BUFFER_ROWS // ranks, generator)
    while True:
        yield torch.tensor(list(itertools.islice(rows, STEP_ROWS // ranks)))


def with_laneway(corpus, seed, rank, ranks):
    """The same sources, shares, packing and kind of shuffle."""
    recipe = {"seed": seed, "lanes": LANES, "global_batch": STEP_ROWS, "context": CONTEXT,
              "sources": [{"name": name, "path": path} for name, path in corpus["sources"].items()],
              "mixture": {"unit": "documents"}, "tokenizer": {"name": "bytes", "eos": True},
              "shuffle": {"rows": LANE_SHUFFLE_ROWS}, "runtime": {"threads": 1, "dtype": "int64"}}
    with laneway.open(recipe, rank=rank, world=ranks) as loader:
        for batch in loader:
            fields = batch.to_training(return_labels=True, framework="torch")
            yield torch.cat([fields["input_ids"], fields["labels"][:, -1:]], dim=1)


LOADERS = {"stock": stock, "laneway": with_laneway}
