# SPDX-License-Identifier: Apache-2.0
"""Cases from the field on resuming and ending: each names the number of its case and its right value."""
import json
import os
import time

from bench import equal


def test_p1_resume_twice(bench):
    """P1: three runs of five steps each give documents 0 to 14; the saved position grows."""
    bench.numbers("a.jsonl", 30)
    bench.one_a_row(order="file")
    found = bench.sequence("--steps", 5, "--save", "a.state")
    equal(json.loads(bench.call("state", "show", "a.state", "--json").stdout)["step"], 5)
    found += bench.sequence("--steps", 5, "--resume", "a.state", "--save", "b.state")
    equal(json.loads(bench.call("state", "show", "b.state", "--json").stdout)["step"], 10)
    found += bench.sequence("--steps", 5, "--resume", "b.state")
    equal(found, list(range(15)))


def test_p3_every_cut_of_a_shuffled_stream(bench):
    """P3: D(64), a shuffle window of 16, cut at every k: the tail is that of the uninterrupted run."""
    bench.numbers("a.jsonl", 64)
    bench.one_a_row(shuffle={"rows": 16}, end="drop")
    whole = bench.sequence("--steps", 100)
    equal(sorted(whole), list(range(64)))
    for cut in range(1, 64):
        equal(bench.sequence("--steps", cut, "--save", "a.state"), whole[:cut])
        equal(bench.sequence("--steps", 100, "--resume", "a.state"), whole[cut:], f"cut at {cut}")


def test_p4_cut_after_the_data_looped(bench):
    """P4: D(6), repeated, cut at 8: the third item of epoch 2 comes next, later epochs have all six."""
    bench.numbers("a.jsonl", 6)
    bench.one_a_row()
    whole = bench.sequence("--steps", 24)
    for epoch in range(4):
        equal(sorted(whole[epoch * 6:epoch * 6 + 6]), list(range(6)), f"epoch {epoch}")
    bench.sequence("--steps", 8, "--save", "a.state")
    equal(bench.sequence("--steps", 16, "--resume", "a.state"), whole[8:])


def test_p6_epochs_after_a_resume_are_whole(bench):
    """P6: D(10) cut at 4; what is left and three more epochs have 6, 10, 10, 10 documents."""
    bench.numbers("a.jsonl", 10)
    bench.one_a_row()
    begin = bench.sequence("--steps", 4, "--save", "a.state")
    tail = bench.sequence("--steps", 36, "--resume", "a.state")
    equal(sorted(begin + tail[:6]), list(range(10)))
    for epoch in range(3):
        equal(sorted(tail[6 + epoch * 10:16 + epoch * 10]), list(range(10)), f"epoch {epoch + 1}")


def test_p7_a_source_exhausted_at_the_save(bench):
    """P7: one of two sources has ended when the state is saved: the resume goes on, and ends."""
    bench.numbers("a.jsonl", 3)
    bench.documents("b.jsonl", [f"{number + 100}" for number in range(30)])
    bench.one_a_row(end="pad", sources=[{"name": "a", "path": "a.jsonl"}, {"name": "b", "path": "b.jsonl"}])
    whole = bench.sequence("--steps", 100)
    equal(sorted(whole), list(range(3)) + list(range(100, 130)))
    for cut in (7, 15, 32, 33):
        bench.sequence("--steps", cut, "--save", "a.state")
        begin = time.monotonic()
        equal(bench.sequence("--steps", 100, "--resume", "a.state"), whole[cut:], f"cut at {cut}")
        if time.monotonic() - begin > 5:
            raise AssertionError("the resume took more than 5 seconds")


def test_p11_packing_and_resuming(bench):
    """P11: documents of 3 tokens, rows of 10, two open rows, cut after every row: the same rows."""
    bench.documents("a.jsonl", [f"{number:02}" for number in range(40)])
    bench.recipe(lanes=1, global_batch=1, context=10, end="pad", pack={"algorithm": "best_fit", "open_rows": 2})
    whole = bench.digest("--steps", 100)
    equal(len(whole), 14)
    for cut in range(len(whole) + 1):
        bench.digest("--steps", cut, "--save", "a.state")
        equal(bench.digest("--steps", 100, "--resume", "a.state"), whole[cut:], f"cut at {cut}")


def test_p31_ranks_share_no_rows(bench):
    """P31: two ranks' rows are disjoint, and together they are those of one."""
    bench.numbers("a.jsonl", 64)
    bench.one_a_row(global_batch=4, end="drop")
    both = [bench.sequence("--steps", 100, "--world", 2, "--rank", rank) for rank in range(2)]
    equal(set(both[0]) & set(both[1]), set())
    equal(sorted(both[0] + both[1]), sorted(bench.sequence("--steps", 100)))


def test_p34_every_rank_ends_at_the_same_step(bench):
    """P34: D(10), four ranks, two rows each: `drop` gives one step, `pad` two, on any threads."""
    bench.numbers("a.jsonl", 10)
    for end, steps in (("drop", 1), ("pad", 2)):
        bench.one_a_row(global_batch=8, end=end)
        for threads in (0, 1, 4):
            words = ("--steps", 100, "--world", 4, "--threads", threads)
            equal(len(bench.digest(*words)), steps, end)
            for rank in range(4):
                equal(len(bench.digest(*words, "--rank", rank)), steps * 2, f"{end}, rank {rank}")
        found = bench.sequence("--steps", 100)
        equal(sorted(number for number in found if number is not None), sorted(found[:8]) if end == "drop" else
              list(range(10)))
        equal(found.count(None), 0 if end == "drop" else 6)


def test_p34_lanes_of_different_length_end_together(bench):
    """P34, P35: lanes that hold different numbers of rows still end at one step on every rank."""
    bench.prose(count=200)
    for end in ("drop", "pad"):
        bench.recipe(end=end)
        whole = bench.digest("--steps", 10000)
        for world in (3, 4, 12):
            equal(bench.digest("--steps", 10000, "--world", world), whole, end)


def test_p37_any_prefetch(bench):
    """P37: no step, one, or very many made ready ahead: all deliver the same."""
    bench.prose()
    bench.recipe()
    whole = bench.digest()
    for steps in (0, 1, 1024):
        equal(bench.digest("--set", f"runtime.prefetch_steps={steps}", "runtime.memory=1GB"), whole)


def test_p38_nothing_is_left_over(bench):
    """P38: closed at the start, in the middle or at the end, a run leaves no file and no shared memory."""
    bench.prose(count=60)
    bench.recipe(end="drop")
    before = sorted(os.listdir("/dev/shm"))
    for steps in (0, 1, 10000):
        begin = time.monotonic()
        bench.digest("--steps", steps, "--world", 2)
        if time.monotonic() - begin > 20:
            raise AssertionError("the run took more than 20 seconds")
    equal(sorted(os.listdir(bench.folder)), ["a.jsonl", "recipe.json"])
    equal([name for name in os.listdir("/dev/shm") if name not in before and "laneway" in name], [])
