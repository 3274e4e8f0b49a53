# SPDX-License-Identifier: Apache-2.0
"""Batches: a step's rows of a rank, as NumPy arrays on the library's own memory.

The memory is used again only when the batch and every array, tensor and view made from it are gone, in
whatever order and on whatever thread; it outlives the pipeline if need be.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import training
from ._native import check, ffi, lib, new_error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .pinning import Pins


@dataclass(frozen=True)
class Segment:
    """Some tokens of a document within a row; ``count`` of them from input token ``first`` on."""

    source: int
    part: int
    epoch: int
    block: int
    document: int
    first: int
    count: int


class _Memory:
    """An array of the library's, for NumPy; what is made from it keeps the batch alive."""

    __slots__ = ("__array_interface__", "_cell")

    def __init__(self, cell: Any, pointer: Any, type_text: str, shape: tuple[int, ...]) -> None:
        address = int(ffi.cast("uintptr_t", pointer))
        self.__array_interface__ = {"version": 3, "data": (address, False), "typestr": type_text, "shape": shape}
        self._cell = cell


def new_cell(pins: Pins | None) -> Any:
    """Where the library puts a batch: the cell's owner gives the batch back, whatever happens meanwhile."""
    return ffi.gc(ffi.new("lw_batch **"), _release_cell if pins is None else pins.release)


def _release_cell(cell: Any, release: Any = lib.lw_batch_release) -> None:
    release(cell[0])


