# SPDX-License-Identifier: Apache-2.0
"""The fluent surface comes to the recipe one would write, and says so where it cannot."""
import pytest

import laneway
from conftest import ROOT, take
from laneway.api import Pipeline
from laneway.io import Dataset
from laneway.work import MixtureSpec, StaticMixtureWorkSource, TokenEstimation

DATA = ROOT / "examples" / "data"
TOKENIZER = DATA / "tokenizer.json"


def source(**more):
    datasets = [Dataset.from_path(name, DATA / f"{name}.jsonl") for name in ("guides", "tales")]
    settings = {"mixture": MixtureSpec({"guides": 0.7, "tales": 0.3}), "seed": 42, "exhausted_policy": "repeat",
                "token_estimation": TokenEstimation(), **more}
    return StaticMixtureWorkSource(datasets, **settings)


def pipeline(of=None, **options):
    return (Pipeline(of or source()).options(io_options={"cache": {"enabled": True}}, **options)
            .tokenize(tokenizer_id=TOKENIZER, field="text", parallelism=4, special_tokens="eos")
            .pack_flat(max_length=64, algorithm="wrap").shuffle(buffer_size=8, seed=42).batch(microbatch_size=3))


RECIPE = {
    "seed": 42, "lanes": 4, "global_batch": 12, "context": 64,
    "sources": [{"name": "guides", "path": str(DATA / "guides.jsonl"), "weight": 0.7},
                {"name": "tales", "path": str(DATA / "tales.jsonl"), "weight": 0.3}],
    "tokenizer": {"path": str(TOKENIZER), "eos": True}, "shuffle": {"rows": 8},
    "runtime": {"threads": 4, "microbatch": 3, "dtype": "int64"},
}


