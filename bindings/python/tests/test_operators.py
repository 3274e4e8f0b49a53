# SPDX-License-Identifier: Apache-2.0
"""Operators in Python: the same stream from every runner, over every change of world; failures that name
the document; and nothing that hangs or stays."""
import gc
import json
import pickle
import re
import subprocess
import sys
import threading
import traceback
import weakref

import pytest

import laneway
import operator_functions as functions
from conftest import ROOT, SAMPLE, row_digests, run_python, take
from laneway import Dataset, Expand, Filter, Map, Pipeline, Stateful, StatefulTransform, StaticMixtureWorkSource
from laneway.loader import start_state

RUNNERS = ["threads", "inline", "process"]

# Every kind; the text ones in between one another.
ALL = [Filter(functions.is_long), Expand(functions.words), Map(functions.shout), Stateful(functions.SortPairs)]


def opened(operators, runner="threads", recipe=SAMPLE, **more):
    return laneway.open(recipe, operators=operators, runner=runner, processes=2 if runner == "process" else 0, **more)


@pytest.fixture
def lines(tmp_path):
    """A recipe over one file, in file order and on one lane; record i is its line i."""
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(json.dumps({"text": f"{'be ' * (i % 9)}x{i}"}) + "\n" for i in range(40)))
    return {"lanes": 1, "global_batch": 1, "context": 16, "order": "file", "end": "pad",
            "sources": [{"name": "lines", "path": str(path)}], "tokenizer": {"name": "bytes", "eos": True}}


def drain(loader):
    for _batch in loader:
        pass


def texts_of(loader):
    """The documents of a byte tokenizer's stream, in order."""
    tokens = [token for batch in loader for row in batch.tokens for token in row.tolist()]
    return bytes(token if token < 256 else 10 for token in tokens).decode().rstrip("\n").split("\n")


# ---- what they do ----------------------------------------------------------------------------------


@pytest.mark.parametrize("runner", RUNNERS)
def test_texts_are_replaced_dropped_and_made_in_order(lines, runner):
    plain = texts_of(opened([], recipe=lines))
    kept = [text for text in plain if functions.is_long(text)]
    expected = [piece.upper() for text in kept for piece in functions.words(text)]
    assert 0 < len(kept) < len(plain) == 40 and len(expected) > 12
    with opened([Filter(functions.is_long), Expand(functions.words), Map(functions.shout)], runner, lines) as loader:
        assert texts_of(loader) == expected
        assert loader.stats()["documents"] == len(expected)


@pytest.mark.parametrize("runner", RUNNERS)
def test_batched_functions_give_the_same(runner):
    expected = take(opened(ALL[:3]), 4)
    names = [operator.name for operator in ALL[:3]]
    batched = [Filter(functions.are_long, names[0], batched=True),
               Expand(functions.words_of_all, names[1], batched=True), Map(functions.shout_all, names[2], batched=True)]
    with opened(batched, runner) as loader:
        assert take(loader, 4) == expected


def test_the_example_of_the_page(lines):
    page = (ROOT / "docs" / "python-operators.md").read_text()
    names = {"laneway": laneway}
    exec(next(code for code in re.findall(r"```python\n(.*?)```", page, re.S) if "class ShortFirst" in code), names)
    plain = texts_of(opened([], recipe=lines))
    with opened([Stateful(names["ShortFirst"])], recipe=lines) as loader:
        assert texts_of(loader) == [text for pair in zip(plain[::2], plain[1::2]) for text in sorted(pair, key=len)]


@pytest.mark.parametrize("group", [1, 3, 64])
def test_a_transform_gives_the_same_however_many_it_is_given(lines, group):
    plain = texts_of(opened([], recipe=lines))
    expected, held = [], None
    for count, text in enumerate(plain, 1):
        if count % 5 == 0:
            continue
        if held is None:
            held = text
        else:
            expected += sorted((held, text), key=len)
            held = None
    expected += [held] if held is not None else []
    with opened([Stateful(functions.SortPairs, group=group)], recipe=lines) as loader:
        assert texts_of(loader) == expected
        assert loader.stats()["dropped"] == 8


# ---- the same for everyone -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stream():
    """Digests of the first steps with all operators, on one thread."""
    with opened(ALL, "inline", options={"runtime.threads": 1}) as loader:
        return take(loader, 10)


