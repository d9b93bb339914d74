"""Checks of the parameter section of a C3D file, before native code relies on it."""

from __future__ import annotations

import struct
from collections.abc import Iterator

TYPES = (-1, 1, 2, 4)  # characters, bytes, integers, floats
MAX_RECORDS = 10_000
# Counts that ezc3d allocates memory for, and their limits, which no real recording comes near.
MAX_COUNTS = {("POINT", "USED"): 10_000, ("ANALOG", "USED"): 10_000, ("ROTATION", "USED"): 10_000}


def check_parameters(section: bytes, order: str) -> None:
    """Raise if a record does not fit into the section, or a count is impossibly large.

    Parameters
    ----------
    section : bytes
        From the first record to the start of the data.
    order : str
        Byte order for `struct`.
    """
    groups: dict[int, str] = {}
    for number, name, body in _records(section, order):
        if number < 0:
            groups[-number] = name
            continue
        kind, values = _values(name, body)
        limit = MAX_COUNTS.get((groups.get(number, "POINT"), name))
        if limit is not None and kind == 2 and len(values) >= 2:
            (count,) = struct.unpack(f"{order}H", values[:2])
            if count > limit:
                raise ValueError(f"parameter {name!r} is {count}; at most {limit} is allowed.")


def _records(section: bytes, order: str) -> Iterator[tuple[int, str, bytes]]:
    """Yield the group number (negative for the group itself), name and content of each record."""
    place = 0
    for _ in range(MAX_RECORDS):
        if place + 2 > len(section):
            raise ValueError("the parameter section is cut off.")
        length, number = struct.unpack_from("bb", section, place)
        if number == 0 or length == 0:
            return
        after = place + 2 + abs(length)  # a negative length marks a locked record
        if after + 2 > len(section):
            raise ValueError("the name of a parameter does not fit into the parameter section.")
        name = section[place + 2 : after].decode("latin-1").upper()
        (offset,) = struct.unpack_from(f"{order}h", section, after)
        if offset < 0 or after + offset > len(section) or 0 < offset < 2:
            raise ValueError(f"parameter {name!r} points outside the parameter section.")
        yield number, name, section[after + 2 : after + offset if offset else len(section)]
        if offset == 0:
            return
        place = after + offset
    raise ValueError(f"the file has more than {MAX_RECORDS} parameters.")


def _values(name: str, body: bytes) -> tuple[int, bytes]:
    """Return the type and the raw values of a parameter, which must fit into its record."""
    if len(body) < 2 or (kind := struct.unpack_from("b", body)[0]) not in TYPES or len(body) < 2 + body[1]:
        raise ValueError(f"parameter {name!r} has an unknown type.")
    size = abs(kind)
    for length in body[2 : 2 + body[1]]:
        size *= length
    values = body[2 + body[1] :]
    if size > len(values):
        raise ValueError(f"parameter {name!r} claims {size:,} bytes, but its record holds {len(values):,}.")
    return kind, values[:size]
