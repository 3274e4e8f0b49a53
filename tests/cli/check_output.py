# SPDX-License-Identifier: Apache-2.0
"""What each command prints, and its exit codes."""
import gzip
import hashlib
import json
import os
import re
import struct

from bench import BOS, EOS, equal, has

ALL_COMMANDS = ("digest", "dump", "run", "bench", "check", "explain", "tokenize", "state", "version", "help")


def test_help_names_every_command(bench):
    text = bench.call("help").stdout
    has(text, *(rf"\n  {name} " for name in ALL_COMMANDS))
    for name in ALL_COMMANDS[:-2]:
        has(bench.call("help", name).stdout, f"usage: laneway {name} ")
        has(bench.call(name, "--help").stdout, f"usage: laneway {name} ")


def test_version(bench):
    if not re.fullmatch(r"laneway \d+\.\d+\.\d+\n", bench.call("version").stdout):
        raise AssertionError("no version")


def test_wrong_use_is_exit_code_2(bench):
    bench.prose()
    recipe = bench.recipe()
    for words in ((), ("nothing",), ("digest",), ("digest", recipe, "more"), ("digest", recipe, "--nothing"),
                  ("digest", recipe, "-n"), ("digest", recipe, "--steps"), ("digest", recipe, "--steps", "two"),
                  ("digest", recipe, "--steps=-1"), ("digest", recipe, "--world", "0"),
                  ("digest", recipe, "--set"), ("digest", recipe, "--set", "seed"),
                  ("digest", recipe, "--save-at", "1"), ("digest", recipe, "--out", "x"), ("run", recipe),
                  ("tokenize", "a.jsonl"), ("state", "show"), ("state", "turn", "x"), ("state", "split", "x"),
                  ("state", "show", "x", "y"), ("help", "nothing"),
                  ("digest", recipe, "--steps", "18446744073709551616")):
        done = bench.call(*words, code=2)
        equal(done.stdout, "", f"standard output of {words}")
        has(done.stderr, "usage: laneway")
        if words:
            has(done.stderr.splitlines()[0], "^laneway: ")


def test_digest_is_that_of_the_rows(bench):
    bench.prose()
    bench.recipe()
    lines = bench.digest("--steps", 3)
    equal([line.split()[0] for line in lines], ["0", "1", "2"])
    rows = b""
    for row in bench.rows("--steps", 1):
        starts = [index for index, position in enumerate(row["positions"]) if position == 0]
        data = struct.pack(f"<{32}i", *row["tokens"], *row["positions"]) + bytes(row["loss_mask"])
        data += struct.pack(f"<{1 + len(starts)}i", len(starts), *starts)
        rows += hashlib.sha256(data).digest()
    equal(lines[0], "0 " + hashlib.sha256(rows).hexdigest())


def test_digest_of_one_rank_is_by_row(bench):
    bench.prose()
    bench.recipe()
    whole = bench.digest("--steps", 2)
    for world in (2, 3, 12):
        rows = {}
        for rank in range(world):
            for line in bench.digest("--steps", 2, "--world", world, "--rank", rank):
                step, row, digest = line.split()
                rows[int(step), int(row)] = bytes.fromhex(digest)
        equal(sorted(rows), [(step, row) for step in range(2) for row in range(12)])
        for step in range(2):
            joined = b"".join(rows[step, row] for row in range(12))
            equal(f"{step} {hashlib.sha256(joined).hexdigest()}", whole[step])


def test_ten_steps_by_default(bench):
    bench.prose()
    bench.recipe()
    equal(len(bench.digest()), 10)
    equal(bench.digest("--steps", 0), [])


def test_a_finite_stream_ends_with_exit_code_0(bench):
    bench.numbers("a.jsonl", 5)
    bench.one_a_row(end="drop", order="file")
    equal(bench.sequence("--steps", 100), [0, 1, 2, 3, 4])


