"""Parquet and Feather, read by polars in its own process: a damaged footer can make it exhaust memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from seqspan._core.dates import Dates
from seqspan.readers._data_frames import seconds_in
from seqspan.readers._isolated import run_isolated
from seqspan.readers._registry import Reader
from seqspan.readers._table import Columns, TableOptions, table_to_recording, with_text
from seqspan.readers._time_names import unit_of
from seqspan.recording import Recording

PARQUET = b"PAR1"
FEATHER = b"ARROW1"


def load_columns(path: Path, options: TableOptions, max_bytes: int) -> Recording:
    """Read a Parquet or Feather table."""
    check_ends(path)
    arrays, about = run_isolated("columns", path, max_bytes, labels=options.labels)
    import polars as pl

    text: dict[str, object] = dict.fromkeys(about["text"])
    if "labels" in arrays:
        text[options.labels or ""] = arrays["labels"]
    temporal = {
        name: Dates(arrays[f"dates_{place}"], zone)
        for place, (name, zone) in enumerate(about["temporal"].items())
    }
    for name in about["durations"]:
        arrays["X"][:, about["names"].index(name)] /= seconds_in(unit_of(name))
    clocks = {name: arrays[f"clock_{place}"] for place, name in enumerate(about["clocks"])}
    columns = Columns(arrays["X"], tuple(about["names"]), temporal, clocks, text, tuple(about["order"]))
    stamps = {
        name: pl.Series(name, np.char.decode(arrays[f"stamps_{place}"], "utf-8"))
        for place, name in enumerate(about["stamps"])
    }
    return table_to_recording(with_text(columns, stamps), options)


def check_ends(path: Path) -> None:
    """Raise if the file does not end with its magic bytes, and so is cut off."""
    with path.open("rb") as file:
        magic = PARQUET if file.read(4) == PARQUET else FEATHER
        file.seek(-min(len(magic), path.stat().st_size), 2)
        if file.read() != magic:
            raise ValueError(f"the file is cut off: it does not end with {magic.decode()}.")


def looks_like_parquet(head: bytes) -> bool:
    """Recognise Parquet by its magic bytes."""
    return head.startswith(PARQUET)


def looks_like_feather(head: bytes) -> bool:
    """Recognise Feather by its magic bytes."""
    return head.startswith(FEATHER)


READERS = (
    Reader(
        name="parquet",
        title="a Parquet table",
        extensions=(".parquet", ".pq"),
        options=TableOptions,
        load=load_columns,
        matches=looks_like_parquet,
    ),
    Reader(
        name="feather",
        title="a Feather (Arrow) table",
        extensions=(".feather", ".arrow", ".ipc"),
        options=TableOptions,
        load=load_columns,
        matches=looks_like_feather,
    ),
)
