"""Damaged variants of a file: cut, with bits turned, with the head of another format, with parts moved."""

from __future__ import annotations

import numpy as np

N_KINDS = 6


def corrupt(content: bytes, other: bytes, seed: int) -> bytes:
    """Damage `content` in the way and at the place that `seed` says; `other` lends its first bytes."""
    rng = np.random.default_rng(seed)
    data = bytearray(content)
    kind = seed % N_KINDS
    place = int(rng.integers(0, len(data)))
    if kind == 0:
        return bytes(data[:place])
    if kind == 1:  # one to fifty bits, half of the time among the first bytes, where headers are
        reach = len(data) if rng.random() < 0.5 else min(len(data), 600)
        for position in rng.integers(0, reach, int(rng.integers(1, 51))):
            data[position] ^= 1 << int(rng.integers(0, 8))
    elif kind == 2:
        length = int(rng.choice([8, 64, 512]))
        data[:length] = other[:length]
    elif kind == 3:  # a count or an offset that is far too large
        data[place : place + 4] = rng.choice([b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x00"])
    elif kind == 4:
        length = int(rng.integers(1, 400))
        data[place : place + length] = rng.bytes(length)
    else:
        length = int(rng.integers(1, 400))
        start = int(rng.integers(0, len(data)))
        data[place:place] = data[start : start + length]
    return bytes(data)
