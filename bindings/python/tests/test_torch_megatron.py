# SPDX-License-Identifier: Apache-2.0
"""The loader of Megatron-LM, against its documented contract: Megatron-LM itself needs a GPU and is not run here."""
import argparse
import copy
import os
import sys
import types
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import laneway
from conftest import SAMPLE

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from laneway import megatron  # noqa: E402

torch.set_num_threads(1)  # threads that PyTorch keeps are none that a test leaves behind

STATE = "iter_{:07d}/mp_rank_00/train_dataloader_dprank{:03d}.pt"


@dataclass
class Place:
    """What ``mpu`` says to one process."""

    data: int = 0
    world: int = 1
    tensor: int = 0
    stage: int = 0
    stages: int = 1

    def get_data_parallel_rank(self):
        return self.data

    def get_data_parallel_world_size(self):
        return self.world

    def get_tensor_model_parallel_rank(self):
        return self.tensor

    def get_pipeline_model_parallel_rank(self):
        return self.stage

    def get_pipeline_model_parallel_world_size(self):
        return self.stages


class Rerunning:
    """As Megatron-LM's wrapper of an iterator: it keeps the microbatches of an iteration, to give them again."""

    def __init__(self, iterable):
        self.iterable, self.kept, self.again = iterable, [], []

    def __next__(self):
        if self.again:
            return self.again.pop(0)
        self.kept.append(next(self.iterable))
        return copy.copy(self.kept[-1])

    def rewind(self):
        self.again = list(self.kept)

    def advance(self):
        self.kept, self.again = [], []


def arguments(**more):
    """Arguments as after Megatron-LM has parsed and completed them."""
    parser = megatron.add_arguments(argparse.ArgumentParser())
    found = parser.parse_args(["--laneway-data-config", str(SAMPLE)])
    given = {"dataloader_type": "external", "micro_batch_size": 2, "global_batch_size": 48, "seq_length": 128,
             "iteration": 0, "train_iters": 100, "eval_iters": 0, "padded_vocab_size": 2048, "save": None,
             "virtual_pipeline_model_parallel_size": None, "context_parallel_size": 1, **more}
    for name, value in given.items():
        setattr(found, name, value)
    return found


@pytest.fixture
def opened():
    """Builds the loaders of a process, and closes them when the test is over."""
    loaders = []

    def build(place=None, vp_stage=None, **more):
        found = megatron.build_loaders(arguments(**more), place or Place(), vp_stage)
        loaders.extend(loader for loader in found if loader is not None)
        return found

    yield build
    for loader in loaders:
        loader.close()


def rows(loaders, world, iterations):
    """Rows of iterations, those of all data-parallel ranks in their order, by name."""
    count = 48 // (2 * world)
    found = []
    for _ in range(iterations):
        batches = [next(loader) for loader in loaders for _ in range(count)]
        found.append({name: torch.cat([batch[name] for batch in batches]) for name in batches[0]})
    return found


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.keys() == other.keys()
        for name in one:
            assert torch.equal(one[name], other[name]), name


def save(folder, iteration, loader, rank, model="mp_rank_00"):
    """As ``maybe_save_dataloader_state`` writes it."""
    path = folder / STATE.format(iteration, rank).replace("mp_rank_00", model)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"dataloader_state_dict": loader.save_state()}, path)
    return path


def trains(opened, world, **more):
    return [opened(Place(data=rank, world=world), **more)[0] for rank in range(world)]


# ---- batches -------------------------------------------------------------------------------------


def test_a_microbatch_is_what_the_trainer_takes(opened):
    train, valid, test = opened()
    assert iter(train) is train and valid is None and test is None
    batch = next(train)
    assert sorted(batch) == ["labels", "loss_mask", "position_ids", "tokens"]
    for name, tensor in batch.items():
        assert tuple(tensor.shape) == (2, 128) and not tensor.is_cuda
        assert tensor.dtype == (torch.float32 if name == "loss_mask" else torch.int64)
    assert torch.equal(batch["position_ids"], torch.arange(128).repeat(2, 1))
    assert torch.equal(batch["labels"][:, :-1], batch["tokens"][:, 1:])
    assert batch["loss_mask"].min() == 1


