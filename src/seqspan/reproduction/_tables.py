"""Tables of rows, the statistics of the figures, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from seqspan.reproduction._rows import Row

TEXT_COLUMNS = ("method", "parameters", "recording")
STATISTICS = ("mean", "median", "min", "max")


def make_table(rows: Iterable[Row], columns: Sequence[str]) -> pl.DataFrame:
    """Turn rows of text into a table of text and numbers; empty cells become null.

    Parameters
    ----------
    rows : iterable of mappings
    columns : sequence of str

    Returns
    -------
    polars.DataFrame

    Examples
    --------
    >>> make_table([{"method": "osc", "error": "0.5"}], ("method", "error")).row(0)
    ('osc', 0.5)
    """
    table = pl.DataFrame(list(rows), schema=dict.fromkeys(columns, pl.String))
    numbers = [name for name in columns if name not in TEXT_COLUMNS]
    return table.with_columns(pl.col(numbers).replace("", None).cast(pl.Float64))


def compute_statistics(table: pl.DataFrame, column: str = "error") -> pl.DataFrame:
    """Compute the paper's four statistics for every method, kind of weights and level.

    Parameters
    ----------
    table : rows with method, parameters, psnr_target and an error
    column : str
        Which error.

    Returns
    -------
    polars.DataFrame
        With "mean", "median", "min", "max", "se" (standard error of the mean) and "count", sorted from weak
        noise to strong.
    """
    error = pl.col(column)
    return (
        table.group_by("method", "parameters", "psnr_target")
        .agg(
            mean=error.mean(), median=error.median(), min=error.min(), max=error.max(),
            se=error.std().fill_null(0.0) / pl.len().sqrt(), count=pl.len(),
        )
        .sort("psnr_target", "method", descending=[True, False])
    )  # fmt: skip


def name_level(level: float) -> str:
    """Name a noise level.

    Examples
    --------
    >>> name_level(4.0), name_level(float("inf"))
    ('4 dB', 'none')
    """
    return f"{level:g} dB" if np.isfinite(level) else "none"


def format_table(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Write a table in Markdown.

    Examples
    --------
    >>> print(format_table(["method", "4 dB"], [["osc", "0.001"]]))
    | method | 4 dB |
    |---|---|
    | osc | 0.001 |
    """
    first, *others = [f"| {' | '.join(map(str, cells))} |" for cells in (header, *lines)]
    return "\n".join([first, "|" + "---|" * len(header), *others])


def format_errors(table: pl.DataFrame, methods: Sequence[str]) -> str:
    """Write the mean error of each method at each level, in Markdown."""
    found = compute_statistics(table)
    levels = sorted(set(found["psnr_target"]), reverse=True)
    means = {(row["method"], row["psnr_target"]): row["mean"] for row in found.iter_rows(named=True)}
    lines = [
        [method, *(f"{means[method, level]:.3f}" if (method, level) in means else "" for level in levels)]
        for method in methods
        if any((method, level) in means for level in levels)
    ]
    return format_table(["mean error", *map(name_level, levels)], lines)