def test_dump_has_every_field(bench):
    bench.documents("data/a.jsonl", ["ab", "cde"])
    bench.recipe(lanes=1, global_batch=2, context=4, order="file", end="pad",
                 sources=[{"name": "one", "path": "data/a.jsonl"}])
    first, second = bench.rows()
    equal({key: first[key] for key in ("step", "row", "lane")}, {"step": 0, "row": 0, "lane": 0})
    equal(first["tokens"], [97, 98, EOS, 99])
    equal(first["positions"], [0, 1, 2, 0])
    equal(first["labels"], [98, EOS, 99, 100])
    equal(first["loss_mask"], [1, 1, 1, 1])
    parts = [(part["source"], part["record"], part["first"], part["count"]) for part in first["segments"]]
    equal(parts, [("one", 0, 0, 3), ("one", 1, 0, 1)])
    has(first["segments"][0]["shard"], r"data/a\.jsonl$")
    equal((second["row"], second["tokens"]), (1, [100, 101, EOS, EOS]))


def test_dump_says_lane_by_row(bench):
    bench.prose()
    bench.recipe()
    equal([row["lane"] for row in bench.rows("--steps", 1)], [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])


def read_npy(data):
    """(type, shape, data) of a .npy file of version 1.0."""
    equal(data[:8], b"\x93NUMPY\x01\x00", "magic")
    header_bytes = struct.unpack("<H", data[8:10])[0]
    equal((10 + header_bytes) % 64, 0, "alignment")
    found = re.fullmatch(r"\{'descr': '(.+)', 'fortran_order': False, 'shape': \((\d+), (\d+)\), \} *\n",
                         data[10:10 + header_bytes].decode())
    return found.group(1), (int(found.group(2)), int(found.group(3))), data[10 + header_bytes:]


def test_run_writes_arrays(bench):
    bench.prose()
    bench.recipe()
    rows = bench.rows("--steps", 2)
    done = bench.call("run", "recipe.json", "--steps", 2, "--world", 3, "--out", "out",
                      "--set", "runtime.microbatch=3")
    equal(done.stdout, "")
    names = ("tokens", "positions", "labels", "loss_mask")
    equal(sorted(os.listdir(bench.path("out"))),
          sorted(f"step_{step:08}.{name}.npy" for step in range(2) for name in names))
    for step in range(2):
        for name in names:
            kind, shape, data = read_npy(bench.read(f"out/step_{step:08}.{name}.npy"))
            equal((kind, shape), ("|u1" if name == "loss_mask" else "<i4", (12, 16)))
            values = [value for row in rows[step * 12:step * 12 + 12] for value in row[name]]
            equal(data, struct.pack(f"<{len(values)}{'B' if name == 'loss_mask' else 'i'}", *values))


def test_run_with_int64_and_by_rank(bench):
    bench.prose()
    bench.recipe()
    for rank in range(2):
        bench.call("run", "recipe.json", "--steps", 1, "--world", 2, "--rank", rank, "--out", "out",
                   "--set", "runtime.dtype=int64")
    kind, shape, _ = read_npy(bench.read("out/step_00000000.rank_00001.labels.npy"))
    equal((kind, shape), ("<i8", (6, 16)))
    equal(len(os.listdir(bench.path("out"))), 8)


def test_a_failed_run_leaves_whole_steps_only(bench):
    bench.documents("a.jsonl", [f"{number:03}" for number in range(3)] + [5])
    bench.one_a_row(order="file", end="drop")
    bench.refuse("run", "recipe.json", "--out", "out", parts=["a.jsonl", "record 3"])
    equal(bench.leftovers(), [])
    steps = {name.split(".")[0] for name in os.listdir(bench.path("out"))}
    equal(len(os.listdir(bench.path("out"))), 4 * len(steps))
    if "step_00000003" in steps:
        raise AssertionError("a step that failed was written")


def test_bench_prints_one_object(bench):
    bench.prose()
    bench.recipe()
    found = bench.bench("--steps", 20, "--threads", 1)
    for key in ("tokens", "rows", "steps", "seconds", "tokens_per_second", "padding_fraction", "peak_rss_bytes",
                "wait_seconds", "open_seconds", "first_batch_seconds", "remake_cpu_seconds", "bytes_read"):
        if not isinstance(found[key], (int, float)):
            raise AssertionError(f"{key} is no number")
    equal((found["steps"], found["rows"], found["tokens"], found["threads"]), (20, 240, 240 * 16, 1))
    stages = {"read", "parse", "tokenize", "decide", "write", "digest"}
    equal(set(found["cpu_seconds"]), stages)
    equal(set(found["ns_per_token"]), stages | {"other_than_tokenize"})
    equal(found["padding_fraction"], 0)


