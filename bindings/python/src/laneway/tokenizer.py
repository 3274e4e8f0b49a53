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

        parts = [self._ids(text) for text in texts]
        offsets = np.zeros(len(parts) + 1, dtype=np.int64)
        np.cumsum([len(part) // 4 for part in parts], out=offsets[1:])
        return np.frombuffer(bytearray().join(parts), dtype=np.int32), offsets

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
