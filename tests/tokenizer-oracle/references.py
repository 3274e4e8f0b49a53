# SPDX-License-Identifier: Apache-2.0
"""Reference libraries, whose ids of a batch of texts are kept as a digest: the second time only Laneway has to encode.

A digest is found by what decides the ids: the library and its version, the bytes of its files, the batch itself.
"""
import array
import hashlib
import os
import struct

CHUNK_BYTES = 1 << 20  # what a library is given at once


def digest(*parts):
    """Of texts and bytes, told apart where one ends."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        part = part.encode("utf-8") if isinstance(part, str) else part
        state.update(struct.pack("<Q", len(part)) + part)
    return state.hexdigest()


def file_digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Reference:
    """A library with a vocabulary, opened when it is first needed. `open_it` gives what makes lists of ids of a list
    of texts, `decisive` is all that the ids depend on."""

    def __init__(self, open_it, *decisive):
        self.open_it = open_it
        self.identity = digest(*decisive)
        self.encode = None

    def packed(self, batch, progress):
        """The ids of all texts as encode_driver writes them."""
        self.encode = self.encode or self.open_it()
        found, done = [], 0
        for chunk in batch.chunks():
            for ids in self.encode(chunk):
                found.append(struct.pack("<I", len(ids)) + array.array("i", ids).tobytes())
            done += len(chunk)
            progress(done, batch.count)
        return b"".join(found)


class Batch:
    """Texts in the form that encode_driver reads."""

    def __init__(self, of, first, texts):
        encoded = [text.encode("utf-8") for text in texts]
        self.of = of        # what they come from
        self.first = first  # the number of the first of them there
        self.count = len(texts)
        self.data = b"".join(struct.pack("<I", len(text)) + text for text in encoded)
        self.digest = digest(self.data)

    def texts(self):
        at = 0
        while at < len(self.data):
            count, = struct.unpack_from("<I", self.data, at)
            yield self.data[at + 4:at + 4 + count].decode("utf-8")
            at += 4 + count

    def chunks(self):
        chunk, size = [], 0
        for text in self.texts():
            chunk.append(text)
            size += len(text) + 64
            if size >= CHUNK_BYTES:
                yield chunk
                chunk, size = [], 0
        if chunk:
            yield chunk


class Digests:
    """A file of lines, each a key and the digest of ids; a run adds its own."""

    def __init__(self, path):
        self.path = path
        self.known = {}
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                self.known = dict(line.split() for line in file if line.endswith("\n"))

    def find(self, reference, batch):
        return self.known.get(digest(reference.identity, batch.digest))

    def add(self, reference, batch, packed):
        key, found = digest(reference.identity, batch.digest), digest(packed)
        self.known[key] = found
        with open(self.path, "a", encoding="ascii") as file:
            file.write("%s %s\n" % (key, found))
        return found