def test_bench_makes_checkpoints(bench):
    bench.prose()
    bench.recipe()
    bench.digest("--steps", 4, "--save", "a.state")
    found = bench.bench("--steps", 20, "--save-every", 5, "--resume", "a.state")
    equal(found["checkpoints"], 4)
    if not (0 < found["checkpoint_bytes"] < 16384 and found["checkpoint_seconds"] >= 0):
        raise AssertionError(f"{found['checkpoint_bytes']} bytes in {found['checkpoint_seconds']} s")


def test_tokenize_bytes(bench):
    bench.documents("a.jsonl", ["ab", "", "é\0"])
    equal(bench.call("tokenize", "--tokenizer", "bytes", "a.jsonl").stdout, "97 98\n\n195 169 0\n")
    equal(bench.call("tokenize", "--tokenizer=bytes", "--bos", "--eos", "a.jsonl").stdout,
          f"{BOS} 97 98 {EOS}\n{BOS} {EOS}\n{BOS} 195 169 0 {EOS}\n")


def test_tokenize_a_nested_field_of_a_gzip_file(bench):
    line = json.dumps({"text": "no", "body": {"content": "yes"}}) + "\n"
    bench.write("a.jsonl.gz", gzip.compress(line.encode()) + gzip.compress(line.encode()))
    equal(bench.call("tokenize", "--tokenizer", "bytes", "--field", "body.content", "a.jsonl.gz").stdout,
          "121 101 115\n" * 2)


def test_tokenize_keeps_the_order_on_many_threads(bench):
    bench.documents("a.jsonl", [str(number) for number in range(20000)])
    bench.documents("b.jsonl", ["last"])
    one = bench.call("tokenize", "--tokenizer", "bytes", "a.jsonl", "b.jsonl").stdout
    equal(one.count("\n"), 20001)
    equal(bench.call("tokenize", "--tokenizer", "bytes", "--threads", 3, "a.jsonl", "b.jsonl").stdout, one)
    for threads in (1, 3):
        found = json.loads(bench.call("tokenize", "--tokenizer", "bytes", "--threads", threads, "--count", "a.jsonl",
                                      "b.jsonl").stdout)
        total = sum(len(str(number)) for number in range(20000)) + 4
        equal((found["documents"], found["bytes"], found["tokens"]), (20001, total, total))
        equal(set(found), {"documents", "bytes", "tokens", "seconds", "bytes_per_second"})


def test_tokenize_prints_what_is_before_a_bad_record(bench):
    bench.write("a.jsonl", '{"text": "a"}\n{"text": 5}\n')
    for threads in (1, 2):
        done = bench.refuse("tokenize", "--tokenizer", "bytes", "--threads", threads, "a.jsonl", parts=["a.jsonl"])
        equal(done.stdout, "97\n")


def test_check_and_explain(bench):
    bench.prose()
    bench.prose("b.jsonl")
    bench.recipe(sources=[{"name": "a", "path": "a.jsonl"}, {"name": 'name: "x"', "path": "b.jsonl"}])
    equal(bench.call("check", "recipe.json").stdout, "ok: 2 sources, 4 lanes, global batch 12, context 16\n")
    has(bench.call("explain", "recipe.json", "--world", 3).stdout, "lane", "rank", "memory")
    bench.digest("--steps", 1, "--save", "a.state")
    bench.call("explain", "recipe.json", "--state", "a.state")


def test_check_names_a_source_with_fewer_blocks_than_lanes(bench):
    bench.documents("a.jsonl", ["one"])
    bench.recipe(sources=[{"name": "a", "path": "a.jsonl"}])
    has(bench.call("check", "recipe.json").stdout, 'note: source "a" has 1 blocks for 4 lanes')


def test_set_takes_several_pairs(bench):
    bench.prose()
    bench.recipe()
    expected = bench.digest("--set", "seed=9", "--set", "context=8")
    equal(bench.digest("--set", "seed=9", "context=8"), expected)
    equal(bench.digest("--set=seed=9", "context=8", "--steps", 10), expected)
    equal(bench.call("digest", "--set", "seed=9", "context=8", "--", "recipe.json").stdout.splitlines(), expected)
