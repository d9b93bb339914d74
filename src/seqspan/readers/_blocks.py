"""Recordings longer than memory, block by block: for ``partial_fit``, or for anything that reads once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from seqspan._core.types import Array
from seqspan.readers import read

BLOCK = 4096  # rows


def read_blocks(path: str | Path, n_rows: int = BLOCK, **options: Any) -> Iterator[Array]:
    """Read samples in order, a few at a time.

    A .npy file is memory-mapped; of a Parquet file slices are read, columns of numbers alone. Everything else
    goes through :func:`seqspan.read`, which keeps the frames of a film that is too long for memory in a
    file of its own and holds other formats whole.

    Parameters
    ----------
    path : path
    n_rows : int
        Rows in a block; the last one may have fewer.
    **options
        Of the reader, for what goes through it.

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
    if path.suffix == ".parquet" and not options:
        yield from _parquet_blocks(path, n_rows)
        return
    if path.suffix == ".npy" and not options:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
        if rows.ndim != 2:
            raise ValueError(f"{path}: blocks are read of matrices, one row per sample; got {rows.shape}.")
    else:
        rows = read(path, **options).X
    for start in range(0, len(rows), n_rows):
        yield _floats(np.array(rows[start : start + n_rows]))


def _parquet_blocks(path: Path, n_rows: int) -> Iterator[Array]:
    """Slices of a lazy table; only what a slice needs is read."""
    import polars as pl
    import polars.selectors as columns

    table = pl.scan_parquet(path, glob=False).select(columns.numeric())
    total = int(table.select(pl.len()).collect().item())
    for start in range(0, total, n_rows):
        yield _floats(table.slice(start, n_rows).collect().to_numpy())


def _floats(rows: Any) -> Array:
    """Rows as floating point: double precision stays, all else is single."""
    return np.ascontiguousarray(rows, dtype=rows.dtype if rows.dtype == np.float64 else np.float32)
