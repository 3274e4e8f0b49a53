# SPDX-License-Identifier: Apache-2.0
"""A tokenizer alone, without a pipeline."""
from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._native import PathLike, check, encode, ffi, lib, new_error
from .errors import InvalidError
from .tokenizer_files import find_tokenizer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Tokenizer:
    """Turns text into ids, exactly as the reference library of its file does. May be used by many threads.

    >>> Tokenizer("gpt2/vocab.bpe", eos=True).encode("Hello")
    """

    def __init__(self, path: PathLike | None = None, *, name: str | None = None, pattern: str | None = None,
                 bos: bool | str = False, eos: bool | str = False, special_text: bool = False) -> None:
        """Opens a file (see ``find_tokenizer`` for where it is looked for), or a tokenizer without one.

        name: "bytes", with no path. pattern: how ranks in .tiktoken form split text.
        bos, eos: whether each text begins or ends with that token; or the token's text.
        special_text: whether text that looks like a special token becomes that token.
        """
        if (path is None) == (name is None):
            raise InvalidError("tokenizer: path and name are both given or both missing, expected one of them")
        self.path = None if path is None else find_tokenizer(path)
        texts = {"path": self.path, "name": name, "pattern": pattern, "bos": _boundary(bos), "eos": _boundary(eos)}
        kept = {key: ffi.new("char[]", encode(value)) for key, value in texts.items() if value is not None}
        options = ffi.new("lw_tokenizer_options *", {"struct_size": ffi.sizeof("lw_tokenizer_options"), **kept,
                                                     "special_text": int(special_text)})
        out, err = ffi.new("lw_tokenizer **"), new_error()
        check(lib.lw_tokenizer_open(options, out, err), err)
        self._handle = ffi.gc(out[0], lib.lw_tokenizer_close)
        self._encoders = threading.local()

    @property
    def vocabulary(self) -> int:
        """How many ids there are."""
        return int(lib.lw_tokenizer_vocabulary(self._handle))

    @property
    def fingerprint(self) -> int:
        """A number that equal tokenizers share."""
        return int(lib.lw_tokenizer_fingerprint(self._handle))

    def find(self, token: str | bytes) -> int | None:
        """The id of a token given by its text or bytes; None when there is none."""
        data = token.encode() if isinstance(token, str) else token
        found = int(lib.lw_tokenizer_find(self._handle, data, len(data)))
        return found if found >= 0 else None

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """The ids of a text, [ids] int32."""
        import numpy as np

        return np.frombuffer(self._ids(text), dtype=np.int32)

    def encode_batch(self, texts: Iterable[str]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The ids of many texts, one behind the other, [ids] int32; and where each begins, [texts + 1] int64:
        those of text i are ``ids[offsets[i]:offsets[i + 1]]``."""
        import numpy as np

        data = [text.encode("utf-8") for text in texts]
        views = [ffi.from_buffer(text) for text in data]
        spans = ffi.new("lw_str[]", [(view, len(text)) for view, text in zip(views, data)])
        offsets = np.zeros(len(data) + 1, dtype=np.uint64)
        room, err = ffi.new("lw_id_room *", {"capacity": 64 + sum(map(len, data)) // 2}), new_error()
        while True:
            ids = np.empty(room.capacity, dtype=np.int32)
            room.data = ffi.from_buffer("int32_t[]", ids)
            status = lib.lw_encoder_encode_many(self._encoder(), spans, len(data), room,
                                                ffi.from_buffer("size_t[]", offsets), err)
            if check(status, err) != lib.LW_AGAIN:
                return ids[: room.count], offsets.astype(np.int64)
            room.capacity = room.count

    def decode(self, ids: Iterable[int] | npt.NDArray[np.integer[Any]], *, skip_special: bool = False) -> str:
        """The text of some ids; bytes that are no whole character become U+FFFD."""
        return self.decode_bytes(ids, skip_special=skip_special).decode("utf-8", errors="replace")

    def decode_bytes(self, ids: Iterable[int] | npt.NDArray[np.integer[Any]], *,
                     skip_special: bool = False) -> bytes:
        """The same as the bytes they stand for.

        skip_special: whether special tokens are passed over.
        """
        import numpy as np

        array = np.ascontiguousarray(ids if isinstance(ids, np.ndarray) else list(ids), dtype=np.int32)
        given = ffi.new("lw_ids *", {"data": ffi.from_buffer("int32_t[]", array), "count": array.size})
        room, err = ffi.new("lw_byte_room *", {"capacity": 16 + 8 * array.size}), new_error()
        while True:
            text = room.data = ffi.new("char[]", room.capacity)
            status = lib.lw_tokenizer_decode(self._handle, given[0],
                                             lib.LW_DECODE_SKIP_SPECIAL if skip_special else 0, room, err)
            if check(status, err) != lib.LW_AGAIN:
                return bytes(ffi.buffer(text, room.bytes))
            room.capacity = room.bytes

    def token(self, number: int) -> bytes:
        """The bytes of the token with an id."""
        out, err = ffi.new("lw_str *"), new_error()
        check(lib.lw_tokenizer_token(self._handle, number, out, err), err)
        return bytes(ffi.buffer(out.data, out.bytes)) if out.bytes else b""

    def _ids(self, text: str) -> bytearray:
        data = text.encode("utf-8")
        out, count, err = ffi.new("const int32_t **"), ffi.new("size_t *"), new_error()
        check(lib.lw_encoder_encode(self._encoder(), data, len(data), out, count, err), err)
        return bytearray(ffi.buffer(out[0], 4 * count[0])) if count[0] else bytearray()

    def _encoder(self) -> Any:
        """This thread's encoder."""
        encoder = getattr(self._encoders, "handle", None)
        if encoder is None:
            out, err = ffi.new("lw_encoder **"), new_error()
            check(lib.lw_encoder_create(self._handle, out, err), err)
            encoder = self._encoders.handle = ffi.gc(out[0], lib.lw_encoder_destroy)
        return encoder

    def __repr__(self) -> str:
        return f"<laneway.Tokenizer {self.path or 'bytes'!r}, {self.vocabulary} ids>"


def _boundary(value: bool | str) -> str | None:
    if isinstance(value, str):
        return value
    return "" if value else None
