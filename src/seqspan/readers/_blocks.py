"""Recordings that do not fit in memory, read block by block: for ``partial_fit``, or any single pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqspan._core.types import Array
from seqspan.readers._columns import Header, Wishes, choose_columns
from seqspan.readers._data_frames import seconds_in
from seqspan.readers._limits import check_regular, plain_name
from seqspan.readers._native import may_be_stamps
from seqspan.readers._read import read
from seqspan.readers._table import Columns, with_text
from seqspan.readers._time_names import unit_of

if TYPE_CHECKING:
    import polars as pl

BLOCK_ROWS = 4096  # rows per block, by default


def read_blocks(path: str | Path, n_rows: int = BLOCK_ROWS, **options: Any) -> Iterator[Array]:
    """Read the samples of a file in order, a few at a time.

    The columns are those that :func:`seqspan.read` uses as features. A .npy file is memory-mapped, and a
    Parquet file is read in slices. Everything else goes through :func:`seqspan.read`, which memory-maps the
    frames of a long film and loads other formats whole.

    Parameters
    ----------
    path : path
    n_rows : int
        Rows per block; the last block may have fewer.
    **options
        Options of the reader. With any, .npy and Parquet files go through :func:`seqspan.read` too.

    Yields
    ------
    array of shape (at most n_rows, n_features), float32 or float64

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "walk.npy", np.zeros((10, 3)))
    ...     [block.shape for block in read_blocks(Path(folder) / "walk.npy", 4)]
    [(4, 3), (4, 3), (2, 3)]
    """
    if n_rows < 1:
        raise ValueError(f"n_rows must be at least 1; got {n_rows}.")
    path = Path(path)
    check_regular(path)
    if path.suffix == ".parquet" and not options:
        with plain_name(path) as file:
            yield from _read_parquet_blocks(file, n_rows)
        return
    if path.suffix == ".npy" and not options:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
        if rows.ndim != 2:
            raise ValueError(f"{path}: the array must have two axes, one row per sample; got {rows.shape}.")
    else:
        rows = read(path, **options).X
    for start in range(0, len(rows), n_rows):
        yield _as_floats(np.array(rows[start : start + n_rows]))


def _read_parquet_blocks(path: Path, n_rows: int) -> Iterator[Array]:
    """Slice a lazy table, so that only the slice is read; the columns are those that `read` would use."""
    import polars as pl

    table = pl.scan_parquet(path, glob=False)
    schema = table.collect_schema()
    durations = {name: seconds_in(unit_of(name)) for name, kind in schema.items() if kind == pl.Duration}
    table = table.with_columns(
        pl.col(name).dt.total_nanoseconds() / (1e9 * seconds) for name, seconds in durations.items()
    )
    schema = table.collect_schema()
    numeric = [name for name, kind in schema.items() if kind.is_numeric() or kind == pl.Boolean]
    temporal = [name for name, kind in schema.items() if kind in (pl.Datetime, pl.Date)]
    days = [name for name, kind in schema.items() if kind == pl.Date]
    table = table.with_columns(pl.col(days).cast(pl.Datetime("us")))
    written = _written_stamps(table, schema)

    def values(name: str, n_rows: int | None) -> Array:
        if name in (*written.temporal, *written.clocks):
            return written.values(name, n_rows)
        column = pl.col(name)
        if name in temporal:
            column = (column - column.first()).dt.total_nanoseconds() / 1e9
        values = table.select(column.cast(pl.Float64))
        return (values if n_rows is None else values.head(n_rows)).collect().to_series().to_numpy()

    header = Header(tuple(schema), tuple(numeric), (*temporal, *written.temporal), tuple(written.clocks))
    features = table.select(choose_columns(header, values, Wishes()).features)
    total = int(table.select(pl.len()).collect().item())
    for start in range(0, total, n_rows):
        yield _as_floats(features.slice(start, n_rows).collect().to_numpy())


def _written_stamps(table: pl.LazyFrame, schema: pl.Schema) -> Columns:
    """Dates that are written as text, and times of day."""
    import polars as pl

    def fetch(column: pl.Expr) -> pl.Series:
        return table.select(column).collect().to_series()

    times = [name for name, kind in schema.items() if kind == pl.Time]
    text = [name for name, kind in schema.items() if kind == pl.String and may_be_stamps(table, name)]
    clocks = {name: fetch(pl.col(name).to_physical().cast(pl.Float64) / 1e9).to_numpy() for name in times}
    return with_text(
        Columns(np.empty((0, 0)), (), clocks=clocks), {name: fetch(pl.col(name)) for name in text}
    )


def _as_floats(rows: Any) -> Array:
    """Single precision where it has all digits, as it has of small integers, else double precision."""
    wide = np.promote_types(rows.dtype, np.float32) != np.float32
    return np.ascontiguousarray(rows, dtype=np.float64 if wide else np.float32)