@pytest.mark.parametrize("runner", RUNNERS)
def test_every_runner_gives_the_same_stream(stream, runner):
    with opened(ALL, runner) as loader:
        assert take(loader, len(stream)) == stream
    assert stream != take(opened([]), len(stream))


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("transform", [functions.SortPairs, functions.ByTokens])
def test_states_survive_a_change_of_world_and_of_runner(runner, transform):
    operators = [*ALL[:3], Stateful(transform, group=7)]
    with opened(operators) as loader:
        states = [loader.state_dict() for _ in range(3) if take(loader, 1)]
        expected = [row_digests(next(loader)) for _ in range(3)]
    halves = []
    for rank in range(2):
        with opened(operators, runner, rank=rank, world=2, state=states[-1]) as loader:
            halves.append([row_digests(next(loader)) for _ in range(3)])
    assert [one + other for one, other in zip(*halves)] == expected
    with opened(operators, runner) as loader:
        take(loader, 5)
        loader.restore(states[0])
        take(loader, 2)
        assert [row_digests(next(loader)) for _ in range(3)] == expected


@pytest.mark.parametrize("change, field", [
    (lambda: [Filter(functions.is_long, version=2), *ALL[1:]], "documents.0.version"),
    (lambda: [Filter(functions.is_long, "other"), *ALL[1:]], "documents"),
    (lambda: ALL[:3], "documents"),
    (lambda: [Map(functions.is_long), *ALL[1:]], "documents.0.options"),
    (lambda: [], "documents"),
])
def test_a_state_of_other_operators_is_refused_by_a_line(change, field):
    with opened(ALL) as loader:
        state = loader.checkpoint()
    with pytest.raises(laneway.MismatchError, match=field):
        opened(change(), state=state)


def test_the_state_before_the_first_step_has_that_of_transforms():
    recipe = laneway.Recipe.open(SAMPLE).add(*ALL)
    with laneway.open(recipe) as loader:
        assert bytes(start_state(recipe)) == loader.checkpoint()


def test_recipes_keep_their_operators(stream):
    recipe = laneway.Recipe.open(SAMPLE).add(*ALL)
    for made in (recipe.copy(), pickle.loads(pickle.dumps(recipe))):
        assert [one.name for one in made.operators] == ["is_long", "words", "shout", "SortPairs"]
        with laneway.open(made) as loader:
            assert take(loader, 2) == stream[:2]


@pytest.mark.parametrize("runner", ["threads", "process"])
def test_the_fluent_surface(lines, runner):
    source = StaticMixtureWorkSource([Dataset.from_path("lines", lines["sources"][0]["path"])], shuffle_shards=False,
                                     shuffle_within_shard=False, exhausted_policy="stop")
    made = (Pipeline(source).options(runner=runner, processes=1).filter(functions.is_long).expand(functions.words)
            .map_transform(functions.shout, version=3).tokenize("bytes", special_tokens="eos")
            .stateful_transform(functions.SortPairs).pack_flat(16).batch(1, drop_last=False))
    same = [Filter(functions.is_long), Expand(functions.words), Map(functions.shout, version=3),
            Stateful(functions.SortPairs)]
    assert made.recipe().operators[:3] == tuple(same[:3])
    with made, laneway.open(made.recipe().copy()) as expected:
        assert texts_of(made) == texts_of(expected)


def test_steps_at_the_wrong_place_are_refused():
    source = StaticMixtureWorkSource([Dataset.from_path("x", SAMPLE)], exhausted_policy="stop")
    with pytest.raises(laneway.UnsupportedError, match=r"stateful_transform: before tokenize\(\)"):
        Pipeline(source).stateful_transform(functions.SortPairs)
    with pytest.raises(laneway.UnsupportedError, match=r"map: after tokenize\(\), expected before it"):
        Pipeline(source).tokenize("bytes").map_transform(functions.shout)


