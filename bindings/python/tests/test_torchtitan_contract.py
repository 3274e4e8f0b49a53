# SPDX-License-Identifier: Apache-2.0
"""TorchTitan 0.3.0's contract: the config and how it is built, what a batch is, what is called and when."""
import dataclasses
import gc
import os

import pytest

import laneway
from conftest import ROOT, SAMPLE
from test_titan_core import TOKENIZER

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torchtitan", reason="TorchTitan is not installed")
DATA = ROOT / "examples" / "data"
TOML = DATA / "torchtitan.toml"


@pytest.fixture(scope="module", autouse=True)
def loader_class():
    """Imports all that is needed, before any test looks for threads that stay: packages there start some."""
    import torchtitan.models.llama3.config_registry

    import laneway.torchtitan.recipes
    from laneway.torchtitan import LanewayDataLoader

    assert torchtitan and laneway.torchtitan.recipes
    torch.set_num_threads(1)
    return LanewayDataLoader


@pytest.fixture
def build(loader_class):
    made = []

    def built(config=None, rank=0, world=2, **fields):
        config = config or loader_class.Config.from_toml(str(TOML), **{"global_batch_size": 8, **fields})
        made.append(config.build(dp_world_size=world, dp_rank=rank, tokenizer=TOKENIZER, seq_len=64, local_batch_size=2,
                                 snapshot_every_n_steps=None))
        return made[-1]

    yield built
    for loader in made:
        loader.close()


def test_it_is_torchtitans_loader_and_stateful(loader_class, build):
    from torch.distributed.checkpoint.stateful import Stateful
    from torchtitan.components.dataloader import BaseDataLoader

    loader = build()
    assert isinstance(loader, BaseDataLoader) and isinstance(loader, Stateful) and type(loader) is loader_class
    assert loader.core.recipe.text() == build().core.recipe.text()


def test_a_batch_is_a_fresh_dictionary_of_two_and_its_labels(build):
    loader = build()
    (first, labels), (second, _) = (next(iter(loader)) for _ in range(2))
    assert list(first) == ["input", "positions"] and first is not second
    for values in (*first.values(), labels):
        assert values.dtype == torch.int64 and values.shape == (2, 64) and values.device.type == "cpu"
    assert (first["positions"][:, 0] == 0).all() and int(first["positions"].max()) < 64
    starts = first["positions"] == 0
    assert (labels[:, :-1][~starts[:, 1:]] == first["input"][:, 1:][~starts[:, 1:]]).all()
    first["input"] = first["input"].float()  # as the trainer does with device copies
    assert second["input"].dtype == torch.int64


def several(loader):
    """Inputs and labels of some batches, one below the other."""
    taken = [(inputs["input"].clone(), labels.clone()) for inputs, labels in (next(loader) for _ in range(8))]
    return torch.cat([inputs for inputs, _ in taken]), torch.cat([labels for _, labels in taken])


def test_labels_stay_within_documents_unless_asked_otherwise(build):
    eos = 0
    inputs, labels = several(build())
    assert not (inputs == eos).any() and (labels == eos).any()
    inputs, labels = several(build(labels="stream"))
    assert (inputs == eos).any() and (labels == eos).any() and (labels != -100).all()
    inputs, labels = several(build(labels="stream", mask_eos=True))
    assert (inputs == eos).any() and (labels[inputs == eos] == -100).all()


def test_the_validator_can_replace_infinite(loader_class, build):
    config = loader_class.Config(recipe=str(TOML), validation=True)
    assert dataclasses.replace(config, infinite=True).infinite is True
    finite = build(dataclasses.replace(config, infinite=False), world=1)
    with pytest.raises(StopIteration):
        for _ in range(100000):
            next(finite)
    again = build(dataclasses.replace(config, infinite=False), world=1)
    assert (next(again)[0]["input"] == next(build(config, world=1))[0]["input"]).all()


def test_a_config_logs_and_refuses_what_is_not_a_field(loader_class):
    assert loader_class.Config(recipe="a").to_dict()["recipe"] == "a"
    with pytest.raises(TypeError, match="shuffle"):
        loader_class.Config.from_toml("a", shuffle=True)
    with pytest.raises(laneway.InvalidError, match="dataset is 'c4', expected recipe in its place"):
        loader_class.Config(dataset="c4").build(dp_world_size=1, dp_rank=0, tokenizer=TOKENIZER, seq_len=64,
                                                local_batch_size=2)
    with pytest.raises(laneway.InvalidError, match="recipe is empty"):
        loader_class.Config().build(dp_world_size=1, dp_rank=0, tokenizer=TOKENIZER, seq_len=64, local_batch_size=2)


def test_nothing_stays_when_it_is_dropped_without_close(loader_class):
    before = len(os.listdir("/proc/self/task"))
    gc.disable()
    try:
        loader = loader_class.Config(recipe=str(TOML), canonical_replicas=1).build(
            dp_world_size=1, dp_rank=0, tokenizer=TOKENIZER, seq_len=64, local_batch_size=2)
        inputs, _ = next(iter(loader))
        kept = inputs["input"].clone()
        del loader
        while len(os.listdir("/proc/self/task")) > before:
            os.sched_yield()
        assert (inputs["input"] == kept).all()  # a tensor outlives its loader
    finally:
        gc.enable()


def parsed(*arguments):
    from torchtitan.config import ConfigManager

    return ConfigManager().parse_args(["--module", "laneway.torchtitan.recipes", "--config", "llama3_debugmodel",
                                       "--hf-assets-path", str(DATA), *arguments])


def test_every_config_of_torchtitans_takes_its_data_by_flags(loader_class):
    config = parsed("--dataloader.recipe", str(TOML), "--dataloader.canonical-replicas", "16", "--training.global-batch-size",
                    "32", "--training.local-batch-size", "4", "--validator.dataloader.recipe", str(SAMPLE))
    assert type(config.dataloader) is type(config.validator.dataloader) is loader_class.Config
    assert (config.dataloader.recipe, config.dataloader.canonical_replicas) == (str(TOML), 16)
    assert (config.dataloader.global_batch_size, config.dataloader.rank_batch_size) == (32, 4)
    assert config.dataloader.vocabulary == config.model_spec.model.vocab_size == 2048
    validation = config.validator.dataloader
    assert validation.validation and validation.rank_batch_size == 4 and validation.global_batch_size == -1


def test_a_step_without_a_global_batch_is_one_batch_of_each_rank_whole_under_pipelines(build):
    config = parsed("--dataloader.recipe", str(TOML), "--dataloader.canonical-replicas", "4",
                    "--training.local-batch-size", "8").dataloader
    assert "global_batch: 16\n" in build(config).core.recipe.text()


def test_a_config_that_torchtitan_does_not_ship_is_not_there():
    from laneway.torchtitan import recipes

    with pytest.raises(AttributeError, match="no config 'llama3_9000b'"):
        recipes.llama3_9000b  # noqa: B018
