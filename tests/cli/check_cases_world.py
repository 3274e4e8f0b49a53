# SPDX-License-Identifier: Apache-2.0
"""Cases from the field on worlds, replicas, positions and ends by force, with their right values."""
import os
import re
import signal
import subprocess
import time

from bench import TIMEOUT_SECONDS, equal, has

MIXED = {"sources": [{"name": "a", "path": "a.jsonl", "weight": 0.7}, {"name": "b", "path": "b.jsonl", "weight": 0.3}],
         "pack": {"algorithm": "best_fit", "open_rows": 3}, "shuffle": {"rows": 5},
         "on_bad_record": {"policy": "skip"}}


def mixed(bench, **options):
    """Two sources with bad records among the others, packed by best fit, and shuffled."""
    bench.prose("a.jsonl")
    bench.prose("b.jsonl", count=90)
    bench.write("b.jsonl", bench.read("b.jsonl").replace(b'{"text": "7 ', b'{"text": 7 '))
    bench.recipe(**MIXED, **options)


def test_p8_p14_where_a_run_begins_is_always_said(bench):
    """P8, P14: a resumed run begins at the step of its state, and one without a state at 0: never silently."""
    bench.prose()
    bench.recipe()
    steps = [int(line.split()[0]) for line in bench.digest("--steps", 3, "--save", "a.state")]
    equal(steps, [0, 1, 2])
    for _ in range(2):  # a state is the same however often it is used
        steps = [int(line.split()[0]) for line in bench.digest("--steps", 2, "--resume", "a.state")]
        equal(steps, [3, 4])
    has(bench.call("explain", "recipe.json", "--state", "a.state").stdout, r"^state +fits; the next step is 3\n")


def test_p12_ranks_have_states_of_their_own(bench):
    """P12, P24: replicas of a rank have the same rows and the same state, ranks have different ones, and go on alone."""
    mixed(bench)
    whole = [bench.digest("--steps", 8, "--world", 2, "--rank", rank) for rank in range(2)]
    for rank in range(2):
        for replica in "xy":
            words = ("--world", 2, "--rank", rank, "--save", f"{rank}{replica}.state")
            equal(bench.digest("--steps", 3, *words), whole[rank][:18])
        equal(bench.read(f"{rank}x.state"), bench.read(f"{rank}y.state"), "the state of a replica")
    if bench.read("0x.state") == bench.read("1x.state"):
        raise AssertionError("two ranks have one state")
    for rank in range(2):
        words = ("--world", 2, "--rank", rank, "--resume", f"{rank}x.state")
        equal(bench.digest("--steps", 5, *words), whole[rank][18:], f"rank {rank}")


def test_p15_a_restore_does_not_read_what_is_behind(bench):
    """P15, P18: however late the state and whatever was read ahead, a resume reads windows, not the way there.

    It resumes with no memory to read ahead, for how much a run reads ahead depends on the machine."""
    bench.prose(count=12000)
    size = os.path.getsize(bench.path("a.jsonl"))
    bench.recipe(sources=[{"name": "a", "path": "a.jsonl", "block": 4096}], shuffle={"rows": 16},
                 runtime={"threads": 1, "memory": "128MB", "prefetch_steps": 64})
    plan = bench.call("explain", "recipe.json", "--set", "runtime.prefetch_steps=1").stdout
    least = ("--set", "runtime.prefetch_steps=1", "--set",
             "runtime.memory=" + re.search(r"^minimum +(\d+)$", plan, re.MULTILINE)[1])
    read = []
    for steps in (10, 4000):
        bench.digest("--steps", steps, "--save", "a.state")
        read.append(bench.bench("--steps", 1, "--resume", "a.state", *least)["bytes_read"])
    if max(read) > size / 20:
        raise AssertionError(f"{read} bytes read of {size}")


def test_p19_a_rank_that_died_is_replaced_at_any_step(bench):
    """P19: killed between two steps, a rank goes on from the state of a step, with the others' next step."""
    mixed(bench)
    whole = [bench.digest("--steps", 9, "--world", 2, "--rank", rank) for rank in range(2)]
    for step in (1, 4, 6):
        bench.digest("--steps", 7, "--world", 2, "--rank", 1, "--save", "1.state", "--save-at", step - 1)
        again = bench.digest("--steps", 9 - step, "--world", 2, "--rank", 1, "--resume", "1.state")
        equal(again, whole[1][step * 6:])
        equal(again[0].split()[0], whole[0][step * 6].split()[0], "the step")


