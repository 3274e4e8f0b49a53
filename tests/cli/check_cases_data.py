# SPDX-License-Identifier: Apache-2.0
"""Cases from the field on data, packing, labels and mixtures, with their numbers and right values."""
import json

from bench import EOS, equal, has

DIRECT = {"context": 3, "labels": {"shift": "document"}}  # a row leaves as soon as it is full


def ten_lines(bench, index, line):
    """D(10) with one line replaced."""
    lines = [json.dumps({"text": f"{number:03}"}).encode() for number in range(10)]
    lines[index] = line
    bench.write("a.jsonl", b"\n".join(lines) + b"\n")
    return sum(len(before) + 1 for before in lines[:index])


def check_policies(bench, index, parts):
    """`fail` names the record after all before it; `skip` passes over it and counts it."""
    bench.one_a_row(order="file", end="drop", **DIRECT)
    for command in ("check", "explain"):
        bench.call(command, "recipe.json")  # opening reads no record
    for threads in (0, 1, 4):
        done = bench.refuse("dump", "recipe.json", "--steps", 100, "--threads", threads, parts=parts)
        equal([json.loads(line)["step"] for line in done.stdout.splitlines()], list(range(index)))
    bench.one_a_row(order="file", end="drop", on_bad_record={"policy": "skip"}, **DIRECT)
    equal(bench.sequence("--steps", 100), [number for number in range(10) if number != index])
    equal(bench.bench("--steps", 100)["skipped"], 1)


def test_p59_invalid_utf8(bench):
    """P59, P70: record 7 has the byte FB: file, record and place are named; replaced; or passed over."""
    begin = ten_lines(bench, 7, b'{"text": "0\xfb7"}')
    check_policies(bench, 7, [r"a\.jsonl", r"record 7\b", "UTF-8"])
    done = bench.refuse("digest", "recipe.json", "--set", "on_bad_record.policy=fail")
    place = int(done.stderr.split(" at byte ")[1].split(":")[0])
    if not begin <= place < begin + 16:
        raise AssertionError(f"byte {place}, expected one of the line from {begin} on")
    bench.one_a_row(order="file", end="drop", context=5, on_bad_record={"policy": "replace"},
                    labels={"shift": "document"}, pack={"algorithm": "best_fit", "open_rows": 1})
    texts = [bytes(token for token in row["tokens"] if token < 256) for row in bench.rows("--steps", 100)]
    equal("0\ufffd7".encode() in b"".join(texts), True, "the replaced text")


def test_p61_two_objects_on_one_line(bench):
    """P61: extra data after the object surfaces as an error, or the line is passed over."""
    ten_lines(bench, 4, b'{"text": "004"} {"text": "104"}')
    check_policies(bench, 4, [r"a\.jsonl", r"record 4\b"])


def test_p62_a_line_that_is_no_json(bench):
    """P62: opening parses nothing; the fifth of ten lines is bad; the order of the others stays."""
    ten_lines(bench, 5, b'{"text": "005"')
    check_policies(bench, 5, [r"a\.jsonl", r"record 5\b"])


def test_a_text_of_another_type(bench):
    for line in (b'{"text": 5}', b'{"other": "x"}', b'{"text": null}', b'["text"]'):
        ten_lines(bench, 3, line)
        check_policies(bench, 3, [r"a\.jsonl", r"record 3\b", "text" if line[:1] == b"{" else "object"])


def test_the_limit_of_bad_records(bench):
    ten_lines(bench, 3, b"none")
    bench.write("a.jsonl", bench.read("a.jsonl").replace(b'{"text": "005"}', b"none"))
    bench.one_a_row(order="file", end="drop", on_bad_record={"policy": "skip", "limit": 2}, **DIRECT)
    equal(bench.sequence("--steps", 100), [0, 1, 2, 4, 6, 7, 8, 9])
    bench.one_a_row(order="file", end="drop", on_bad_record={"policy": "skip", "limit": 1}, **DIRECT)
    bench.refuse("dump", "recipe.json", "--steps", 100, parts=[r"a\.jsonl", r"record 5\b"])


def test_odd_lines(bench):
    """A BOM, CRLF, blank lines, escapes, an empty text, and a last line without a newline."""
    bench.write("a.jsonl", b'\xef\xbb\xbf{"text": "000"}\r\n\r\n  \t\n{"x": [1, {"text": "no"}], "text": "00\\u0031"}\n'
                b'{"text": "\\ud83d\\ude00"}\n{"text": "0\\u00002"}\n{"text": ""}\n{"text": "005"}')
    equal(bench.call("tokenize", "--tokenizer", "bytes", "a.jsonl").stdout.splitlines(),
          ["48 48 48", "48 48 49", "240 159 152 128", "48 0 50", "", "48 48 53"])
    bench.recipe(lanes=1, global_batch=1, context=32, order="file", end="pad", tokenizer={"name": "bytes"},
                 pack={"pad": 255})
    row, = bench.rows()
    equal(bytes(row["tokens"][:16]), "000001😀0\0002005".encode())
    equal([part["record"] for part in row["segments"]], [0, 1, 2, 3, 5])


def test_p58_shards_are_in_the_order_of_their_bytes(bench):
    """P58: whatever order files were made in, shards are sorted by the bytes of their paths."""
    names = ["B", "a", "a10", "a2", "b", "é"]
    for folder, order in (("one", names), ("two", names[::-1])):
        for name in order:
            bench.documents(f"{folder}/{name}.jsonl", [f"{names.index(name):03}"])
    for folder in ("one", "two"):
        bench.one_a_row(order="file", end="drop", sources=[{"name": "a", "path": folder}])
        equal(bench.sequence(), list(range(6)))
        bench.one_a_row(sources=[{"name": "a", "path": f"{folder}/*.jsonl"}], order="file", end="drop")
        equal(bench.sequence(), list(range(6)))


