# SPDX-License-Identifier: Apache-2.0
"""Recipes mean the same whatever they are given as; every failure has its class and the library's line."""
import pickle

import pytest

import laneway
from conftest import ROOT, SAMPLE
from laneway._native import lib

FOLDER = ROOT / "examples" / "data"
OPTIONS = {
    "seed": 42, "lanes": 8, "global_batch": 48, "context": 128,
    "sources": [{"name": "notes", "path": "notes.jsonl", "format": "jsonl", "text": "text", "weight": 0.2},
                {"name": "guides", "path": "guides.jsonl", "format": "jsonl", "text": "text", "weight": 0.5},
                {"name": "tales", "path": "tales.jsonl", "format": "jsonl", "text": "text", "weight": 0.3}],
    "mixture": {"unit": "tokens"}, "tokenizer": {"path": "tokenizer.json", "eos": True},
    "pack": {"algorithm": "wrap"}, "shuffle": {"rows": 16}, "end": "repeat", "runtime": {"memory": "256MB"},
}
TOML = """
seed = 42
lanes = 8
global_batch = 48
context = 128
end = "repeat"
sources = [
    {name = "notes", path = "notes.jsonl", format = "jsonl", weight = 0.2},
    {name = "guides", path = "guides.jsonl", format = "jsonl", weight = 0.5},
    {name = "tales", path = "tales.jsonl", format = "jsonl", weight = 0.3},
]
mixture = {unit = "tokens"}
tokenizer = {path = "tokenizer.json", eos = true}
pack.algorithm = "wrap"
shuffle.rows = 16
runtime.memory = "256MB"
"""


def test_yaml_toml_mapping_and_pickle_are_one_recipe(tmp_path):
    expected = laneway.Recipe.open(SAMPLE).text()
    (tmp_path / "recipe.toml").write_text(TOML)
    made = laneway.Recipe(OPTIONS, FOLDER)
    assert made.text() == expected
    assert laneway.Recipe.open(tmp_path / "recipe.toml").text() == expected
    again = pickle.loads(pickle.dumps(made))
    assert again.text() == expected and again.folder == str(FOLDER)


def test_a_mapping_runs_from_its_folder():
    with laneway.open(laneway.Recipe(OPTIONS, FOLDER)) as one, laneway.open(SAMPLE) as other:
        assert (next(one).tokens == next(other).tokens).all()


def test_options_of_one_run_do_not_change_the_recipe():
    recipe = laneway.Recipe(OPTIONS, FOLDER)
    before = recipe.text()
    with laneway.open(recipe, options={"context": 64, "sources.0.weight": 0.4}) as loader:
        assert next(loader).context == 64
        assert "weight: 0.4" in loader.recipe.text()
    assert recipe.text() == before


def test_texts_and_numbers_arrive_as_they_are():
    sources = [{"name": 'a "quoted" \\ \u00e9 \U0001f600', "path": "x\ty.jsonl", "weight": 0.000000001}]
    text = laneway.Recipe({**OPTIONS, "sources": sources, "seed": 2**64 - 1}).text()
    assert "\U0001f600" in text and "0.000000001" in text and "18446744073709551615" in text


@pytest.mark.parametrize("wrong, message", [
    ({"lanez": 1}, 'unknown key "lanez"'),
    ({"lanes": 1.5}, "lanes"),
    ({"lanes": None}, "lanes"),
    ({"sources": [{"name": object()}]}, "sources.0.name is a object"),
    ({"runtime": {"memory": b"1GB"}}, "runtime.memory is a bytes"),
])
def test_wrong_options_are_named(wrong, message):
    with pytest.raises(laneway.InvalidError, match=message):
        laneway.Recipe({**OPTIONS, **wrong}).text()


def test_every_status_has_its_class():
    failing = {name: getattr(lib, name) for name in dir(lib) if name.startswith("LW_E_")}
    classes = {one.status: one for one in laneway.LanewayError.__subclasses__()}
    assert len(failing) == len(classes) == 11
    assert set(failing.values()) == set(classes)


def test_errors_have_the_librarys_line_and_the_builtin_kind(tmp_path):
    with pytest.raises(FileNotFoundError) as found:
        laneway.open(tmp_path / "none.yaml")
    assert isinstance(found.value, laneway.NotFoundError)
    assert found.value.status == lib.LW_E_NOT_FOUND and found.value.os_errno == 2
    assert "none.yaml" in str(found.value)
    with pytest.raises(FileNotFoundError, match="none.toml"):
        laneway.open(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = = 1")
    with pytest.raises(ValueError, match="bad.toml.*expected TOML"):
        laneway.open(tmp_path / "bad.toml")
    with pytest.raises(ValueError, match="world is 5, expected a divisor"):
        laneway.open(SAMPLE, world=5)
    with pytest.raises(MemoryError):
        laneway.open(SAMPLE, options={"runtime.memory": 1000})
    with pytest.raises(ValueError, match="NUL"):
        laneway.Recipe.parse("a\0b")


def test_a_value_by_its_name():
    recipe = laneway.Recipe.open(SAMPLE)
    found = {key: recipe.value(key) for key in ("lanes", "tokenizer.path", "tokenizer.name", "tokenizer.eos", "end")}
    assert found == {"lanes": 8, "tokenizer.path": "tokenizer.json", "tokenizer.name": None, "tokenizer.eos": True,
                     "end": "repeat"}
    assert not {"path", "weight", "sources", "pack"} & set(recipe.options())


def test_explain_without_opening(tmp_path):
    recipe = laneway.Recipe(OPTIONS, FOLDER)
    assert "4 ranks of 12 rows" in laneway.explain(recipe, world=4)
    with laneway.open(recipe) as loader:
        state = loader.state()
    assert laneway.explain(recipe, state=state) != laneway.explain(recipe)
