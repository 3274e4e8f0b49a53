# SPDX-License-Identifier: Apache-2.0
"""The mixture holds at every row of every lane, and epochs differ in order only."""
import random

from bench import equal
from rows import lanes_of

LONGEST = 200


def write_sources(bench, weights, longest, shortest):
    """One source for each weight, with documents of drawn lengths; the EOS counts as one token."""
    draw = random.Random(len(weights))
    sources = []
    for number, weight in enumerate(weights):
        name = f"s{number}"
        lengths = [draw.randint(shortest[number], longest[number]) for _ in range(draw.randint(60, 120))]
        bench.documents(name + ".jsonl", ["x" * (length - 1) for length in lengths])
        sources.append({"name": name, "path": name + ".jsonl", "weight": weight, "block": 2048})
    return sources


def check_tokens(bench, weights, longest, shortest, steps=150):
    """|tokens of a source - weight x tokens| < the longest document, after every row of every lane."""
    sources = write_sources(bench, weights, longest, shortest)
    bench.recipe(sources=sources, context=64, global_batch=8, pack={"algorithm": "wrap"})
    for lane, rows in lanes_of(bench.rows("--steps", steps)).items():
        tokens = dict.fromkeys((source["name"] for source in sources), 0)
        for row in rows:
            for segment in row["segments"]:
                tokens[segment["source"]] += segment["count"]
            for source in sources:
                found, share = tokens[source["name"]], source["weight"] / sum(weights)
                off = abs(found - share * sum(tokens.values()))
                equal(off < max(longest), True, f"lane {lane}, step {row['step']}, {source['name']}: off by {off:.1f}")


def test_two_sources(bench):
    check_tokens(bench, (0.97, 0.03), (LONGEST, LONGEST), (1, 1))


def test_three_sources(bench):
    check_tokens(bench, (0.01, 0.19, 0.8), (LONGEST, 40, 7), (1, 30, 1))


def test_eight_sources(bench):
    weights = (0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015, 0.01, 0.00625)
    check_tokens(bench, weights, (LONGEST, 3, 90, 10, LONGEST, LONGEST, 50, LONGEST), (1, 2, 80, 1, 190, 1, 50, 1))


def test_eight_equal_sources(bench):
    check_tokens(bench, (1,) * 8, (LONGEST,) * 8, (1,) * 8)


def test_ten_against_a_thousand_tokens_a_document(bench):
    """P105: 50/50 by tokens, though the documents of one are a hundred times as long."""
    check_tokens(bench, (0.5, 0.5), (10, 1000), (10, 1000), steps=600)


def test_documents_as_the_unit(bench):
    """The documents of a source are off by less than one from its share of all that were begun."""
    weights = (0.7, 0.2, 0.1)
    sources = write_sources(bench, weights, (10, LONGEST, 60), (1, 50, 60))
    bench.recipe(sources=sources, context=64, global_batch=8, mixture={"unit": "documents"})
    for lane, rows in lanes_of(bench.rows("--steps", 150)).items():
        begun = dict.fromkeys((source["name"] for source in sources), 0)
        for segment in (segment for row in rows for segment in row["segments"] if segment["first"] == 0):
            begun[segment["source"]] += 1
            for source, weight in zip(sources, weights):
                off = abs(begun[source["name"]] - weight * sum(begun.values()))
                equal(off < 1 + 1e-9, True, f"lane {lane}, {source['name']} after {sum(begun.values())}: off by {off}")


def epochs(bench, count, documents):
    """The numbers of the documents, epoch by epoch."""
    found = bench.sequence("--steps", count * documents)
    return [found[i:i + documents] for i in range(0, len(found), documents)]


def test_epochs_differ_in_order(bench):
    """P107: each epoch holds each document once, in an order of its own; the same in every run."""
    bench.numbers("a.jsonl", 200)
    bench.one_a_row(sources=[{"name": "a", "path": "a.jsonl", "block": 128}])
    found = epochs(bench, 4, 200)
    for number, order in enumerate(found):
        equal(sorted(order), list(range(200)), f"documents of epoch {number}")
        equal(found.index(order), number, f"first epoch with the order of epoch {number}")
    equal(epochs(bench, 4, 200), found, "a second run")


def test_epochs_in_file_order(bench):
    bench.numbers("a.jsonl", 200)
    bench.one_a_row(order="file", sources=[{"name": "a", "path": "a.jsonl", "block": 128}])
    equal(epochs(bench, 3, 200), [list(range(200))] * 3, "epochs")