def test_the_stream_is_that_of_the_recipe(opened):
    found = rows(trains(opened, 1), 1, 2)
    with laneway.open(SAMPLE, options={"runtime.dtype": "int64"}) as loader:
        assert [bytes(step["tokens"].numpy()) for step in found] == [bytes(next(loader).tokens) for _ in range(2)]


def test_any_number_of_ranks_delivers_the_same_rows(opened):
    expected = rows(trains(opened, 1), 1, 2)
    for world in (2, 8):
        assert_same(rows(trains(opened, world), world, 2), expected)


def test_labels_without_a_loss_are_legal_ids_until_the_data_ends(opened, padded, tmp_path):
    recipe = tmp_path / "padded.yaml"
    recipe.write_text(laneway.Recipe(padded).text())
    train = opened(laneway_data_config=str(recipe), micro_batch_size=4, global_batch_size=4, seq_length=32)[0]
    labels, losses = [], []
    with pytest.raises(laneway.InvalidError, match="--laneway-data-config ends after .* expected --train-iters 100"):
        for batch in train:
            labels.append(batch["labels"])
            losses.append(batch["loss_mask"])
    labels, unused = torch.cat(labels), torch.cat(losses) == 0
    assert unused.any() and (labels[unused] == 0).all() and (labels >= 0).all()


def test_eod_mask_loss_takes_the_loss_where_the_input_is_eod(opened):
    eod = laneway.Tokenizer(SAMPLE.parent / "tokenizer.json", eos=True).encode("x")[-1]
    (plain,), (masked,) = rows([opened()[0]], 1, 1), rows([opened(eod_mask_loss=True)[0]], 1, 1)
    assert torch.equal(plain["tokens"], masked["tokens"]) and (plain["tokens"] == eod).any()
    assert torch.equal(masked["loss_mask"], (plain["tokens"] != eod).float())


def test_reset_position_ids_begins_again_with_every_document(opened):
    batch = next(opened(reset_position_ids=True)[0])
    with laneway.open(SAMPLE, options={"runtime.microbatch": 2}) as loader:
        assert (batch["position_ids"].numpy() == next(loader).positions).all()


def test_document_masks(opened):
    batch = next(opened(dataloader_inter_document_masking=True)[0])
    assert batch["cu_seqlens"].dtype == batch["max_seqlen"].dtype == torch.int32
    assert tuple(batch["cu_seqlens"].shape) == (2, 129) and tuple(batch["max_seqlen"].shape) == (2,)
    for row in range(2):
        starts = (batch["position_ids"][row] == 0).nonzero().flatten().tolist()
        assert batch["cu_seqlens"][row].tolist() == starts + [128] * (129 - len(starts))
        assert batch["max_seqlen"][row] == max(np.diff(starts + [128]))
    assert "cu_seqlens_padded" not in batch
    parallel = next(opened(dataloader_inter_document_masking=True, context_parallel_size=2)[0])
    assert torch.equal(parallel["cu_seqlens_padded"], batch["cu_seqlens"])


@pytest.mark.parametrize("within_documents", [False, True])
def test_attention_masks_hide_what_is_later_and_other_documents(opened, within_documents):
    batch = next(opened(create_attention_mask_in_dataloader=True, reset_attention_mask=within_documents,
                        reset_position_ids=True)[0])
    assert tuple(batch["attention_mask"].shape) == (2, 1, 128, 128) and batch["attention_mask"].dtype == torch.bool
    for row in range(2):
        positions = batch["position_ids"][row].tolist()
        for place in range(128):
            first = place - positions[place] if within_documents else 0
            seen = (~batch["attention_mask"][row, 0, place]).nonzero().flatten().tolist()
            assert seen == list(range(first, place + 1))


def test_an_iteration_can_be_run_again(opened):
    train = Rerunning(opened()[0])
    for _ in range(4):
        first = [next(train) for _ in range(24)]
        train.rewind()
        assert_same([next(train) for _ in range(24)], first)
        train.advance()
    assert train.iterable.save_state()["iteration"] == 4


# ---- parallelism ---------------------------------------------------------------------------------


def test_ranks_of_tensor_parallelism_but_the_first_have_no_loader(opened):
    assert opened(Place(tensor=1)) == (None, None, None)


