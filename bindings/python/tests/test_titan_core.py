# SPDX-License-Identifier: Apache-2.0
"""TorchTitan's loader without TorchTitan: recipes of the reference integration, start-up checks, topologies, states."""
import gc
import json
import os
import types
import warnings

import numpy as np
import pytest

import laneway
from conftest import ROOT, SAMPLE
from laneway.torchtitan import checks, core, reference
from laneway.torchtitan.place import Place, Wanted

DATA = ROOT / "examples" / "data"
TOKENIZER = types.SimpleNamespace(tokenizer_path=str(DATA / "tokenizer.json"), eos_token="<|endoftext|>", bos_token=None,
                                  hf_adds_eos=True, get_vocab_size=lambda: 2048)
SOURCES = [{"name": "tales", "path": "tales.jsonl", "weight": 1.0}]


def written(folder, **fields):
    """A recipe of the reference integration beside links to the sample data."""
    for name in ("notes.jsonl", "guides.jsonl", "tales.jsonl"):
        link = folder / name
        if not link.exists():
            link.symlink_to(DATA / name)
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items() if name != "sources"]
    for source in fields.get("sources", SOURCES):
        lines += ["[[sources]]", *(f"{name} = {json.dumps(value)}" for name, value in source.items())]
    path = folder / "reference.toml"
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture
def toml(tmp_path):
    return lambda **fields: written(tmp_path, **{"tokenize_special_tokens": "eos", **fields})


def opened(recipe, rank=0, world=1, microbatch=2, context=64, step=8, **wanted):
    return core.Core(Wanted(recipe, **wanted), Place(rank, world, microbatch, context, step), TOKENIZER)


def options(recipe, **more):
    made = opened(recipe, **more)
    try:
        return made.recipe.options()
    finally:
        made.close()


# ---- recipes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("field", "value", "option", "expected"), [
    ("seed", 7, "seed", 7),
    ("canonical_replicas", 4, "lanes", 4),
    ("tokenize_special_tokens", "none", "tokenizer.eos", False),
    ("tokenize_special_tokens", "eos", "tokenizer.eos", "<|endoftext|>"),
    ("tokenize_special_tokens", "tokenizer_default", "tokenizer.eos", "<|endoftext|>"),
    ("pack_algorithm", "best_fit", "pack.algorithm", "best_fit"),
    ("pack_num_bins", 8, "pack.open_rows", 8),
    ("pad_token_id", 5, "pack.pad", 5),
    ("shuffle_buffer_size", 16, "shuffle.rows", 16),
    ("shuffle_after_pack", False, "shuffle.rows", 0),
    ("token_estimation", False, "mixture.unit", "documents"),
    ("repeat", False, "end", "drop"),
    ("tokenize_parallelism", 1, "runtime.threads", 1),
])
def test_a_field_becomes_an_option(toml, field, value, option, expected):
    assert options(toml(**{field: value}))[option] == expected


def test_the_defaults_are_the_reference_integrations(toml):
    now = options(toml())
    assert (now["seed"], now["order"], now["mixture.unit"], now["end"]) == (42, "permuted", "tokens", "repeat")
    assert (now["pack.algorithm"], now["shuffle.rows"], now["lanes"]) == ("wrap", reference.SHUFFLED_ROWS, 1)
    assert (now["labels.shift"], now["global_batch"], now["context"]) == ("document", 8, 64)


@pytest.mark.parametrize("field", ["shuffle_shards", "shuffle_within_shard"])
def test_the_order_is_that_of_the_files_only_without_any_shuffle(toml, field):
    off = {"shuffle_shards": False, "shuffle_within_shard": False, "shuffle_block_size": "none"}
    assert options(toml(**off))["order"] == "file"
    assert options(toml(**{**off, field: True}))["order"] == "permuted"
    assert options(toml(**{**off, "shuffle_block_size": "global"}))["order"] == "permuted"


