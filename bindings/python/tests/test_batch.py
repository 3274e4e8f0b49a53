# SPDX-License-Identifier: Apache-2.0
"""Arrays are views of the library's memory, live as long as anyone looks at them, and hold what they should."""
import gc
import itertools

import numpy as np
import pytest

import laneway
from conftest import SAMPLE

ARRAYS = ("tokens", "positions", "labels", "loss_mask", "document_starts")


def address(array):
    return array.__array_interface__["data"][0]


def test_arrays_have_the_shapes_and_types_documented():
    for dtype in ("int32", "int64"):
        with laneway.open(SAMPLE, options={"runtime.dtype": dtype}) as loader:
            batch = next(loader)
            assert len(batch) == batch.rows == 48 and batch.context == 128 and batch.row_digests is None
            for name in ARRAYS:
                array = getattr(batch, name)
                assert array.shape == (48, 128) and array.flags.c_contiguous
                assert array.dtype == (np.bool_ if name in ("loss_mask", "document_starts") else dtype)


def test_arrays_agree_with_each_other(sample):
    batch = next(sample)
    assert (batch.loss_mask == (batch.labels != -100)).all()
    assert (batch.document_starts == (batch.positions == 0)).all()
    inner = ~batch.document_starts[:, 1:]
    assert (batch.labels[:, :-1][inner] == batch.tokens[:, 1:][inner]).all()


def test_nothing_is_copied(sample):
    batch = next(sample)
    assert batch.tokens is batch.tokens
    assert address(np.from_dlpack(batch.tokens)) == address(batch.tokens)
    fields = batch.to_training(return_labels=True, return_loss_mask=True, framework="numpy", flatten=True)
    for name, array in (("input_ids", batch.tokens), ("labels", batch.labels), ("positions", batch.positions),
                        ("loss_mask", batch.loss_mask)):
        assert address(fields[name]) == address(array)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_memory_lives_until_the_last_view_is_gone(order):
    loader = laneway.open(SAMPLE)
    batch = next(loader)
    array = batch.tokens
    held = [loader, batch, array, array[3, 5:9]]
    expected = batch.tokens.copy()
    del loader, batch, array
    for i in order:
        held[i] = None
        gc.collect()
        if held[2] is not None:
            assert (held[2] == expected).all()
        if held[3] is not None:
            assert (held[3] == expected[3, 5:9]).all()


def test_memory_is_used_again_only_when_it_is_free():
    with laneway.open(SAMPLE, options={"runtime.prefetch_steps": 1}) as loader:
        first = next(loader).tokens
        copy = first.copy()
        kept = next(loader)
        with pytest.raises(laneway.BusyError):
            next(loader)
        assert (first == copy).all()
        del kept
        assert next(loader).step == 2
        assert (first == copy).all()


def test_a_write_changes_this_batch_alone(sample):
    batch = next(sample)
    batch.tokens[:] = 0
    batch.labels[:] = -100
    sample.restore(laneway.open(SAMPLE, options={"runtime.dtype": "int64"}).checkpoint())
    assert next(sample).tokens.any()


def test_padding_and_boundaries(padded):
    with laneway.open(padded) as loader:
        seen = [check_padding(batch) for batch in loader]
    assert any(seen)


def check_padding(batch):
    """Whether a batch has padding; its mask and boundaries are compared with positions and tokens."""
    places = batch.rows * batch.context
    assert np.count_nonzero(~batch.padding) == batch.valid_tokens
    assert (batch.tokens[batch.padding] == 7).all() and not batch.loss_mask[batch.padding].any()
    lengths, longest = batch.cumulative_lengths()
    assert lengths.dtype == np.int32
    assert lengths.tolist() == [*np.flatnonzero(batch.positions.reshape(-1) == 0), places]
    assert longest == np.diff(lengths).max()
    for row in range(batch.rows):
        assert batch.cumulative_lengths(row)[0].tolist() == [*np.flatnonzero(batch.positions[row] == 0), batch.context]
    return batch.padding.any()


def test_boundaries_beyond_the_first_guess(tmp_path):
    path = tmp_path / "tiny.jsonl"
    path.write_text('{"text": "a"}\n' * 100)
    with laneway.open({"lanes": 1, "global_batch": 64, "context": 128, "sources": [{"name": "t", "path": path}],
                       "tokenizer": {"name": "bytes"}}) as loader:
        lengths, longest = next(loader).cumulative_lengths()
        assert lengths.tolist() == list(range(64 * 128 + 1)) and longest == 1


def test_training_fields(sample):
    batch = next(sample)
    assert set(batch.to_training(framework="numpy")) == {"input_ids", "positions"}
    fields = batch.to_training(return_labels=True, return_loss_mask=True, return_padding_mask=True,
                               return_cu_seqlens=True, return_num_valid_tokens=True, framework="numpy",
                               rename_fields={"input_ids": "input"}, exclude_fields=("loss_mask",))
    assert set(fields) == {"input", "positions", "labels", "padding_mask", "cu_seqlens", "max_seqlen",
                           "num_valid_tokens"}
    assert fields["input"].dtype == np.int64 and fields["num_valid_tokens"] == (batch.labels != -100).sum()
    assert not fields["padding_mask"].any()


def test_training_types_and_modes(sample):
    batch = next(sample)
    assert batch.to_training(dtype="int32", framework="numpy")["input_ids"].dtype == np.int32
    assert batch.to_training(dtype="auto", framework="numpy")["input_ids"] is batch.tokens
    assert batch.to_training(dtype=None)["input_ids"] == batch.tokens.tolist()
    assert batch.to_training(flatten=True, framework="numpy")["positions"].shape == (48 * 128,)
    sequence = batch.to_training(position_mode="sequence", framework="numpy")["positions"]
    assert (sequence == np.arange(128)).all() and sequence.shape == (48, 128)


def test_another_ignore_index(padded):
    with laneway.open(padded) as loader:
        for batch in loader:
            labels = batch.to_training(return_labels=True, ignore_index=-1, framework="numpy")["labels"]
            assert (labels[~batch.loss_mask] == -1).all()
            assert (labels[batch.loss_mask] == batch.labels[batch.loss_mask]).all()


@pytest.mark.parametrize("wrong", [{"dtype": "float32"}, {"framework": "jax"}, {"position_mode": "none"},
                                   {"rename_fields": {"tokens": "input"}}, {"exclude_fields": ("labels",)}])
def test_wrong_training_options_are_refused(sample, wrong):
    with pytest.raises(laneway.InvalidError, match="to_training: .*expected"):
        next(sample).to_training(**wrong)