# ---- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("operator", [Map(functions.refuse), Map(functions.refuse_all, "refuse", batched=True)])
def test_what_a_function_raises_names_the_document_and_is_the_cause(lines, runner, operator):
    with opened([Filter(functions.is_long, batched=False), operator], runner, lines) as loader:
        with pytest.raises(laneway.OperatorError) as caught:
            drain(loader)
        path = lines["sources"][0]["path"]
        assert str(caught.value) == f"refuse: Refused: no 'e x7' please, at \"{path}\" record 7"
        cause = caught.value.__cause__
        assert type(cause) is functions.Refused and cause.args == ("no 'e x7'\nplease",)
        shown = cause.__cause__.args[0] if runner == "process" else "".join(
            frame.name for frame in traceback.extract_tb(cause.__traceback__))
        assert "refuse" in shown
        with pytest.raises(laneway.OperatorError):
            next(loader)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("group", [1, 4, 64])
def test_a_transform_that_fails_names_its_document(lines, runner, group):
    with opened([Stateful(functions.Fuse, group=group)], runner, lines) as loader:
        line = r'^Fuse: Refused: ten, at ".*/lines.jsonl" record 9$'
        with pytest.raises(laneway.OperatorError, match=line) as caught:
            drain(loader)
        assert type(caught.value.__cause__) is functions.Refused


@pytest.mark.parametrize("operator, line", [
    (Map(functions.give_a_number), "give_a_number: TypeError: a int, expected a text, at .* record 0"),
    (Filter(functions.give_nothing), "give_nothing: TypeError: None, expected true or false, at .* record 0"),
    (Expand(functions.shout), "shout: TypeError: a text, expected an iterable of texts, at .* record 0"),
    (Map(functions.give_one_fewer, batched=True), "ValueError: 39 results for 40 texts, expected as many|"
                                                  "0 results for 1 texts"),
    (Map(functions.refuse_groups, batched=True), "Refused: one at a time, at .* record 0"),
    (Map(functions.give_half_a_character), "UnicodeEncodeError: .* record 0"),
    (Map(functions.leave), "leave: SystemExit: 3, at .* record 0"),
    (Map(functions.refuse_unpicklably), "Unpicklable: 1 and 2, at .* record 0"),
    (Stateful(functions.PutsTwice), "PutsTwice: ValueError: puts or drops document 0, which it does not hold"),
    (Stateful(functions.KeepsAll), "KeepsAll: 40 records still held after the flush, expected none"),
    (Stateful(functions.ForgetsToSave), "NotImplementedError: a state that is not None"),
    (Stateful(functions.FailsToBegin), "FailsToBegin: Refused: not today"),
])
@pytest.mark.parametrize("runner", ["threads", "process"])
def test_what_is_wrong_is_said(lines, runner, operator, line):
    with pytest.raises((laneway.OperatorError, SystemExit)) as caught:
        with opened([operator], runner, lines) as loader:
            drain(loader)
    if operator.name == "leave":
        assert caught.value.code == 3
    else:
        assert re.search(line, str(caught.value)), str(caught.value)


def test_tokens_are_not_there_while_a_state_is_loaded():
    operators = [Stateful(functions.ReadsTooEarly, group=1)]
    with opened(operators) as loader:
        take(loader, 4)
        state = loader.checkpoint()
    with pytest.raises(laneway.OperatorError, match=r"tokens of document \d+ in load\(\)"):
        opened(operators, state=state)


@pytest.mark.parametrize("call, message", [
    (lambda: Map(lambda text: text), "a lambda without a name"),
    (lambda: Map(functions.shout, version=-1), "version of 'shout' is -1"),
    (lambda: Stateful(functions.SortPairs, group=0), "group of 'SortPairs' is 0"),
    (lambda: Stateful(functions.shout), r"'shout' has no init\(\)"),
    (lambda: opened(ALL, "fork"), "runner is 'fork', expected one of threads, process, inline"),
    (lambda: laneway.open(SAMPLE, operators=ALL, runner="process", processes=-1), "processes is -1"),
    (lambda: opened([Map(lambda text: text, "same")], "process"), "expected operators that can be pickled"),
])
def test_wrong_definitions_are_refused(call, message):
    with pytest.raises(laneway.InvalidError, match=message):
        call()


def test_a_process_that_ends_fails_the_pipeline(lines):
    with opened([Map(functions.end_the_process)], "process", lines) as loader:
        with pytest.raises(laneway.OperatorError, match="OperatorError: a process of its runner has ended"):
            drain(loader)