def test_fields_that_ask_for_what_is_always_so_change_nothing(toml):
    plain = options(toml())
    assert options(toml(cache_dir="cache", cache_limit_bytes="500gb", fetch_parallelism=2, pack_parallelism=2,
                        shuffle_parallelism=2, prefetch_buffer_size=4, prefetch_parallelism=1, chunk_size=1,
                        aggregate_dir="shared", run_id="a", runner="threads", mtp_mode=False,
                        max_num_documents_scope="bin")) == plain


@pytest.mark.parametrize(("fields", "message"), [
    ({"shufle_shards": True}, "shufle_shards is no field, expected shuffle_shards"),
    ({"seed": "x"}, "seed is 'x', expected int"),
    ({"pad_token_id": True}, "pad_token_id is True, expected int or none"),
    ({"pack_algorithm": "first_fit"}, 'pack_algorithm is "first_fit", expected "best_fit"'),
    ({"pack_algorithm": "best_fit_wrap"}, 'expected "wrap"'),
    ({"pack_algorithm": "x"}, "pack_algorithm is 'x'"),
    ({"max_num_documents": 4}, "max_num_documents is 4, expected none"),
    ({"tokenize_special_tokens": "x"}, "tokenize_special_tokens is 'x'"),
    ({"tokenize_special_tokens": "bos_eos"}, "asks for the BOS, and tokenizer_config.json names none"),
    ({"canonical_replicas": 0}, "canonical_replicas is 0"),
    ({"sources": []}, "sources is empty"),
    ({"sources": [{"name": "a"}]}, r"sources\[0\].path is missing"),
    ({"sources": [{"path": "a"}]}, r"sources\[0\].name is missing"),
    ({"sources": [{**SOURCES[0], "format": "jsonl"}]}, r"sources\[0\].format is no field"),
    ({"sources": [{**SOURCES[0], "weight": 0}]}, r"sources\[0\].weight is 0"),
    ({"sources": [*SOURCES, *SOURCES]}, "tales"),
])
def test_what_cannot_be_meant_is_refused_by_the_fields_name(toml, fields, message):
    with pytest.raises(laneway.LanewayError, match=message):
        opened(toml(**fields))


def test_laneways_own_recipe_is_taken_as_it_is():
    now = options(str(SAMPLE), context=128, step=48)
    assert (now["labels.shift"], now["shuffle.rows"], now["lanes"]) == ("stream", 16, 8)
    assert (now["runtime.dtype"], now["runtime.microbatch"]) == ("int64", 2)
    assert options(str(SAMPLE), context=128, step=48, shift="document", mask_eos=True)["labels.shift"] == "document"


# ---- checks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("more", "message"), [
    ({"lanes": 3}, "training.global_batch_size is 8, expected a multiple of canonical_replicas"),
    ({"microbatch": 3}, "training.global_batch_size is 8, expected a multiple of the 1 data-parallel ranks times the 3"),
    ({"vocabulary": 2047}, "has 2048 ids, expected at most 2047, the model's vocab_size"),
])
def test_a_start_up_check_names_the_field(toml, more, message):
    with pytest.raises(laneway.InvalidError, match=message):
        opened(toml(), **more)


def test_checks_of_laneways_own_recipe_name_the_trainers_field():
    with pytest.raises(laneway.InvalidError, match=r"training.seq_len is 64, expected the recipe's context \(128\)"):
        opened(str(SAMPLE), step=48)
    with pytest.raises(laneway.InvalidError, match=r"global_batch_size is 50, expected a multiple of .* \(48\)"):
        opened(str(SAMPLE), context=128, step=50)
    with pytest.raises(laneway.InvalidError, match="the recipe's global_batch is 48, expected a multiple of the 1 .* 5 rows"):
        opened(str(SAMPLE), context=128, step=96, microbatch=5)
    with pytest.raises(laneway.InvalidError, match="recipe is empty"):
        opened("")


def test_the_padding_and_the_trainers_tokenizer_bound_the_vocabulary(toml, monkeypatch):
    with pytest.raises(laneway.InvalidError, match="pad_token_id is 2048, expected less than 2048"):
        opened(toml(pad_token_id=2048))
    monkeypatch.setattr(TOKENIZER, "get_vocab_size", lambda: 100)
    with pytest.raises(laneway.InvalidError, match="expected at most 100, those of the tokenizer in hf_assets_path"):
        opened(toml())


