# SPDX-License-Identifier: Apache-2.0
"""What a training step takes of a batch, under the names and in the types the host wants.

Nothing is copied unless the type asked for is not the batch's own, or a value is asked for that the batch
does not hold (sequence positions, another ignore index, padding).
"""
from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._native import check, ffi, lib, new_error
from .errors import InvalidError
from .pinning import find_runtime

if TYPE_CHECKING:
    import numpy.typing as npt

    from .batch import Batch

_IGNORED = -100


def cumulative_lengths(batch: Batch, row: int | None = None) -> tuple[npt.NDArray[Any], int]:
    """The boundaries of a row's documents, or those of all rows laid end to end, [documents + 1] int32,
    from 0 to the number of places; and the longest document."""
    import numpy as np

    which = lib.LW_ALL_ROWS if row is None else row
    places = batch.context * (batch.rows if row is None else 1)
    count, longest, err = ffi.new("size_t *"), ffi.new("int32_t *"), new_error()
    room = min(places + 1, 4096)
    while True:
        out = np.empty(room, dtype=np.int32)
        check(lib.lw_batch_boundaries(batch._cell[0], which, ffi.from_buffer("int32_t[]", out), room, count, longest,
                                      err), err)
        if count[0] <= room:
            return out[: count[0]], longest[0]
        room = count[0]


def padding(batch: Batch) -> npt.NDArray[Any]:
    """[rows, context], bool: true where there is padding."""
    import numpy as np

    tokens = np.frombuffer(ffi.buffer(batch._view.row_tokens, 8 * batch.rows), dtype=np.uint64)
    return np.arange(batch.context, dtype=np.uint64) >= tokens[:, None]


def _positions(batch: Batch, mode: str) -> npt.NDArray[Any]:
    import numpy as np

    if mode == "preserve":
        return batch.positions
    if mode == "sequence":
        return np.tile(np.arange(batch.context, dtype=batch.tokens.dtype), (batch.rows, 1))
    raise InvalidError(f'to_training: position_mode is {mode!r}, expected "preserve" or "sequence"')


def _labels(batch: Batch, ignore_index: int) -> npt.NDArray[Any]:
    import numpy as np

    if ignore_index == _IGNORED:
        return batch.labels
    return np.where(batch.loss_mask, batch.labels, batch.labels.dtype.type(ignore_index))


class _Output:
    """Turns arrays into what the host wants: a framework's tensors of a type, flat or not."""

    def __init__(self, dtype: Any, framework: str | None, flatten: bool, batch: Batch, pin: bool | None) -> None:
        if framework not in (None, "torch", "numpy"):
            raise InvalidError(f'to_training: framework is {framework!r}, expected "torch" or "numpy"')
        self.lists = dtype is None
        self.dtype = None if dtype in (None, "auto") else _numpy_dtype(dtype)
        self.torch = framework == "torch" or (framework is None and not self.lists and _has_torch())
        self.flatten = flatten
        self.pinned = _pinned(batch, pin) if self.torch else None
        if pin and not self.torch:
            raise InvalidError('to_training: pin_memory is True for arrays or lists, expected framework="torch"')

    def integers(self, array: npt.NDArray[Any]) -> Any:
        return self._made(self._shaped(array), self.dtype)

    def tensor(self, array: npt.NDArray[Any]) -> Any:
        return self._made(self._shaped(array), None)

    def plain(self, array: npt.NDArray[Any]) -> Any:
        return self._made(array, None)

    def _shaped(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array.reshape(-1) if self.flatten else array

    def _made(self, array: npt.NDArray[Any], dtype: Any) -> Any:
        if self.pinned is not None:
            return self.pinned(array, array.dtype if dtype is None else dtype)
        array = array if dtype is None else array.astype(dtype, copy=False)
        if self.lists:
            return array.tolist()
        if not self.torch:
            return array
        import torch

        return torch.from_numpy(array)


def _pinned(batch: Batch, pin: bool | None) -> Callable[[npt.NDArray[Any], Any], Any] | None:
    """Makes pinned tensors of a batch's arrays, or None if they are not to be pinned."""
    pins = batch._pins
    runtime = find_runtime(True) if pin and pins is None else None if pins is None or pin is False else pins.runtime
    if runtime is None:
        return None
    import torch

    def tensor(array: npt.NDArray[Any], dtype: Any) -> Any:
        own = torch.from_numpy(array)
        if array.dtype == dtype and pins is not None and pins.holds(batch._view, own.data_ptr()):
            return own
        return runtime.empty(own.shape, getattr(torch, dtype.name)).copy_(own)

    return tensor


def _has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


def _numpy_dtype(dtype: Any) -> Any:
    """A NumPy type for one of NumPy, of PyTorch, or a name."""
    import numpy as np

    name = str(dtype).removeprefix("torch.") if str(dtype).startswith("torch.") else dtype
    found = np.dtype(name)
    if found not in (np.dtype("int32"), np.dtype("int64")):
        raise InvalidError(f'to_training: dtype is {dtype!r}, expected "int64", "int32", "auto" or None for lists')
    return found


def to_training(batch: Batch, *, return_labels: bool, return_loss_mask: bool, return_padding_mask: bool,
                return_cu_seqlens: bool, return_num_valid_tokens: bool, dtype: Any, framework: str | None,
                flatten: bool, rename_fields: Mapping[str, str] | None, exclude_fields: Sequence[str],
                ignore_index: int, position_mode: str, pin_memory: bool | None) -> dict[str, Any]:
    """See ``Batch.to_training``."""
    import numpy as np

    output = _Output(dtype, framework, flatten, batch, pin_memory)
    fields: dict[str, Any] = {"input_ids": output.integers(batch.tokens),
                              "positions": output.integers(_positions(batch, position_mode))}
    if return_labels:
        fields["labels"] = output.integers(_labels(batch, ignore_index))
    if return_loss_mask:
        fields["loss_mask"] = output.tensor(batch.loss_mask)
    if return_padding_mask:
        fields["padding_mask"] = output.tensor(padding(batch))
    if return_cu_seqlens:
        lengths, fields["max_seqlen"] = cumulative_lengths(batch)
        fields["cu_seqlens"] = output.plain(lengths)
    if return_num_valid_tokens:
        fields["num_valid_tokens"] = int(np.count_nonzero(batch.loss_mask))
    return _renamed(fields, rename_fields or {}, exclude_fields)


def _renamed(fields: dict[str, Any], names: Mapping[str, str], exclude: Sequence[str]) -> dict[str, Any]:
    unknown = (set(names) | set(exclude)) - {*fields, "texts", "ids", "attention_mask"}
    if unknown:
        raise InvalidError(f"to_training: no field {sorted(unknown)[0]!r}, expected one of {', '.join(fields)}")
    return {names.get(name, name): value for name, value in fields.items() if name not in exclude}