def test_stages_of_a_pipeline_deliver_the_same_batches(opened):
    stages = [opened(Place(data=1, world=2, stage=stage, stages=4))[0] for stage in range(4)]
    expected = rows(stages[:1], 2, 1)
    for stage in stages[1:]:
        assert_same(rows([stage], 2, 1), expected)


def test_virtual_stages_deliver_the_same_batches(opened):
    virtual = {"virtual_pipeline_model_parallel_size": 3}
    chunks = [opened(Place(data=1, world=2, stages=2), vp_stage=chunk, **virtual)[0] for chunk in range(3)]
    batches = [[next(chunk) for chunk in chunks] for _ in range(24)]
    for found in batches:
        assert_same(found, found[:1] * 3)
    assert chunks[0].save_state() == chunks[2].save_state()


def test_only_stages_that_surely_ask_start_threads(opened):
    def threads():
        return len(os.listdir("/proc/self/task"))

    before = threads()
    opened(Place(stage=1, stages=3))
    opened(Place(stages=2), vp_stage=1, virtual_pipeline_model_parallel_size=2)
    assert threads() == before
    opened(Place(stage=2, stages=3))
    assert threads() > before


def test_saving_with_virtual_stages_takes_the_first_ones_state(opened, monkeypatch, tmp_path):
    saved = []
    module = types.ModuleType("megatron.training.checkpointing")
    module.maybe_save_dataloader_state = lambda iterator, iteration, folder: saved.append(
        None if iterator is None else iterator.iterable.save_state())
    monkeypatch.setitem(sys.modules, "megatron.training.checkpointing", module)
    virtual = {"virtual_pipeline_model_parallel_size": 2, "dataloader_save": str(tmp_path)}
    with pytest.raises(laneway.InvalidError, match="--dataloader-save .* laneway.megatron.save_stages"):
        opened(Place(stages=2), vp_stage=0, **virtual)
    megatron.save_stages(module)
    chunks = [opened(Place(stages=2), vp_stage=chunk, **virtual)[0] for chunk in range(2)]
    rows(chunks[:1], 1, 1)
    module.maybe_save_dataloader_state([Rerunning(chunk) for chunk in chunks], 1, str(tmp_path))
    module.maybe_save_dataloader_state([None, None], 1, str(tmp_path))
    module.maybe_save_dataloader_state(Rerunning(chunks[0]), 1, str(tmp_path))
    assert saved == [chunks[0].save_state(), None, chunks[0].save_state()]


# ---- states --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (3, 2), (2, 2), (4, 3), (8, 12)])
def test_any_number_of_ranks_goes_on_where_others_stopped(opened, tmp_path, before, after):
    whole = trains(opened, 1)
    rows(whole, 1, 3)
    expected = rows(whole, 1, 2)
    loaders = trains(opened, before)
    rows(loaders, before, 3)
    for rank, loader in enumerate(loaders):
        save(tmp_path, 3, loader, rank)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        resumed = trains(opened, after, iteration=3, dataloader_load=str(tmp_path))
    assert_same(rows(resumed, after, 2), expected)


def test_a_rank_reads_only_the_files_it_needs(opened, tmp_path):
    loaders = trains(opened, 4)
    rows(loaders, 4, 1)
    for rank in (0, 2, 3):
        save(tmp_path, 1, loaders[rank], rank)
    given = {"iteration": 1, "dataloader_load": str(tmp_path)}
    second_half = rows(loaders[2:], 4, 1)
    assert_same(rows([opened(Place(data=1, world=2), **given)[0]], 2, 1), second_half)
    with pytest.raises(laneway.NotFoundError, match="dprank001.pt': it is not there"):
        opened(Place(data=0, world=2), **given)


def test_iteration_0_starts_afresh(opened, tmp_path):
    assert_same(rows(trains(opened, 1, dataloader_load=str(tmp_path)), 1, 1), rows(trains(opened, 1), 1, 1))


def test_the_folder_of_saving_is_that_of_loading(opened, tmp_path):
    train = opened()[0]
    rows([train], 1, 1)
    save(tmp_path, 1, train, 0, model="mp_rank_00_000")
    resumed = opened(iteration=1, dataloader_save=str(tmp_path))[0]
    assert_same(rows([resumed], 1, 1), rows([train], 1, 1))