def test_a_tokenizer_without_files_is_refused(toml):
    with pytest.raises(laneway.InvalidError, match="has no tokenizer_path"):
        core.Core(Wanted(toml()), Place(0, 1, 2, 64, 8), object())


def test_lanes_that_ranks_share_are_a_warning(toml):
    with pytest.warns(RuntimeWarning, match="canonical_replicas is 2, no multiple of the 4") as warned:
        shared = opened(toml(canonical_replicas=2), world=4)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = opened(toml(canonical_replicas=2), world=1, microbatch=8)
    assert (shared.next().tokens == alone.next().tokens[:2]).all()
    shared.close()
    alone.close()


def test_rows_that_do_not_begin_at_position_0_are_an_error():
    positions = np.arange(8).reshape(2, 4)
    with pytest.raises(laneway.InvalidError, match="positions of step 3 begin at 4 and reach 7"):
        checks.check_positions(types.SimpleNamespace(positions=positions, context=4, step=3))


def test_slots_suffice_for_the_steps_that_a_trainer_holds():
    held = opened(str(SAMPLE), context=128, microbatch=48, step=4 * 48)
    kept = [held.next() for _ in range(5)]
    assert [batch.step for batch in kept] == list(range(5))
    held.close()


def test_too_few_slots_say_which_field_to_set(toml):
    unknown = opened(toml(), step=0)
    with pytest.raises(laneway.BusyError, match="set training.global_batch_size in the dataloader's config"):
        kept = [unknown.next() for _ in range(9)]
        assert kept
    unknown.close()


# ---- topologies ----------------------------------------------------------------------------------


def rows_of(cores, batches):
    """The rows of the next steps over all ranks, in their order: [rows, (tokens, positions, labels)]."""
    taken = [[made.next() for _ in range(batches)] for made in cores]
    return np.concatenate([np.stack([batch.tokens, batch.positions, batch.labels], axis=1)
                           for of_rank in taken for batch in of_rank])


def world_of(path, world, state=None, microbatch=2):
    cores = [opened(path, rank, world, microbatch) for rank in range(world)]
    for made in cores:
        if state is not None:
            wanted = made.state_dict()  # as a distributed checkpoint does
            made.load_state_dict({name: state[name] for name in wanted})
    return cores


