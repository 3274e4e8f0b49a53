# SPDX-License-Identifier: Apache-2.0
"""Any world, and states: saved, resumed, merged, split, and what an interrupt leaves behind."""
import json
import os
import signal
import subprocess

from bench import TIMEOUT_SECONDS, equal, has

SHUFFLED = {"shuffle": {"rows": 5}, "pack": {"algorithm": "best_fit", "open_rows": 3}}


def test_any_world_threads_memory_and_microbatch(bench):
    bench.prose()
    for options in ({}, SHUFFLED, {"labels": {"shift": "document"}}):
        bench.recipe(**options)
        whole = bench.digest("--steps", 6, "--threads", 1)
        for world in (2, 3, 4, 6, 12):
            equal(bench.digest("--steps", 6, "--world", world), whole, f"world {world}")
        for words in (("--threads", 3), ("--set", "runtime.microbatch=1"), ("--set", "runtime.dtype=int64"),
                      ("--world", 2, "--set", "runtime.microbatch=5"), ("--set", "runtime.memory=1GB")):
            equal(bench.digest("--steps", 6, *words), whole, str(words))


def test_resume_on_another_world(bench):
    bench.prose()
    bench.recipe(**SHUFFLED)
    whole = bench.digest("--steps", 12)
    for cut in (0, 1, 5, 11):
        equal(bench.digest("--steps", cut, "--world", 3, "--save", "a.state"), whole[:cut])
        for world in (1, 4, 6):
            equal(bench.digest("--steps", 12 - cut, "--world", world, "--resume", "a.state"), whole[cut:])


def test_save_at_an_earlier_step(bench):
    bench.prose()
    bench.recipe()
    whole = bench.digest("--steps", 20)
    equal(bench.digest("--steps", 15, "--world", 2, "--save", "a.state", "--save-at", 2), whole[:15])
    equal(bench.digest("--steps", 17, "--resume", "a.state"), whole[3:])
    done = bench.refuse("digest", "recipe.json", "--steps", 3, "--save", "b.state", "--save-at", 3,
                        parts=["save-at", "3"])
    equal(done.stdout.splitlines(), whole[:3])
    equal(os.path.exists(bench.path("b.state")), False)


def test_a_state_before_the_first_batch(bench):
    bench.prose()
    bench.recipe()
    whole = bench.digest("--steps", 4)
    equal(bench.digest("--steps", 0, "--save", "a.state"), [])
    equal(bench.digest("--steps", 4, "--resume", "a.state"), whole)
    equal(bench.digest("--steps", 0, "--resume", "a.state", "--save", "b.state"), [])
    equal(bench.digest("--steps", 4, "--resume", "b.state"), whole)


def test_dump_and_run_save_too(bench):
    bench.prose()
    bench.recipe()
    whole = bench.digest("--steps", 5)
    bench.call("dump", "recipe.json", "--steps", 2, "--save", "a.state")
    bench.call("run", "recipe.json", "--steps", 2, "--resume", "a.state", "--out", "out", "--save", "b.state")
    equal(sorted({name.split(".")[0] for name in os.listdir(bench.path("out"))}), ["step_00000002", "step_00000003"])
    equal(bench.digest("--steps", 1, "--resume", "b.state"), whole[4:])


def test_state_show(bench):
    bench.prose()
    bench.recipe()
    bench.digest("--steps", 3, "--save", "a.state")
    equal(json.loads(bench.call("state", "show", "a.state", "--json").stdout)["step"], 3)
    has(bench.call("state", "show", "a.state").stdout, "step", "3")


