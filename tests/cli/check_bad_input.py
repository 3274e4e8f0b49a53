# SPDX-License-Identifier: Apache-2.0
"""Wrong recipes, data and states: one line that names the thing, exit code 1, nothing half-done."""
import gzip
import json
import os
import pathlib
import re
import subprocess

from bench import Skip, equal, has

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/data/tokenizer.json"
COMMANDS = ("digest", "dump", "bench", "check", "explain")


def refuse_everywhere(bench, parts, **options):
    """Every command refuses the recipe in the same way."""
    bench.prose()
    bench.recipe(**options)
    for command in COMMANDS:
        bench.refuse_all(command, "recipe.json", parts=parts)
    bench.refuse_all("run", "recipe.json", "--out", "out", parts=parts)
    equal(os.path.exists(bench.path("out")), False, "a folder of results")


def test_unknown_key(bench):
    refuse_everywhere(bench, [r"recipe\.json", "seeed", r"\bseed\b"], seeed=3)
    bench.recipe()
    bench.refuse_all("check", "recipe.json", "--set", "pack.algoritm=wrap", parts=["pack.algoritm", "algorithm"])


def test_wrong_type(bench):
    refuse_everywhere(bench, ["lanes", "many"], lanes="many")
    refuse_everywhere(bench, ["seed", "-1"], seed=-1)
    refuse_everywhere(bench, ["sources"], sources=[])
    refuse_everywhere(bench, ["weight", "0"], sources=[{"name": "a", "path": "a.jsonl", "weight": 0}])


def test_missing_option(bench):
    refuse_everywhere(bench, ["context"], context=None)
    refuse_everywhere(bench, ["tokenizer"], tokenizer=None)


def test_recipe_that_is_none(bench):
    bench.refuse_all("check", "none.yaml", parts=[r"none\.yaml"])
    bench.write("bad.yaml", "seed: [1\nlanes: }")
    bench.refuse_all("check", "bad.yaml", parts=[r"bad\.yaml"])


def test_missing_file(bench):
    refuse_everywhere(bench, [r"missing\.jsonl"], sources=[{"name": "a", "path": "missing.jsonl"}])
    refuse_everywhere(bench, [r"no\.json"], tokenizer={"path": "no.json"})
    bench.recipe()
    bench.refuse_all("digest", "recipe.json", "--resume", "no.state", parts=[r"no\.state"])
    bench.refuse_all("tokenize", "--tokenizer", "bytes", "no.jsonl", parts=[r"no\.jsonl"])
    bench.refuse_all("tokenize", "--tokenizer", "no.json", "a.jsonl", parts=[r"no\.json"])


def test_shard_that_loops(bench):
    os.symlink("a2.jsonl", bench.path("a1.jsonl"))
    os.symlink("a1.jsonl", bench.path("a2.jsonl"))
    refuse_everywhere(bench, [r"a1\.jsonl"], sources=[{"name": "a", "path": "a1.jsonl"}])


def test_unreadable_shard(bench):
    bench.prose()
    bench.recipe()
    os.chmod(bench.path("a.jsonl"), 0)
    os.chmod(bench.folder, 0o755)
    user = {"user": 65534} if os.geteuid() == 0 else {}  # root may read everything
    try:
        done = bench.call("digest", "recipe.json", code=1, **user)
    except PermissionError as error:
        raise Skip("another user may not run the command") from error
    has(done.stderr, r"^laneway: .*a\.jsonl.*Permission denied\n$")
    equal(done.stdout, "")


def test_damaged_shard(bench):
    """A gzip file that is cut, or has a flipped bit, ends the stream under every policy, after the parts before."""
    text = b"".join(json.dumps({"text": f"{number:03}"}).encode() + b"\n" for number in range(400))
    whole = gzip.compress(text[:1000]) + gzip.compress(text[1000:])
    flipped = bytearray(whole)
    flipped[-6] ^= 1  # of the last member's checksum
    bench.write("b.jsonl.gz", whole)
    options = {"order": "file", "end": "drop", "context": 3, "labels": {"shift": "document"}}
    bench.one_a_row(sources=[{"name": "a", "path": "b.jsonl.gz", "block": 2048}], **options)
    expected = bench.digest("--steps", 1000)
    parts_before = 3 * 2048 // 16 + 1  # a part of 2,048 bytes has the lines that begin in it or at its end
    for damaged in (whole[:-9], bytes(flipped)):
        bench.write("a.jsonl.gz", damaged)
        for policy in ("fail", "skip", "replace"):
            bench.one_a_row(sources=[{"name": "a", "path": "a.jsonl.gz", "block": 2048}],
                            on_bad_record={"policy": policy}, **options)
            bench.call("check", "recipe.json")  # opening reads no data
            for threads in (1, 4):
                done = bench.refuse("digest", "recipe.json", "--steps", 1000, "--threads", threads,
                                    parts=[r"^laneway: gzip: ", r"a\.jsonl\.gz"])
                equal(done.stdout.splitlines(), expected[:parts_before])
            rows = bench.refuse("dump", "recipe.json", "--steps", 1000, parts=[r"^laneway: gzip: ", r"a\.jsonl\.gz"])
            records = [json.loads(row)["segments"][0]["record"] for row in rows.stdout.splitlines()]
            equal(records, list(range(parts_before)))