def test_p21_a_run_goes_on_in_any_world_on_any_threads(bench):
    """P21, P22, P23, P25, P26, P27: saved by four ranks, with mixture, skipped records, packing and shuffle."""
    mixed(bench, end="pad")
    whole = bench.digest("--steps", 1000)
    for threads in (1, 4):
        for rank in range(4):
            bench.digest("--steps", 5, "--world", 4, "--rank", rank, "--threads", threads, "--save", f"{rank}.state")
        bench.call("state", "merge", *(f"{rank}.state" for rank in range(4)), "--out", "a.state")
        for world, others in ((1, 4), (2, 0), (3, 1), (12, 4)):
            found = bench.digest("--steps", 1000, "--world", world, "--threads", others, "--resume", "a.state")
            equal(found, whole[5:], f"world {world} on {others} threads")


def test_p32_epochs_end_in_bounded_time(bench):
    """P32: three epochs on two ranks of four threads each."""
    bench.numbers("a.jsonl", 40)
    bench.one_a_row(global_batch=2, lanes=2)
    begin = time.monotonic()
    for rank in range(2):
        equal(len(bench.digest("--steps", 60, "--world", 2, "--rank", rank, "--threads", 4)), 60)
    if time.monotonic() - begin > 20:
        raise AssertionError("three epochs took more than 20 seconds")


def endless(bench, *words):
    """A run that will not end by itself, in a process group of its own, after its first step."""
    process = subprocess.Popen([bench.program, *words, "--steps", "1000000000"], cwd=bench.folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    if words[0] == "digest":
        process.first = process.stdout.readline()
        return process
    limit = time.monotonic() + TIMEOUT_SECONDS
    while not os.path.exists(bench.path("out/step_00000001.labels.npy")) and time.monotonic() < limit:
        time.sleep(0.01)
    return process


def test_p41_a_signal_to_the_whole_group(bench):
    """P40, P41: the threads leave it to the program, which ends after a step and saves its state."""
    mixed(bench)
    for number in (signal.SIGTERM, signal.SIGINT):
        process = endless(bench, "digest", "recipe.json", "--save", "a.state")
        os.killpg(process.pid, number)
        lines = (process.first + process.stdout.read()).splitlines()
        _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
        equal((process.returncode, errors), (128 + number, ""))
        tail = bench.digest("--steps", 2, "--resume", "a.state")
        equal(lines + tail, bench.digest("--steps", len(lines) + 2), f"{len(lines)} steps and the resume")


def test_p42_a_kill_leaves_nothing_in_the_way(bench):
    """P42: killed at any time, the same command in the same folder works again, and writes the same."""
    bench.prose()
    bench.recipe()
    bench.call("run", "recipe.json", "--steps", 3, "--out", "whole", "--save", "whole.state")
    process = endless(bench, "run", "recipe.json", "--out", "out", "--save", "a.state")
    process.kill()
    process.communicate(timeout=TIMEOUT_SECONDS)
    equal(os.path.exists(bench.path("a.state")), False, "a state nobody asked for")
    bench.call("run", "recipe.json", "--steps", 3, "--out", "out", "--save", "a.state")
    equal(bench.read("a.state"), bench.read("whole.state"))
    for name in os.listdir(bench.path("whole")):
        equal(bench.read(f"out/{name}"), bench.read(f"whole/{name}"), name)


def test_p69_a_huge_document(bench):
    """P69: a document of many blocks and rows among short ones is whole, on any number of threads."""
    size = 4 << 20
    bench.documents("a.jsonl", ["one", "lorem ipsum " * (size // 12), "three"])
    expected = (3 + size // 12 * 12 + 5) + 3
    bench.recipe(lanes=1, global_batch=4, context=2048, end="pad",
                 sources=[{"name": "a", "path": "a.jsonl", "block": 4096}])
    whole = bench.digest("--steps", 100000, "--threads", 1)
    equal(bench.digest("--steps", 100000, "--threads", 4), whole)
    found = bench.bench("--steps", 100000)
    equal((found["tokens"], len(whole)), (expected, -(-expected // (4 * 2048))))