def test_a_main_module_without_a_guard_is_told(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f"import laneway\nlaneway.open({str(SAMPLE)!r}, runner='process', processes=1, "
                       "operators=[laneway.Map(str.upper)])\n")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "expected the functions to be importable" in done.stderr


# ---- ends ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runner", RUNNERS)
def test_closing_in_the_middle_of_calls(lines, runner):
    for _ in range(3):
        loader = opened([Map(functions.wait_long)], runner, lines)
        loader.close()
        assert loader.closed


def test_a_loader_in_a_cycle_with_its_operator_is_closed_at_the_end():
    done = run_python("""
import laneway, sys
class Holder:
    def __call__(self, text):
        return text
holder = Holder()
holder.loader = laneway.open(sys.argv[1], operators=[laneway.Map(holder, "holder")])
next(holder.loader)
del holder
print("done")
""", SAMPLE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_loader_that_is_let_go_ends_its_run(runner):
    loader = opened(ALL, runner)
    take(loader, 1)
    run = weakref.ref(loader._run)
    cycle = [loader]
    cycle.append(cycle)
    del loader, cycle
    gc.collect()
    gc.collect()
    assert run() is None


def test_the_collector_on_a_thread_of_the_pipeline_itself_does_not_hang():
    done = run_python("""
import gc, laneway, sys, threading
gc.disable()
dropped, seen = threading.Event(), threading.Event()
def collect(text):
    if dropped.is_set():
        gc.collect()
        seen.set()
    return text
loader = laneway.open(sys.argv[1], operators=[laneway.Map(collect)])
cycle = [loader]
cycle.append(cycle)
del loader, cycle
dropped.set()
print(seen.wait(20))
""", SAMPLE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


@pytest.mark.parametrize("what", ["close()", "checkpoint()", "__next__()"])
def test_an_operator_cannot_use_its_own_loader(lines, what):
    def use(text):
        opened_event.wait(20)
        eval(f"loader.{what}", {"loader": loader})
        return text

    opened_event = threading.Event()
    loader = opened([Map(use, "use")], recipe=lines)
    opened_event.set()
    with loader, pytest.raises(laneway.OperatorError, match="called by one of its own operators"):
        next(loader)


@pytest.mark.parametrize("runner", RUNNERS)
def test_an_interrupt_while_operators_run(lines, runner):
    done = run_python("""
import json, laneway, os, signal, sys, threading
sys.path.insert(0, sys.argv[3])
import operator_functions as functions
if __name__ == "__main__":
    loader = laneway.open(json.loads(sys.argv[1]), operators=[laneway.Map(functions.wait_long)], runner=sys.argv[2],
                          processes=1)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        next(loader)
    except KeyboardInterrupt:
        print("interrupted")
    loader.close()
""", json.dumps(lines), runner, functions.__file__.rpartition("/")[0])
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


@pytest.mark.parametrize("runner", RUNNERS)
def test_the_end_of_the_program_with_a_loader_open(runner):
    done = run_python("""
import laneway, sys
if __name__ == "__main__":
    loader = laneway.open(sys.argv[1], operators=[laneway.Map(str.upper)], runner=sys.argv[2], processes=1)
    next(loader)
    print("done")
""", SAMPLE, runner)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("runner, leave", [("threads", "sys.exit"), ("process", "os._exit")])
def test_a_forked_child_leaves_the_run_alone(runner, leave):
    done = run_python("""
import laneway, os, sys
if __name__ == "__main__":
    loader = laneway.open(sys.argv[1], operators=[laneway.Map(str.upper)], runner=sys.argv[2], processes=1)
    next(loader)
    child = os.fork()
    if child == 0:
        loader.close()
        del loader
        eval(sys.argv[3])(0)
    assert os.waitpid(child, 0)[1] == 0
    for _ in range(20):
        next(loader)
    loader.close()
    print("done")
""", SAMPLE, runner, leave)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_transforms_need_only_push(lines):
    class Same(StatefulTransform):
        def push(self, state, document, out):
            out.put(document)

    with opened([Stateful(Same, "same")], recipe=lines) as loader, opened([], recipe=lines) as plain:
        assert texts_of(loader) == texts_of(plain)