def test_it_comes_to_the_recipe_one_would_write():
    assert pipeline(canonical_replicas=4).recipe().text() == laneway.Recipe(RECIPE).text()


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_every_degree_gives_the_batches_of_the_lanes(degree):
    with laneway.open({**RECIPE, "runtime": {"threads": 4, "dtype": "int64"}}) as loader:
        expected = [next(loader).tokens.tobytes() for _ in range(2)]
    found = [b"", b""]
    for group in range(degree):
        with pipeline(dp_degree=degree, dp_group_id=group, canonical_replicas=4) as running:
            for _, batch in zip(range(2 * 4 // degree), running):
                found[batch.step] += batch.to_training(framework="numpy")["input_ids"].tobytes()
    assert found == expected


def test_states_go_from_one_degree_to_another():
    with pipeline(canonical_replicas=4) as running:
        for _, _batch in zip(range(4), running):
            pass
        state = running.checkpoint()
        expected = [batch.tokens.tobytes() for _, batch in zip(range(4), running)]
    found = []
    for group in range(2):
        with pipeline(dp_degree=2, dp_group_id=group, canonical_replicas=4) as other:
            other.restore(state)
            found += [batch.tokens.tobytes() for _, batch in zip(range(2), other)]
    assert found == expected


def test_restore_in_the_middle_of_a_run():
    with pipeline() as running:
        start = running.state_dict()
        first = take(running.loader(), 2)
        running.load_state_dict(start)
        assert take(running.loader(), 2) == first
        assert running.stats()["steps"] == 2


def test_steps_make_new_definitions():
    base = Pipeline(source()).tokenize(TOKENIZER, special_tokens="none").pack_flat(64).batch(2)
    other = base.shuffle(16)
    assert "rows: 0" in base.recipe().text() and "rows: 16" in other.recipe().text()
    assert "16 rows" not in base.validate().explain()
    with base:
        next(iter(base))
        with pytest.raises(laneway.InvalidError, match="expected all steps before it"):
            base.shuffle(16)


@pytest.mark.parametrize("settings, line", [
    ({"token_estimation": None}, "unit: documents"),
    ({"shuffle_shards": False}, "order: file"),
    ({"exhausted_policy": None}, "end: drop"),
    ({"seed": None}, "seed: 42"),
    ({"seed": 7}, "seed: 6241336738039615122"),
])
def test_settings_of_the_source(settings, line):
    assert line in pipeline(source(**settings)).recipe().text()


def test_the_end_of_the_data():
    one = StaticMixtureWorkSource([Dataset.from_path("notes", DATA / "notes.jsonl")], exhausted_policy="stop")
    made = Pipeline(one).tokenize("bytes").pack_flat(512, algorithm="best_fit", num_bins=4).batch(4, drop_last=False)
    with made:
        shapes = [(len(batch), batch.valid_tokens) for batch in made]
    assert shapes and all(rows == 4 for rows, _ in shapes) and shapes[-1][1] < 4 * 512


def test_documents_are_cut_off_at_a_row():
    made = Pipeline(source()).tokenize("bytes", max_length=64, truncation=True).pack_flat(64).batch(2)
    assert "overflow: truncate" in made.recipe().text()
    with pytest.raises(laneway.UnsupportedError, match="max_length is 32"):
        Pipeline(source()).tokenize("bytes", max_length=32, truncation=True).pack_flat(64).batch(2).recipe()


def test_names_without_a_meaning_here_change_nothing():
    made = Pipeline(source(chunk_size=64)).decode_text().options(runner="process", mtp_mode=True, run_id="x").tokenize(
        TOKENIZER, special_tokens="eos", add_attention_mask=False).ensure_mixture().pack_flat(64).batch(3)
    same = Pipeline(source()).tokenize(TOKENIZER, special_tokens="eos").pack_flat(64).batch(3)
    assert made.recipe().text() == same.recipe().text()
    assert "prefetch_steps: 5" in made.options(prefetch_batches=5).recipe().text()
    assert "memory: 8000000000" in made.options(recipe={"runtime.memory": "8GB"}).recipe().text()


@pytest.mark.parametrize("call, message", [
    (lambda p: p.pack_sequences(64), r"use pack_flat\(\)"),
    (lambda p: p.pack_flat(64, algorithm="first_fit"), 'expected "wrap" or "best_fit"'),
    (lambda p: p.tokenize("bytes", padding=True), "padding is True, expected False"),
    (lambda p: p.tokenize("bytes", special_tokens="tokenizer_default"), "expected one of bos_eos"),
    (lambda p: p.options(deterministic=False), "expected True"),
    (lambda p: p.options(io_options={"retry": 1}), 'expected "cache" alone'),
    (lambda p: source(max_repeats=2), "max_repeats"),
    (lambda p: source(exhausted_policy="stop"), 'expected "repeat"'),
    (lambda p: Dataset.from_dict("x", {}), "Dataset.from_path"),
])
def test_what_cannot_mean_the_same_says_what_to_use(call, message):
    with pytest.raises(laneway.UnsupportedError, match=message):
        call(Pipeline(source()))


@pytest.mark.parametrize("call, message", [
    (lambda: Pipeline(source()).recipe(), r"no tokenize\(\)"),
    (lambda: Pipeline(source()).tokenize("bytes").batch(2).recipe(), r"no pack_flat\(\)"),
    (lambda: Pipeline(source()).tokenize("bytes").pack_flat(8).recipe(), r"no batch\(\)"),
    (lambda: pipeline(dp_degree=2, canonical_replicas=3).recipe(), "canonical_replicas is 3, expected a multiple"),
    (lambda: source(mixture={"guides": 1}), "differ in 'tales'"),
    (lambda: StaticMixtureWorkSource([]), "no data sets"),
    (lambda: Pipeline(source()).tokenize(), "no tokenizer_id"),
])
def test_what_is_missing_or_wrong_is_named(call, message):
    with pytest.raises(laneway.InvalidError, match=message):
        call()


def test_unknown_names_are_the_usual_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        Pipeline(source()).nothing  # noqa: B018 (the access is what is tested)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        Pipeline(source()).tokenize("bytes", colour=1)