def test_state_merge_of_ranks(bench):
    """P13: the states of four ranks are one blob that holds all; a missing rank is named."""
    bench.prose()
    bench.recipe(**SHUFFLED)
    whole = bench.digest("--steps", 8, "--save", "one.state", "--save-at", 3)
    for rank in range(4):
        bench.digest("--steps", 4, "--world", 4, "--rank", rank, "--save", f"{rank}.state")
    bench.call("state", "merge", *(f"{rank}.state" for rank in (2, 0, 3, 1)), "--out", "all.state")
    equal(bench.digest("--steps", 4, "--world", 2, "--resume", "all.state"), whole[4:])
    equal(bench.read("all.state"), bench.read("one.state"), "the merged state")
    bench.call("state", "merge", "0.state", "1.state", "2.state", "--out", "part.state")
    bench.refuse_all("digest", "recipe.json", "--resume", "part.state", parts=[r"lane[_ ]0*3\b"])


def test_one_rank_resumes_with_its_own_state(bench):
    bench.prose()
    bench.recipe()
    whole = bench.digest("--steps", 6, "--world", 4, "--rank", 1)
    bench.digest("--steps", 2, "--world", 4, "--rank", 1, "--save", "a.state")
    equal(bench.digest("--steps", 4, "--world", 4, "--rank", 1, "--resume", "a.state"), whole[6:])


def test_state_split_and_merge(bench):
    bench.prose()
    bench.recipe(**SHUFFLED)
    whole = bench.digest("--steps", 6, "--save", "a.state", "--save-at", 1)
    bench.call("state", "split", "a.state", "--out", "pieces")
    equal(sorted(os.listdir(bench.path("pieces"))), ["global.piece"] + [f"lane_{lane:05}.piece" for lane in range(4)])
    bench.call("state", "merge", "pieces", "--out", "b.state")
    equal(bench.read("b.state"), bench.read("a.state"), "the state put together again")
    equal(bench.digest("--steps", 4, "--resume", "b.state"), whole[2:])


def test_states_of_different_steps_do_not_merge(bench):
    bench.prose()
    bench.recipe()
    bench.digest("--steps", 1, "--world", 2, "--rank", 0, "--save", "0.state")
    bench.digest("--steps", 2, "--world", 2, "--rank", 1, "--save", "1.state")
    bench.refuse_all("state", "merge", "0.state", "1.state", "--out", "all.state", parts=["step"])
    equal(os.path.exists(bench.path("all.state")), False)


def interrupt(bench, number, *words):
    """Sends the signal after the first line of an endless digest; (lines, exit code)."""
    command = [bench.program, "digest", "recipe.json", "--steps", "1000000000", *words]
    with subprocess.Popen(command, cwd=bench.folder, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline().rstrip("\n")]
        process.send_signal(number)
        lines += process.stdout.read().splitlines()
        return lines, process.wait(timeout=TIMEOUT_SECONDS)


def test_an_interrupt_ends_after_a_step_and_saves(bench):
    bench.prose()
    bench.recipe(**SHUFFLED)
    for number in (signal.SIGTERM, signal.SIGINT):
        for words in ((), ("--save-at", "999999999")):
            lines, code = interrupt(bench, number, "--world", "3", "--save", "a.state", *words)
            equal(code, 128 + number)
            equal([int(line.split()[0]) for line in lines], list(range(len(lines))))
            tail = bench.digest("--steps", 2, "--resume", "a.state")
            equal(lines + tail, bench.digest("--steps", len(lines) + 2), f"{len(lines)} steps and the resume")


def test_closed_and_full_standard_output(bench):
    bench.prose()
    bench.recipe()
    for words in (("digest", "recipe.json"), ("help",), ("explain", "recipe.json"),
                  ("tokenize", "--tokenizer", "bytes", "a.jsonl"), ("bench", "recipe.json")):
        reader, writer = os.pipe()
        os.close(reader)
        done = bench.call(*words, code=1, stdout=writer)
        os.close(writer)
        equal(done.stderr.count("\n"), 1, f"lines on standard error of {words}")
        has(done.stderr, "^laneway: output: .*standard output")
    with open("/dev/full", "wb") as full:
        has(bench.call("dump", "recipe.json", code=1, stdout=full).stderr, "No space left")