def test_rows_that_lanes_or_world_do_not_divide(bench):
    refuse_everywhere(bench, ["global_batch", "10", "4"], global_batch=10)
    bench.recipe()
    for world in (5, 7, 24):
        bench.refuse_all("digest", "recipe.json", "--world", world, parts=["12", str(world)])
    bench.refuse_all("check", "recipe.json", "--world", 5, parts=["12", "5"])


def test_rank_outside_the_world(bench):
    """P31: rank and world are explicit; a rank that is not below the world is an error."""
    bench.prose()
    bench.recipe()
    for rank in (4, 5, 2**63):
        bench.refuse_all("digest", "recipe.json", "--world", 4, "--rank", rank, parts=[str(rank), "4"])
    bench.refuse_all("digest", "recipe.json", "--rank", 1, parts=["1"])


def test_budget_below_the_minimum(bench):
    """`explain` says so too, after it has shown what the minimum is made of; any command runs with that."""
    bench.prose()
    bench.recipe(runtime={"memory": "1KB"})
    parts = ["runtime.memory", "1000", r"at least \d+"]
    for command in ("digest", "dump", "bench", "check"):
        bench.refuse_all(command, "recipe.json", parts=parts)
    plan = bench.refuse("explain", "recipe.json", parts=parts)
    equal(plan.stderr, bench.refuse("check", "recipe.json").stderr)
    least = int(re.search(r"\nminimum +(\d+)\n", plan.stdout).group(1))
    has(plan.stderr, f"at least {least} ")
    expected = bench.digest("--set", "runtime.memory=1GB")
    equal(bench.digest("--set", f"runtime.memory={least}"), expected)
    for command in ("dump", "bench", "check", "explain"):
        bench.call(command, "recipe.json", "--set", f"runtime.memory={least}")
    bench.refuse_all("digest", "recipe.json", "--set", f"runtime.memory={least - 1}", parts=[f"at least {least}"])


def test_vocabulary_without_eos(bench):
    refuse_everywhere(bench, [r"<\|nothing\|>"], tokenizer={"path": str(SAMPLE), "eos": "<|nothing|>"})
    tokenizer = json.loads(SAMPLE.read_text())
    tokenizer["added_tokens"] = []
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary["ordinary"] = vocabulary.pop("<|endoftext|>")
    bench.write("t.json", json.dumps(tokenizer))
    refuse_everywhere(bench, [r"t\.json", "EOS"], tokenizer={"path": "t.json", "eos": True})
    refuse_everywhere(bench, ["mask_eos", "eos"], tokenizer={"name": "bytes"}, labels={"mask_eos": True})


# ---- states --------------------------------------------------------------------------------------


def saved(bench, **options):
    """A state after four steps, and its recipe."""
    bench.prose()
    bench.recipe(shuffle={"rows": 5}, **options)
    bench.digest("--steps", 4, "--save", "a.state")


def refuse_state(bench, *parts, state="a.state"):
    """P30: a state that does not fit is an error and never a silent restart."""
    bench.refuse_all("digest", "recipe.json", "--resume", state, parts=parts)
    bench.refuse_all("run", "recipe.json", "--resume", state, "--out", "out", parts=parts)
    equal(os.path.exists(bench.path("out")), False, "a folder of results")


