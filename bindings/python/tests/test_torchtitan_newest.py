# SPDX-License-Identifier: Apache-2.0
"""The contract of TorchTitan's main branch, which no release has: against stand-ins for the two classes it takes."""
import dataclasses
import importlib
import sys
import types

import numpy as np
import pytest

import laneway
from conftest import ROOT
from test_titan_core import TOKENIZER

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
TOML = str(ROOT / "examples" / "data" / "torchtitan.toml")


class Base:
    @dataclasses.dataclass(kw_only=True, slots=True)
    class Config:
        max_num_documents: int | None = None


@dataclasses.dataclass(kw_only=True)
class Microbatch:
    input: object
    labels: object
    positions: object
    padding_mask: object
    num_valid_tokens: int


@pytest.fixture
def loader_class(monkeypatch):
    for name in ("torchtitan", "torchtitan.components", "torchtitan.components.data"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    for name, members in (("loader", {"BaseDataLoader": Base}), ("types", {"TokenizedTrainingMicrobatch": Microbatch})):
        module = types.ModuleType(f"torchtitan.components.data.{name}")
        module.__dict__.update(members, __spec__=types.SimpleNamespace(name=module.__name__))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, "laneway.torchtitan.contract_d", raising=False)
    yield importlib.import_module("laneway.torchtitan").LanewayDataLoader
    sys.modules.pop("laneway.torchtitan.contract_d", None)


def build(loader_class, tokens=128, context=64, **fields):
    return loader_class(loader_class.Config.from_toml(TOML, **fields), dp_world_size=2, dp_rank=0, tokenizer=TOKENIZER,
                        max_context_length=context, num_tokens_per_microbatch=tokens)


def test_a_microbatch_is_an_object_of_rows_laid_end_to_end(loader_class):
    loader = build(loader_class, num_tokens_per_train_step=512)
    microbatch = next(iter(loader))
    assert isinstance(microbatch, Microbatch)
    for name in ("input", "labels", "positions"):
        assert getattr(microbatch, name).dtype == torch.int64 and getattr(microbatch, name).shape == (128,)
    assert microbatch.padding_mask.dtype == torch.bool and not microbatch.padding_mask.any()
    assert microbatch.num_valid_tokens == int((microbatch.labels != -100).sum())
    assert type(microbatch.num_valid_tokens) is int
    assert loader.max_num_documents is None and "global_batch: 8\n" in loader.core.recipe.text()
    loader.close()
    loader.close()


def test_it_is_the_same_stream_as_the_released_contracts(loader_class):
    from laneway.torchtitan.core import Core
    from laneway.torchtitan.place import Place, Wanted

    loader = build(loader_class, num_tokens_per_train_step=512)
    core = Core(Wanted(TOML), Place(0, 2, 2, 64, 8), TOKENIZER)
    for _ in range(2):
        assert np.array_equal(next(loader).input.numpy(), core.next().tokens.reshape(-1))
    core.load_state_dict(loader.state_dict())
    assert np.array_equal(next(loader).input.numpy(), core.next().tokens.reshape(-1))
    loader.close()
    core.close()


def test_a_validator_can_replace_repeat(loader_class):
    config = dataclasses.replace(loader_class.Config(recipe=TOML, validation=True), repeat=False)
    loader = loader_class(config, dp_world_size=1, dp_rank=0, tokenizer=TOKENIZER, max_context_length=64,
                          num_tokens_per_microbatch=512)
    with pytest.raises(StopIteration):
        for _ in range(100000):
            next(loader)
    loader.close()


@pytest.mark.parametrize(("more", "message"), [
    ({"tokens": 100}, "training.num_tokens_per_microbatch is 100, expected a multiple of max_context_length"),
    ({"num_tokens_per_train_step": 100}, "training.num_tokens_per_train_step is 100"),
    ({"max_num_documents": 4}, "max_num_documents is set, expected None"),
    ({"canonical_replicas": 3}, "training.num_tokens_per_train_step is 4, expected a multiple of canonical_replicas"),
])
def test_errors_use_the_names_of_this_contract(loader_class, more, message):
    with pytest.raises(laneway.InvalidError, match=message):
        build(loader_class, **more)