@pytest.mark.parametrize(("change", "error", "message"), [
    (lambda path: path.unlink(), laneway.NotFoundError, "it is not there, expected one file with the state after "
     "iteration 2"),
    (lambda path: path.write_bytes(b"not a file of torch"), laneway.CorruptError, "expected a state that this loader"),
    (lambda path: path.write_bytes(path.read_bytes()[:200]), laneway.CorruptError, "expected a state that this loader"),
    (lambda path: torch.save({"dataloader_state_dict": None}, path), laneway.CorruptError, "TypeError"),
    (lambda path: torch.save({}, path), laneway.CorruptError, "KeyError: 'dataloader_state_dict'"),
    (lambda path: change_state(path, pieces={"global": b"?"}), laneway.CorruptError, "global"),
    (lambda path: change_state(path, pieces=[]), laneway.CorruptError, "pieces is a list"),
    (lambda path: change_state(path, iteration=7), laneway.MismatchError, "iteration is 7, expected 2"),
    (lambda path: change_state(path, data_parallel_rank=1), laneway.MismatchError, "rank is 1, expected 0"),
    (lambda path: torch.save(torch.load(path), path.parent.parent.joinpath("mp_rank_00_000", path.name)),
     laneway.NotFoundError, "there are 2"),
], ids=["missing", "foreign", "cut", "empty", "no-state", "no-piece", "no-pieces", "iteration", "rank", "twice"])
def test_a_state_that_is_missing_or_wrong_ends_the_run(opened, tmp_path, change, error, message):
    train = opened()[0]
    rows([train], 1, 2)
    path = save(tmp_path, 2, train, 0)
    (path.parent.parent / "mp_rank_00_000").mkdir()
    change(path)
    with pytest.raises(error, match="megatron: '.*train_dataloader_dprank000.pt': .*" + message):
        opened(iteration=2, dataloader_load=str(tmp_path))


def change_state(path, **fields):
    saved = torch.load(path)
    saved["dataloader_state_dict"].update(fields)
    torch.save(saved, path)


def test_a_state_of_another_iteration_is_not_taken_for_this_one(opened, tmp_path):
    train = opened()[0]
    rows([train], 1, 1)
    path = save(tmp_path, 2, train, 0)
    change_state(path, iteration=2)
    with pytest.raises(laneway.MismatchError, match="iteration is 1, expected 2"):
        opened(iteration=2, dataloader_load=str(tmp_path))


def test_a_state_of_other_data_is_refused(opened, tmp_path):
    train = opened()[0]
    rows([train], 1, 1)
    save(tmp_path, 1, train, 0)
    with pytest.raises(laneway.MismatchError, match="mask_eos"):
        opened(iteration=1, dataloader_load=str(tmp_path), eod_mask_loss=True)


# ---- validation ----------------------------------------------------------------------------------


def test_every_evaluation_begins_again_and_is_not_shuffled(opened):
    given = {"eval_iters": 2, "laneway_valid_data_config": str(SAMPLE)}
    valid = opened(**given)[1]
    first, second = rows([valid], 1, 2), rows([valid], 1, 2)
    assert_same(first, second)
    with laneway.open(SAMPLE, options={"order": "file", "shuffle.rows": 0, "end": "pad"}) as loader:
        assert (first[0]["tokens"].numpy() == next(loader).tokens).all()
    ranks = [opened(Place(data=rank, world=3), **given)[1] for rank in range(3)]
    assert_same(rows(ranks, 3, 2), first)


def test_the_data_of_an_evaluation_ends_on_all_ranks_at_the_same_iteration(opened, padded, tmp_path):
    recipe = tmp_path / "padded.yaml"
    recipe.write_text(laneway.Recipe(padded).text())
    given = {"eval_iters": 1000, "laneway_valid_data_config": str(recipe), "micro_batch_size": 2,
             "global_batch_size": 4, "seq_length": 32, "skip_train": True}
    ends = []
    for rank in range(2):
        valid = opened(Place(data=rank, world=2), **given)[1]
        with pytest.raises(laneway.InvalidError, match=r"ends after (\d+) iterations, expected --eval-iters") as error:
            while True:
                next(valid)
        ends.append(str(error.value))
    assert ends[0] == ends[1] and "after 0 " not in ends[0]