def test_truncated_state(bench):
    saved(bench)
    data = bench.read("a.state")
    for count in sorted({0, 1, 7, 8, 16, len(data) // 2, len(data) - 1}):
        bench.write("cut.state", data[:count])
        refuse_state(bench, r"cut\.state", state="cut.state")
        bench.refuse_all("state", "show", "cut.state", parts=[r"cut\.state"])
    bench.write("long.state", data + b"\0")
    refuse_state(bench, r"long\.state", state="long.state")


def test_state_with_a_flipped_bit(bench):
    saved(bench)
    data = bench.read("a.state")
    for index in range(0, len(data), max(1, len(data) // 40)):
        changed = bytearray(data)
        changed[index] ^= 1 << index % 8
        bench.write("bad.state", bytes(changed))
        bench.refuse_all("state", "show", "bad.state", parts=[r"bad\.state"])
        bench.refuse_all("digest", "recipe.json", "--resume", "bad.state", parts=[r"bad\.state"])


def test_state_of_another_recipe(bench):
    """P29: each field that differs is named."""
    saved(bench)
    for key, value in (("seed", 8), ("context", 8), ("global_batch", 24), ("lanes", 2), ("end", "pad"),
                       ("order", "file"), ("shuffle", {"rows": 6}), ("pack", {"algorithm": "best_fit"}),
                       ("labels", {"shift": "document"})):
        bench.recipe(**{"shuffle": {"rows": 5}, key: value})
        refuse_state(bench, key)


def test_state_of_another_tokenizer(bench):
    saved(bench)
    bench.recipe(shuffle={"rows": 5}, tokenizer={"name": "bytes", "eos": False})
    refuse_state(bench, "tokenizer")
    bench.recipe(shuffle={"rows": 5}, tokenizer={"path": str(SAMPLE), "eos": True})
    refuse_state(bench, "tokenizer")


def test_state_of_other_sources(bench):
    """P29: order and weights of the sources are part of the fingerprint."""
    bench.prose("b.jsonl")
    sources = [{"name": "a", "path": "a.jsonl"}, {"name": "b", "path": "b.jsonl"}]
    saved(bench, sources=sources)
    bench.recipe(shuffle={"rows": 5}, sources=sources[::-1])
    refuse_state(bench, "source")
    bench.recipe(shuffle={"rows": 5}, sources=sources[:1])
    refuse_state(bench, "source")
    bench.recipe(shuffle={"rows": 5}, sources=[{**sources[0], "weight": 2}, sources[1]])
    refuse_state(bench, "weight")


def test_state_of_a_changed_file(bench):
    saved(bench)
    bench.write("a.jsonl", bench.read("a.jsonl") + b'{"text": "more"}\n')
    refuse_state(bench, r"a\.jsonl")


def test_state_of_a_file_edited_in_place(bench):
    """A change that keeps the size is found, wherever it is."""
    saved(bench)
    data = bench.read("a.jsonl")
    for at in (0, len(data) // 2, len(data) - 1):
        changed = bytearray(data)
        changed[at] ^= 1
        bench.write("a.jsonl", bytes(changed))
        refuse_state(bench, r"a\.jsonl.*content")
    bench.write("a.jsonl", data)
    bench.digest("--steps", 1, "--resume", "a.state")


def test_state_of_moved_data(bench):
    """The place of the data is not part of the stream, so a state goes on where the data went."""
    bench.prose("one/a.jsonl")
    bench.recipe(sources=[{"name": "a", "path": "one"}])
    whole = bench.digest("--steps", 6, "--save", "a.state", "--save-at", 1)
    os.rename(bench.path("one"), bench.path("two"))
    bench.recipe(sources=[{"name": "a", "path": "two"}])
    equal(bench.digest("--steps", 4, "--resume", "a.state"), whole[2:])


def test_pieces_that_are_none(bench):
    saved(bench)
    os.mkdir(bench.path("empty"))
    bench.refuse_all("state", "merge", "empty", "--out", "b.state", parts=["empty"])
    bench.call("state", "split", "a.state", "--out", "pieces")
    os.rename(bench.path("pieces/global.piece"), bench.path("global"))
    bench.refuse_all("state", "merge", "pieces", "--out", "b.state", parts=["global"])
    equal(os.path.exists(bench.path("b.state")), False)


def test_a_damaged_piece(bench):
    """Each piece has a checksum of its own: cut or changed, the merge refuses it by name."""
    saved(bench)
    bench.call("state", "split", "a.state", "--out", "pieces")
    for name in ("lane_00002", "global"):
        data = bench.read(f"pieces/{name}.piece")
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 4
        for damaged in (b"", data[: len(data) // 2], data[:-1], bytes(flipped)):
            bench.write(f"pieces/{name}.piece", damaged)
            bench.refuse_all("state", "merge", "pieces", "--out", "b.state", parts=[name])
        bench.write(f"pieces/{name}.piece", data)
    equal(os.path.exists(bench.path("b.state")), False)


def test_results_that_cannot_be_written(bench):
    bench.prose()
    bench.recipe()
    bench.refuse("digest", "recipe.json", "--save", "no/folder/a.state", parts=["no/folder/a.state"])
    bench.write("file", "x")
    bench.refuse_all("run", "recipe.json", "--out", "file", parts=["file"])
    bench.refuse_all("run", "recipe.json", "--out", "no/folder", parts=["no/folder"])
    equal(bench.leftovers(), [])