def run(path, world, steps, state=None, microbatch=2):
    cores = world_of(path, world, state, microbatch)
    rows = [rows_of(cores, 8 // (world * microbatch)) for _ in range(steps)]
    pieces = {name: piece for made in cores for name, piece in made.state_dict().items()}
    for made in cores:
        made.close()
    return rows, pieces


def test_steps_are_the_same_for_1_2_and_4_ranks(toml):
    path = toml(canonical_replicas=4, shuffle_buffer_size=8)
    expected, _ = run(path, 1, 5)
    for world in (2, 4):
        assert np.array_equal(run(path, world, 5)[0], expected)


def test_a_run_on_2_then_1_then_2_ranks_gives_the_steps_of_one_run(toml):
    path = toml(canonical_replicas=4, shuffle_buffer_size=8)
    expected, _ = run(path, 1, 6)
    first, state = run(path, 2, 2)
    second, state = run(path, 1, 2, state, microbatch=4)
    third, _ = run(path, 2, 2, state, microbatch=1)
    assert np.array_equal(first + second + third, expected)


def test_pieces_are_bytes_and_do_not_depend_on_who_saves_them(toml):
    path = toml(canonical_replicas=4)
    _, of_one = run(path, 1, 2)
    _, of_four = run(path, 4, 2)
    assert sorted(of_one) == ["global", *(f"lane_0000{lane}" for lane in range(4))]
    assert all(type(piece) is bytes for piece in of_one.values())
    lanes = [name for name in of_one if name != "global"]
    assert [of_one[name] for name in lanes] == [of_four[name] for name in lanes]


def test_replicas_of_a_rank_get_the_same_bytes(toml):
    path = toml(canonical_replicas=4)
    one, other = opened(path, 1, 2), opened(path, 1, 2)
    for _ in range(4):
        assert one.next().tokens.tobytes() == other.next().tokens.tobytes()
    one.close()
    other.close()


# ---- states --------------------------------------------------------------------------------------


def test_a_state_before_the_first_batch_is_the_start(toml):
    made = opened(toml(canonical_replicas=4), 0, 2)
    start = made.state_dict()
    first = made.next().tokens.copy()
    made.next()
    made.load_state_dict(start)
    assert (made.next().tokens == first).all()
    made.load_state_dict({})  # a checkpoint without data changes nothing
    assert not (made.next().tokens == first).all()
    made.close()


@pytest.mark.parametrize(("state", "message"), [
    ({"lane_00000": b""}, 'has lane_00000 and no "global"'),
    ({"dp_rank_0": b"", "world_size": 2}, "world_size in the checkpoint is of type int, expected bytes"),
    ({"global": b"x"}, "piece"),
])
def test_a_foreign_state_is_refused(toml, state, message):
    made = opened(toml())
    with pytest.raises(ValueError, match=message):
        made.load_state_dict(state)
    made.close()


@pytest.mark.parametrize(("more", "field"), [
    ({"context": 128}, "training.seq_len"), ({"step": 16}, "training.global_batch_size"),
    ({"lanes": 2}, "canonical_replicas"), ({"shift": "stream"}, "dataloader.labels"),
])
def test_a_state_of_another_recipe_names_the_field(toml, more, field):
    path = toml()
    saved = opened(path)
    made = opened(path, **more)
    with pytest.raises(laneway.MismatchError, match=rf"\({field} sets it\)"):
        made.load_state_dict(saved.state_dict())
    saved.close()
    made.close()


def test_a_dropped_loader_stops_its_threads_without_the_garbage_collector(toml):
    path, before = toml(), len(os.listdir("/proc/self/task"))
    gc.disable()
    try:
        made = opened(path)
        made.next()
        assert len(os.listdir("/proc/self/task")) > before
        del made
        while len(os.listdir("/proc/self/task")) > before:  # a joined thread's entry may be there for a moment
            os.sched_yield()
    finally:
        gc.enable()


# ---- validation ----------------------------------------------------------------------------------


def everything(path, world, lanes=4):
    cores = [opened(path, rank, world, 2, step=0, validation=True, repeat=False, lanes=lanes) for rank in range(world)]
    return [_drained(made) for made in cores]


def _drained(made):
    batches = []
    while True:
        try:
            batch = made.next()
        except StopIteration:
            made.close()
            return batches
        batches.append(np.stack([batch.tokens, batch.labels], axis=1))


def test_validation_is_one_pass_in_file_order_that_ends_alike_on_every_rank(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f'{{"text": "{"x" * (i * 37 % 90)}{i}"}}\n' for i in range(60)))
    toml = tmp_path / "validation.toml"
    toml.write_text('tokenize_special_tokens = "eos"\n[[sources]]\nname = "texts"\npath = "texts.jsonl"\n')
    for world in (1, 2, 4):
        taken = everything(str(toml), world)
        assert len({len(batches) for batches in taken}) == 1
        assert all(batch.shape == (2, 2, 64) for batches in taken for batch in batches)
        # As many labels as the documents have tokens after the first.
        tokenizer = laneway.Tokenizer(DATA / "tokenizer.json", eos=True)
        wanted = sum(len(tokenizer.encode(json.loads(line)["text"])) - 1 for line in path.read_text().splitlines())
        assert sum(int((batch[:, 1] != -100).sum()) for batches in taken for batch in batches) == wanted


def test_validation_has_the_same_rows_for_any_number_of_ranks(toml):
    path = toml(canonical_replicas=4)
    cores = [opened(path, rank, world, 2, step=0, validation=True, repeat=True) for world in (1, 2) for rank in range(world)]
    one = np.concatenate([cores[0].next().tokens for _ in range(2)])
    two = np.concatenate([made.next().tokens for made in cores[1:]])
    assert np.array_equal(one, two)
    assert all(made.recipe.options()["order"] == "file" for made in cores)
    for made in cores:
        made.close()
