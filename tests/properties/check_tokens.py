# SPDX-License-Identifier: Apache-2.0
"""No token is lost, doubled or padded away: over one pass, through stops and resumes."""
import json

from bench import equal
from rows import (ALL_STEPS, TOKENIZER, byte_ids, check_segments_tile, count_of, filled, key_of, lanes_of,
                  sample_copies, sample_documents)

IGNORED = -100


def rows_in_pieces(bench, cuts):
    """All rows of the recipe, from a run that is stopped at each cut and resumed on another world."""
    rows, at, resume = [], 0, ()
    for number, cut in enumerate(cuts):
        rows += bench.rows("--steps", cut - at, "--world", 2 ** (number % 3), *resume, "--save", f"{cut}.state")
        at, resume = cut, ("--resume", f"{cut}.state")
    return rows + bench.rows("--steps", ALL_STEPS, *resume)


def check_one_pass(bench, context, copies, cuts, algorithm):
    sources = sample_copies(bench, copies)
    documents = sample_documents(bench, sources, copies)
    bench.recipe(lanes=4, global_batch=4, context=context, sources=sources, end="pad",
                 tokenizer={"path": TOKENIZER, "eos": True}, pack={"algorithm": algorithm}, shuffle={"rows": 5})
    rows = rows_in_pieces(bench, cuts)
    tokens_in = count_of(bench, sources, copies)
    equal(tokens_in, sum(map(len, documents.values())), "tokens counted by tokenize")
    equal(sum(map(filled, rows)), tokens_in, "tokens out")
    check_segments_tile(rows, documents)
    if algorithm == "wrap":
        for lane, found in lanes_of(rows).items():
            partly = [row["step"] for row in found if 0 < filled(row) < context]
            equal(len(partly) <= 1, True, f"at most one row with padding in lane {lane}, found in steps {partly}")


def test_one_pass_wrap_2048(bench):
    check_one_pass(bench, 2048, 6, (1, 2, 7, 20), "wrap")


def test_one_pass_best_fit_2048(bench):
    check_one_pass(bench, 2048, 6, (3, 4, 15), "best_fit")


def test_one_pass_wrap_32768(bench):
    check_one_pass(bench, 32768, 12, (1, 2, 3), "wrap")


def test_one_pass_best_fit_32768(bench):
    check_one_pass(bench, 32768, 12, (1, 3), "best_fit")


def test_wrap_pads_only_the_last_row_of_a_lane(bench):
    bench.prose(count=400)
    bench.recipe(context=64, end="pad")
    for lane, rows in lanes_of(bench.rows("--steps", ALL_STEPS)).items():
        held = [filled(row) for row in rows if row["segments"]]
        equal(set(held[:-1]) <= {64}, True, f"every row but the last of lane {lane} is full")
        equal([bool(row["segments"]) for row in rows], [True] * len(held) + [False] * (len(rows) - len(held)),
              f"rows of nothing but padding come last in lane {lane}")


def test_stream_labels_predict_each_token_once(bench):
    """The labels of a lane, one after the other, are its tokens but the first."""
    bench.prose(count=300)
    bench.recipe(context=32, end="pad")
    for lane, rows in lanes_of(bench.rows("--steps", ALL_STEPS)).items():
        tokens = [token for row in rows for token in row["tokens"][:filled(row)]]
        labels = [label for row in rows for label in row["labels"][:filled(row)]]
        equal(labels, [*tokens[1:], IGNORED], f"labels of lane {lane}")
        equal([label for row in rows for label in row["labels"][filled(row):] if label != IGNORED], [], "of padding")


def test_document_labels_predict_each_token_but_the_first(bench):
    """Put together by document, inputs are all tokens but the last, labels all but the first."""
    bench.prose(count=300)
    texts = [json.loads(line)["text"] for line in bench.read("a.jsonl").splitlines()]
    for algorithm in ("wrap", "best_fit"):
        bench.recipe(context=32, end="pad", labels={"shift": "document"}, pack={"algorithm": algorithm},
                     shuffle={"rows": 7})
        labels = {}
        for row in bench.rows("--steps", ALL_STEPS):
            place = 0
            for segment in row["segments"]:
                found = labels.setdefault(key_of(segment)[2], {})
                for i in range(segment["count"]):
                    equal(segment["first"] + i in found, False, "an input token twice")
                    found[segment["first"] + i] = row["labels"][place + i]
                place += segment["count"]
        for record, text in enumerate(texts):
            found = labels[record]
            equal([found[i] for i in sorted(found)], byte_ids(text)[1:], f"labels of document {record}")


def test_best_fit_pads_at_most_2_percent(bench):
    """P94: documents that are a third of a row in the mean, over 1,000 rows."""
    context = 512
    bench.documents("a.jsonl", ["x" * (number * 7919 % (context * 2 // 3)) for number in range(2000)])
    bench.recipe(context=context, global_batch=4, pack={"algorithm": "best_fit"})
    found = bench.bench("--steps", 250)
    equal(found["rows"], 1000, "rows")
    equal(found["padding_fraction"] <= 0.02, True, f"padding {found['padding_fraction']:.4f} at most 0.02")


def test_ten_thousand_shards(bench):
    """They open, and each document of one pass comes once."""
    for number in range(10000):
        bench.write(f"many/{number % 100:02}/{number:05}.jsonl", '{"text": "shard %05d"}\n' % number)
    bench.recipe(sources=[{"name": "many", "path": "many"}], context=12, end="pad")
    rows = bench.rows("--steps", ALL_STEPS)
    found = sorted(key_of(segment) for row in rows for segment in row["segments"])
    equal(len(found), 10000, "segments")
    equal(found, [("many", f"many/{number:02}/{number + 100 * k:05}.jsonl", 0)
                  for number in range(100) for k in range(100)], "documents")
