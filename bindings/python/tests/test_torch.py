# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch are views too."""
import gc

import pytest

import laneway
from conftest import SAMPLE

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def test_tensors_share_the_librarys_memory(sample):
    batch = next(sample)
    fields = batch.to_training(return_labels=True, return_loss_mask=True)
    for name, array in (("input_ids", batch.tokens), ("labels", batch.labels), ("positions", batch.positions),
                        ("loss_mask", batch.loss_mask)):
        assert fields[name].data_ptr() == array.__array_interface__["data"][0]
        assert tuple(fields[name].shape) == (48, 128)
    assert fields["input_ids"].dtype == torch.int64 and fields["loss_mask"].dtype == torch.bool
    assert torch.from_dlpack(batch.tokens).data_ptr() == fields["input_ids"].data_ptr()


def test_a_tensor_keeps_its_memory_after_everything_else_is_gone():
    loader = laneway.open(SAMPLE, options={"runtime.dtype": "int64"})
    batch = next(loader)
    expected = batch.tokens.copy()
    tensor = batch.to_training()["input_ids"][3]
    loader.close()
    del loader, batch
    gc.collect()
    assert (tensor.numpy() == expected[3]).all()


def test_a_slot_is_free_again_when_its_tensors_are():
    with laneway.open(SAMPLE, options={"runtime.prefetch_steps": 0, "runtime.dtype": "int64"}) as loader:
        tensor = next(loader).to_training()["input_ids"]
        with pytest.raises(laneway.BusyError):
            next(loader)
        del tensor
        assert next(loader).step == 1


def test_types_by_their_torch_names(sample):
    batch = next(sample)
    assert batch.to_training(dtype=torch.long)["input_ids"].dtype == torch.int64
    assert batch.to_training(dtype=torch.int32)["input_ids"].dtype == torch.int32
