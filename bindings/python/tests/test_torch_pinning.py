# SPDX-License-Identifier: Apache-2.0
"""Pinned memory through PyTorch's own calls, on a machine without a GPU: a recorder stands for its CUDA runtime."""
import pytest

import laneway
from conftest import SAMPLE
from pinned_runtime import Recorder

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from laneway.torch import StreamDataset  # noqa: E402 (only where it is installed)


class Cudart:
    """What ``torch.cuda.cudart()`` gives, of it what is used."""

    def __init__(self, recorder):
        self._recorder, self.flags = recorder, set()

    def cudaHostRegister(self, address, count, flags):  # noqa: N802 (the name is CUDA's)
        self.flags.add(flags)
        return self._recorder.register(address, count)

    def cudaHostUnregister(self, address):  # noqa: N802
        return self._recorder.unregister(address)


class Cuda(Recorder):
    """A recorder with PyTorch's names, and its own memory for tensors."""

    device = "cuda:0"

    def __init__(self):
        super().__init__()
        self.cudart, self.made = Cudart(self), []
        self._empty = torch.empty

    def empty(self, *shape, pin_memory=False, **more):
        tensor = self._empty(*shape, **more)
        if pin_memory:
            self.made.append(tensor.data_ptr())
        return tensor

    def pinned(self, tensor):
        """Where a tensor's memory comes from: "slot", "torch" or None for memory that is not pinned."""
        return "torch" if tensor.data_ptr() in self.made else "slot" if self.holds(tensor.numpy()) else None


@pytest.fixture
def cuda(monkeypatch):
    cuda = Cuda()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "cudart", lambda: cuda.cudart)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: {"cuda:0": cuda}[device].synchronize(cuda))
    monkeypatch.setattr(torch, "empty", cuda.empty)
    return cuda


EVERYTHING = {"return_labels": True, "return_loss_mask": True, "return_padding_mask": True, "return_cu_seqlens": True}


def places(cuda, fields):
    return {name: cuda.pinned(value) for name, value in fields.items() if isinstance(value, torch.Tensor)}


def test_where_pytorch_finds_a_gpu_all_tensors_are_pinned(cuda):
    with laneway.open(SAMPLE, options={"runtime.dtype": "int64"}) as loader, \
            laneway.open(SAMPLE, pin_memory=False) as plain:
        fields, expected = next(loader).to_training(**EVERYTHING), next(plain).to_training(**EVERYTHING)
        assert places(cuda, fields) == {"input_ids": "slot", "positions": "slot", "labels": "slot", "loss_mask": "slot",
                                        "padding_mask": "torch", "cu_seqlens": "torch"}
        assert set(places(cuda, expected).values()) == {None}
        for name, value in expected.items():
            assert torch.equal(fields[name], value) if isinstance(value, torch.Tensor) else fields[name] == value
            assert getattr(fields[name], "dtype", None) == getattr(value, "dtype", None)
    assert cuda.cudart.flags == {1} and cuda.synchronized == 1 and not cuda.registered


def test_what_is_converted_is_copied_once_into_pinned_memory(cuda):
    made = StreamDataset(SAMPLE)
    fields = next(iter(made))
    assert set(places(cuda, fields).values()) == {"torch"} and len(cuda.made) == 3
    assert {value.dtype for value in fields.values()} == {torch.int64}
    made.close()


def test_it_can_be_left_out(cuda):
    made = StreamDataset(SAMPLE, pin_memory=False)
    assert set(places(cuda, next(iter(made))).values()) == {None} and not cuda.known
    made.close()
    with laneway.open(SAMPLE) as loader:
        batch = next(loader)
        assert set(places(cuda, batch.to_training(pin_memory=False)).values()) == {None}
        flat = batch.to_training(flatten=True, ignore_index=-1, return_labels=True)
        assert set(places(cuda, flat).values()) == {"torch"} and flat["labels"].shape == (48 * 128,)


def test_a_batch_of_a_loader_that_pins_nothing_is_copied_if_it_is_asked_to(cuda):
    with laneway.open(SAMPLE, options={"runtime.dtype": "int64"}, pin_memory=False) as loader:
        batch = next(loader)
        assert set(places(cuda, batch.to_training(pin_memory=True)).values()) == {"torch"}
        assert not cuda.known
    with laneway.open(SAMPLE, options={"runtime.dtype": "int64"}) as loader:
        batch = next(loader)
    assert set(places(cuda, batch.to_training()).values()) == {"torch"}  # closed: its slot is pinned no more


def test_a_pipeline_says_it_for_all_that_is_made_of_it(cuda, texts):
    source = laneway.StaticMixtureWorkSource([laneway.Dataset.from_path("texts", texts)], exhausted_policy="repeat")
    pipeline = laneway.Pipeline(source).options(pin_memory=False).tokenize("bytes").pack_flat(32).batch(3)
    made = StreamDataset(pipeline)
    assert set(places(cuda, next(iter(made))).values()) == {None}
    made.close()
    made = StreamDataset(pipeline, pin_memory=True)
    assert set(places(cuda, next(iter(made))).values()) == {"slot"}
    made.close()


def test_an_error_of_cuda_is_taken_away_before_pytorch_meets_it(cuda, monkeypatch):
    kernels = []

    def ones(*_arguments, device):
        kernels.append(device)
        raise RuntimeError("CUDA error: out of memory")

    monkeypatch.setattr(torch, "ones", ones)
    cuda.fails = (2, 0)
    with laneway.open(SAMPLE) as loader:
        with pytest.warns(RuntimeWarning, match=r"cudaErrorMemoryAllocation \(2\)"):
            batch = next(loader)
        assert kernels == ["cuda"]
        assert set(places(cuda, batch.to_training(dtype="auto")).values()) == {"torch"}


def test_arrays_cannot_be_asked_to_be_pinned():
    with laneway.open(SAMPLE) as loader:
        batch = next(loader)
        with pytest.raises(laneway.InvalidError, match="pin_memory is True for arrays or lists, expected"):
            batch.to_training(framework="numpy", pin_memory=True)
        with pytest.raises(laneway.UnsupportedError, match="pin_memory: PyTorch finds no CUDA device, expected one"):
            batch.to_training(pin_memory=True)
