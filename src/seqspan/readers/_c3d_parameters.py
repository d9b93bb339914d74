"""The parameters of a C3D file, walked record by record: native code must not believe a damaged one."""

from __future__ import annotations

import struct
from collections.abc import Iterator

TYPES = (-1, 1, 2, 4)  # characters, bytes, whole numbers, floats
MAX_RECORDS = 10_000
# Counts that ezc3d allocates by, and the most of each that a recording has had.
COUNTS = {("POINT", "USED"): 10_000, ("ANALOG", "USED"): 10_000, ("ROTATION", "USED"): 10_000}


def check_parameters(section: bytes, order: str) -> None:
    """Raise where a record does not fit into the section, or counts more than can be.

    Parameters
    ----------
    section : bytes
        From the first record on, to the start of the data.
    order : str
        Byte order for `struct`.
    """
    groups: dict[int, str] = {}
    for number, name, body in _records(section, order):
        if number < 0:
            groups[-number] = name
            continue
        kind, values = _values(name, body)
        limit = COUNTS.get((groups.get(number, "POINT"), name))
        if limit is not None and kind == 2 and len(values) >= 2:
            (count,) = struct.unpack(f"{order}H", values[:2])
            if count > limit:
                raise ValueError(f"its parameter {name} counts {count}; at most {limit} is read.")


def _records(section: bytes, order: str) -> Iterator[tuple[int, str, bytes]]:
    """Yield group number (negative for the group itself), name and content of every record."""
    place = 0
    for _ in range(MAX_RECORDS):
        if place + 2 > len(section):
            raise ValueError("its parameters break off.")
        length, number = struct.unpack_from("bb", section, place)
        if number == 0 or length == 0:
            return
        after = place + 2 + abs(length)  # a negative length locks the record
        if after + 2 > len(section):
            raise ValueError("a name among its parameters is longer than they are.")
        name = section[place + 2 : after].decode("latin-1").upper()
        (offset,) = struct.unpack_from(f"{order}h", section, after)
        if offset < 0 or after + offset > len(section) or 0 < offset < 2:
            raise ValueError(f"its parameter {name!r} points outside of the parameters.")
        yield number, name, section[after + 2 : after + offset if offset else len(section)]
        if offset == 0:
            return
        place = after + offset
    raise ValueError(f"it has more than {MAX_RECORDS} parameters.")


def _values(name: str, body: bytes) -> tuple[int, bytes]:
    """Return type and raw values of a parameter; they must fit into its record."""
    if len(body) < 2 or (kind := struct.unpack_from("b", body)[0]) not in TYPES or len(body) < 2 + body[1]:
        raise ValueError(f"its parameter {name!r} is of no known type.")
    size = abs(kind)
    for length in body[2 : 2 + body[1]]:
        size *= length
    values = body[2 + body[1] :]
    if size > len(values):
        raise ValueError(f"its parameter {name!r} claims {size:,} bytes, its record holds {len(values):,}.")
    return kind, values[:size]
