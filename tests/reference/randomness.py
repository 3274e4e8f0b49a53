# SPDX-License-Identifier: Apache-2.0
"""Random numbers of the stream: pure functions of their coordinates.

Written from docs/stream.md section 1. There is no generator state, so a lane
may be computed from any point and by anyone.
"""

MASK = (1 << 64) - 1
G = 0x9E3779B97F4A7C15

PURPOSE_BLOCKS = 1
PURPOSE_DOCUMENTS = 2
PURPOSE_ROWS = 3


def mix(x):
    """Scramble 64 bits; a bijection, so no two inputs share an output."""
    x = x ^ (x >> 30)
    x = (x * 0xBF58476D1CE4E5B9) & MASK
    x = x ^ (x >> 27)
    x = (x * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def key(seed, purpose, a, b, c):
    """The key of one use of randomness, told apart by all its coordinates."""
    h = seed
    for v in (purpose, a, b, c):
        h = mix(((h ^ v) + G) & MASK)
    return h


def half_bits(n):
    """The smallest h >= 1 with 2^(2h) >= n: half the width of the network."""
    h = 1
    while 1 << (2 * h) < n:
        h += 1
    return h


def permute(k, n, i):
    """The place of i in the permutation of [0, n) that the key k chooses.

    The network permutes a power of four at least n; walking on from values
    outside [0, n) leaves a permutation of [0, n).
    """
    h = half_bits(n)
    m = (1 << h) - 1
    round_keys = [mix((k + (r + 1) * G) & MASK) for r in range(8)]
    x = i
    while True:
        left, right = x >> h, x & m
        for round_key in round_keys:
            left, right = right, left ^ (mix(round_key ^ right) & m)
        x = (left << h) | right
        if x < n:
            return x