def test_p67_sources_of_one_token(bench):
    """P67: three sources, each with one document of one token."""
    sources = []
    for name in "xyz":
        bench.documents(f"{name}.jsonl", [name])
        sources.append({"name": name, "path": f"{name}.jsonl"})
    bench.recipe(lanes=1, global_batch=1, context=4, sources=sources, tokenizer={"name": "bytes"}, end="pad")
    row, = bench.rows()
    equal((sorted(row["tokens"][:3]), len(row["segments"])), ([120, 121, 122], 3))
    bench.recipe(lanes=1, global_batch=1, context=3, sources=sources, tokenizer={"name": "bytes"})
    for row in bench.rows("--steps", 4):
        equal(sorted(row["tokens"]), [120, 121, 122])


def two_documents(bench, context, **options):
    """The rows of the documents "ab" and "cd"."""
    bench.documents("a.jsonl", ["ab", "cd"])
    bench.recipe(lanes=1, global_batch=1, context=context, order="file", end="pad", **options)
    return bench.rows()


def test_p88_documents_with_their_own_labels(bench):
    """P88: inputs without the EOS, labels up to it; each document's positions begin at 0."""
    row, = two_documents(bench, 4, labels={"shift": "document"})
    equal(row["tokens"], [97, 98, 99, 100])
    equal(row["labels"], [98, EOS, 100, EOS])
    equal(row["positions"], [0, 1, 0, 1])
    equal(row["loss_mask"], [1, 1, 1, 1])


def test_p89_the_label_after_a_document(bench):
    """P89: an EOS predicts the next document's first token, unless that is masked."""
    first, second = two_documents(bench, 4)
    equal((first["tokens"], first["labels"]), ([97, 98, EOS, 99], [98, EOS, 99, 100]))
    masked, masked_second = two_documents(bench, 4, labels={"mask_eos": True})
    equal((masked["tokens"], masked["labels"]), ([97, 98, EOS, 99], [98, EOS, -100, 100]))
    equal((masked["loss_mask"], first["loss_mask"]), ([1, 1, 0, 1], [1, 1, 1, 1]))
    equal((masked_second["labels"], second["labels"]), ([EOS, -100, -100, -100],) * 2)


def test_p96_the_last_token_before_padding(bench):
    """P96: it predicts nothing, and neither does the padding."""
    row, = two_documents(bench, 8)
    equal(row["tokens"], [97, 98, EOS, 99, 100, EOS, EOS, EOS])
    equal(row["labels"], [98, EOS, 99, 100, EOS, -100, -100, -100])
    equal(row["loss_mask"], [1, 1, 1, 1, 1, 0, 0, 0])
    equal(row["positions"], [0, 1, 2, 0, 1, 2, 0, 1])
    equal(sum(part["count"] for part in row["segments"]), 6)


def test_p95_documents_longer_than_a_row(bench):
    """P95: `split` keeps every token, `truncate` and `drop` say how many they lost."""
    bench.documents("a.jsonl", ["abcdefgh", "xy"])
    begin, middle, last = [97, 98, 99, 100], [101, 102, 103, 104], [120, 121, EOS, EOS]
    for overflow, rows, dropped, lost in (("split", [begin, middle, [EOS, 120, 121, EOS]], 0, 0),
                                          ("truncate", [begin, last], 0, 5), ("drop", [last], 1, 9)):
        bench.recipe(lanes=1, global_batch=1, context=4, order="file", end="pad", pack={"overflow": overflow})
        equal([row["tokens"] for row in bench.rows()], rows, overflow)
        counts = bench.bench()
        equal((counts["dropped"], counts["dropped_tokens"]), (dropped, lost), overflow)
        equal(counts["tokens"], 12 - lost, overflow)


def test_no_token_is_lost_in_a_pass(bench):
    """P95: with `end: pad`, tokens out are tokens in, for both packers and across a resume."""
    bench.prose(count=100)
    texts = [json.loads(line)["text"] for line in bench.read("a.jsonl").splitlines()]
    total = sum(len(text) + 1 for text in texts)
    for pack in ({"algorithm": "wrap"}, {"algorithm": "best_fit", "open_rows": 4}):
        bench.recipe(end="pad", pack=pack, shuffle={"rows": 3})
        rows = bench.rows("--steps", 20, "--save", "a.state")
        rows += bench.rows("--steps", 10000, "--resume", "a.state", "--world", 3)
        equal(sum(part["count"] for row in rows for part in row["segments"]), total, str(pack))


def test_p105_weights_are_shares_of_tokens(bench):
    """P105: 10 and 1,000 tokens a document, equal weights: half each, up to one document, at every row."""
    bench.documents("a.jsonl", ["x" * 9] * 400)
    bench.documents("b.jsonl", ["y" * 999] * 20)
    bench.recipe(lanes=2, global_batch=2, context=100,
                 sources=[{"name": "a", "path": "a.jsonl"}, {"name": "b", "path": "b.jsonl"}])
    counts = {}
    for row in bench.rows("--steps", 100, "--world", 2):
        for part in row["segments"]:
            key = row["lane"], part["source"]
            counts[key] = counts.get(key, 0) + part["count"]
        both = [counts.get((row["lane"], name), 0) for name in "ab"]
        if abs(both[0] - both[1]) / 2 >= 1000:
            raise AssertionError(f"{both} tokens, expected halves up to 1000")
    has(json.dumps(sorted(counts)), "a", "b")