class Batch:
    """This rank's rows of one step, or a microbatch of them.

    step: number of the step.
    first_row: number of the first row within the step, over all ranks.
    rows, context: the shape of every array.
    valid_tokens: input tokens that are not padding.

    Tokens, positions and labels are int32, or int64 with ``runtime.dtype: int64``. The arrays may be
    written to: that changes this batch alone.
    """

    def __init__(self, cell: Any, pins: Pins | None = None) -> None:
        view = ffi.new("lw_batch_view *", {"struct_size": ffi.sizeof("lw_batch_view")})
        err = new_error()
        check(lib.lw_batch_get(cell[0], view, err), err)
        if pins is not None:
            pins.add(view)
        self._cell, self._view, self._pins = cell, view, pins
        self.step: int = view.step
        self.first_row: int = view.first_row
        self.rows: int = view.rows
        self.context: int = view.context
        self.valid_tokens: int = view.valid_tokens

    def _array(self, pointer: Any, type_text: str, *shape: int) -> npt.NDArray[Any]:
        import numpy as np

        return np.asarray(_Memory(self._cell, pointer, type_text, shape))

    def _integers(self, pointer: Any) -> npt.NDArray[np.signedinteger[Any]]:
        return self._array(pointer, f"<i{self._view.token_bytes}", self.rows, self.context)

    @cached_property
    def tokens(self) -> npt.NDArray[np.signedinteger[Any]]:
        """[rows, context], int32 or int64: the rows' tokens, then padding."""
        return self._integers(self._view.tokens)

    @cached_property
    def positions(self) -> npt.NDArray[np.signedinteger[Any]]:
        """[rows, context], int32 or int64: from 0 in every document of a row, and again in the padding."""
        return self._integers(self._view.positions)

    @cached_property
    def labels(self) -> npt.NDArray[np.signedinteger[Any]]:
        """[rows, context], int32 or int64: the token that follows, -100 where there is none."""
        return self._integers(self._view.labels)

    @cached_property
    def loss_mask(self) -> npt.NDArray[np.bool_]:
        """[rows, context], bool: true where there is a label."""
        return self._array(self._view.loss_mask, "|b1", self.rows, self.context)

    @cached_property
    def document_starts(self) -> npt.NDArray[np.bool_]:
        """[rows, context], bool: true where the position is 0; attention may not cross it."""
        return self._array(self._view.document_starts, "|b1", self.rows, self.context)

    @cached_property
    def row_digests(self) -> npt.NDArray[np.uint8] | None:
        """[rows, 32], uint8: the SHA-256 of each row; None without ``runtime.digests``."""
        if not self._view.row_digests:
            return None
        return self._array(self._view.row_digests, "|u1", self.rows, 32)

    @cached_property
    def padding(self) -> npt.NDArray[np.bool_]:
        """[rows, context], bool: true where there is padding. Made anew, not a view."""
        return training.padding(self)

    def cumulative_lengths(self, row: int | None = None) -> tuple[npt.NDArray[np.int32], int]:
        """Boundaries of the documents of a row, or of all rows laid end to end, as attention over documents
        takes them: [documents + 1], int32, from 0 to the number of places; and the longest document."""
        return training.cumulative_lengths(self, row)

    def to_training(self, *, return_labels: bool = False, return_loss_mask: bool = False,
                    return_padding_mask: bool = False, return_cu_seqlens: bool = False,
                    return_num_valid_tokens: bool = False, dtype: Any = "int64", framework: str | None = None,
                    flatten: bool = False, rename_fields: Mapping[str, str] | None = None,
                    exclude_fields: Sequence[str] = (), ignore_index: int = -100,
                    position_mode: str = "preserve", pin_memory: bool | None = None) -> dict[str, Any]:
        """What a training step takes, as a new dictionary.

        input_ids: [rows, context]. positions: the same shape, from 0 in every document; with
            ``position_mode="sequence"`` from 0 in every row.
        labels: the same shape, already shifted: the token that follows each input, ``ignore_index`` where there
            is none.
        loss_mask: bool, where there is a label. padding_mask: bool, where there is padding.
        cu_seqlens: [documents + 1], int32, over all rows laid end to end; and max_seqlen, an int.
        num_valid_tokens: an int, how many labels there are.

        dtype: of input_ids, positions and labels: "int64", "int32", "auto" for the batch's own, which is never
            copied; also NumPy's and PyTorch's. None: lists.
        framework: "torch", "numpy"; None: PyTorch's tensors where it is installed, else NumPy's arrays.
        flatten: [rows * context] instead of [rows, context].
        rename_fields, exclude_fields: names for, and fields to leave out of, the result.
        pin_memory: whether PyTorch's tensors lie in pinned memory: those that are not copied in the slot, if the
            loader has pinned it, all others in PyTorch's own. None: as the loader was opened.
        """
        return training.to_training(
            self, return_labels=return_labels, return_loss_mask=return_loss_mask,
            return_padding_mask=return_padding_mask, return_cu_seqlens=return_cu_seqlens,
            return_num_valid_tokens=return_num_valid_tokens, dtype=dtype, framework=framework, flatten=flatten,
            rename_fields=rename_fields, exclude_fields=exclude_fields, ignore_index=ignore_index,
            position_mode=position_mode, pin_memory=pin_memory)

    def segments(self, row: int) -> list[Segment]:
        """The segments of a row, counted within the batch, in row order."""
        out, count, err = ffi.new("const lw_segment **"), ffi.new("size_t *"), new_error()
        check(lib.lw_batch_segments(self._cell[0], row, out, count, err), err)
        return [Segment(s.source, s.part, s.epoch, s.block, s.document, s.first, s.count)
                for s in out[0][0 : count[0]]]

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        return f"<laneway.Batch step {self.step}, {self.rows} rows of {self.context} tokens>"


def digest_of(row_digests: npt.NDArray[np.uint8]) -> bytes:
    """SHA-256 over row digests, [rows, 32] uint8 in row order: the digest of their step."""
    import numpy as np

    rows = np.ascontiguousarray(row_digests, dtype=np.uint8).reshape(-1, 32)
    out, err = ffi.new("uint8_t[32]"), new_error()
    check(lib.lw_digest_merge(ffi.from_buffer("uint8_t[]", rows), len(rows), out, err), err)
    return bytes(out)
