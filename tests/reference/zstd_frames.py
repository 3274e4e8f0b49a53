# SPDX-License-Identifier: Apache-2.0
"""Where the frames of a zstd file begin and end, and what they hold.

The boundaries come from walking the frame and block headers (RFC 8878,
section 3.1); only the decoding of a frame is left to the `zstd` command,
because the standard library has no decoder.
"""

import subprocess

MAGIC = 0xFD2FB528
SKIPPABLE_FIRST = 0x184D2A50
SKIPPABLE_LAST = 0x184D2A5F


def little(data, at, count):
    """The little-endian integer of `count` bytes at `at`."""
    if at + count > len(data):
        raise ValueError("zstd: the file ends inside a frame")
    return int.from_bytes(data[at:at + count], "little")


def header_bytes(descriptor):
    """The bytes of a frame header, from its descriptor byte."""
    single_segment = descriptor >> 5 & 1
    content_size = (1 if single_segment else 0, 2, 4, 8)[descriptor >> 6]
    dictionary = (0, 1, 2, 4)[descriptor & 3]
    window = 0 if single_segment else 1
    return 4 + 1 + window + dictionary + content_size


def data_frame_end(data, at):
    """The offset behind the data frame at `at`."""
    descriptor = little(data, at + 4, 1)
    at += header_bytes(descriptor)
    last = False
    while not last:
        block = little(data, at, 3)
        last, kind, size = block & 1, block >> 1 & 3, block >> 3
        at += 3 + (1 if kind == 1 else size)
    return at + (4 if descriptor >> 2 & 1 else 0)


def data_frames(data):
    """The bytes of every data frame in order; skippable frames are left out."""
    frames = []
    at = 0
    while at < len(data):
        magic = little(data, at, 4)
        if SKIPPABLE_FIRST <= magic <= SKIPPABLE_LAST:
            at += 8 + little(data, at + 4, 4)
            continue
        if magic != MAGIC:
            raise ValueError(f"zstd: no frame at byte {at}")
        end = data_frame_end(data, at)
        frames.append(data[at:end])
        at = end
    return frames


def decode(frame):
    """The decoded bytes of one frame."""
    done = subprocess.run(["zstd", "-dc"], input=frame, stdout=subprocess.PIPE, check=True)
    return done.stdout