def test_nothing_to_train_on_is_opened_when_only_evaluating(opened):
    train, valid, _ = opened(skip_train=True, laneway_data_config=None, eval_iters=1,
                             laneway_valid_data_config=str(SAMPLE))
    assert train is None and next(valid)["tokens"].shape == (2, 128)


# ---- the start -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "message"), [
    ({"dataloader_type": "cyclic"}, "--dataloader-type is cyclic, expected external"),
    ({"laneway_data_config": None}, "--laneway-data-config is not given"),
    ({"laneway_data_config": "nowhere.yaml"}, "nowhere.yaml"),
    ({"eval_iters": 10}, "--eval-iters is 10 and --laneway-valid-data-config is not given"),
    ({"rampup_batch_size": [16, 16, 100]}, "--rampup-batch-size is given"),
    ({"full_validation": True}, "--full-validation is given"),
    ({"hybrid_context_parallel": True}, "--hybrid-context-parallel is given"),
    ({"micro_batch_size": 5}, "--global-batch-size is 48, expected a multiple of --micro-batch-size 5 times 1"),
    ({"global_batch_size": 12}, "--global-batch-size 12.*expected a multiple of lanes"),
    ({"laneway_canonical_replicas": 5}, "--laneway-canonical-replicas 5.*expected a multiple of lanes"),
    ({"reset_attention_mask": True}, "--reset-attention-mask is given without a mask"),
    ({"sft": True, "context_parallel_size": 2}, "--context-parallel-size is 2 with --sft"),
    ({"save": "somewhere"}, "--save is given without --dataloader-save"),
    ({"padded_vocab_size": 128}, "ids, expected at most the 128 of the model"),
    ({"iteration": 5}, "--dataloader-load and --dataloader-save are not given"),
])
def test_arguments_that_do_not_go_together_are_named_at_the_start(opened, given, message):
    with pytest.raises(laneway.LanewayError, match=message):
        opened(**given)


def test_eod_mask_loss_needs_an_eos(opened, tmp_path):
    recipe = laneway.Recipe.open(SAMPLE).copy()
    recipe.set("tokenizer.eos", False)
    recipe.set("tokenizer.path", str(SAMPLE.parent / "tokenizer.json"))
    for source in range(3):
        name = ("notes", "guides", "tales")[source]
        recipe.set(f"sources.{source}.path", str(SAMPLE.parent / f"{name}.jsonl"))
    path = tmp_path / "plain.yaml"
    path.write_text(recipe.text())
    with pytest.raises(laneway.InvalidError, match="--eod-mask-loss: .* expected false without tokenizer.eos"):
        opened(laneway_data_config=str(path), eod_mask_loss=True)


def test_lanes_that_ranks_share_are_warned_of(opened):
    with pytest.warns(RuntimeWarning, match="8 lanes for 3 data-parallel ranks"):
        opened(Place(world=3))


def test_canonical_replicas_are_the_lanes(opened):
    found = rows([opened(laneway_canonical_replicas=4)[0]], 1, 1)
    with laneway.open(SAMPLE, options={"lanes": 4}) as loader:
        assert (found[0]["tokens"].numpy() == next(loader).tokens).all()


def test_the_provider_asks_megatron_for_arguments_and_places(monkeypatch):
    core, training = types.ModuleType("megatron.core"), types.ModuleType("megatron.training")
    core.mpu, training.get_args = Place(), lambda: arguments()
    for name, module in (("megatron", types.ModuleType("megatron")), ("megatron.core", core),
                         ("megatron.training", training)):
        monkeypatch.setitem(sys.modules, name, module)
    provider = megatron.train_valid_test_datasets_provider
    assert provider.is_distributed is True
    train, valid, test = provider([4800, 0, 0], vp_stage=None)
    with pytest.raises(TypeError):
        len(train)
    assert tuple(next(train)["tokens"].shape) == (2, 128) and valid is None and test is None
    train.close()
